package machine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop/stoptest"
	"github.com/conetune/conetune/outcome"
)

// sample are rows with labels and weights: of normal features, or of a few ones among zeros, where many rows are the
// same, depend on each other, or have both labels.
func sample(seed uint64, n, p int, binary bool) (x *mat.Dense, y, u []float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	x, y, u = mat.NewDense(n, p, nil), make([]float64, n), make([]float64, n)
	for i := range n {
		sum := 0.3 * r.NormFloat64()
		for j := range p {
			v := r.NormFloat64()
			if binary {
				v = 0
				if r.Float64() < 0.15 {
					v = 1
				}
			}
			x.Set(i, j, v)
			if j < 4 {
				sum += v
			}
		}
		y[i], u[i] = -1, 1
		if sum > 0.5 {
			y[i], u[i] = 1, 2.5
		}
	}
	y[0], y[1] = 1, -1
	return x, y, u
}

// alphaOf are the multipliers of the rows, those of one label made smaller so that the sums of both are the same.
func alphaOf(m *Solution, g *Problem) []float64 {
	if m.many == nil {
		return m.state.alpha
	}
	alpha, total := floats.MulTo(make([]float64, g.rows.n), m.many.shares(), g.rows.u), [2]float64{}
	for i, a := range alpha {
		total[g.rows.label(i)] += a
	}
	for i := range alpha {
		alpha[i] *= min(total[0], total[1]) / total[g.rows.label(i)]
	}
	return alpha
}

// certificate is the value of a solution and that of its multipliers in the dual problem, by their definitions, and
// sum_i y_i alpha_i x_i. The multipliers keep their bounds and balance, and the coefficients theirs.
func certificate(t *testing.T, x *mat.Dense, y, u []float64, lambda float64, g *Problem, m *Solution,
	name string) (value, dual float64, v []float64) {
	t.Helper()
	value, v = lambda/2*floats.Dot(m.W, m.W), make([]float64, len(m.W))
	balance, total := 0.0, floats.Sum(u)
	for i, a := range alphaOf(m, g) {
		value += u[i] / total * math.Max(0, 1-y[i]*(floats.Dot(x.RawRowView(i), m.W)-m.C))
		require.True(t, a >= 0 && a <= u[i]/total*(1+1e-12), name)
		dual += a
		balance += y[i] * a
		floats.AddScaled(v, y[i]*a, x.RawRowView(i))
	}
	require.InDelta(t, 0, balance, 1e-12, name)
	for j, b := range m.bound {
		require.LessOrEqual(t, math.Abs(m.W[j]), b, name)
		best := math.Min(b, math.Abs(v[j])/lambda)
		dual -= best * (math.Abs(v[j]) - lambda*best/2)
	}
	return value, dual, v
}

// check checks the conditions of optimality from their definition, and the gap by the objective.
func check(t *testing.T, x *mat.Dense, y, u []float64, lambda float64, bound []float64, g *Problem, m *Solution,
	name string) {
	t.Helper()
	require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, m.Status, name)
	value, dual, v := certificate(t, x, y, u, lambda, g, m, name)
	for i, a := range alphaOf(m, g) {
		top := u[i] / floats.Sum(u)
		switch s := 1 - y[i]*(floats.Dot(x.RawRowView(i), m.W)-m.C); {
		case s > 1e-6:
			require.InDelta(t, top, a, 1e-7*top, name)
		case s < -1e-6:
			require.InDelta(t, 0, a, 1e-7*top, name)
		}
	}
	for j, w := range m.W {
		b := bound[min(j, len(bound)-1)]
		require.LessOrEqual(t, math.Abs(w), b, name)
		best := math.Max(-b, math.Min(b, v[j]/lambda))
		require.InDelta(t, best, w, 1e-6*(1+math.Abs(best)), name)
	}
	require.InEpsilon(t, value, m.Objective, 1e-9, name)
	require.InDelta(t, value, dual, 1e-9, name)
}

