//go:build osqp_go

package osqp_test

import libgo "github.com/conetune/conetune/internal/ccgo/osqp"

func init() { libraries["Go"] = libgo.Library{} }
