/* The library, and the BLAS that it links. */
#ifndef CONETUNE_CLARABEL_LIBRARY_H
#define CONETUNE_CLARABEL_LIBRARY_H

#if !__has_include("conetune_clarabel.h")
#error "the library Clarabel is missing: run `make deps` first (cgo/README.md), or build without the tag clarabel"
#endif
#include "conetune_clarabel.h"

/* Makes the BLAS use one thread, so that results do not depend on the machine's load. */
void conetune_clarabel_one_thread(void);

#endif