// Cold and from a solution far away or near, the conditions of optimality hold, and both have the same solution.
func TestOptimality(t *testing.T) {
	ctx := context.Background()
	for _, shape := range []struct {
		n, p   int
		binary bool
	}{{60, 8, false}, {40, 60, false}, {150, 12, true}, {120, 40, true}, {12, 2, true}, {16, 400, false},
		{24, 500, true}} {
		x, y, u := sample(7, shape.n, shape.p, shape.binary)
		for _, weights := range [][]float64{nil, u} {
			g := must.Of(New(design.New(x), y, weights))(t)
			compressed := must.Of(New(design.New(matrices.Compress(x)), y, weights))(t)
			w := weights
			if w == nil {
				w = slices.Repeat([]float64{1}, shape.n)
			}
			var last *Solution
			for _, lambda := range []float64{1e4, 1, 1e-2, 1e-4} {
				for k, bound := range [][]float64{{math.Inf(1)}, {1e2}, {0.3}, {1e-3}, {1e-6}, nil} {
					name := fmt.Sprint(shape, weights != nil, lambda, bound)
					if bound == nil {
						for j := range shape.p {
							bound = append(bound, math.Pow(10, -float64((j+k)%5)))
						}
					}
					cold := must.Of(g.Solve(ctx, lambda, bound, 1e-12, nil))(t)
					check(t, x, y, w, lambda, bound, g, cold, name)
					warm := must.Of(compressed.Solve(ctx, lambda, bound, 1e-12, last))(t)
					check(t, x, y, w, lambda, bound, compressed, warm, name)
					require.InDeltaSlice(t, cold.W, warm.W, 1e-5*(1+floats.Norm(cold.W, math.Inf(1))), name)
					last = warm
				}
			}
		}
	}
}

// On rows of many kinds, at hyperparameters drawn over eight decades, each fit from the one before ends with a small
// gap; where features have sizes from 1e-3 to 1e4 a few are left to other methods.
func TestKinds(t *testing.T) {
	kinds := map[string]func(r *rand.Rand) float64{
		"normal":   func(r *rand.Rand) float64 { return r.NormFloat64() },
		"integer":  func(r *rand.Rand) float64 { return float64(r.IntN(3)) },
		"rare":     func(r *rand.Rand) float64 { return float64(r.IntN(2) * r.IntN(2)) },
		"far away": func(r *rand.Rand) float64 { return 50 + r.NormFloat64() },
		"sizes":    func(r *rand.Rand) float64 { return float64(r.IntN(3)) },
	}
	for name, draw := range kinds {
		failed := 0
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, 6))
			n, p := 20+r.IntN(150), 1+r.IntN(50)
			x, y := mat.NewDense(n, p, nil), make([]float64, n)
			for j := range p {
				size := 1.0
				if name == "sizes" {
					size = math.Pow(10, 7*r.Float64()-3)
				}
				for i := range n {
					v := draw(r)
					y[i] += v * float64(j%3-1)
					x.Set(i, j, v*size)
				}
			}
			for i := range y {
				y[i] = math.Copysign(1, y[i]+2*r.NormFloat64()-0.5)
			}
			y[0], y[1] = 1, -1
			g := must.Of(New(design.New(x), y, nil))(t)
			var last *Solution
			for range 20 {
				bound := []float64{math.Pow(10, 8*r.Float64()-6)}
				if seed%2 == 1 {
					for range p - 1 {
						bound = append(bound, math.Pow(10, 8*r.Float64()-6))
					}
				}
				m, err := g.Solve(context.Background(), math.Pow(10, 8*r.Float64()-4), bound, 1e-9, last)
				require.NoError(t, err)
				if m.Status == outcome.NumericalError {
					failed++
					continue
				}
				require.LessOrEqual(t, g.Relative(m.Gap), 1e-8, name)
				last = m
			}
		}
		if name == "sizes" {
			require.LessOrEqual(t, failed, 2)
		} else {
			require.Zero(t, failed, name)
		}
	}
}

// Rows 1 and -1 of the labels 1 and -1: w is 1/lambda up to 1 and up to the bound, and c, which is free between w - 1
// and 1 - w, is 0.
func TestClosedForm(t *testing.T) {
	g, err := New(design.New(mat.NewDense(4, 1, []float64{1, -1, 1, 1})), []float64{1, -1, 1, 1}, []float64{1, 3, 1, 1})
	require.NoError(t, err)
	for _, lambda := range []float64{0.01, 0.5, 2, 50} {
		for _, bound := range []float64{0.1, 0.7, 20} {
			m := must.Of(g.Solve(context.Background(), lambda, []float64{bound}, 1e-13, nil))(t)
			require.InDelta(t, math.Min(math.Min(1, 1/lambda), bound), m.W[0], 1e-9)
			require.InDelta(t, 0, m.C, 1e-9)
		}
	}
}

