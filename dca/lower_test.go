package dca

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

func native(t testing.TB) backends.ConicBackend {
	t.Helper()
	return must.Of(backends.Open("native"))(t)
}

// random is a lower level with three radii and an upper variable in the loss and in a joint constraint.
func random(seed uint64) Program {
	rng := rand.New(rand.NewPCG(seed, 1))
	const n, p = 8, 6
	a, y := mat.NewDense(n, p, nil), make([]float64, n)
	for i := range n {
		y[i] = 3 * rng.NormFloat64()
		for j := range p {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	return Program{
		Name: "random", Radii: 3, H0: []float64{1, 0.4, 0.5, 0.2},
		Build: func(m *convex.Model, h convex.Expr) Level {
			x := m.Vector("x", p)
			e := x
			return Level{
				X:          []*convex.Variable{x},
				Train:      convex.Scale(0.5/n, convex.SumSquares(convex.Add(convex.Sub(convex.Mul(a, e), y), convex.At(h, 3)))),
				Validation: convex.Add(convex.SumSquares(e), convex.Norm1(convex.Sub(e, convex.At(h, 3)))),
				Constraints: []convex.Expr{
					convex.Sub(convex.Norm1(e), convex.At(h, 0)),
					convex.Sub(convex.Scale(0.5, convex.SumSquares(e)), convex.At(h, 1)),
					convex.Sub(convex.Norm2(convex.Slice(e, 2, 5)), convex.At(h, 2)),
					convex.Sub(convex.Add(convex.At(e, 0), convex.At(h, 3)), 0.3),
				},
			}
		},
	}
}

// The subgradient of v is its derivative, where it has one.
func TestSlopeIsDerivative(t *testing.T) {
	for seed := range uint64(3) {
		p := random(seed)
		s := Settings{Backend: native(t)}.withDefaults()
		l := must.Of(newConstrained(&p, &s))(t)
		defer l.Close()
		at := func(h []float64) *Solution {
			sol := must.Of(l.solve(context.Background(), h))(t)
			require.NotNil(t, sol.X)
			return sol
		}
		base := at(p.H0)
		for j := range p.H0 {
			const step = 1e-4
			up, down := append([]float64(nil), p.H0...), append([]float64(nil), p.H0...)
			up[j] += step
			down[j] -= step
			require.InDelta(t, (at(up).Value-at(down).Value)/(2*step), base.slope[j], 1e-3, "seed %d, h[%d]", seed, j)
		}
		for _, lambda := range base.Lambda {
			require.GreaterOrEqual(t, lambda, 0.0)
		}
	}
}

// The reported distance bounds what a finite difference of phi_k can still gain: by strong
// convexity phi_k(z') >= phi_k(z) - distance^2 / (2 rho) for all feasible z' near z.
func TestDistanceBoundsDescent(t *testing.T) {
	p := random(5)
	s := Settings{Backend: native(t), Rho: 0.1}.withDefaults()
	low := must.Of(newConstrained(&p, &s))(t)
	defer low.Close()
	sub := must.Of(newSubproblem(&p, &s, []float64{0, 0, 0, math.Inf(-1)}, []float64{10, 10, 10, math.Inf(1)}, nil))(t)
	defer sub.close()
	sol := must.Of(low.solve(context.Background(), p.H0))(t)
	sub.set(iterate{x: [][]float64{make([]float64, 6)}, h: p.H0}, sol, 3)
	res := must.Of(sub.solve(context.Background()))(t)
	z := res.z
	e := sub.evaluate(z)
	d := res.distance(s.Rho)
	require.Less(t, d, 1e-3)
	// The conic objective is phi_k without its epigraph variables.
	require.InDelta(t, 0, res.gap, 1e-6)

	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []float64{1, 1e-1, 1e-2, 1e-3} {
		for range 50 {
			w := iterate{x: [][]float64{make([]float64, 6)}, h: make([]float64, 4)}
			for j := range w.x[0] {
				w.x[0][j] = z.x[0][j] + size*rng.NormFloat64()
			}
			for j := range w.h {
				w.h[j] = z.h[j] + size*rng.NormFloat64()
			}
			sub.clip(w.h)
			require.GreaterOrEqual(t, sub.evaluate(w).objective, e.objective-1e-6-d*d/(2*s.Rho))
		}
	}
}

func TestPenaltyRule(t *testing.T) {
	s := Settings{CAlpha: 1, Delta: 5}
	for _, c := range []struct{ alpha, t, step, want float64 }{
		{1, 0.5, 0.1, 6},   // max{1, 2} < 10
		{1, 0.05, 0.1, 1},  // 20 > 10
		{20, 0.5, 0.1, 20}, // 20 > 10
		{1, 0, 0.1, 1},     // 1/t is infinite
		{1, 0.5, 0, 6},     // c/step is infinite
	} {
		require.Equal(t, c.want, s.grow(c.alpha, c.t, c.step))
	}
}

// The penalised solution of 1/2 (x - 3)^2 + lambda |x| is 3 - lambda; the target 1.2 is nearest to 3 - 2.
func TestPathStart(t *testing.T) {
	p := shared([]float64{3}, []float64{1.2}, 50)
	p.Path = [][]float64{{5}, {2}, {1}, {0.1}}
	r := &run{program: &p, settings: Settings{Backend: native(t)}.withDefaults()}
	require.NoError(t, r.pathStart(context.Background()))
	require.InDelta(t, 1, r.centre.h[0], 1e-6)
	require.InDelta(t, 1, r.centre.x[0][0], 1e-6)

	p.Path = [][]float64{{1, 2}}
	require.Error(t, r.pathStart(context.Background()))
}

// A radius that holds nothing back may grow: the lower level's solution stays.
func TestSlackKeepsTheSolution(t *testing.T) {
	p := random(2)
	p.H0, p.Radii = []float64{0.5, 8, 6}, 3
	build := p.Build
	p.Build = func(m *convex.Model, h convex.Expr) Level {
		l := build(m, convex.Stack(h, 0))
		l.Constraints = l.Constraints[:3]
		return l
	}
	r := &run{program: &p, settings: Settings{Backend: native(t)}.withDefaults()}
	defer r.close()
	must.Of(r.start(context.Background()))(t)
	require.Equal(t, []bool{false, true, true}, r.current.weak)
	rows := must.Of(p.boundRows(3))(t)
	h, _ := r.slack(r.current, rows)
	require.Equal(t, r.current.h, h) // slack enough

	tight := *r.current
	tight.h = []float64{0.5, 0.125, 0.5} // 1/2 |x|^2 <= 1/8 and |x| <= 1/2 follow from |x|_1 <= 1/2
	h, least := r.slack(&tight, rows)
	require.Equal(t, 0.5, h[0])
	require.InDelta(t, 0.5, least[0], 1e-6)
	low := must.Of(r.lower(context.Background(), h))(t)
	require.InDelta(t, r.current.Value, low.Value, 1e-7)
}

// The gradient of F(h) = L(x(h), h) against differences of its values, and the points of the line, which keep Joint.
func TestConstrained(t *testing.T) {
	p := random(3)
	p.Joint = func(h convex.Expr) []convex.Expr { return []convex.Expr{convex.Sub(convex.Sum(h), 1.5)} }
	p.H0 = []float64{0.6, 0.2, 0.3, 0.1}
	c := must.Of(NewConstrained(p, Settings{Backend: must.Of(backends.Open("native"))(t),
		Solver: backends.Options{Eps: 1e-11}}))(t)
	defer c.Close()
	at := func(j int, by float64) float64 {
		h := slices.Clone(p.H0)
		h[j] += by
		return must.Of(c.Solve(t.Context(), h))(t).Validation
	}
	g := must.Of(c.Gradient(t.Context(), p.H0))(t)
	const h = 1e-4
	for j := range g {
		require.InDelta(t, (at(j, h)-at(j, -h))/(2*h), g[j], 1e-5, j)
	}
	for _, point := range must.Of(c.Line(t.Context(), 5))(t) {
		require.LessOrEqual(t, floats.Sum(point), 1.5+1e-6)
		require.NotNil(t, must.Of(c.Solve(t.Context(), point))(t).X)
	}
	// sum ((t - h) / h)^2 is least where t - h is in proportion to h^2.
	far, lo, hi := []float64{2, 1, 1, 0.5}, []float64{0, 0, 0, -1}, []float64{9, 9, 9, 9}
	want := slices.Clone(far)
	for j, v := range far {
		want[j] -= v * v * (floats.Sum(far) - 1.5) / floats.Dot(far, far)
	}
	require.NoError(t, c.Nearest(t.Context(), far, slices.Clone(far), lo, hi))
	require.InDeltaSlice(t, want, far, 1e-6)
	require.ErrorContains(t, c.Nearest(t.Context(), []float64{1, 1, 1, 1}, hi, []float64{1, 1, 1, 1}, hi), "keep Joint")
}

// sized is a fit of some variables.
type sized struct {
	bilevel.Fit
	n int
}

func (sized) Traits() lower.Traits { return lower.Traits{} }

func (s sized) Shape() []int { return []int{s.n} }

// Subproblems that come no nearer to their optimum with a larger penalty are not tried once more.
func TestRetries(t *testing.T) {
	small, large, none := &joint{parts: []bilevel.Fit{sized{n: 10}}},
		&joint{parts: []bilevel.Fit{sized{n: mostValues + 1}}}, math.Inf(1)
	require.False(t, (*joint)(nil).retries(0.1, none))
	require.False(t, small.retries(0.1, none))
	for _, c := range []struct {
		gap, before float64
		want        bool
	}{{0.1, none, true}, {none, none, true}, {none, 0.1, true}, {0.05, 0.1, true}, {0.1, 0.1, false}, {2, 0.1, false},
		{math.NaN(), none, true}} {
		require.Equal(t, c.want, large.retries(c.gap, c.before))
	}
}

// A run looks at the points of its path, solves the lower level there, and then both programs of each iteration in
// turn.
func TestPlaces(t *testing.T) {
	p := shared([]float64{4}, []float64{3}, 1)
	p.Path = [][]float64{{2}, {1}}
	var places []Place
	s := Settings{Tol: 1e-9, MaxIter: 2, Backend: native(t), PathStart: true,
		Begin: func(at Place) { places = append(places, at) }}
	r := must.Of(Solve(context.Background(), p, s))(t)
	require.Equal(t, 2, r.Iterations)
	require.Equal(t, []Place{
		{Stage: StagePenalty, MaxIter: 2, Point: 1, Points: 2}, {Stage: StagePenalty, MaxIter: 2, Point: 2, Points: 2},
		{Stage: StageConstrained, MaxIter: 2},
		{Stage: StageSubproblem, Iteration: 1, MaxIter: 2}, {Stage: StageConstrained, Iteration: 1, MaxIter: 2},
		{Stage: StageSubproblem, Iteration: 2, MaxIter: 2}, {Stage: StageConstrained, Iteration: 2, MaxIter: 2},
	}, places)
}

// pair has l(b) = 1/2 |b - (3, 4)|^2, a norm and half a square, and a path from the weight 1 on.
func pair() Program {
	return Program{
		Name: "pair", H0: []float64{1, 1}, Radii: 2, Path: [][]float64{{1}},
		Build: func(m *convex.Model, h convex.Expr) Level {
			b := m.Vector("b", 2)
			loss := convex.Scale(0.5, convex.SumSquares(convex.Sub(b, []float64{3, 4})))
			return Level{X: []*convex.Variable{b}, Train: loss, Validation: loss, Constraints: []convex.Expr{
				convex.Sub(convex.Norm2(b), convex.At(h, 0)), convex.Sub(convex.Scale(0.5, convex.SumSquares(b)), convex.At(h, 1)),
			}}
		},
	}
}

// A weight ends where a norm is zero for certain. With one of a square, b is (3, 4) / (1 + w).
func TestWeightsEnd(t *testing.T) {
	q := must.Of(NewPenalized(pair(), Settings{Backend: native(t)}))(t)
	require.Equal(t, []float64{1e5, 1e-10}, q.clipped([]float64{1e12, 1e-12}))
	require.Equal(t, []float64{2, 1e5}, q.clipped([]float64{2, 1e12}))
	s := must.Of(q.Solve(context.Background(), []float64{1e-12, 1e3}, nil))(t)
	require.InEpsilonSlice(t, []float64{3.0 / 1001, 4.0 / 1001}, s.X[0], 1e-4)
	s = must.Of(q.Solve(context.Background(), []float64{1e12, 1}, nil))(t)
	require.InDeltaSlice(t, []float64{0, 0}, s.X[0], 1e-6)
}

// An answer that misses its tolerance is taken where no conic program can be asked, up to the gap that is accepted of
// those.
func TestVerdict(t *testing.T) {
	ctx := context.Background()
	small, large := &joint{parts: []bilevel.Fit{sized{n: 10}}}, &joint{parts: []bilevel.Fit{sized{n: mostValues + 1}}}
	for _, c := range []struct {
		j             *joint
		found, solved bool
		missed        float64
		want          backends.Status
	}{
		{small, true, true, 1e-9, backends.Optimal},
		{small, true, false, 1e-6, backends.NumericalError},
		{large, true, false, 1e-6, backends.Inaccurate},
		{large, true, false, 2 * accept, backends.NumericalError},
		{large, false, false, 0, backends.NumericalError},
	} {
		got, use := c.j.verdict(ctx, c.found, c.solved, c.missed)
		require.Equal(t, c.want, got.status)
		require.Equal(t, c.want != backends.NumericalError, use)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	got, use := large.verdict(ended, false, false, 0)
	require.Equal(t, backends.Cancelled, got.status)
	require.False(t, use)
}
