//go:build highs && cgo

package highs

import "github.com/conetune/conetune/backends"

// Raw is the library alone, without cones by sequences of quadratic programs.
var Raw backends.ConicBackend = backend{}
