// Package osqp calls OSQP made Go by "make transpile" (package lib beneath it), behind the interface of package
// internal/mirror/osqp.
//
// Everything but this comment needs the build tag osqp_go, and what package internal/ccgo/libc needs.
package osqp
