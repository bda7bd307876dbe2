/*
 * The C interface of cgo/clarabel, a Rust library around Clarabel:
 *
 *   minimise 1/2 x'Px + q'x subject to Ax + s = b, s in K,
 *
 * P given by its upper triangle. Matrices are compressed sparse column. Everything is copied;
 * nothing is kept of what a caller passes. Functions that can fail return one of the codes
 * below, and leave what they were given as it was unless told otherwise.
 */
#ifndef CONETUNE_CLARABEL_H
#define CONETUNE_CLARABEL_H

#include <stddef.h>
#include <stdint.h>

enum {
  CONETUNE_CLARABEL_OK = 0,
  CONETUNE_CLARABEL_REFUSED = 1, /* a wrong argument, or an update that the solver cannot take */
  CONETUNE_CLARABEL_BROKEN = 2   /* the library gave up; the solver is only good for free */
};

/* The cones, in the order of Clarabel's own list. */
enum {
  CONETUNE_CLARABEL_ZERO = 0,
  CONETUNE_CLARABEL_NONNEGATIVE = 1,
  CONETUNE_CLARABEL_SECOND_ORDER = 2,
  CONETUNE_CLARABEL_EXPONENTIAL = 3,
  CONETUNE_CLARABEL_POWER = 4,     /* one weight */
  CONETUNE_CLARABEL_GENPOWER = 5,  /* dim weights, then extra entries in the norm */
  CONETUNE_CLARABEL_PSD = 6        /* of order dim: the upper triangle by columns, off-diagonals times sqrt 2 */
};

typedef struct conetune_clarabel conetune_clarabel;

typedef struct {
  size_t m, n;
  const size_t *p_ptr, *p_ind;
  const double *p_val;
  const size_t *a_ptr, *a_ind;
  const double *a_val;
  const double *q, *b;
  size_t cones;
  const int32_t *kinds;
  const size_t *dims, *extras;
  const double *weights; /* of all cones, one after the other */
} conetune_clarabel_problem;

typedef struct {
  double max_step_fraction;
  double tol_gap_abs, tol_gap_rel, tol_feas, tol_infeas_abs, tol_infeas_rel, tol_ktratio;
  double reduced_tol_gap_abs, reduced_tol_gap_rel, reduced_tol_feas;
  double reduced_tol_infeas_abs, reduced_tol_infeas_rel, reduced_tol_ktratio;
  double equilibrate_min_scaling, equilibrate_max_scaling;
  double linesearch_backtrack_step, min_switch_step_length, min_terminate_step_length;
  double static_regularization_constant, static_regularization_proportional;
  double dynamic_regularization_eps, dynamic_regularization_delta;
  double iterative_refinement_reltol, iterative_refinement_abstol, iterative_refinement_stop_ratio;
  uint32_t max_iter, max_threads, equilibrate_max_iter, iterative_refinement_max_iter;
  int32_t linear_solver; /* 0 by the work that it takes, 1 qdldl, 2 faer */
  int32_t merge;         /* of cliques: 0 by their graph, 1 parents with children, 2 none */
  int32_t equilibrate, static_regularization, dynamic_regularization, iterative_refinement;
  int32_t presolve, chordal, chordal_compact, chordal_complete_dual;
} conetune_clarabel_settings;

typedef struct {
  int32_t status;  /* the number of Clarabel's SolverStatus */
  int32_t stopped; /* 1 by the flag, 2 by the clock */
  uint32_t iterations;
  double primal, dual, gap_abs, gap_rel, res_primal, res_dual, mu, kt_ratio;
} conetune_clarabel_info;

const char *conetune_clarabel_version(void);
void conetune_clarabel_defaults(conetune_clarabel_settings *);

/* Sets up a problem. Of a failure, text holds the reason, cut to size bytes with the final zero. */
int conetune_clarabel_new(const conetune_clarabel_problem *, const conetune_clarabel_settings *,
                          conetune_clarabel **out, char *text, size_t size);

/* Whether new numbers are taken: not if a cone was decomposed or rows were presolved away. */
int conetune_clarabel_updatable(const conetune_clarabel *);

/* New values, of all entries of P, q, A and b; null means unchanged. */
int conetune_clarabel_update(conetune_clarabel *, const double *p_val, const double *q, const double *a_val,
                             const double *b);

/* New settings. Those that the set-up used must be the same. */
int conetune_clarabel_set(conetune_clarabel *, const conetune_clarabel_settings *);

/* Solves from a start of its own, until it ends, *stop is not zero, or the seconds are over (0 for no limit).
 * x, s and z are of lengths n, m and m. */
int conetune_clarabel_solve(conetune_clarabel *, const int32_t *stop, double seconds, double *x, double *s,
                            double *z, conetune_clarabel_info *, char *text, size_t size);

void conetune_clarabel_free(conetune_clarabel *);

#endif
