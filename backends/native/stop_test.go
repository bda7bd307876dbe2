package native

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/planted"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/stop/stoptest"
)

// formOf returns the form of a problem without bounds of time and memory.
func formOf(t *testing.T, p *backends.Problem) *form {
	t.Helper()
	return must.Of(newForm(p, nil, 1, 0))(t)
}

// stopCases are small problems with all kinds of blocks in the Newton systems.
func stopCases() (out []backendtest.Case) {
	large := planted.Shape{Name: "psd, linear, large", N: 30, Cones: []backends.Cone{backends.PSD(exactOrder + 2),
		backends.Nonnegative(3)}, Density: 0.3}
	for _, shape := range append(backendtest.Shapes(), large) {
		c := backendtest.NewCase(shape, 1)
		if _, err := (Backend{}).Setup(c.Problem, backends.Options{}); err == nil {
			out = append(out, c)
		}
	}
	for _, c := range backendtest.Cases() {
		if strings.HasPrefix(c.Name, "psd") && c.Status == backends.Optimal {
			out = append(out, c)
		}
	}
	return append(out, backendtest.Case{Name: "psd, cliques", Problem: chain(60, -1)},
		backendtest.Case{Name: "psd, cliques of a variable", Problem: matrixProgram(100)})
}

// TestStopAnywhere ends a Solve at looks all over, of which there is one wherever the code
// allows, from the first pass over the data to the last step. There is no further look, and
// the next Solve of the same solver is that of a fresh one, to the last bit.
func TestStopAnywhere(t *testing.T) {
	for _, c := range stopCases() {
		t.Run(c.Name, func(t *testing.T) {
			fresh := must.Of(Backend{}.Setup(c.Problem, backends.Options{}))(t)
			want := backendtest.Answer(t, fresh)
			var kept *solver // one that was stopped again and again
			for at := 0; ; at += 1 + at/12 {
				new := must.Of(Backend{}.Setup(c.Problem, backends.Options{}))(t)
				solvers := []*solver{new.(*solver), kept}
				if kept == nil {
					solvers = solvers[:1]
					kept = new.(*solver)
				}
				done := false
				for i, s := range solvers {
					name := fmt.Sprintf("look %d, solver %d", at, i)
					s.stop = *stop.Every(1)
					ctx := stoptest.After(at)
					if at%2 == 1 {
						ctx.Cause = context.DeadlineExceeded
					}
					sol, err := s.Solve(ctx)
					require.NoError(t, err, name)
					if ctx.Looks() <= at {
						done = true
					} else {
						require.Equal(t, at+1, ctx.Looks(), name)
						if sol.Status == backends.Optimal { // the last look of all, after the end
							s.resume = false
							continue
						}
						if at%2 == 1 {
							require.Equal(t, backends.TimeLimit, sol.Status, name)
						} else {
							require.Equal(t, backends.Cancelled, sol.Status, name)
						}
						if sol.X != nil {
							r, _, _ := backends.Recheck(c.Problem, sol.X, sol.S, sol.Z)
							require.False(t, r.Max() != r.Max(), name)
						}
						s.stop = *stop.Every(stop.Interval)
						sol, err = s.Solve(context.Background())
						require.NoError(t, err, name)
						s.resume = false
					}
					require.Equal(t, want.Status, sol.Status, name)
					require.Equal(t, want.Iterations, sol.Iterations, name)
					require.Equal(t, want.X, sol.X, name)
					require.Equal(t, want.S, sol.S, name)
					require.Equal(t, want.Z, sol.Z, name)
				}
				if done {
					assert.Greater(t, at, 20)
					return
				}
			}
		})
	}
}

// embeddingOf returns that of a problem, with its numbers.
func embeddingOf(t *testing.T, p *backends.Problem) *embedding {
	f := formOf(t, p)
	f.fill(p, newMatrices)
	it := must.Of(newIterate(f))(t)
	return newEmbedding(it)
}

// A warm start ends with the context, between two cones: of many, only the first is smoothed.
func TestStopWarmStart(t *testing.T) {
	cones := make([]backends.Cone, 20)
	for i := range cones {
		cones[i] = backends.Exponential()
	}
	c := backendtest.NewCase(planted.Shape{Name: "exponential, many", N: 10, Cones: cones, Density: 0.5}, 1)
	e := embeddingOf(t, c.Problem)
	f := e.f
	point := backends.Point{X: make([]float64, 10), S: slices.Repeat([]float64{1, 2, 3}, 20),
		Z: slices.Repeat([]float64{-1, 2, 3}, 20)}
	f.contract(point, e.x, e.s, e.z)
	before := slices.Clone(e.s)
	f.stop = stop.Every(1)
	f.stop.Begin(stoptest.After(0), 0)
	e.tau, e.kappa = 1, 0
	ok, why := e.warm(1e-8)
	require.False(t, ok)
	require.Empty(t, why)
	require.Equal(t, before[3:], e.s[3:])
	require.NotEqual(t, before[:3], e.s[:3])
}

// Every smoothed pair is on the central path of the mu that the warm start has in the end, also where s and z are both
// at the boundary, so that mu is raised: min 0, x >= 0 from x a little outside.
func TestWarmStartOnPath(t *testing.T) {
	p := &backends.Problem{Q: []float64{0, 1e-9}, B: []float64{0, 0}, Cones: []backends.Cone{backends.Nonnegative(2)},
		A: rowsOf(2, []float64{-1, 0}, []float64{0, -1}).csc(2, 2)}
	for _, x := range []float64{-1e-9, -1e-6, -1e-4} {
		e := embeddingOf(t, p)
		ok, _ := e.load(&backends.Point{X: []float64{x, x}, S: []float64{x, x}, Z: []float64{0, 0}})
		require.True(t, ok)
		ok, why := e.warm(1e-12)
		require.True(t, ok, "x = %g: %s", x, why)
		for i := range e.s {
			require.InEpsilon(t, e.kappa, e.s[i]*e.z[i], 1e-9, "x = %g", x)
		}
	}
}

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
	r.f.fill(p, newMatrices)
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
