// Package libc is what C code that was made Go by ccgo finds in place of the C library: memory, a stack, some
// mathematics, the clock, and how a solve is stopped. What is not here does not link, so that nothing of the
// transpiled solvers can print, open files, handle signals or start threads.
//
// It is named and called as ccgo wants it: functions of C begin with X and take the [TLS] of their caller,
// pointers are of type uintptr. Memory and mathematics are those of modernc.org/libc.
//
// Everything but this comment needs one of the build tags scs_go and osqp_go, and a system that modernc.org/libc is
// made for, with pointers of 64 bits.
package libc
