package dca

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
)

// separable is min 1/2 |x - y|^2 with a bound on each of the first |x_j|, one on half the square of the last
// two entries, and an upper variable that bounds the last entry: |x_2| <= u.
func separable(y []float64) Program {
	return Program{
		Name: "separable", H0: []float64{1, 1, 1, 5}, Radii: 3, Lo: []float64{0, 0, 0, 1e-3}, Hi: []float64{9, 9, 9, 8},
		Build: func(m *convex.Model, h convex.Expr) Level {
			x := m.Vector("x", 3)
			e := x
			return Level{
				X:          []*convex.Variable{x},
				Train:      convex.Scale(0.5, convex.SumSquares(convex.Sub(e, y))),
				Validation: convex.SumSquares(e),
				Constraints: []convex.Expr{
					convex.Sub(convex.Scale(0.5, convex.SumSquares(convex.Slice(e, 1, 3))), convex.At(h, 2)),
					convex.Sub(convex.Abs(convex.Slice(e, 0, 2)), convex.Slice(h, 0, 2)),
					convex.Sub(convex.Abs(convex.At(e, 2)), convex.At(h, 3)),
				},
			}
		},
	}
}

func TestKinds(t *testing.T) {
	p := separable([]float64{3, -2, 4})
	kinds := must.Of(p.Kinds())(t)
	require.Equal(t, [][]int{{0, 1}, {2}}, kinds)

	build := p.Build
	p.Build = func(m *convex.Model, h convex.Expr) Level {
		l := build(m, h)
		l.Constraints[0] = convex.Sub(l.Constraints[0], convex.At(h, 1))
		return l
	}
	_, err := p.Kinds()
	require.ErrorContains(t, err, "no penalty form")
	p.Build = func(m *convex.Model, h convex.Expr) Level {
		l := build(m, h)
		l.Constraints = l.Constraints[1:]
		return l
	}
	_, err = p.Kinds()
	require.ErrorContains(t, err, "radius 2 is in no constraint")
}

// The solution is known entry by entry: soft thresholds, shrinkage, and a clip at u.
func TestPenalizedClosedForm(t *testing.T) {
	y := []float64{3, -2, 4}
	p := separable(y)
	soft := func(v, w float64) float64 { return math.Copysign(math.Max(0, math.Abs(v)-w), v) }
	q := must.Of(NewPenalized(p, Settings{Backend: native(t)}))(t)
	defer q.Close()
	for i, lambda := range [][]float64{{0.5, 0.2, 0.3}, {2, 0.7, 0.1}, {5, 1, 4}, {0.4, 0.4, 2}} {
		u := []float64{5, 1.5, 0.1, 0.1}[i]
		s := must.Of(q.Solve(context.Background(), lambda, []float64{u}))(t)
		want := []float64{soft(y[0], lambda[0]), soft(y[1], lambda[1]) / (1 + lambda[2]), math.Min(u, y[2]/(1+lambda[2]))}
		require.InDeltaSlice(t, want, s.X[0], 1e-4) // where |.| has its kink, x is off by the root of the gap
		radii := []float64{math.Abs(want[0]), math.Abs(want[1]), 0.5 * (want[1]*want[1] + want[2]*want[2])}
		require.InDeltaSlice(t, radii, s.Radii, 1e-3)
		require.InDelta(t, want[0]*want[0]+want[1]*want[1]+want[2]*want[2], s.Validation, 1e-3)
		again := must.Of(p.Penalties(s.X, []float64{u}))(t)
		require.Equal(t, s.Radii, again)
	}
}

