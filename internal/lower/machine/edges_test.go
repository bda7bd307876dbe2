package machine

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

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
