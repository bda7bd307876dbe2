//go:build highs && cgo && linux

package highs_test

import (
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/highs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMemory(t *testing.T) {
	p := random(8)
	backendtest.Memory(t, func() {
		assert.Equal(t, backends.Optimal, solve(t, p, backends.Options{Eps: 1e-4}).Status)
	})
}

func TestSignal(t *testing.T) {
	s, err := open(t).Setup(random(700), backends.Options{TimeLimit: 200 * time.Millisecond, Settings: highs.Settings{NoPresolve: true}})
	require.NoError(t, err)
	defer s.Close()
	backendtest.Signal(t, s)
}

func TestSilence(t *testing.T) {
	backendtest.Silence(t, func() {
		for _, o := range []backends.Options{{}, {MaxIterations: 1}, {TimeLimit: 1}, {Eps: 1e-12}} {
			solve(t, random(8), o)
			solve(t, random(20), o)
		}
		_, err := open(t).Setup(&backends.Problem{Q: []float64{1}}, backends.Options{})
		_ = err
	})
}
