//go:build scs && cgo && syslibs

package scs_test

const systemLibrary = true
