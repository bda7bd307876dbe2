//go:build (scs && cgo && !syslibs) || (scs_go && !(scs && cgo))

package scs

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
)

func TestSetEpsGoesOn(t *testing.T) {
	backendtest.GoesOn(t, backend{}, func(s backends.Solver) any { return s.(*solver).work })
}
