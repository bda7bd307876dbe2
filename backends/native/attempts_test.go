package native

import (
	"bytes"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/must"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// What is tried depends on the cones, the objective and on where the solve begins.
func TestAttempts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	linear := func(c backends.Cone) *backends.Problem {
		p := problemWith(rng, c, 2)
		p.P = nil
		return p
	}
	for _, c := range []struct {
		p    *backends.Problem
		from origin
		want []string
	}{
		{linear(backends.SecondOrder(3)), fresh, []string{"embedding"}},
		{linear(backends.SecondOrder(3)), warmed, []string{"embedding", "embedding"}},
		{linear(backends.Exponential()), fresh, []string{"embedding", "embedding"}},
		{linear(backends.PSD(3)), fresh, []string{"direct", "embedding", "direct"}},
		{linear(backends.PSD(3)), warmed, []string{"embedding", "embedding", "direct"}},
		{problemWith(rng, backends.PSD(3), 2), fresh, []string{"embedding"}},
	} {
		r := must.Of(newRunner(formOf(t, c.p)))(t)
		var got []string
		for _, a := range r.attempts(c.from) {
			name, _, _ := strings.Cut(a.strategy.String(), ",")
			got = append(got, name)
			require.NotEmpty(t, a.because)
		}
		require.Equal(t, c.want, got)
	}
}

// The log tells which strategy is tried, and why.
func TestAttemptsAreLogged(t *testing.T) {
	var text bytes.Buffer
	// the largest x with an identity less x times a matrix of ones semidefinite
	cut := &backends.Problem{Q: []float64{-1}, A: compress(mat.NewDense(3, 1, []float64{1, math.Sqrt2, 1}), false),
		B: []float64{1, 0, 1}, Cones: []backends.Cone{backends.PSD(2)}}
	log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := must.Of(Backend{}.Setup(cut, backends.Options{Logger: log}))(t)
	sol := backendtest.Answer(t, s)
	require.Equal(t, backends.Optimal, sol.Status)
	first, _, _ := strings.Cut(text.String(), "\n")
	require.Contains(t, first, `attempt="direct, Schur complement" because=`)
	require.Equal(t, sol.Iterations+1, strings.Count(text.String(), " iteration="))
}
