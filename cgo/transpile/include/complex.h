/* Of what C calls <complex.h>, what SCS and OSQP use. */
