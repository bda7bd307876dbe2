package convex_test

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// tree is a random expression of length 2.
func tree(rng *rand.Rand, x, p convex.Expr, depth int) convex.Expr {
	if depth == 0 {
		return convex.Add(convex.Mul(g(rng.IntN(50), 2, 2), x), random(rng, 2))
	}
	a, b := tree(rng, x, p, depth-1), tree(rng, x, p, rng.IntN(depth))
	return []func() convex.Expr{
		func() convex.Expr { return convex.Add(a, b) }, func() convex.Expr { return convex.Sub(a, b) },
		func() convex.Expr { return convex.Scale(rng.NormFloat64(), a) },
		func() convex.Expr { return convex.Scale(random(rng, 2), a) },
		func() convex.Expr { return convex.Mul(g(rng.IntN(50), 2, 2), a) },
		func() convex.Expr { return convex.Mul([][]float64{{1, 2}, {0, 1}}, a) },
		func() convex.Expr { return convex.Stack(convex.Sum(a), convex.Sum(b)) },
		func() convex.Expr { return convex.Abs(a) }, func() convex.Expr { return convex.Pos(a) },
		func() convex.Expr { return convex.Exp(convex.Scale(0.3, a)) },
		func() convex.Expr { return convex.Power(a, 2) }, func() convex.Expr { return convex.Power(a, 1.5) },
		func() convex.Expr { return convex.Power(convex.Add(a, 3), 0.5) },
		func() convex.Expr { return convex.Power(convex.Add(a, 3), -1) },
		func() convex.Expr { return convex.Log(convex.Add(a, 3)) }, func() convex.Expr { return convex.Logistic(a) },
		func() convex.Expr { return convex.Maximum(a, b) }, func() convex.Expr { return convex.Minimum(a, b) },
		func() convex.Expr { return convex.Stack(convex.Max(a), convex.Norm2(b)) },
		func() convex.Expr { return convex.Stack(convex.LogSumExp(a), convex.Norm1(b)) },
		func() convex.Expr { return convex.Stack(convex.GeoMean(convex.Add(a, 3)), convex.Min(b)) },
		func() convex.Expr { return convex.Huber(a, 0.5) }, func() convex.Expr { return convex.Scale(p, a) },
		func() convex.Expr { return convex.Stack(convex.Scale(convex.Neg(p), convex.Sum(a)), 1) },
		func() convex.Expr { return convex.CumSum(a) },
	}[rng.IntN(25)]()
}

// What the rules accept is no function that a midpoint refutes, nor of another sign, its value is that with a number in
// the place of the parameter, and no random point beats the solution of a program of it. CONETUNE_TREES=100000 tries
// more.
func TestTrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	accepted, solved := 0, 0
	trees := 2000
	if n, err := strconv.Atoi(os.Getenv("CONETUNE_TREES")); err == nil {
		trees = n
	}
	for i := range trees {
		m := convex.NewModel()
		x := m.Vector("x", 2, convex.Bounds(-1, 1))
		p := m.Parameter("p", []float64{0.7})
		at := func(e convex.Expr, p []float64) []float64 { return e.Eval(convex.Point{x: p}) }
		draw := func(p convex.Expr) convex.Expr {
			rng := rand.New(rand.NewPCG(9, uint64(i)))
			return tree(rng, x, p, 1+rng.IntN(3))
		}
		e, fixed := draw(p), draw(convex.Const(0.7))
		if e.Err() != nil {
			continue
		}
		accepted++
		sign := map[convex.Curvature]float64{convex.Convex: 1, convex.Concave: -1}[e.Curvature()]
		point := func() []float64 { return []float64{2*rng.Float64() - 1, 2*rng.Float64() - 1} }
		for range 10 {
			p, q := point(), point()
			middle := []float64{(p[0] + q[0]) / 2, (p[1] + q[1]) / 2}
			u, v, mid := at(e, p), at(e, q), at(e, middle)
			require.InDeltaSlice(t, at(fixed, middle), mid, 1e-9*(1+math.Abs(mid[0])+math.Abs(mid[1])))
			for i := range mid {
				if bent := (u[i]+v[i])/2 - mid[i]; sign*bent < -1e-9*(1+math.Abs(u[i])+math.Abs(v[i])) ||
					sign == 0 && math.Abs(bent) > 1e-9*(1+math.Abs(u[i])+math.Abs(v[i])) {
					t.Fatalf("%v is not %v: %v at %v, %v at %v", e, e.Curvature(), u, p, v, q)
				}
				if math.IsInf(mid[i], 0) {
					continue // not in the domain
				}
				require.False(t, e.Sign() == convex.Nonnegative && mid[i] < 0 || e.Sign() == convex.Nonpositive && mid[i] > 0)
			}
		}
		f := convex.Sum(e)
		if m.Minimize(f); sign < 0 {
			m.Maximize(f)
		}
		r := must.Of(m.Solve(t.Context()))(t)
		if r.Status != backends.Optimal {
			continue // no point of the box is in the domain
		}
		solved++
		slack := 1e-6 * (1 + math.Abs(r.Objective))
		require.InDelta(t, r.Objective, r.Value(f)[0], slack+1e-4*math.Abs(r.Objective), "%v", f)
		for range 20 {
			v := f.Eval(convex.Point{x: point()})[0]
			if better := r.Objective - v; better > slack && sign >= 0 || -better > slack && sign < 0 {
				t.Fatalf("%v has %v, and the solution %v", f, v, r.Objective)
			}
		}
	}
	t.Log(accepted, solved)
}
