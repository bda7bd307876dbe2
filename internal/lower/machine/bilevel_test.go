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
				s := must.Of(g.Within(ctx, r, bound, 1e-9, nil))(t)
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
		s := must.Of(g.Within(ctx, 0.1, bound, 1e-10, nil))(t)
		require.Positive(t, s.Lambda)
		for k, want := range append([]float64{s.Lambda}, s.Bound...) {
			loss := func(h float64) float64 {
				r, b := 0.1, slices.Clone(bound)
				if k == 0 {
					r *= 1 + h
				} else {
					b[k-1] *= 1 + h
				}
				m := must.Of(g.Within(ctx, r, b, 1e-10, nil))(t)
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
	_, err := g.Within(ctx, 0, []float64{1}, 1e-8, nil)
	require.ErrorContains(t, err, "radius is 0")
	_, err = g.Within(ctx, 1, []float64{0}, 1e-8, nil)
	require.ErrorContains(t, err, "bound 0 is 0")
}

// folds are stacked rows of some folds, with the lower levels of their training rows.
func folds(t *testing.T, count, n, p, entries int) (stacks []Stack, trains []*Problem) {
	t.Helper()
	for k := range count {
		x, y := words(uint64(20+k), n, p, entries)
		m := 2 * n / 3
		g := Stack{design.New(matrices.Compress(x)), y, slices.Repeat([]float64{1}, n), m}
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
		w := must.Of(g.Within(context.Background(), h[0], h[1:], 1e-10, nil))(t)
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
							s := NewSubproblem(stacks, 1)
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
		s := NewSubproblem(stacks, 1)
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
			s := NewSubproblem(stacks, 1)
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

// squaredOptimal checks a solution with the squared hinge by the definitions of its value and gradient.
func squaredOptimal(t *testing.T, x *mat.Dense, y, u []float64, lambda float64, g *Problem, m *Solution, name string) {
	t.Helper()
	require.Equal(t, outcome.Converged, m.Status, name)
	value, slope := lambda/2*floats.Dot(m.W, m.W), 0.0
	gradient := make([]float64, len(m.W))
	floats.AddScaled(gradient, lambda, m.W)
	for i, v := range y {
		if s := 1 - v*(floats.Dot(x.RawRowView(i), m.W)-m.C); s > 0 {
			w := u[i] / floats.Sum(u)
			value += w * s * s
			floats.AddScaled(gradient, -2*w*s*v, x.RawRowView(i))
			slope += 2 * w * s * v
		}
	}
	require.InDelta(t, value, m.Objective, 1e-11*(1+value), name)
	require.LessOrEqual(t, m.Gap, 1e-12*g.scale, name)
	near := 1e-5 * math.Sqrt(g.tau)
	require.InDelta(t, 0, slope, near, name)
	for j, w := range m.W {
		require.LessOrEqual(t, math.Abs(w), m.bound[j], name)
		switch d := gradient[j]; {
		case w >= m.bound[j]:
			require.LessOrEqual(t, d, near, name)
		case w <= -m.bound[j]:
			require.GreaterOrEqual(t, d, -near, name)
		default:
			require.InDelta(t, 0, d, near, name)
		}
	}
}

// On rows of many kinds, from nothing and from the solution before, values and gradients are those of an optimum.
func TestSquaredHinge(t *testing.T) {
	for name, draw := range samples() {
		x, y, u := draw()
		for k, d := range []*design.Matrix{design.New(x), design.New(matrices.Compress(x))} {
			g := must.Of(New(d, y, u))(t).Squared()
			var last *Solution
			for _, lambda := range []float64{1e4, 1, 1e-2, 1e-4, 1e-6} {
				for _, bound := range []float64{math.Inf(1), 10, 0.3, 1e-2, 1e-6} {
					what := fmt.Sprint(name, " ", k, " ", lambda, " ", bound)
					s := must.Of(g.Solve(context.Background(), lambda, []float64{bound}, 1e-12, last))(t)
					squaredOptimal(t, x, y, u, lambda, g, s, what)
					last = s
				}
			}
		}
	}
}

// So many features of few entries that the matrix is not stored, and systems are solved by conjugate gradients or, of
// few rows, by these.
func TestSquaredHingeWide(t *testing.T) {
	for _, n := range []int{900, 200} {
		x, y := words(2, n, 1500, 12)
		u := slices.Repeat([]float64{1}, n)
		g := must.Of(New(design.New(matrices.Compress(x)), y, nil))(t).Squared()
		for _, bound := range []float64{math.Inf(1), 0.1} {
			s := must.Of(g.Solve(context.Background(), 1e-3, []float64{bound}, 1e-12, nil))(t)
			squaredOptimal(t, x, y, u, 1e-3, g, s, fmt.Sprint(n, bound))
		}
	}
}

// waves are rows that another program can make.
func waves() (x *mat.Dense, y []float64) {
	const n, p = 40, 6
	x, y = mat.NewDense(n, p, nil), slices.Repeat([]float64{1}, n)
	x.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64((i+1)*(j+1))*0.7 + float64(j*j)) }, x)
	for i := range n {
		if 2*x.At(i, 0)-x.At(i, 1)+0.5*x.At(i, 2)+1.5*math.Cos(3*float64(i))+0.3 < 0 {
			y[i] = -1
		}
	}
	return x, y
}