// In min 1/2 |x - y|^2 + w_1 |x_1| + w_2 |x_2| + w_3 (x_2^2 + x_3^2)/2 s.t. |x_3| <= u, with x_1 = y_1 - w_1,
// x_2 = (y_2 + w_2)/(1 + w_3) < 0 and x_3 = u or y_3/(1 + w_3), |x|^2 has the gradients below. Where w_1 > y_1, x_1 is
// zero. Two folds, of which the second has twice the y, divide the weights between them.
func TestPenalizedGradient(t *testing.T) {
	p := separable([]float64{3, -2, 4})
	q := must.Of(NewPenalized(p, Settings{Backend: must.Of(backends.Open("native"))(t)}))(t)
	defer q.Close()
	for _, c := range []struct{ weights, upper, want []float64 }{
		{[]float64{1, 0.5, 0.25}, []float64{2}, []float64{-4, 2 * -1.2 / 1.25, -2 * -1.2 * -1.5 / 1.25 / 1.25, 4}},
		{[]float64{5, 0.5, 1}, []float64{7}, []float64{0, 2 * -0.75 / 2, -2*-0.75*-1.5/4 - 2*2*4./4, 0}},
	} {
		g := must.Of(q.Gradient(t.Context(), c.weights, c.upper))(t)
		require.InDeltaSlice(t, c.want, g, 1e-6)
	}
	_, err := q.Gradient(t.Context(), []float64{1}, nil)
	require.ErrorContains(t, err, "1 weights, expected 3")

	p.Blocks = []func(m *convex.Model, h convex.Expr) Level{p.Build, separable([]float64{6, -4, 8}).Build}
	p.Build = nil
	folds := must.Of(NewPenalized(p, Settings{Backend: must.Of(backends.Open("native"))(t)}))(t)
	defer folds.Close()
	g := must.Of(folds.Gradient(t.Context(), []float64{2, 1, 0.5}, []float64{2}))(t)
	require.InDeltaSlice(t, []float64{-2 - 5, -1.2/1.25 + -2.8/1.25, -(1.2*1.5 + 2.8*3.5) / 1.25 / 1.25, 8}, g, 1e-6)
}

// After Forget a solve gives the same bits as that of a new one, whatever was solved in between.
func TestForget(t *testing.T) {
	p := separable([]float64{3, -2, 4})
	solve := func(q *Penalized, w float64) []float64 {
		s := must.Of(q.Solve(context.Background(), []float64{w, w, 2 * w}, nil))(t)
		return s.X[0]
	}
	fresh := func() *Penalized {
		return must.Of(NewPenalized(p, Settings{Backend: native(t)}))(t)
	}
	q, r := fresh(), fresh()
	defer q.Close()
	defer r.Close()
	solve(q, 0.1)
	solve(q, 2)
	require.NoError(t, q.Forget())
	require.Equal(t, solve(r, 0.7), solve(q, 0.7))
	require.Equal(t, 3, q.Stats().Solves)
}

func TestPenalizedMisuse(t *testing.T) {
	p := separable([]float64{3, -2, 4})
	q := must.Of(NewPenalized(p, Settings{Backend: native(t)}))(t)
	_, err := q.Solve(context.Background(), []float64{1, 1}, nil)
	require.ErrorContains(t, err, "2 weights, expected 3")
	_, err = q.Solve(context.Background(), []float64{1, 0, 1}, nil)
	require.ErrorContains(t, err, "weight 1 is 0")
	require.NoError(t, q.Close())
	require.NoError(t, q.Close())
	_, err = q.Solve(context.Background(), []float64{1, 1, 1}, nil)
	require.ErrorIs(t, err, backends.ErrClosed)
	_, err = p.Penalties([][]float64{{1}}, nil)
	require.ErrorContains(t, err, "1 values of variable x, expected 3")
}

// direct is a fit by a function that gives X, nil where it cannot.
type direct struct {
	penalty func(weights []float64) [][]float64
}

func (direct) Dim() int           { return 1 }
func (direct) LambdaMax() float64 { return 1 }

func (d direct) Solve(_ context.Context, weights []float64, _ float64, _ *lower.Point) (*lower.Point, error) {
	x := d.penalty(weights)
	return &lower.Point{X: x, Gap: 1e-10, Solved: x != nil}, nil
}

func (d direct) Traits() lower.Traits { return lower.Traits{} }

