// Package scs calls the C library SCS by cgo, behind the interface of package internal/mirror/scs.
//
// Everything but this comment needs the build tag scs, cgo, and the library that "make deps" puts into cgo/build; with
// the tag syslibs in addition, what pkg-config knows as scs is linked instead.
package scs
