/* SCS's direct linear solver, whose solve goes by another name; see conetune_scs.c. */
#define scs_solve_lin_sys conetune_solve_lin_sys
#include "linsys/cpu/direct/private.c"
