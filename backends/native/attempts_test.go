package native

import (
	"bytes"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
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

// In the embedding of a linear program x and s may go another way than z does. The equations are homogeneous: what is
// left of the residuals of each side is 1 - its step, in units of the common tau.
func TestStepsOfTwoLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	for range 20 {
		p := problemWith(rng, backends.Nonnegative(6), 4)
		p.P = nil
		e := newEmbedding(factoredAt(t, rng, p))
		require.True(t, e.apart)
		copy(e.x, normals(rng, e.f.n))
		e.tau, e.kappa, e.differences = 1, 1, true
		e.residuals()
		e.target = refined
		require.NoError(t, e.constantPart())
		require.NoError(t, e.affine())
		primal, dual := e.longest()
		for i := e.f.zero; i < e.f.m; i++ {
			require.GreaterOrEqual(t, e.s[i]+primal*e.ds[i], -1e-12)
			require.GreaterOrEqual(t, e.z[i]+dual*e.dz[i], -1e-12)
		}
		e.primal, e.dual = 0.9*primal, 0.3*dual
		tauX, tauZ := e.tau+e.primal*e.dtau, e.tau+e.dual*e.dtau
		rx, rz := slices.Clone(e.rx), slices.Clone(e.rz)
		e.move()
		e.residuals()
		for j, r := range rx {
			require.InDelta(t, (1-e.dual)*r/tauZ, e.rx[j]/e.tau, 1e-9*(1+maxAbs(rx)))
		}
		for i, r := range rz {
			require.InDelta(t, (1-e.primal)*r/tauX, e.rz[i]/e.tau, 1e-9*(1+maxAbs(rz)))
		}
	}
}
