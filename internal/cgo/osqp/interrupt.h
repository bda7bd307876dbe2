/* How a solve is stopped from outside. */
#ifndef CONETUNE_OSQP_INTERRUPT_H
#define CONETUNE_OSQP_INTERRUPT_H

#include <stdint.h>

#if !__has_include("osqp.h")
#error "the C library OSQP is missing: run `make deps` first (cgo/README.md), or build without the tag osqp"
#endif
#include "osqp.h"

/* osqp_solve, which gives up in the iteration after *stop is no longer zero. */
OSQPInt conetune_osqp_solve(OSQPSolver *solver, const int32_t *stop);

#endif
