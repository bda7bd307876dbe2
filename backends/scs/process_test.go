//go:build ((scs && cgo) || scs_go) && linux

package scs_test

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
	p := cancelling()
	backendtest.Memory(t, func() { assert.Equal(t, backends.Optimal, solve(t, p, backends.Options{Eps: 1e-4}).Status) })
}

func TestSignal(t *testing.T) {
	s, err := open(t).Setup(slow(30), backends.Options{Eps: 1e-300, TimeLimit: 200 * time.Millisecond})
	require.NoError(t, err)
	defer s.Close()
	backendtest.Signal(t, s)
}

func TestSilence(t *testing.T) {
	backendtest.Silence(t, func() {
		for _, o := range []backends.Options{{}, {MaxIterations: 1}, {TimeLimit: 1}, {Eps: 1e-12}} {
			solve(t, cancelling(), o)
			solve(t, slow(5), o)
		}
		_, err := open(t).Setup(&backends.Problem{P: matrices.Identity(1, -1), Q: []float64{1}}, backends.Options{})
		_ = err
	})
}
