/* Of what C calls <time.h>, what SCS and OSQP use. */
#ifndef TIME_H
#define TIME_H
struct timespec {
  long tv_sec, tv_nsec;
};
#define CLOCK_MONOTONIC 1
int clock_gettime(int, struct timespec *);
#endif
