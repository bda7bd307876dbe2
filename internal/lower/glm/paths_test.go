package glm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// The string of a tube is the minimum: multipliers of |x_j+1 - x_j|, the sums of x - v, are within the tube, on its
// side where x rises or falls, and vanish at the end.
func TestTautString(t *testing.T) {
	for it := range 2000 {
		rng := rand.New(rand.NewPCG(2, uint64(it)))
		v, by := make([]float64, 1+rng.IntN(40)), math.Exp(4*rng.Float64()-3)
		for j := range v {
			v[j] = rng.NormFloat64()
			if it%3 == 0 {
				v[j] = math.Round(v[j])
			}
		}
		if it%7 == 0 {
			by = 0
		}
		x := make([]float64, len(v))
		taut(v, by, x)
		sum := 0.0
		for j := range v {
			sum += x[j] - v[j]
			want := 0.0
			if j+1 < len(v) {
				want = max(-by, min(sum, by))
				if x[j+1] != x[j] {
					want = math.Copysign(by, x[j+1]-x[j])
				}
			}
			require.InDelta(t, want, sum, 1e-12*float64(len(v)), "%d: %v, %g: %v", it, v, by, x)
		}
	}
}

// Paths of the fused lasso: with few and many features, weights, twins, constants. They are solved to their gap, and
// are those of the conic program.
func TestFusedPaths(t *testing.T) {
	for it := range 60 {
		rng := rand.New(rand.NewPCG(1, uint64(it)))
		n, p := 20+rng.IntN(80), 2+rng.IntN(60)
		table := made(uint64(it), n, p, 1)
		table.Chained = true
		switch it % 4 {
		case 1:
			for i := range n {
				table.Weights = append(table.Weights, float64(1+i%3))
			}
		case 2:
			table.Intercept = false
		case 3:
			x := table.X.(*mat.Dense)
			for i := range n {
				x.Set(i, 0, 1)
				x.Set(i, p-1, x.At(i, 1))
			}
		}
		if it%5 == 0 {
			table.Folds = [][]int{nil}
		}
		d := must.Of(New(context.Background(), table))(t)
		tol := []float64{1e-9, 1e-4}[it%2]
		top, _ := d.Path(context.Background()).LambdaMax(&Weights{Norm: slices.Repeat([]float64{1}, p)})
		for k, share := range []float64{1e-8, 1 - 1e-8, 0, 0.1, 0.5, 0.9, 1} {
			path := d.Path(context.Background())
			for _, factor := range []float64{1.0001, 0.5, 0.2, 0.05, 0.01, 1e-3, 1e-5} {
				w := &Weights{Norm: slices.Repeat([]float64{factor * share * top}, p), Fusion: factor * (1 - share) * top}
				s := must.Of(path.Solve(context.Background(), w, tol))(t)
				require.True(t, s.Solved, "table %d at %g, %g: gap %g", it, share, factor, s.Gap)
				train, val := objective(table, 0, s, w)
				require.InDelta(t, train, s.Objective[0], 1e-9*(train+1), "table %d at %g, %g", it, share, factor)
				if len(table.Folds[0]) > 0 {
					require.InDelta(t, val, s.Validation[0], 1e-9*(val+1), "table %d at %g, %g", it, share, factor)
				}
				if it < 12 && factor < 0.3 && factor > 1e-4 && k > 1+it%4/3 { // which the conic program is sure to solve
					want := conic(t, table, 0, w, squares)
					require.InDelta(t, want, train, 2*tol*d.parts[0].yy+1e-6*want, "table %d at %g, %g", it, share, factor)
				}
			}
		}
	}
}

// Paths of quantile fits, whatever the rows: with few and many features, equal targets, weights, bounds, twins and
// constants. They are solved to their gap all the way down, have the loss of their predictions on the rows left out,
// and are those of the conic program.
func TestQuantilePaths(t *testing.T) {
	for it := range 60 {
		rng := rand.New(rand.NewPCG(1, uint64(it)))
		n, p := 20+rng.IntN(80), 2+rng.IntN(40)
		table := made(uint64(it), n, p, 1)
		level := []float64{0.05, 0.3, 0.5, 0.9}[rng.IntN(4)]
		table.Loss = Pinball{level}
		switch it % 6 {
		case 1:
			for i, y := range table.Y[0] {
				table.Y[0][i] = math.Round(y / 2)
			}
		case 2:
			for i := range n {
				table.Weights = append(table.Weights, float64(1+i%3))
			}
		case 3:
			table.Intercept = false
		case 4:
			table.Lower, table.Upper = slices.Repeat([]float64{-0.2}, p), slices.Repeat([]float64{0.3}, p)
		case 5:
			x := table.X.(*mat.Dense)
			for i := range n {
				x.Set(i, 0, 1)
				x.Set(i, p-1, x.At(i, 1))
				table.Y[0][i] = x.At(i, p/2) * 2
			}
		}
		ridge := []float64{0, 1e-3, 0.1}[rng.IntN(3)]
		tol := 1e-9
		if it%3 == 0 {
			tol = 1e-4
		}
		d := must.Of(New(context.Background(), table))(t)
		path := d.Path(context.Background())
		top, _ := d.Path(context.Background()).LambdaMax(&Weights{Norm: slices.Repeat([]float64{1}, p)})
		for _, share := range []float64{1.0001, 0.5, 0.2, 0.05, 0.01, 1e-3, 1e-5} {
			w := &Weights{Norm: slices.Repeat([]float64{share * top}, p)}
			if ridge > 0 {
				w.L2 = slices.Repeat([]float64{ridge}, p)
			}
			s := must.Of(path.Solve(context.Background(), w, tol))(t)
			require.True(t, s.Solved, "table %d at %g: gap %g", it, share, s.Gap)
			train, val := objective(table, 0, s, w)
			require.InDelta(t, val, s.Validation[0], 1e-9*(val+1))
			if it%10 > 0 {
				continue
			}
			want := conic(t, table, 0, w, func(eta convex.Expr, y, weights []float64) convex.Expr {
				r := convex.Sub(y, eta)
				return convex.Sub(convex.Dot(weights, convex.Pos(r)), convex.Scale(1-level, convex.Dot(weights, r)))
			})
			require.InDelta(t, want, train, 2*tol*d.curved.train[0].null+1e-6*want+1e-7, "table %d at %g", it, share)
		}
	}
}
