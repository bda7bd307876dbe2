// Package highs mirrors the C interface of cgo/highs around HiGHS, the solver for linear and convex quadratic
// programs, as Go types. It maps names and numbers and nothing else; what they mean for this project is in package
// backends/highs.
//
// Everything but this comment needs the build tag highs, cgo, and the library that "make
// deps" puts into cgo/build.
//
// The library copies all data that it is given, and keeps no pointer to Go memory after
// a call. It handles no signals and prints nothing; an exception of C++ is an error.
package highs
