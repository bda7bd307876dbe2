//go:build osqp_go && !(osqp && cgo)

package osqp

import (
	golib "github.com/conetune/conetune/internal/ccgo/osqp"
	cosqp "github.com/conetune/conetune/internal/mirror/osqp"
)

// library is the C library made Go.
var library cosqp.Library = golib.Library{}

const license = "Apache-2.0 (OSQP and its QDLDL), BSD-3-Clause (its AMD), made Go; texts: conetune licenses"
