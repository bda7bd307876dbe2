/* Of what C calls <stddef.h>, what SCS and OSQP use. */
#ifndef STDDEF_H
#define STDDEF_H
typedef unsigned long size_t;
typedef long ptrdiff_t;
#define NULL ((void *)0)
#endif
