/* How a solve of the transpiled SCS is stopped from outside; see internal/ccgo/libc. */
#include "linsys.h"
#include "scs.h"
#include "scs_work.h"

/* What is wished of the solve that runs, and where its bound on iterations is. */
enum { RUN = 0, STOP = 1, FINISH = 2 };
int conetune_wish(void);
scs_int *conetune_limit(void);

void scs_start_interrupt_listener(void) {}
void scs_end_interrupt_listener(void) {}
int scs_is_interrupted(void) { return conetune_wish() == STOP; }

/* The linear solve of SCS, under another name (conetune_private.c). */
scs_int conetune_solve_lin_sys(ScsLinSysWork *w, scs_float *b,
                               const scs_float *s, scs_float tol);

/*
 * SCS asks scs_is_interrupted in every 25th iteration only. The linear solve of
 * each iteration comes through here. A failure of it ends the solve; so does a limit
 * on the iterations that has been passed, but after this one and with its point.
 */
scs_int scs_solve_lin_sys(ScsLinSysWork *w, scs_float *b, const scs_float *s,
                          scs_float tol) {
  switch (conetune_wish()) {
  case STOP:
    return -1;
  case FINISH:
    if (conetune_limit()) {
      *conetune_limit() = 1;
    }
  }
  return conetune_solve_lin_sys(w, b, s, tol);
}
