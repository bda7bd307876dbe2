//go:build highs && cgo

#include "library.h"

/* Whichever of them the BLAS has. */
extern void scipy_openblas_set_num_threads(int) __attribute__((weak));
extern void openblas_set_num_threads(int) __attribute__((weak));

void conetune_highs_one_thread(void) {
  if (scipy_openblas_set_num_threads) {
    scipy_openblas_set_num_threads(1);
  } else if (openblas_set_num_threads) {
    openblas_set_num_threads(1);
  }
}
