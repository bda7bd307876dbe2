/* What depends on how the library was built. */
#ifndef CONETUNE_SCS_LIBRARY_H
#define CONETUNE_SCS_LIBRARY_H

#if !__has_include("scs.h")
#error "the C library SCS is missing: run `make deps` first (cgo/README.md), or build without the tag scs"
#endif
#if __has_include("conetune_scs_config.h")
#include "conetune_scs_config.h"
#endif
#include "scs.h"

/* Gives k nuclear norm cones of the sizes m[i] x n[i], m[i] >= n[i]. The result is
 * zero if the library was built without them. */
int conetune_scs_nuclear(ScsCone *k, scs_int *m, scs_int *n, scs_int count);

/* Makes the BLAS use one thread, so that results do not depend on the machine's load. */
void conetune_scs_one_thread(void);

/* Changes the tolerances and limits of a problem that is set up. SCS has no function
 * for it, so this reaches into its work; the result is zero, and nothing has changed,
 * if the library may be another one than the header's. */
int conetune_scs_set_limits(ScsWork *w, const ScsSettings *s);

/* Whether conetune_scs_new_numbers does anything. */
#if defined(CONETUNE_SYSLIBS) || defined(CONETUNE_OTHER_SCS)
#define CONETUNE_SCS_SETS_NUMBERS 0
#else
#define CONETUNE_SCS_SETS_NUMBERS 1
#endif

/* Gives a problem that is set up new numbers (cgo/own/scs_set_numbers.c). The result is
 * 0; 1, and nothing has changed, if SCS has to be set up again; or -1, and the work is
 * good for scs_finish only. */
scs_int conetune_scs_new_numbers(ScsWork *w, const ScsData *d, scs_float scale);

#endif
