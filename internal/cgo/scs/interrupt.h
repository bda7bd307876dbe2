/* How a solve is stopped from outside. */
#ifndef CONETUNE_SCS_INTERRUPT_H
#define CONETUNE_SCS_INTERRUPT_H

#include <stdint.h>

#include "library.h"

/* What *stop of a solve may hold. */
enum { CONETUNE_SCS_RUN = 0, CONETUNE_SCS_STOP = 1, CONETUNE_SCS_FINISH = 2 };

/* scs_solve, which gives up soon after *stop is CONETUNE_SCS_STOP, and returns the
 * point that it has soon after *stop is CONETUNE_SCS_FINISH. */
scs_int conetune_scs_solve(ScsWork *w, ScsSolution *sol, ScsInfo *info,
                           scs_int warm_start, const int32_t *stop);

#endif
