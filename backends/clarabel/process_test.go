//go:build clarabel && cgo && linux

package clarabel_test

import (
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/internal/matrices"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMemory(t *testing.T) {
	p, q := randomQP(8), projection(3)
	backendtest.Memory(t, func() {
		assert.Equal(t, backends.Optimal, solve(t, p, backends.Options{Eps: 1e-4}).Status)
		assert.Equal(t, backends.Optimal, solve(t, q, backends.Options{Eps: 1e-4}).Status)
	})
}

func TestSignal(t *testing.T) {
	s, err := open(t).Setup(projection(30), backends.Options{Eps: 1e-300, TimeLimit: 200 * time.Millisecond})
	require.NoError(t, err)
	defer s.Close()
	backendtest.Signal(t, s)
}

func TestSilence(t *testing.T) {
	backendtest.Silence(t, func() {
		for _, o := range []backends.Options{{}, {MaxIterations: 1}, {TimeLimit: 1}, {Eps: 1e-12}} {
			solve(t, randomQP(20), o)
			solve(t, projection(5), o)
		}
		_, err := open(t).Setup(&backends.Problem{P: matrices.Identity(1, -1), Q: []float64{1}}, backends.Options{})
		_ = err
	})
}
