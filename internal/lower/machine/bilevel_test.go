package machine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// hinge is sum_i u_i max(0, 1 - y_i (x_i'w - c)) as an expression.
func hinge(x *mat.Dense, y, u []float64, w, c *convex.Variable) convex.Expr {
	n, p := x.Dims()
	rows, labels := mat.NewDense(n, p, nil), mat.NewDense(n, 1, nil)
	for i := range n {
		floats.AddScaled(rows.RawRowView(i), u[i]*y[i], x.RawRowView(i))
		labels.Set(i, 0, u[i]*y[i])
	}
	return convex.Sum(convex.Pos(convex.Add(convex.Sub(u, convex.Mul(rows, w)), convex.Mul(labels, c))))
}

// shares are weights over their sum.
func shares(u []float64) []float64 {
	return floats.ScaleTo(make([]float64, len(u)), 1/floats.Sum(u), u)
}

func TestStackedErrors(t *testing.T) {
	x := design.New(mat.NewDense(3, 1, []float64{1, 2, 3}))
	y := []float64{1, -1, 1}
	for _, train := range []int{0, 3} {
		_, err := NewStacked(x, y, nil, train)
		require.ErrorContains(t, err, fmt.Sprintf("%d training rows of 3", train))
	}
	_, err := NewStacked(x, y, []float64{1, 0, 1}, 2)
	require.ErrorContains(t, err, "the weight of row 1 is 0")
}

// Within the ball and the box, on few and on many rows, a machine has the loss of the conic program, is within, and its
// multipliers are the derivatives of the loss.
func TestWithin(t *testing.T) {
	ctx := context.Background()
	for _, n := range []int{80, fewRows + 500} {
		const p = 5
		x, y, u := sample(6, n, p, false)
		g := must.Of(New(design.New(x), y, u))(t)
		for _, r := range []float64{1e-3, 0.1, 0.6, 10} {
			for _, bound := range [][]float64{{1e-6}, {0.3}, {10}, {0.5, 0.2, 0.05, 1, 0.01}} {
				name := fmt.Sprint(n, " ", r, " ", bound)
				s := must.Of(g.Within(ctx, r, bound, Options{Tol: 1e-9}))(t)
				require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, s.Status, name)
				require.LessOrEqual(t, floats.Dot(s.W, s.W)/2, r*(1+1e-12), name)
				for j, w := range s.W {
					require.LessOrEqual(t, math.Abs(w), bound[min(j, len(bound)-1)], name)
				}
				if n > fewRows && r != 0.1 {
					continue
				}
				m := convex.NewModel()
				w, c := m.Vector("w", p), m.Vector("c", 1)
				m.Minimize(hinge(x, y, shares(u), w, c))
				all := bound
				if len(all) == 1 {
					all = slices.Repeat(bound, p)
				}
				m.Le("", convex.Scale(0.5, convex.SumSquares(w)), r)
				m.Le("", convex.Sub(convex.Abs(w), all), 0)
				require.InDelta(t, lowertest.Conic(t, m, 0).Objective, s.Loss, 1e-6, name)
			}
		}
		bound := []float64{0.5, 0.2, 0.05, 1, 0.01}
		s := must.Of(g.Within(ctx, 0.1, bound, Options{Tol: 1e-10}))(t)
		require.Positive(t, s.Lambda)
		for k, want := range append([]float64{s.Lambda}, s.Bound...) {
			loss := func(h float64) float64 {
				r, b := 0.1, slices.Clone(bound)
				if k == 0 {
					r *= 1 + h
				} else {
					b[k-1] *= 1 + h
				}
				m := must.Of(g.Within(ctx, r, b, Options{Tol: 1e-10}))(t)
				return m.Loss
			}
			unit := 0.1
			if k > 0 {
				unit = bound[k-1]
			}
			require.InDelta(t, -want*unit, (loss(1e-4)-loss(-1e-4))/2e-4, 1e-5, "%d %d", n, k)
		}
	}
	x, y, _ := sample(6, 30, 3, false)
	g := must.Of(New(design.New(x), y, nil))(t)
	_, err := g.Within(ctx, 0, []float64{1}, Options{})
	require.ErrorContains(t, err, "radius is 0")
	_, err = g.Within(ctx, 1, []float64{0}, Options{})
	require.ErrorContains(t, err, "bound 0 is 0")
}

// folds are stacked rows of some folds, with the lower levels of their training rows.
func folds(t *testing.T, count, n, p, entries int) (stacks, trains []*Problem) {
	t.Helper()
	for k := range count {
		x, y := words(uint64(20+k), n, p, entries)
		m := 2 * n / 3
		g := must.Of(NewStacked(design.New(matrices.Compress(x)), y, nil, m))(t)
		low := must.Of(New(design.New(x.Slice(0, m, 0, p)), y[:m], nil))(t)
		stacks, trains = append(stacks, g), append(trains, low)
	}
	return stacks, trains
}

