//go:build scs && cgo

#include "library.h"
#ifndef CONETUNE_SYSLIBS
#include "scs_work.h"

/* What is left of the library's printing is renamed to this. */
int conetune_scs_printf(const char *format, ...) {
  (void)format;
  return 0;
}
#endif

int conetune_scs_nuclear(ScsCone *k, scs_int *m, scs_int *n, scs_int count) {
#ifdef USE_SPECTRAL_CONES
  k->nuc_m = m;
  k->nuc_n = n;
  k->nucsize = count;
  return 1;
#else
  (void)k, (void)m, (void)n, (void)count;
  return 0;
#endif
}

int conetune_scs_set_limits(ScsWork *w, const ScsSettings *s) {
#ifndef CONETUNE_SYSLIBS
  w->stgs->eps_abs = s->eps_abs;
  w->stgs->eps_rel = s->eps_rel;
  w->stgs->eps_infeas = s->eps_infeas;
  w->stgs->max_iters = s->max_iters;
  w->stgs->time_limit_secs = s->time_limit_secs;
  return 1;
#else
  (void)w, (void)s;
  return 0;
#endif
}

#ifndef CONETUNE_SYSLIBS
scs_int conetune_scs_set_numbers(ScsWork *w, const scs_float *P, const scs_float *A,
                                 scs_float *b, scs_float *c, scs_float scale);
#endif

scs_int conetune_scs_new_numbers(ScsWork *w, const ScsData *d, scs_float scale) {
#ifndef CONETUNE_SYSLIBS
  return conetune_scs_set_numbers(w, d->P ? d->P->x : 0, d->A->x, d->b, d->c, scale);
#else
  (void)w, (void)d, (void)scale;
  return 1;
#endif
}

/* Whichever of them the BLAS has. */
extern void scipy_openblas_set_num_threads(int) __attribute__((weak));
extern void openblas_set_num_threads(int) __attribute__((weak));

void conetune_scs_one_thread(void) {
  if (scipy_openblas_set_num_threads) {
    scipy_openblas_set_num_threads(1);
  } else if (openblas_set_num_threads) {
    openblas_set_num_threads(1);
  }
}
