//go:build scs && cgo

package scs

import (
	clib "github.com/conetune/conetune/internal/cgo/scs"
	cscs "github.com/conetune/conetune/internal/mirror/scs"
)

// library is the C library.
var library cscs.Library = clib.Library{}

const license = "MIT (SCS), Apache-2.0 (its QDLDL), BSD-3-Clause (its AMD and OpenBLAS); texts in cgo/build/licenses"
