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

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

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
					s := must.Of(g.Solve(context.Background(), lambda, []float64{bound}, Options{Tol: 1e-12, Start: last}))(t)
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
		u := make([]float64, len(y))
		floats.AddConst(1, u)
		g := must.Of(New(design.New(matrices.Compress(x)), y, nil))(t).Squared()
		for _, bound := range []float64{math.Inf(1), 0.1} {
			s := must.Of(g.Solve(context.Background(), 1e-3, []float64{bound}, Options{Tol: 1e-12}))(t)
			squaredOptimal(t, x, y, u, 1e-3, g, s, fmt.Sprint(n, bound))
		}
	}
}

// waves are rows that another program can make.
func waves() (x *mat.Dense, y []float64) {
	const n, p = 40, 6
	x, y = mat.NewDense(n, p, nil), make([]float64, n)
	for i := range n {
		for j := range p {
			x.Set(i, j, math.Sin(float64((i+1)*(j+1))*0.7+float64(j*j)))
		}
		y[i] = 1
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
		s := must.Of(g.Solve(context.Background(), c.lambda, []float64{math.Inf(1)}, Options{Tol: 1e-13}))(t)
		require.InDeltaSlice(t, c.w, s.W, 1e-6)
		require.InDelta(t, c.b0, -s.C, 1e-6)
	}
}

// Derivatives are those of differences.
func TestSquaredHingeDerivatives(t *testing.T) {
	x, y := waves()
	g := must.Of(New(design.New(x), y, nil))(t).Squared()
	solve := func(lambda float64, bound []float64) *Solution {
		return must.Of(g.Solve(context.Background(), lambda, bound, Options{Tol: 1e-14}))(t)
	}
	bound, value := []float64{0.3, 2, 2, 0.05, 2, 2}, []float64{1, -2, 0.5, 3, 1, -1}
	m := solve(0.1, bound)
	lambda, bounds := g.Adjoint(m, value, 0.7)
	for k := range 1 + len(bound) {
		const h = 1e-5
		up, down := slices.Clone(bound), slices.Clone(bound)
		dl, got := 0.0, lambda
		if k == 0 {
			dl = 1
		} else {
			up[k-1], down[k-1], got = up[k-1]+h, down[k-1]-h, bounds[k-1]
		}
		a, b := solve(0.1+h*dl, up), solve(0.1-h*dl, down)
		require.InDelta(t, (floats.Dot(value, a.W)-floats.Dot(value, b.W)+0.7*(a.C-b.C))/(2*h), got, 1e-5)
	}
}

// In a ball the least loss is that of the penalised form at its multiplier.
func TestSquaredHingeWithin(t *testing.T) {
	x, y := waves()
	g := must.Of(New(design.New(x), y, nil))(t).Squared()
	s := must.Of(g.Solve(context.Background(), 0.1, []float64{0.5}, Options{Tol: 1e-13}))(t)
	w := must.Of(g.Within(context.Background(), floats.Dot(s.W, s.W)/2, []float64{0.5}, Options{Tol: 1e-12}))(t)
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
			s := must.Of(g.Solve(context.Background(), lambda, []float64{50}, Options{Tol: 1e-9}))(t)
			require.Equal(t, outcome.Converged, s.Status)
			require.InDelta(t, 2*less, s.Objective, 1e-9)
			require.LessOrEqual(t, lambda/2*floats.Dot(s.W, s.W), 1e-9)
			sum, balance := make([]float64, c.p), 0.0
			for i, a := range s.alpha(g) {
				require.GreaterOrEqual(t, a, 0.0)
				require.LessOrEqual(t, a, u[i]/floats.Sum(u)*(1+1e-12))
				balance += a * y[i]
				floats.AddScaled(sum, a*y[i], x.RawRowView(i))
			}
			require.InDelta(t, 0, balance, 1e-10)
			require.InDelta(t, 0, floats.Norm(sum, 2), math.Sqrt(2*lambda*1e-9))
			// And from there to other hyperparameters.
			next := must.Of(g.Solve(context.Background(), lambda/7, []float64{0.3}, Options{Tol: 1e-9, Start: s}))(t)
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
		s := must.Of(g.Solve(context.Background(), lambda, bound, Options{Tol: 1e-9}))(t)
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
	x, y := lowertest.Sample(5, 60, 90, 10, 1)
	for i, v := range y {
		y[i] = math.Copysign(1, v)
	}
	g := must.Of(New(design.New(x), y, nil))(t)
	lowertest.StopsInTime(t, map[string]func(ctx context.Context) lowertest.End{
		"machine": func(ctx context.Context) lowertest.End {
			s := must.Of(g.Solve(ctx, 1e-2, []float64{0.3}, Options{}))(t)
			return lowertest.End{Status: s.Status, Objective: s.Objective}
		},
	})
}
