//go:build osqp && cgo

package osqp

import (
	clib "github.com/conetune/conetune/internal/cgo/osqp"
	cosqp "github.com/conetune/conetune/internal/mirror/osqp"
)

// library is the C library.
var library cosqp.Library = clib.Library{}

const license = "Apache-2.0 (OSQP and its QDLDL), BSD-3-Clause (its AMD); texts in cgo/build/licenses"
