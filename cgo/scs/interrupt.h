/* How a solve is stopped from outside. */
#ifndef CONETUNE_SCS_INTERRUPT_H
#define CONETUNE_SCS_INTERRUPT_H

#include <stdint.h>

#if !__has_include("scs.h")
#error "the C library SCS is missing: run `make deps` first, or build without the tag scs"
#endif
#include "scs.h"

/* scs_solve, which gives up soon after *stop is no longer zero. */
scs_int conetune_scs_solve(ScsWork *w, ScsSolution *sol, ScsInfo *info,
                           scs_int warm_start, const int32_t *stop);

/* Makes the BLAS use one thread, so that results do not depend on the machine's load. */
void conetune_scs_one_thread(void);

#endif
