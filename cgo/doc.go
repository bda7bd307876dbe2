// Package cgo says how the libraries SCS, OSQP and Clarabel come to this module: pinned sources
// (pins, crates, clarabel) and the scripts that fetch, check and build them (fetch.sh, build-scs.sh,
// build-osqp.sh, build-clarabel.sh, deps.mk). The packages internal/cgo/scs, internal/cgo/osqp and
// internal/cgo/clarabel link them. Or they are made Go (transpile, transpile.sh), which internal/ccgo/scs
// and internal/ccgo/osqp call.
//
// "make deps" does the work in a checkout, and the command of package cgo/deps elsewhere; README.md describes
// both. The tests of this package look at what was built.
package cgo
