/* How a solve of the transpiled OSQP is stopped from outside; see internal/ccgo/libc. */
int conetune_wish(void);

void osqp_start_interrupt_listener(void) {}
void osqp_end_interrupt_listener(void) {}
int osqp_is_interrupted(void) { return conetune_wish() != 0; }
