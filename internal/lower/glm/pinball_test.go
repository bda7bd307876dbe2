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
		top := slices.Max(slices.Concat(d.GradientNorms(context.Background())...))
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
			want := conic(t, table, 0, w, func(eta convex.Affine, y, weights []float64) convex.Convex {
				r := convex.Const(y...).Minus(eta)
				return convex.Pos(r).Dot(weights).MinusAffine(r.Dot(weights).Scale(1 - level))
			})
			require.InDelta(t, want, train, 2*tol*d.curved.train[0].null+1e-6*want+1e-7, "table %d at %g", it, share)
		}
	}
}