// Solutions of [Program.Fit] are scored as those of the conic program, which is there for what it leaves.
func TestPenaltyOfTheProgram(t *testing.T) {
	p := separable([]float64{3, -2, 4})
	p.Fit = direct{}
	_, err := NewPenalized(p, Settings{Backend: native(t)})
	require.ErrorContains(t, err, "3 radii and 4 hyperparameters")
	p.H0, p.Lo, p.Hi = p.H0[:3], nil, nil
	build := p.Build
	p.Build = func(m *convex.Model, h convex.Expr) Level {
		l := build(m, convex.Stack(h, 8))
		l.Constraints = l.Constraints[:2]
		return l
	}
	p.Fit = direct{penalty: func(w []float64) [][]float64 {
		require.Equal(t, w[0], w[1])
		if w[0] == 1 {
			return nil
		}
		return [][]float64{{3 - w[0], -(2 - w[0]) / (1 + w[2]), 4 / (1 + w[2])}}
	}}
	fast := must.Of(NewPenalized(p, Settings{Backend: native(t)}))(t)
	p.Fit = nil
	slow := must.Of(NewPenalized(p, Settings{Backend: native(t)}))(t)
	for _, w := range [][]float64{{0.7, 0.7, 0.5}, {1, 1, 0.2}, {0.1, 0.1, 2}} {
		a := must.Of(fast.Solve(context.Background(), w, nil))(t)
		b := must.Of(slow.Solve(context.Background(), w, nil))(t)
		require.Equal(t, backends.Optimal, a.Status)
		require.InDeltaSlice(t, b.X[0], a.X[0], 1e-6)
		require.InDeltaSlice(t, b.Radii, a.Radii, 1e-6)
		require.InDelta(t, b.Train, a.Train, 1e-6)
		require.InDelta(t, b.Validation, a.Validation, 1e-5)
		if w[0] != 1 { // what was not computed is not 0
			require.True(t, math.IsNaN(a.Residual))
			require.Equal(t, 1e-10, a.Gap)
		}
		require.Less(t, b.Residual, 1e-6)
		require.True(t, math.IsNaN(b.Gap))
	}
	require.NoError(t, fast.Close())
	require.NoError(t, slow.Close())
	_, err = fast.MinimizeTo(context.Background(), []float64{0.7, 0.7, 0.5}, nil, 0, true)
	require.ErrorIs(t, err, backends.ErrClosed)
}

// shared are blocks min 1/2 (x - a_t)^2 s.t. |x| <= r, L = sum 1/2 (x - b_t)^2. With r below all a_t, x_t = r, and the
// best r is the mean of the b_t, with lambda = sum (a_t - r).
func shared(a, b []float64, r0 float64) Program {
	p := Program{Name: "shared", H0: []float64{r0}, Radii: 1, Path: [][]float64{{3}, {2}, {1}, {0.5}}}
	for t := range a {
		p.Blocks = append(p.Blocks, func(m *convex.Model, h convex.Expr) Level {
			x := m.Vector(fmt.Sprintf("x%d", t), 1)
			return Level{
				X:           []*convex.Variable{x},
				Train:       convex.Scale(0.5, convex.SumSquares(convex.Sub(x, a[t]))),
				Validation:  convex.Scale(0.5, convex.SumSquares(convex.Sub(x, b[t]))),
				Constraints: []convex.Expr{convex.Sub(convex.Norm1(x), h)},
			}
		})
	}
	return p
}

func TestBlocksClosedForm(t *testing.T) {
	a, b := []float64{3, 4, 5}, []float64{1, 0.5, 1.8}
	for name, s := range map[string]Settings{
		"plain":       {Tol: 1e-6, MaxIter: 1000},
		"accelerated": {Tol: 1e-6, GapTol: 1e-7},
		"plain first": {Tol: 1e-4, GapTol: 1e-7, PlainFirst: true},
		"path":        {Tol: 1e-6, MaxIter: 1000, PathStart: true},
	} {
		t.Run(name, func(t *testing.T) {
			s.Backend = native(t)
			res := must.Of(Solve(context.Background(), shared(a, b, 2), s))(t)
			require.Equal(t, outcome.Converged, res.Status, res.Message)
			require.Len(t, res.X, 3)
			require.InDelta(t, 1.1, res.H[0], 5e-3)
			require.InDelta(t, 12-3*1.1, res.Lambda[0], 2e-2)
			for i := range a {
				require.InDelta(t, 1.1, res.Refit[i][0], 5e-3)
			}
			v := 0.0 // v(r) = sum 1/2 (a_t - r)^2
			for _, x := range a {
				v += (x - res.H[0]) * (x - res.H[0]) / 2
			}
			require.InDelta(t, v, res.LowerValue, 1e-6)
			require.Less(t, res.KKT.Stationarity(), 2e-2)
		})
	}
	s := Settings{Tol: 1e-3, Backend: native(t)}
	p := shared(a, b, 2)
	p.Build = p.Blocks[0]
	_, err := Solve(context.Background(), p, s)
	require.ErrorContains(t, err, "both given")
}

