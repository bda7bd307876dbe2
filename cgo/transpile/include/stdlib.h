/* Of what C calls <stdlib.h>, what SCS and OSQP use. */
#ifndef STDLIB_H
#define STDLIB_H
#include <stddef.h>
void *malloc(size_t), *calloc(size_t, size_t), *realloc(void *, size_t);
void free(void *);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
int abs(int);
#endif
