//go:build scs_go

package scs_test

import libgo "github.com/conetune/conetune/internal/ccgo/scs"

func init() { libraries["Go"] = libgo.Library{} }
