// Package clarabel mirrors the C interface of cgo/clarabel around Clarabel, the
// interior point solver for conic programs with a quadratic objective, as Go types.
// It maps names and numbers and nothing else; what they mean for this project is in
// package backends/clarabel.
//
// Everything but this comment needs the build tag clarabel, cgo, and the library that
// "make deps" puts into cgo/build.
//
// The library copies all data that it is given, and keeps no pointer to Go memory after
// a call. It handles no signals and prints nothing; a panic of Rust is an error.
package clarabel
