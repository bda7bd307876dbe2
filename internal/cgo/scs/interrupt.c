//go:build scs && cgo

/*
 * The three functions that SCS calls around and in its iterations, in place of
 * its own, which handle SIGINT. Ours look at a flag of the calling thread, so
 * that every solve has its own, and leave signals to the program.
 */
#include "interrupt.h"
#ifndef CONETUNE_SYSLIBS
#include "scs_work.h"
#endif

static _Thread_local const int32_t *stop_flag;
static _Thread_local ScsWork *solving;

static int32_t wish(void) {
  return stop_flag ? __atomic_load_n(stop_flag, __ATOMIC_RELAXED) : CONETUNE_SCS_RUN;
}

void scs_start_interrupt_listener(void) {}
void scs_end_interrupt_listener(void) {}
int scs_is_interrupted(void) { return wish() == CONETUNE_SCS_STOP; }

scs_int conetune_scs_solve(ScsWork *w, ScsSolution *sol, ScsInfo *info,
                           scs_int warm_start, const int32_t *stop) {
  scs_int status;
#ifndef CONETUNE_SYSLIBS
  const scs_int max_iters = w->stgs->max_iters;
#endif
  stop_flag = stop;
  solving = w;
  status = scs_solve(w, sol, info, warm_start);
  stop_flag = 0;
  solving = 0;
#ifndef CONETUNE_SYSLIBS
  w->stgs->max_iters = max_iters;
#endif
  return status;
}

#ifndef CONETUNE_SYSLIBS
/*
 * SCS asks scs_is_interrupted in every 25th iteration only. The linear solve of
 * each iteration comes through here. A failure of it ends the solve; so does a limit
 * on the iterations that has been passed, but after this one and with its point.
 */
scs_int scs_solve_lin_sys(ScsLinSysWork *w, scs_float *b, const scs_float *s,
                          scs_float tol);

scs_int __wrap_scs_solve_lin_sys(ScsLinSysWork *w, scs_float *b,
                                 const scs_float *s, scs_float tol) {
  switch (wish()) {
  case CONETUNE_SCS_STOP:
    return -1;
  case CONETUNE_SCS_FINISH:
    solving->stgs->max_iters = 1;
  }
  return scs_solve_lin_sys(w, b, s, tol);
}
#endif
