//go:build osqp && cgo

package osqp_test

import libc "github.com/conetune/conetune/internal/cgo/osqp"

func init() { libraries["C"] = libc.Library{} }