// From a solution the path has no exchanges; nearby it has few.
func TestStart(t *testing.T) {
	ctx := context.Background()
	x, y, _ := sample(3, 200, 30, false)
	g := must.Of(New(design.New(x), y, nil))(t)
	m := must.Of(g.Solve(ctx, 0.01, []float64{0.4}, 1e-10, nil))(t)
	before := slices.Clone(m.W)
	again := must.Of(g.Solve(ctx, 0.01, []float64{0.4}, 1e-10, m))(t)
	require.Zero(t, again.Exchanges)
	require.InDeltaSlice(t, m.W, again.W, 1e-8)
	near := must.Of(g.Solve(ctx, 0.012, []float64{0.41}, 1e-10, m))(t)
	require.Less(t, 4*near.Exchanges, m.Exchanges)
	require.Equal(t, before, m.W)
	other := must.Of(g.Solve(ctx, 0.012, []float64{0.41}, 1e-10, m))(t)
	require.Equal(t, near.W, other.W)
	ended, stop := context.WithCancel(ctx)
	stop()
	none := must.Of(g.Solve(ended, 1, []float64{1}, 1e-8, nil))(t)
	require.Equal(t, outcome.Cancelled, none.Status)
}

// The multipliers of a solution bound the optimal values elsewhere from below, and that of its own exactly.
func TestBound(t *testing.T) {
	ctx := context.Background()
	x, y, u := sample(11, 70, 9, true)
	g := must.Of(New(design.New(x), y, u))(t)
	var all []*Solution
	for _, lambda := range []float64{10, 0.1, 1e-3} {
		for _, bound := range []float64{3, 0.1, 1e-4} {
			m := must.Of(g.Solve(ctx, lambda, []float64{bound}, 1e-12, nil))(t)
			require.InDelta(t, m.Objective, g.Bound(m, lambda, []float64{bound}), 1e-11)
			for _, other := range all {
				require.LessOrEqual(t, g.Bound(other, lambda, slices.Repeat([]float64{bound}, 9)), m.Objective+1e-11)
			}
			all = append(all, m)
		}
	}
}

// Derivatives are finite differences of solutions.
func TestDerivative(t *testing.T) {
	flat := 0
	for seed := range uint64(6) {
		x, y, u := sample(seed, 50, 6, seed%2 == 1)
		if seed%3 == 0 {
			u = nil // then c may have an interval
		}
		g := must.Of(New(design.New(x), y, u))(t)
		for _, lambda := range []float64{30, 3, 0.1, 0.01} {
			if m := checkAdjoint(t, g, lambda, 1e-14, 1e-6, 1e-6); m.flat {
				flat++
			}
		}
	}
	require.Positive(t, flat)
}

// checkAdjoint compares the derivatives of a solution to a gap with differences over relative steps h, up to an error,
// and returns the solution.
func checkAdjoint(t *testing.T, g *Problem, lambda, gap, h, most float64) *Solution {
	t.Helper()
	bound := []float64{0.11, 0.53, 0.052, 1.7, 0.31, 0.23}
	at := func(k int, h float64) *Solution {
		l, b := lambda, slices.Clone(bound)
		if k == 0 {
			l += h * lambda
		} else if k > 0 {
			b[k-1] += h * bound[k-1]
		}
		return must.Of(g.Solve(context.Background(), l, b, gap, nil))(t)
	}
	m := at(-1, 0)
	gradient := []float64{0.3, -0.2, 0.5, 0.7, -1, 0.1}
	dl, db := g.Adjoint(m, gradient, 0.6)
	for k, v := range append([]float64{dl}, db...) {
		up, down := at(k, h), at(k, -h)
		require.Equal(t, []bool{m.many != nil, m.many != nil}, []bool{up.many != nil, down.many != nil})
		unit := lambda
		if k > 0 {
			unit = bound[k-1]
		}
		slope := floats.Dot(up.W, gradient) - floats.Dot(down.W, gradient) + 0.6*(up.C-down.C)
		require.InDelta(t, slope/(2*h), v*unit, most, "%g %d", lambda, k)
	}
	return m
}

