/* Of what C calls <limits.h>, what SCS and OSQP use. */
#define INT_MAX 2147483647
#define LONG_MAX 9223372036854775807L
