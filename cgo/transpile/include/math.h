/* Of what C calls <math.h>, what SCS and OSQP use. */
#ifndef MATH_H
#define MATH_H
double ceil(double), exp(double), fabs(double), fmod(double, double), log(double),
    pow(double, double), sqrt(double);
int isfinite(double), isless(double, double), isnan(double);
#define HUGE_VAL (1e300 * 1e300)
#define INFINITY HUGE_VAL
#define NAN (HUGE_VAL - HUGE_VAL)
#endif