func TestErrors(t *testing.T) {
	x := design.New(mat.NewDense(2, 1, []float64{1, 2}))
	for _, c := range []struct {
		y, u []float64
		want string
	}{
		{[]float64{1}, nil, "1 labels for 2 rows"},
		{[]float64{1, 2}, nil, "label of row 1 is 2"},
		{[]float64{1, 1}, nil, "both labels"},
		{[]float64{1, -1}, []float64{1}, "1 weights and 0 entries of the offset for 2 rows"},
		{[]float64{1, -1}, []float64{1, 0}, "weight of row 1 is 0"},
	} {
		_, err := New(x, c.y, c.u)
		require.ErrorContains(t, err, c.want)
	}
	_, err := New(design.New(mat.NewDense(2, 1, []float64{1, math.NaN()})), []float64{1, -1}, nil)
	require.ErrorContains(t, err, "not finite")
	g := must.Of(New(x, []float64{1, -1}, nil))(t)
	for _, c := range []struct {
		lambda float64
		bound  []float64
		tol    float64
		start  *Solution
		want   string
	}{
		{0, []float64{1}, 1e-8, nil, "lambda is 0"},
		{1, []float64{1, 2}, 1e-8, nil, "2 bounds for 1 features"},
		{1, []float64{0}, 1e-8, nil, "bound 0 is 0"},
		{1, []float64{1}, -1, nil, "tolerance is -1"},
		{1, []float64{1}, 1e-8, &Solution{W: []float64{1, 2}}, "start has 2 coefficients"},
	} {
		_, err := g.Solve(context.Background(), c.lambda, c.bound, c.tol, c.start)
		require.ErrorContains(t, err, c.want)
	}
}