// In penalty form each block has its part of the weight of a radius that all share, x_t = a_t - w/3, and all of the
// weight of one that is its own.
func TestBlocksShareWeights(t *testing.T) {
	a := []float64{3, 4, 5}
	p := shared(a, a, 2)
	own := p.Blocks[2]
	p.H0, p.Radii = []float64{2, 2}, 2
	for i := range 2 {
		first := p.Blocks[i]
		p.Blocks[i] = func(m *convex.Model, h convex.Expr) Level { return first(m, convex.At(h, 0)) }
	}
	p.Blocks[2] = func(m *convex.Model, h convex.Expr) Level { return own(m, convex.At(h, 1)) }
	for _, c := range []struct {
		p       Program
		weights []float64
		want    []float64
	}{
		{shared(a, a, 2), []float64{1.5}, []float64{2.5, 3.5, 4.5}},
		{p, []float64{1, 0.7}, []float64{2.5, 3.5, 4.3}},
	} {
		q := must.Of(NewPenalized(c.p, Settings{Backend: native(t)}))(t)
		s := must.Of(q.Solve(context.Background(), c.weights, nil))(t)
		for i, want := range c.want {
			require.InDelta(t, want, s.X[i][0], 1e-4)
		}
		require.NoError(t, q.Close())
	}
}

// bounded are blocks with a loss of their own, one radius and a bound for each entry.
func bounded(seed uint64, blocks int) Program {
	rng := rand.New(rand.NewPCG(seed, 11))
	const p = 5
	prog := Program{Name: "bounded", H0: []float64{1.5}, Radii: 1, Bounds: p, Lo: []float64{0}, Hi: []float64{10}}
	for range p {
		prog.H0, prog.Lo, prog.Hi = append(prog.H0, 0.3), append(prog.Lo, 1e-6), append(prog.Hi, 10)
	}
	for range blocks {
		a, b := make([]float64, p), make([]float64, p)
		for j := range p {
			a[j] = 2 * rng.NormFloat64()
			b[j] = a[j]/2 + 0.3*rng.NormFloat64()
		}
		prog.Blocks = append(prog.Blocks, func(m *convex.Model, h convex.Expr) Level {
			x := m.Vector("x", p)
			return Level{
				X:          []*convex.Variable{x},
				Train:      convex.Scale(0.5, convex.SumSquares(convex.Sub(x, a))),
				Validation: convex.Norm1(convex.Sub(x, b)),
				Constraints: []convex.Expr{
					convex.Sub(convex.Scale(0.5, convex.SumSquares(x)), convex.At(h, 0)),
					convex.Sub(convex.Abs(x), convex.Slice(h, 1, 1+p)),
				},
			}
		})
	}
	return prog
}

// joined is the same lower level as one block.
func joined(p Program) Program {
	blocks := p.Blocks
	p.Blocks = nil
	p.Build = func(m *convex.Model, h convex.Expr) Level {
		q := Program{Blocks: blocks}
		l, err := q.build(m, h)
		if err != nil {
			panic(err)
		}
		return l
	}
	return p
}

// Blocks solved apart give what they give together, whatever the number of processors, and the subgradient of v is its
// derivative.
func TestBlocksAgreeWithOneProgram(t *testing.T) {
	for seed := range uint64(3) {
		p := bounded(seed, 4)
		s := Settings{Tol: 1e-3, Backend: native(t)}
		apart := must.Of(Solve(context.Background(), p, s))(t)
		together := must.Of(Solve(context.Background(), joined(p), s))(t)
		require.Equal(t, apart.Iterations, together.Iterations)
		// A gap of 1e-8 in a subproblem of modulus rho = 1e-3 allows for sqrt(2 1e-8 / 1e-3) in z.
		require.InDeltaSlice(t, together.H, apart.H, 5e-3)
		require.InDelta(t, together.UpperValue, apart.UpperValue, 1e-4)
		require.InDelta(t, together.RefitValue, apart.RefitValue, 1e-4)

		text := func() string {
			r := must.Of(Solve(context.Background(), p, s))(t)
			for i := range r.Trace {
				r.Trace[i].SubSeconds, r.Trace[i].LowerSeconds = 0, 0
			}
			raw := must.Of(json.Marshal([]any{r.X, r.H, r.Lambda, r.Refit, r.Trace}))(t)
			return string(raw)
		}
		many := text()
		before := runtime.GOMAXPROCS(1)
		one := text()
		runtime.GOMAXPROCS(before)
		require.Equal(t, many, one)

		set := s.withDefaults()
		l := must.Of(newConstrained(&p, &set))(t)
		value := func(h []float64) float64 {
			sol := must.Of(l.solve(context.Background(), h))(t)
			return sol.Value
		}
		base := must.Of(l.solve(context.Background(), p.H0))(t)
		for j := range p.H0 {
			const step = 1e-4
			up, down := append([]float64(nil), p.H0...), append([]float64(nil), p.H0...)
			up[j] += step
			down[j] -= step
			require.InDelta(t, (value(up)-value(down))/(2*step), base.slope[j], 1e-3, "h[%d]", j)
			require.LessOrEqual(t, base.slope[j], 0.0)
		}
		l.Close()
	}
}

