/* SCS's direct linear solver, whose solve goes by another name; see conetune_scs.c.
 * With it goes our function for new matrices. */
#define scs_solve_lin_sys conetune_solve_lin_sys
#include "linsys/cpu/direct/private.c"
#include "scs_set_numbers.c"
