package native

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
)

// The log tells which strategy is tried, and why.
func TestAttemptsAreLogged(t *testing.T) {
	var text bytes.Buffer
	// the largest x with an identity less x times a matrix of ones semidefinite
	cut := &backends.Problem{Q: []float64{-1}, A: matrices.Compress(mat.NewDense(3, 1, []float64{1, math.Sqrt2, 1})),
		B: []float64{1, 0, 1}, Cones: []backends.Cone{backends.PSD(2)}}
	log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := must.Of(Backend{}.Setup(cut, backends.Options{Logger: log}))(t)
	sol := backendtest.Answer(t, s)
	require.Equal(t, backends.Optimal, sol.Status)
	first, _, _ := strings.Cut(text.String(), "\n")
	require.Contains(t, first, `attempt="direct, Schur complement" because=`)
	require.Equal(t, sol.Iterations+1, strings.Count(text.String(), " iteration="))
}

// What is measured in the scaled problem is what the judge finds for the point in the caller's.
func TestMeasureIsThatOfTheJudge(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 20 {
		p := problemWith(rng, backends.SecondOrder(4), 5)
		for _, v := range [][]float64{p.Q, p.B} {
			for i := range v {
				v[i] = 100 * rng.NormFloat64()
			}
		}
		it := factoredAt(t, rng, p)
		for j := range it.x {
			it.x[j] = rng.NormFloat64()
		}
		it.tau, it.kappa = 0.1+rng.Float64(), 0.3
		it.residuals()
		got := it.measure()
		sol := it.f.expand(it.x, it.s, it.z, it.tau)
		want, primal, dual := backends.Recheck(p, sol.X, sol.S, sol.Z)
		product := 0.0
		for i, s := range sol.S {
			product += s * sol.Z[i]
		}
		gap := max(math.Abs(primal-dual), product) / max(1, min(math.Abs(primal), math.Abs(dual)))
		for _, c := range [][2]float64{{want.Primal, got.primal}, {want.Dual, got.dual}, {gap, got.gap},
			{primal, got.objective}, {dual, got.bound}} {
			require.InEpsilon(t, c[0], c[1], 1e-9)
		}
	}
}

// control is min 1/2 sum (y_i - 1)^2 over a rod, 2 y_i - y_(i-1) - y_(i+1) = h^2 u_i with y = 0 at its ends and 0 <=
// u <= 8: the multipliers of the equations are as large as 1/h^2.
func control(n int) *backends.Problem {
	h := 1 / float64(n+1)
	a, p := sparse.NewDOK(3*n, 2*n), sparse.NewDOK(2*n, 2*n)
	q, b := make([]float64, 2*n), make([]float64, 3*n)
	for i := range n {
		a.Set(i, i, 2)
		if i > 0 {
			a.Set(i, i-1, -1)
		}
		if i < n-1 {
			a.Set(i, i+1, -1)
		}
		a.Set(i, n+i, -h*h)
		a.Set(n+i, n+i, -1)
		a.Set(2*n+i, n+i, 1)
		p.Set(i, i, 1)
		q[i], b[2*n+i] = -1, 8
	}
	return &backends.Problem{P: p.ToCSC(), Q: q, A: a.ToCSC(), B: b, Cones: []backends.Cone{backends.Zero(n),
		backends.Nonnegative(2 * n)}}
}

// What the steps leave in the equations hides little of the gap, however large their multipliers are: by p - d = s'z +
// x'rd - z'rp the objective stands still where z'rp is as large as s'z. A thousandth of the tolerance is left to rounding.
func TestEquationsHideNoGap(t *testing.T) {
	p := control(1000)
	r := must.Of(newRunner(formOf(t, p)))(t)
	r.f.fill(p)
	require.True(t, r.k.load())
	r.options = backends.Options{}.WithDefaults()
	r.judge = r.options.Judge(p)
	r.best.error = math.Inf(1)
	r.strategy = r.embedding
	require.NoError(t, r.embedding.start(true))
	for range 40 {
		r.residuals()
		m := r.measure()
		hidden := 0.0
		for i, v := range r.rz[:r.f.zero] {
			hidden += v * r.z[i]
		}
		require.LessOrEqual(t, math.Abs(hidden), max(0.1*dot(r.s, r.z), 1e-3*r.options.Eps))
		if m.worst <= r.options.Eps {
			return
		}
		must.Of(r.step(context.Background(), m))(t)
	}
	t.Fatal("no end")
}
