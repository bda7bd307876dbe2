//go:build scs_go && !(scs && cgo)

package scs

import (
	golib "github.com/conetune/conetune/internal/ccgo/scs"
	cscs "github.com/conetune/conetune/internal/mirror/scs"
)

// library is the C library made Go.
var library cscs.Library = golib.Library{}

const license = "MIT (SCS), Apache-2.0 (its QDLDL), BSD-3-Clause (its AMD), made Go; texts: conetune licenses"
