//go:build ((osqp && cgo) || osqp_go) && linux

package osqp_test

import (
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/osqp"
	"github.com/stretchr/testify/require"
)

func TestProcess(t *testing.T) {
	backendtest.Process(t, open(t), func() backends.Solver {
		s, err := open(t).Setup(backendtest.BoxedSquares(100), backends.Options{
			Eps: 1e-300, Settings: osqp.Settings{StartEps: 1e-300}, TimeLimit: 200 * time.Millisecond,
		})
		require.NoError(t, err)
		return s
	}, backendtest.BoxedSquares(8), backendtest.BoxedSquares(20))
}
