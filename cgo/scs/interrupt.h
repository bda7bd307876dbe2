/* How a solve is stopped from outside. */
#ifndef CONETUNE_SCS_INTERRUPT_H
#define CONETUNE_SCS_INTERRUPT_H

#include <stdint.h>

#include "library.h"

/* scs_solve, which gives up soon after *stop is no longer zero. */
scs_int conetune_scs_solve(ScsWork *w, ScsSolution *sol, ScsInfo *info,
                           scs_int warm_start, const int32_t *stop);

#endif
