//go:build osqp && cgo

/*
 * The three functions that OSQP calls around and in its iterations, in place of
 * its own, which handle SIGINT. Ours look at a flag of the calling thread, so
 * that every solve has its own, and leave signals to the program.
 */
#include "interrupt.h"

static _Thread_local const int32_t *stop_flag;

void osqp_start_interrupt_listener(void) {}
void osqp_end_interrupt_listener(void) {}

int osqp_is_interrupted(void) {
  return stop_flag && __atomic_load_n(stop_flag, __ATOMIC_RELAXED) != 0;
}

OSQPInt conetune_osqp_solve(OSQPSolver *solver, const int32_t *stop) {
  OSQPInt status;
  /* An update of nothing resets the status. Without it a solve that reaches the
   * limit of iterations after one that was solved is called solved as well. */
  osqp_update_data_vec(solver, 0, 0, 0);
  stop_flag = stop;
  status = osqp_solve(solver);
  stop_flag = 0;
  return status;
}
