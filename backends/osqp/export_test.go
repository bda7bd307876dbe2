//go:build (osqp && cgo) || osqp_go

package osqp

import "github.com/conetune/conetune/backends"

// Raw is the library alone, without cones by sequences of quadratic programs.
var Raw backends.ConicBackend = backend{}
