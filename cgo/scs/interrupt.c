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
#endif
