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
			for i, a := range multipliers(g, s) {
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

// Of labels that the features tell something of it is not the solution, however few of one there are.
func TestNotZero(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	x, y := mat.NewDense(200, 3, nil), make([]float64, 200)
	for i := range y {
		y[i] = 1
		if i < 20 {
			y[i] = -1
		}
		for j := range 3 {
			x.Set(i, j, random.NormFloat64()+1.5*y[i])
		}
	}
	g := must.Of(New(design.New(x), y, nil))(t)
	s := must.Of(g.Solve(context.Background(), 1e-3, []float64{50}, Options{Tol: 1e-9}))(t)
	require.Equal(t, outcome.Converged, s.Status)
	require.Less(t, s.Objective, 0.15) // 0.2 of w = 0
}
