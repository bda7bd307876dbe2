/* How a solve is stopped from outside. */
#ifndef CONETUNE_SCS_INTERRUPT_H
#define CONETUNE_SCS_INTERRUPT_H

#include <stdint.h>

#if !__has_include("scs.h")
#error "the C library SCS is missing: run `make deps` first, or build without the tag scs"
#endif
#if __has_include("conetune_scs_config.h")
#include "conetune_scs_config.h"
#endif
#include "scs.h"

/* scs_solve, which gives up soon after *stop is no longer zero. */
scs_int conetune_scs_solve(ScsWork *w, ScsSolution *sol, ScsInfo *info,
                           scs_int warm_start, const int32_t *stop);

/* Gives k nuclear norm cones of the sizes m[i] x n[i], m[i] >= n[i]. The result is
 * zero if the library was built without them. */
int conetune_scs_nuclear(ScsCone *k, scs_int *m, scs_int *n, scs_int count);

/* Makes the BLAS use one thread, so that results do not depend on the machine's load. */
void conetune_scs_one_thread(void);

#endif
