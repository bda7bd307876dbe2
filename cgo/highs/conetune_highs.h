/*
 * The C interface of ours to HiGHS, which is a library in C++:
 *
 *   minimise x'Px/2 + q'x subject to lower <= Ax <= upper,
 *
 * A compressed sparse column, of P the lower triangle. Everything is copied; nothing
 * is kept of what a caller passes. No exception leaves a function.
 */
#ifndef CONETUNE_HIGHS_H
#define CONETUNE_HIGHS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  CONETUNE_HIGHS_OK = 0,
  CONETUNE_HIGHS_REFUSED = 1, /* numbers that HiGHS does not take */
  CONETUNE_HIGHS_BROKEN = 2   /* an exception; the solver is only good for free */
};

typedef struct conetune_highs conetune_highs;

typedef struct {
  int32_t m, n;
  const int32_t *p_ptr, *p_ind; /* null for a linear program */
  const double *p_val;
  const int32_t *a_ptr, *a_ind;
  const double *a_val;
  const double *q, *lower, *upper;
} conetune_highs_problem;

enum { CONETUNE_HIGHS_SIMPLEX = 0, CONETUNE_HIGHS_IPX = 1, CONETUNE_HIGHS_HIPO = 2 };

typedef struct {
  double primal_tolerance, dual_tolerance, ipm_tolerance;
  int32_t method;    /* quadratic programs take HIPO */
  int32_t augmented; /* HIPO factors the augmented system, not what it chooses */
  int32_t crossover; /* from the point of an interior point method to a vertex */
  int32_t presolve;
  int32_t iterations; /* at most */
} conetune_highs_settings;

typedef struct {
  int32_t status;     /* the number of HighsModelStatus */
  int32_t iterations; /* of all methods together */
  int32_t dual_ray;   /* whether ray holds a certificate of infeasibility, of length m, */
  int32_t primal_ray; /* or of unboundedness, of length n */
  int32_t has_point;
  int32_t has_basis;
} conetune_highs_info;

const char *conetune_highs_version(void);

/* Of a failure, text holds the reason, cut to size bytes with the final zero. */
int conetune_highs_new(const conetune_highs_problem *, conetune_highs **out, char *text, size_t size);

/* New values, of all entries of P, q and A, and of both bounds; null means unchanged. The basis stays. */
int conetune_highs_update(conetune_highs *, const double *p_val, const double *q, const double *a_val,
                          const double *lower, const double *upper);

/* Forgets the basis, or sets one, by HighsBasisStatus. */
int conetune_highs_forget(conetune_highs *);
int conetune_highs_start(conetune_highs *, const int32_t *cols, const int32_t *rows);

/* Solves until it ends, *stop is not zero, or the seconds are over (0 for no limit). x and cols have length
 * n, y and rows length m, ray the larger of both. */
int conetune_highs_solve(conetune_highs *, const conetune_highs_settings *, const int32_t *stop, double seconds,
                         double *x, double *y, double *ray, int32_t *cols, int32_t *rows,
                         conetune_highs_info *, char *text, size_t size);

/* Looks for a certificate with linear programs: of infeasibility if infeasible is not zero, else of
 * unboundedness. info tells whether ray holds it. */
int conetune_highs_prove(conetune_highs *, const conetune_highs_settings *, int32_t infeasible, const int32_t *stop,
                         double seconds, double *ray, conetune_highs_info *, char *text, size_t size);

void conetune_highs_free(conetune_highs *);

#ifdef __cplusplus
}
#endif
#endif
