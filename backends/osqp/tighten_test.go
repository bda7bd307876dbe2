//go:build (osqp && cgo && !syslibs) || (osqp_go && !(osqp && cgo))

package osqp

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
)

func TestSetEpsGoesOn(t *testing.T) {
	backendtest.GoesOn(t, backend{}, func(s backends.Solver) any { return s.(*solver).osqp })
}
