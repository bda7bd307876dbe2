//go:build scs && cgo

/*
 * The three functions that SCS calls around and in its iterations, in place of
 * its own, which handle SIGINT. Ours look at a flag of the calling thread, so
 * that every solve has its own, and leave signals to the program.
 */
#include "interrupt.h"

static _Thread_local const int32_t *stop_flag;

static int stopped(void) {
  return stop_flag && __atomic_load_n(stop_flag, __ATOMIC_RELAXED) != 0;
}

void scs_start_interrupt_listener(void) {}
void scs_end_interrupt_listener(void) {}
int scs_is_interrupted(void) { return stopped(); }

scs_int conetune_scs_solve(ScsWork *w, ScsSolution *sol, ScsInfo *info,
                           scs_int warm_start, const int32_t *stop) {
  scs_int status;
  stop_flag = stop;
  status = scs_solve(w, sol, info, warm_start);
  stop_flag = 0;
  return status;
}

#ifndef CONETUNE_SYSLIBS
/*
 * SCS asks scs_is_interrupted in every 25th iteration only. The linear solve of
 * each iteration comes through here, and a failure of it ends the solve.
 */
scs_int scs_solve_lin_sys(ScsLinSysWork *w, scs_float *b, const scs_float *s,
                          scs_float tol);

scs_int __wrap_scs_solve_lin_sys(ScsLinSysWork *w, scs_float *b,
                                 const scs_float *s, scs_float tol) {
  return stopped() ? -1 : scs_solve_lin_sys(w, b, s, tol);
}

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
