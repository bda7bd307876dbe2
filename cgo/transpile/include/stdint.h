/* Of what C calls <stdint.h>, what SCS and OSQP use. */
#ifndef STDINT_H
#define STDINT_H
typedef int int32_t;
typedef long int64_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
#endif