// LinearSVC of scikit-learn 1.9.1 on these rows, whose constant has next to no penalty:
//
//	i = numpy.arange(1, 41)[:, None]; j = numpy.arange(6)[None, :]; x = numpy.sin(i * (j + 1) * 0.7 + j * j)
//	y = numpy.where(2*x[:, 0] - x[:, 1] + 0.5*x[:, 2] + 1.5*numpy.cos(3 * (i[:, 0] - 1)) + 0.3 > 0, 1, -1)
//	m = LinearSVC(loss="squared_hinge", C=1 / (40 * lam), dual=False, tol=1e-14, intercept_scaling=1e5,
//	              max_iter=100000).fit(x, y); print(m.coef_, m.intercept_)
func TestSquaredHingePeer(t *testing.T) {
	x, y := waves()
	g := must.Of(New(design.New(x), y, nil))(t).Squared()
	for _, c := range []struct {
		lambda, b0 float64
		w          []float64
	}{
		{1, 0.019523691228239822, []float64{0.40086178115921617, -0.2202352384061811, 0.047312873288752236,
			-0.06576969209038518, 0.09472517672586482, -0.03807010943079359}},
		{0.1, 0.02566699612827327, []float64{0.7697215608951427, -0.44480555263213184, 0.05940611832955215,
			-0.02967486917445855, 0.2556906441618689, -0.08231460161569458}},
		{0.001, 0.1114009618187482, []float64{0.9948931447587352, -0.6448156507757763, -0.14202751241441505,
			0.2735276680348623, 0.7440158336116776, 0.014627384501185099}},
	} {
		s := must.Of(g.Solve(context.Background(), c.lambda, []float64{math.Inf(1)}, 1e-13, nil))(t)
		require.InDeltaSlice(t, c.w, s.W, 1e-6)
		require.InDelta(t, c.b0, -s.C, 1e-6)
	}
}

// Derivatives are those of differences.
func TestSquaredHingeDerivatives(t *testing.T) {
	x, y := waves()
	g := must.Of(New(design.New(x), y, nil))(t).Squared()
	checkAdjoint(t, g, 0.1, 1e-14, 1e-5, 5e-7)
}

// In a ball the least loss is that of the penalised form at its multiplier.
func TestSquaredHingeWithin(t *testing.T) {
	x, y := waves()
	g := must.Of(New(design.New(x), y, nil))(t).Squared()
	s := must.Of(g.Solve(context.Background(), 0.1, []float64{0.5}, 1e-13, nil))(t)
	w := must.Of(g.Within(context.Background(), floats.Dot(s.W, s.W)/2, []float64{0.5}, 1e-12, nil))(t)
	require.InDelta(t, g.Loss(s.W, s.C), w.Loss, 1e-11)
	require.InDelta(t, 0.1, w.Lambda, 1e-4)
	require.InDeltaSlice(t, s.W, w.W, 1e-5)
}

