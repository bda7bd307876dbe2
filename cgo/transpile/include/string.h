/* Of what C calls <string.h>, what SCS and OSQP use. */
#ifndef STRING_H
#define STRING_H
#include <stddef.h>
void *memcpy(void *, const void *, size_t), *memmove(void *, const void *, size_t), *memset(void *, int, size_t);
char *strcpy(char *, const char *), *strcat(char *, const char *);
size_t strlen(const char *);
#endif
