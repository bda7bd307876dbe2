// Package osqp calls the C library OSQP by cgo, behind the interface of package internal/mirror/osqp.
//
// Everything but this comment needs the build tag osqp, cgo, and the library that "make deps" puts into cgo/build; with
// the tag syslibs in addition, what pkg-config knows as osqp is linked instead.
package osqp
