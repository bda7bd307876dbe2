/* Of what C calls <stdbool.h>, what SCS and OSQP use. */
#define bool _Bool
#define true 1
#define false 0
