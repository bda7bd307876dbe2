//go:build ((scs && cgo) || scs_go) && linux

package scs_test

import (
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/stretchr/testify/require"
)

func TestProcess(t *testing.T) {
	backendtest.Process(t, open(t), func() backends.Solver {
		s, err := open(t).Setup(backendtest.Projection(30), backends.Options{Eps: 1e-300, TimeLimit: 200 * time.Millisecond})
		require.NoError(t, err)
		return s
	}, cancelling(), backendtest.Projection(5))
}
