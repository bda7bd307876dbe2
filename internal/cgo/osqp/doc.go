// Package osqp mirrors the C structs and functions of OSQP, the operator
// splitting solver for quadratic programs, as Go types. It maps names and
// numbers and nothing else; what they mean for this project is in package
// backends/osqp.
//
// Everything but this comment needs the build tag osqp, cgo, and the library
// that "make deps" puts into cgo/build; with the tag syslibs in addition, what
// pkg-config knows as osqp is linked instead.
//
// OSQP copies all data that it is given, and keeps no pointer to Go memory after
// a call. No signal handler is installed and nothing is printed: the library is
// built without both, and asks an [Interrupt] in every iteration.
package osqp