// quadraticOnly is a solver that takes no second-order cones.
type quadraticOnly struct{ backends.ConicBackend }

func (q quadraticOnly) Capabilities() backends.Capabilities {
	c := q.ConicBackend.Capabilities()
	c.Cones = slices.DeleteFunc(slices.Clone(c.Cones),
		func(k backends.ConeKind) bool { return k == backends.SecondOrderCone })
	return c
}

func (q quadraticOnly) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	for _, c := range p.Cones {
		if c.Kind == backends.SecondOrderCone {
			return nil, &backends.UnsupportedError{Backend: q.Name(), Feature: "the second-order cone"}
		}
	}
	return q.ConicBackend.Setup(p, o)
}

// boxed is least squares with a box for every coefficient, n rows for training and as many for validation.
func boxed(seed uint64, n, p int, start float64) Program {
	rng := rand.New(rand.NewPCG(seed, 2))
	rows := func() (*mat.Dense, []float64) {
		a, y := mat.NewDense(n, p, nil), make([]float64, n)
		for i := range n {
			y[i] = rng.NormFloat64()
			for j := range p {
				a.Set(i, j, rng.NormFloat64())
				y[i] += a.At(i, j) / float64(1+j)
			}
		}
		return a, y
	}
	a, y := rows()
	b, w := rows()
	loss := func(e convex.Expr, a *mat.Dense, y []float64) convex.Expr {
		return convex.Scale(0.5/float64(n), convex.SumSquares(convex.Sub(convex.Mul(a, e), y)))
	}
	return Program{
		Name: "boxed", Radii: p, H0: slices.Repeat([]float64{start}, p),
		Build: func(m *convex.Model, h convex.Expr) Level {
			x := m.Vector("x", p)
			e := x
			return Level{
				X: []*convex.Variable{x}, Train: loss(e, a, y), Validation: loss(e, b, w),
				Constraints: []convex.Expr{convex.Sub(convex.Abs(e), h)},
			}
		},
	}
}

// The search for the multiplier ends where the second-order cone does: the subproblem is strongly convex, so
// that its solution is one.
func TestSplitEqualsCone(t *testing.T) {
	for _, c := range []struct {
		n, p     int
		start    float64
		settings Settings
	}{
		{30, 5, 0.2, Settings{Tol: 1e-4, MaxIter: 12}},
		{12, 20, 0.05, Settings{MaxIter: 4}},
		{12, 20, 0.05, Settings{MaxIter: 4, Alpha0: 100, Rho: 0.1}},
		{30, 5, 0.2, Settings{GapTol: 1e-4, MaxIter: 6}},
		{30, 5, 10, Settings{MaxIter: 3}}, // nothing binds: v(r) is the unconstrained minimum
	} {
		p := boxed(7, c.n, c.p, c.start)
		s := c.settings
		s.Backend, s.Solver.Eps = native(t), 1e-10 // with rho = 1e-3, z is known to the root of a thousand times that
		want := must.Of(Solve(context.Background(), p, s))(t)
		s.Backend = quadraticOnly{native(t)}
		got := must.Of(Solve(context.Background(), p, s))(t)

		require.Equal(t, want.Status, got.Status, got.Message)
		require.Len(t, got.Trace, len(want.Trace))
		for k, w := range want.Trace {
			g := got.Trace[k]
			require.Equal(t, w.Alpha, g.Alpha)
			require.InDelta(t, w.Objective, g.Objective, 1e-6*(1+w.Objective))
			require.InDelta(t, w.T, g.T, 1e-5)
			require.InDeltaSlice(t, w.H, g.H, 1e-4)
			require.Less(t, g.Distance, 1e-3)
		}
		require.InDelta(t, want.UpperValue, got.UpperValue, 1e-4)
		require.InDelta(t, want.KKT.Eta, got.KKT.Eta, 1e-3*(1+want.KKT.Eta))
	}
}

// A lower level that has squares in its own constraints cannot be split, and the error says what it takes.
func TestSplitNeedsPolyhedralConstraints(t *testing.T) {
	_, err := Solve(context.Background(), random(1), Settings{Backend: quadraticOnly{native(t)}})
	var unsupported *backends.UnsupportedError
	require.ErrorAs(t, err, &unsupported)
}