// Four rows that the first feature tells apart, and a box that the second one does not come out of.
func ExampleProblem_Solve() {
	x := mat.NewDense(4, 2, []float64{-2, 0.5, -1, -0.5, 1, 0.5, 3, -0.5})
	g, err := New(design.New(x), []float64{-1, -1, 1, 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := g.Solve(context.Background(), 0.1, []float64{2, 0.1}, 1e-10, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: w = %.3f, objective %.4f\n", m.Status, m.W, m.Objective)
	// Output:
	// converged: w = [0.950 0.100], objective 0.0456
}

// byMany solves by the method for many rows, however few they are.
func byMany(t *testing.T, g *Problem, lambda float64, bound []float64, tol float64, start *Solution) *Solution {
	t.Helper()
	return g.solveMany(context.Background(), lambda, reached(g, lambda, bound), tol, start)
}

// reached are the bounds of all features as [Problem.Solve] takes them.
func reached(g *Problem, lambda float64, bound []float64) []float64 {
	if len(bound) == 1 {
		bound = slices.Repeat(bound, g.rows.p)
	}
	wide := 2 * math.Sqrt(2*g.scale/lambda)
	bound = slices.Clone(bound)
	for j := range bound {
		bound[j] = math.Min(bound[j], wide)
	}
	return bound
}

// fewer is the size of a draw, with -short the smaller one.
func fewer(size, short int) int {
	if testing.Short() {
		return short
	}
	return size
}

// samples are rows of many kinds.
func samples() map[string]func() (x *mat.Dense, y, u []float64) {
	n := fewer(400, 160)
	of := func(change func(r *rand.Rand, x *mat.Dense, y, u []float64)) func() (*mat.Dense, []float64, []float64) {
		return func() (*mat.Dense, []float64, []float64) {
			x, y, u := sample(4, n, 10, false)
			change(rand.New(rand.NewPCG(4, 4)), x, y, u)
			return x, y, u
		}
	}
	return map[string]func() (*mat.Dense, []float64, []float64){
		"normal": of(func(*rand.Rand, *mat.Dense, []float64, []float64) {}),
		"zeros":  func() (*mat.Dense, []float64, []float64) { return sample(9, fewer(500, 200), 30, true) },
		"wide":   func() (*mat.Dense, []float64, []float64) { return sample(3, 60, 150, false) },
		"duplicates": of(func(_ *rand.Rand, x *mat.Dense, y, _ []float64) {
			for i := 1; i < n; i++ {
				if i%4 != 0 {
					x.SetRow(i, x.RawRowView(i-i%4))
					y[i] = y[i-i%4] * float64(1-2*(i%4/3)) // the last of four with the other label
				}
			}
		}),
		"separable": of(func(_ *rand.Rand, x *mat.Dense, y, _ []float64) {
			for i := range y {
				x.Set(i, 0, x.At(i, 0)+6*y[i])
			}
		}),
		"one label": of(func(_ *rand.Rand, _ *mat.Dense, y, u []float64) {
			for i := range y {
				y[i], u[i] = 1, 1
				if i%100 == 0 {
					y[i] = -1
				}
			}
		}),
		"weights": of(func(r *rand.Rand, _ *mat.Dense, _, u []float64) {
			for i := range u {
				u[i] = math.Pow(10, 6*r.Float64()-3)
			}
		}),
		"sizes": of(func(_ *rand.Rand, x *mat.Dense, _, _ []float64) {
			for i := range n {
				for j := range 10 {
					x.Set(i, j, x.At(i, j)*math.Pow(10, float64(j%5)-2))
				}
			}
		}),
		"equal labels": of(func(_ *rand.Rand, _ *mat.Dense, y, u []float64) {
			for i := range y {
				y[i], u[i] = float64(1-2*(i%2)), 1
			}
		}),
	}
}

// certified checks the value, the gap and the multipliers of a solution by their definitions.
func certified(t *testing.T, x *mat.Dense, y, u []float64, lambda float64, g *Problem, m *Solution, name string) {
	t.Helper()
	value, dual, _ := certificate(t, x, y, u, lambda, g, m, name)
	require.InDelta(t, value, m.Objective, 1e-11*(1+value), name)
	require.LessOrEqual(t, m.Gap, 1e-8*g.scale, name)
	require.InDelta(t, value, dual, 2e-8*g.scale+1e-13, name)
}

// On rows of many kinds, from nothing and from the solution before, the method for many rows has the solutions of
// paths, with the gap that they have.
func TestManyIsPath(t *testing.T) {
	for name, draw := range samples() {
		x, y, u := draw()
		for _, d := range []*design.Matrix{design.New(x), design.New(matrices.Compress(x))} {
			g := must.Of(New(d, y, u))(t)
			var last *Solution
			for _, lambda := range []float64{1e4, 1, 1e-2, 1e-4, 1e-7} {
				for _, bound := range []float64{math.Inf(1), 10, 0.3, 1e-2, 1e-6} {
					what := fmt.Sprint(name, " ", lambda, " ", bound)
					many := byMany(t, g, lambda, []float64{bound}, 1e-9, last)
					require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, many.Status, what)
					certified(t, x, y, u, lambda, g, many, what)
					path := must.Of(g.Solve(context.Background(), lambda, []float64{bound}, 1e-10, nil))(t)
					if path.Status != outcome.NumericalError {
						require.InDelta(t, path.Objective, many.Objective, 1e-8*g.scale, what)
						require.LessOrEqual(t, lambda*floats.Distance(path.W, many.W, 2)*floats.Distance(path.W, many.W, 2)/2,
							2e-8*g.scale, what)
					}
					last = many
				}
			}
		}
	}
}

// words are rows as those of words are: a few entries in columns of very different lengths.
func words(seed uint64, n, p, entries int) (x *mat.Dense, y []float64) {
	r := rand.New(rand.NewPCG(seed, 0))
	x, y = mat.NewDense(n, p, nil), make([]float64, n)
	w := make([]float64, p)
	for j := range w {
		w[j] = r.NormFloat64()
	}
	for i := range n {
		for range entries {
			j := int(float64(p) * math.Pow(r.Float64(), 4))
			x.Set(i, j, x.At(i, j)+0.5+r.Float64())
		}
		y[i] = math.Copysign(1, floats.Dot(x.RawRowView(i), w)+3*r.NormFloat64())
	}
	return x, y
}

// With more features than a matrix is stored for, the solutions are those of paths all the same, from nothing and from
// the solution before, and with hardly any curvature, too, where steps stall.
func TestWideIsPath(t *testing.T) {
	n := fewer(450, 200)
	x, y := words(2, n, mostStored+200, 12)
	u := slices.Repeat([]float64{1 / float64(n)}, n)
	g := must.Of(New(design.New(matrices.Compress(x)), y, nil))(t)
	var last *Solution
	for _, lambda := range []float64{1, 1e-2, 1e-4} {
		for _, bound := range []float64{math.Inf(1), 0.3, 1e-6} {
			what := fmt.Sprint(lambda, " ", bound)
			bounds := reached(g, lambda, []float64{bound})
			warm := g.manyOrPath(context.Background(), lambda, bounds, 1e-9, last)
			cold := g.manyOrPath(context.Background(), lambda, bounds, 1e-9, nil)
			path := must.Of(g.Solve(context.Background(), lambda, []float64{bound}, 1e-10, nil))(t)
			require.Equal(t, outcome.Converged, path.Status, what)
			for _, m := range []*Solution{warm, cold} {
				require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, m.Status, what)
				certified(t, x, y, u, lambda, g, m, what)
				require.InDelta(t, path.Objective, m.Objective, 1e-8*g.scale, what)
			}
			last = warm
		}
	}
}

// A fit to many rows of many features that takes more work than is allowed ends with its gap, which is a bound; from
// there, with work enough, it comes to the solution.
func TestWorkIsBounded(t *testing.T) {
	x, y := words(4, fewRows+100, mostStored+200, 12)
	g := must.Of(New(design.New(matrices.Compress(x)), y, nil))(t)
	ctx, bound := context.Background(), []float64{0.3}
	best := must.Of(g.Solve(ctx, 1e-4, bound, 1e-8, nil))(t)
	require.Equal(t, outcome.Converged, best.Status)
	var last *Solution
	for _, share := range []float64{1e6, 1e7} {
		g.mostWork = share
		out := must.Of(g.Solve(ctx, 1e-4, bound, 1e-8, last))(t)
		require.Equal(t, outcome.IterationLimit, out.Status)
		require.Greater(t, out.Gap, 1e-8*g.scale)
		require.InDelta(t, best.Objective, out.Objective, out.Gap+1e-8)
		last = out
	}
	g.mostWork = mostWork
	out := must.Of(g.Solve(ctx, 1e-4, bound, 1e-8, last))(t)
	require.Equal(t, outcome.Converged, out.Status)
	require.InDelta(t, best.Objective, out.Objective, 2e-8)
}

// Above fewRows they are what is taken, and derivatives are finite differences of them.
func TestManyRows(t *testing.T) {
	x, y, u := sample(8, 2*fewRows, 6, false)
	g := must.Of(New(design.New(x), y, u))(t)
	for _, lambda := range []float64{0.3, 0.03} {
		require.NotNil(t, checkAdjoint(t, g, lambda, 1e-15, 1e-5, 1e-4).many)
	}
}

// Solves side by side have the bytes of one alone.
func TestManySameBytes(t *testing.T) {
	x, y, u := sample(12, 3000, 20, false)
	g := must.Of(New(design.New(x), y, u))(t)
	solve := func() *Solution {
		var last *Solution
		for _, lambda := range []float64{1, 0.1, 0.01} {
			last = must.Of(g.Solve(context.Background(), lambda, []float64{0.3}, 1e-8, last))(t)
		}
		return last
	}
	want := solve()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			got := solve()
			require.Equal(t, want.W, got.W)
			require.Equal(t, want.C, got.C)
			require.Equal(t, want.Gap, got.Gap)
		})
	}
	group.Wait()
}

