//go:build scs && cgo

package scs_test

import libc "github.com/conetune/conetune/internal/cgo/scs"

func init() { libraries["C"] = libc.Library{} }
