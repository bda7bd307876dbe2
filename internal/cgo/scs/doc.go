// Package scs mirrors the C structs and functions of SCS, the splitting conic
// solver, as Go types. It maps names and numbers and nothing else; what they
// mean for this project is in package backends/scs.
//
// Everything but this comment needs the build tag scs, cgo, and the library
// that "make deps" puts into cgo/build; with the tag syslibs in addition, what
// pkg-config knows as scs is linked instead.
//
// SCS copies all data that it is given, and keeps no pointer to Go memory after
// a call. No signal handler is installed and nothing is printed: the library is
// built without both, and asks an [Interrupt] in every iteration.
package scs
