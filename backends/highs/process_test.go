//go:build highs && cgo && linux

package highs_test

import (
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/highs"
	"github.com/stretchr/testify/require"
)

func TestProcess(t *testing.T) {
	backendtest.Process(t, open(t), func() backends.Solver {
		s, err := open(t).Setup(backendtest.Boxed(700), backends.Options{
			TimeLimit: 200 * time.Millisecond, Settings: highs.Settings{NoPresolve: true},
		})
		require.NoError(t, err)
		return s
	}, backendtest.Boxed(8), backendtest.Boxed(20))
}