func TestManyStopped(t *testing.T) {
	x, y, u := sample(12, 6000, 40, false)
	g := must.Of(New(design.New(x), y, u))(t)
	lowertest.StopsInTime(t, map[string]func(ctx context.Context) lowertest.End{
		"many": func(ctx context.Context) lowertest.End {
			s := must.Of(g.Solve(ctx, 1e-3, []float64{0.3}, 1e-8, nil))(t)
			return lowertest.End{Status: s.Status, Objective: s.Objective}
		},
	})
	// A solve that was stopped is a start like any other.
	cold := must.Of(g.Solve(context.Background(), 1e-3, []float64{0.3}, 1e-8, nil))(t)
	for looks := range 8 {
		stopped := must.Of(g.Solve(stoptest.After(looks), 1e-3, []float64{0.3}, 1e-8, nil))(t)
		require.Equal(t, outcome.Cancelled, stopped.Status)
		warm := must.Of(g.Solve(context.Background(), 1e-3, []float64{0.3}, 1e-8, stopped))(t)
		require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, warm.Status)
		certified(t, x, y, u, 1e-3, g, warm, "after a stop")
		require.InDelta(t, cold.Objective, warm.Objective, 2e-8)
	}
	for _, n := range []int{0, 1, 3, 10} {
		ctx := stoptest.After(n)
		s := must.Of(g.Within(ctx, 0.1, []float64{0.2}, 1e-12, nil))(t)
		require.Equal(t, outcome.Cancelled, s.Status, n)
		require.True(t, math.IsInf(s.Gap, 1))
		require.LessOrEqual(t, ctx.Looks(), n+12, "it asked again and again")
	}
}
