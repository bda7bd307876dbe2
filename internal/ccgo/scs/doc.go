// Package scs calls SCS made Go by "make transpile" (package lib beneath it), behind the interface of package
// internal/mirror/scs.
//
// Everything but this comment needs the build tag scs_go, and what package internal/ccgo/libc needs.
package scs
