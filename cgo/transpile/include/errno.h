/* Of what C calls <errno.h>, what SCS and OSQP use. */