// centre is that of a first subproblem at h.
func centre(t *testing.T, trains []*Problem, h []float64, alpha, rho float64) *bilevel.Centre {
	t.Helper()
	c := &bilevel.Centre{R: h, Low: make([]float64, len(h)), High: make([]float64, len(h)), Gamma: make([]float64, len(h)),
		Alpha: alpha, Rho: rho, Tol: 1e-8}
	for j := range h {
		c.Low[j], c.High[j] = 1e-6, 10
	}
	c.High[0] = 1000
	for _, g := range trains {
		w := must.Of(g.Within(context.Background(), h[0], h[1:], Options{Tol: 1e-10}))(t)
		c.X = append(c.X, [][]float64{w.W, {w.C}})
		c.Value += w.Loss / float64(len(trains))
		for j, v := range append([]float64{w.Lambda}, w.Bound...) {
			c.Gamma[j] += v / float64(len(trains))
		}
	}
	return c
}

// By conjugate gradients with few features in the block the subproblem has the solutions that it has with all, which
// are those of conic programs, see package fits.
func TestSubproblemByProducts(t *testing.T) {
	compared := 0
	for _, count := range []int{1, 3} {
		for _, shape := range [][3]int{{60, 7, 4}, {150, 40, 8}, {60, 90, 10}} {
			stacks, trains := folds(t, count, shape[0], shape[1], shape[2])
			rng := rand.New(rand.NewPCG(1, uint64(shape[1])))
			for _, wbar := range []float64{10, 0.3, 0.02} {
				h := make([]float64, shape[1]+1)
				for j := range h {
					h[j] = wbar * (0.5 + rng.Float64())
				}
				h[0] = 0.7
				for _, alpha := range []float64{1, 30} {
					for _, rho := range []float64{1e-2, 1}[:1+len(stacks)/3] {
						name := fmt.Sprint(count, shape, wbar, alpha, rho)
						c := centre(t, trains, h, alpha, rho)
						var found [2]*bilevel.Subsolution
						for k, block := range []int{manyHeavy, 3} {
							s := must.Of(NewSubproblem(stacks, 1))(t)
							s.block, s.few = block, block > 3
							found[k] = must.Of(s.Solve(context.Background(), c))(t)
							t.Log(name, found[k].Solved, found[k].Gap, found[k].Fits)
						}
						if found[0].Fits > count*mostJointSteps/2 {
							continue // hardly solved by either
						}
						compared++
						require.True(t, found[1].Solved, name)
						require.InDelta(t, found[0].Objective, found[1].Objective, 2e-8, name)
						for j := range h { // |h - h*|^2 <= 2 gap / rho
							require.InDelta(t, found[0].R[j], found[1].R[j], 2*math.Sqrt(2e-8/rho), name)
						}
					}
				}
			}
		}
	}
	require.GreaterOrEqual(t, compared, 50, "of 54")
}

// Bounds of h may be at infinity, or the same.
func TestSubproblemBounds(t *testing.T) {
	stacks, trains := folds(t, 2, 60, 8, 4)
	c := centre(t, trains, append([]float64{0.7}, slices.Repeat([]float64{0.3}, 8)...), 5, 1)
	for j := range c.High {
		c.High[j] = math.Inf(1)
	}
	c.Low[3], c.High[3] = c.R[3], c.R[3]
	var found [2]*bilevel.Subsolution
	for k := range found {
		s := must.Of(NewSubproblem(stacks, 1))(t)
		s.few = k == 0
		found[k] = must.Of(s.Solve(context.Background(), c))(t)
		require.True(t, found[k].Solved)
		require.Equal(t, c.R[3], found[k].R[3])
	}
	require.InDelta(t, found[0].Objective, found[1].Objective, 2e-8)
	require.InDeltaSlice(t, found[0].R, found[1].R, 2*math.Sqrt(2e-8))
}

// A subproblem that ends early is nowhere worse than the centre, and its gap bounds the distance from the optimum.
func TestSubproblemEarly(t *testing.T) {
	stacks, trains := folds(t, 3, 60, 30, 6)
	c := centre(t, trains, append([]float64{0.7}, slices.Repeat([]float64{0.3}, 30)...), 5, 1)
	for _, block := range []int{manyHeavy, 3} {
		solve := func(tol float64) *bilevel.Subsolution {
			s := must.Of(NewSubproblem(stacks, 1))(t)
			s.block, s.few = block, block > 3
			c.Tol = tol
			out := must.Of(s.Solve(context.Background(), c))(t)
			require.True(t, out.Solved)
			require.LessOrEqual(t, out.Gap, tol)
			return out
		}
		first, best := solve(1e6), solve(1e-8)
		require.Equal(t, c.X, first.X)
		require.Zero(t, first.Fits)
		for _, tol := range []float64{1, 0.1, 1e-2, 1e-3, 1e-4} {
			out := solve(tol)
			require.LessOrEqual(t, out.Objective, first.Objective)
			require.InDelta(t, best.Objective, out.Objective, out.Gap+2e-8)
		}
	}
}
