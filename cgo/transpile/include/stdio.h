/* Of what C calls <stdio.h>, what SCS and OSQP use. */
#ifndef STDIO_H
#define STDIO_H
#include <stddef.h>
/* Nothing is printed. The texts that SCS puts together are of what it would print. */
#define printf(...) ((void)0)
#define sprintf(...) ((void)0)
typedef struct FILE FILE;
#endif