// Labels that the features tell nothing of: the solution is w = 0 with the label of more weight for all rows, so that
// the value is twice the share of the other one. Its multipliers are those of the optimality conditions.
func TestZero(t *testing.T) {
	for _, c := range []struct {
		n, p   int
		whole  bool // numbers with many that are the same
		weighs bool
	}{{200, 3, false, false}, {300, 12, false, true}, {150, 4, true, false}, {400, 40, false, false},
		{900, 6, false, true}, {3000, 5, true, false}} {
		random := rand.New(rand.NewPCG(uint64(c.n), uint64(c.p)))
		x, y, u := mat.NewDense(c.n, c.p, nil), make([]float64, c.n), make([]float64, c.n)
		for i := range c.n {
			for j := range c.p {
				v := random.NormFloat64()
				if c.whole {
					v = float64(int(3 * v))
				}
				x.Set(i, j, v)
			}
			if y[i] = 1; random.Float64() < 0.25 {
				y[i] = -1
			}
			if u[i] = 1; c.weighs {
				u[i] = random.Float64() + 0.5
			}
		}
		g := must.Of(New(design.New(x), y, u))(t)
		less := 0.0
		for i, v := range u {
			if y[i] < 0 {
				less += v / floats.Sum(u)
			}
		}
		for _, lambda := range []float64{10, 1e-3, 1e-6} {
			s := must.Of(g.Solve(context.Background(), lambda, []float64{50}, 1e-9, nil))(t)
			require.Equal(t, outcome.Converged, s.Status)
			require.InDelta(t, 2*less, s.Objective, 1e-9)
			require.LessOrEqual(t, lambda/2*floats.Dot(s.W, s.W), 1e-9)
			_, _, sum := certificate(t, x, y, u, lambda, g, s, "")
			require.InDelta(t, 0, floats.Norm(sum, 2), math.Sqrt(2*lambda*1e-9))
			// And from there to other hyperparameters.
			next := must.Of(g.Solve(context.Background(), lambda/7, []float64{0.3}, 1e-9, s))(t)
			require.InDelta(t, 2*less, next.Objective, 1e-9)
		}
	}
}

// Bounds of 24 decades, and lambda, too: an answer that is called solved is in the box, and its value is that of
// the dual function at its multipliers.
func TestBoundsOfManyScales(t *testing.T) {
	solved := 0
	const instances = 200
	for seed := range instances {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		n, p := 10+rng.IntN(30), 2+rng.IntN(12)
		columns, y := make([]float64, n*p), make([]float64, n)
		units, bound := make([]float64, p), make([]float64, p)
		for j := range units {
			units[j], bound[j] = math.Pow(10, 4*rng.Float64()-2), math.Pow(10, 24*rng.Float64()-12)
		}
		for i := range y {
			f := rng.NormFloat64()
			for j, unit := range units {
				v := rng.NormFloat64()
				columns[j*n+i] = unit * v
				f += v
			}
			y[i] = math.Copysign(1, f)
		}
		y[0], y[1] = 1, -1
		g := must.Of(New(design.FromColumns(n, p, columns), y, nil))(t)
		lambda := math.Pow(10, 24*rng.Float64()-12)
		s := must.Of(g.Solve(context.Background(), lambda, bound, 1e-9, nil))(t)
		if s.Status != outcome.Converged && s.Status != numerics.Exhausted {
			continue
		}
		solved++
		value, dual := 0.0, s.total
		for i, label := range y {
			f := -s.C
			for j := range p {
				f += columns[j*n+i] * s.W[j]
			}
			value += math.Max(0, 1-label*f) / float64(n)
		}
		for j, w := range s.W {
			require.LessOrEqual(t, math.Abs(w), bound[j]*(1+1e-9))
			value += lambda * w * w / 2
			best := math.Copysign(math.Min(math.Abs(s.v[j])/lambda, bound[j]), s.v[j])
			dual -= s.v[j]*best - lambda*best*best/2
		}
		require.LessOrEqual(t, value-dual, 1e-7, "seed %d", seed)
	}
	require.Greater(t, solved, 9*instances/10)
}

func TestStopped(t *testing.T) {
	x, y, _ := sample(5, 60, 90, false)
	g := must.Of(New(design.New(x), y, nil))(t)
	lowertest.StopsInTime(t, map[string]func(ctx context.Context) lowertest.End{
		"machine": func(ctx context.Context) lowertest.End {
			s := must.Of(g.Solve(ctx, 1e-2, []float64{0.3}, 1e-8, nil))(t)
			return lowertest.End{Status: s.Status, Objective: s.Objective}
		},
	})
}
