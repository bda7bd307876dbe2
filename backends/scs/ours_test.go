//go:build (scs && cgo && !syslibs) || (scs_go && !(scs && cgo))

package scs_test

const systemLibrary = false
