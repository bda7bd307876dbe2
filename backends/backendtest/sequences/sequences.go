// Package sequences has a backend for tests of what osqp and highs do, without C.
package sequences

import (
	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/internal/augmented"
)

// Over is b as a backend of quadratic programs alone, which takes second-order and exponential cones by sequences of them.
func Over(b backends.ConicBackend) backends.ConicBackend { return augmented.Over(backendtest.Lines(b)) }
