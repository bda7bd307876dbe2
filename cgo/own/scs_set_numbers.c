/*
 * New numbers for a problem of SCS that is set up, with the patterns of its
 * matrices. SCS itself takes new b and c only; this scales the matrices and weighs
 * the rows as scs_init does, and factors the system in the order found then, without
 * looking for one: what follows is what it would be after scs_init.
 *
 * build-scs.sh and transpile.sh include this at the end of SCS's direct linear solver.
 * With CONETUNE_OTHER_SCS its sources have other functions within, and it sets up again.
 */
#include <math.h>
#include <string.h>

#include "aa.h"
#include "cones.h"
#include "linalg.h"
#include "normalize.h"
#include "scs_work.h"

#ifndef CONETUNE_OTHER_SCS
static int conetune_finite(const scs_float *v, scs_int n) {
  scs_int i;
  for (i = 0; i < n; i++) {
    if (!isfinite(v[i])) {
      return 0;
    }
  }
  return 1;
}

/* conetune_refill writes the numbers of a matrix of the system into its permuted copy, whose
 * entries cs_symperm has placed in the order in which it meets them. */
static int conetune_refill(ScsLinSysWork *p, const ScsMatrix *kkt) {
  scs_int j, h, n = kkt->n;
  scs_int *inverse = (scs_int *)scs_calloc(n, sizeof(scs_int));
  scs_int *next = (scs_int *)scs_calloc(n, sizeof(scs_int));
  int done = inverse && next;
  if (done) {
    memcpy(next, p->kkt->p, n * sizeof(scs_int));
    for (j = 0; j < n; j++) {
      inverse[p->perm[j]] = j;
    }
    for (j = 0; j < n; j++) {
      for (h = kkt->p[j]; h < kkt->p[j + 1]; h++) {
        scs_int row = inverse[kkt->i[h]], column = inverse[j];
        p->kkt->x[next[row > column ? row : column]++] = kkt->x[h];
      }
    }
  }
  scs_free(inverse);
  scs_free(next);
  return done;
}

/* conetune_weigh gives the rows and columns the weights of a first iteration. */
static void conetune_weigh(ScsWork *w, scs_float scale) {
  scs_int i;
  w->stgs->scale = scale;
  for (i = 0; i < w->d->n; i++) {
    w->diag_r[i] = w->stgs->rho_x;
  }
  SCS(set_r_y)(w->cone_work, scale, &w->diag_r[w->d->n]);
  if (w->scale_mults) {
    for (i = 0; i < w->d->m; i++) {
      w->scale_mults[i] = 1.0;
    }
  }
}

/* conetune_factor has the linear solver take the matrices of the work. */
static scs_int conetune_factor(ScsWork *w) {
  ScsLinSysWork *p = w->p;
  scs_int done = 0;
  scs_int *at = (scs_int *)scs_calloc(p->n + p->m, sizeof(scs_int));
  ScsMatrix *kkt = at ? SCS(form_kkt)(w->d->A, w->d->P, p->diag_p, w->diag_r, at, 1) : SCS_NULL;
  if (kkt) {
    done = conetune_refill(p, kkt);
    SCS(cs_spfree)(kkt);
  }
  scs_free(at);
  if (!done) {
    return -1;
  }
  return scs_update_lin_sys_diag_r(p, w->diag_r);
}

#endif

/* conetune_scs_set_numbers gives the work new values of P (ignored if it has none) and
 * A, in the order of its matrices, new b and c, and the scale to begin with. The result is 0; 1, and nothing has
 * changed, if SCS would have to be set up again; or -1, after which the work is good for
 * scs_finish only. */
scs_int conetune_scs_set_numbers(ScsWork *w, const scs_float *P, const scs_float *A,
                                 scs_float *b, scs_float *c, scs_float scale) {
#ifdef CONETUNE_OTHER_SCS
  (void)w, (void)P, (void)A, (void)b, (void)c, (void)scale;
  return 1;
#else
  ScsData *d = w->d;
  scs_int entries = d->A->p[d->n];
  if (w->k->bsize) { /* whose bounds have been scaled as the rows were */
    return 1;
  }
  if (!conetune_finite(A, entries) || !conetune_finite(b, d->m) || !conetune_finite(c, d->n) ||
      (d->P && !conetune_finite(P, d->P->p[d->n]))) {
    return 1;
  }
  memcpy(d->A->x, A, entries * sizeof(scs_float));
  if (d->P) {
    memcpy(d->P->x, P, d->P->p[d->n] * sizeof(scs_float));
  }
  w->nm_a_orig = SCS(norm_inf)(A, entries);
  if (w->scal) {
    ScsScaling *scaling = SCS(normalize_a_p)(d->P, d->A, b, c, w->cone_work);
    if (!scaling) {
      return -1;
    }
    scs_free(w->scal->D);
    scs_free(w->scal->E);
    scs_free(w->scal);
    w->scal = scaling;
  }
  if (w->accel) {
    aa_reset(w->accel);
  }
  if (scs_update(w, b, c) < 0) {
    return -1;
  }
  conetune_weigh(w, scale);
  return conetune_factor(w) < 0 ? -1 : 0;
#endif
}
