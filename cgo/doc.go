// Package cgo holds no code. Its folder says how the C libraries SCS and OSQP come
// to this module: pinned sources (pins, crates) and the scripts that fetch, check and
// build them (fetch.sh, build-scs.sh, build-osqp.sh, deps.mk). The packages
// internal/cgo/scs and internal/cgo/osqp link them. Or they are made Go (transpile,
// transpile.sh), which internal/ccgo/scs and internal/ccgo/osqp call.
//
// "make deps" does the work; README.md describes it. The tests of this package
// look at what it built.
package cgo
