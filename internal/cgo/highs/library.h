#ifndef CONETUNE_HIGHS_LIBRARY_H
#define CONETUNE_HIGHS_LIBRARY_H

#if !__has_include("conetune_highs.h")
#error "the library HiGHS is missing: run `make deps` first (cgo/README.md), or build without the tag highs"
#endif
#include "conetune_highs.h"

/* Makes the BLAS use one thread, so that results do not depend on the machine's load. */
void conetune_highs_one_thread(void);

#endif
