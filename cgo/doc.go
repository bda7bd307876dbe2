// Package cgo holds no code. Its folder says how the C libraries SCS and OSQP come
// to this module: pinned sources (pins, crates), the scripts that fetch, check and
// build them (fetch.sh, build-scs.sh, build-osqp.sh, deps.mk), and the packages scs
// and osqp, the only ones that import "C".
//
// "make deps" does the work; README.md describes it. The tests of this package
// look at what it built.
package cgo
