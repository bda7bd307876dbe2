package sparse

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// weighed are rows with weights 1 to 3 and an offset, and the same rows, each as often as its weight says.
func weighed(seed uint64, n, p int, target func(f float64) float64, dense bool) (once, often Sample) {
	rng := rand.New(rand.NewPCG(seed, 7))
	var rows []float64
	var index []int
	x := mat.NewDense(n, p, nil)
	for i := range n {
		f := 0.3
		for j := range p {
			if dense || rng.Float64() < 0.3 {
				x.Set(i, j, rng.NormFloat64())
			}
			f += x.At(i, j) * 0.8 / float64(1+j)
		}
		once.Offset = append(once.Offset, 0.5*rng.NormFloat64())
		once.Y = append(once.Y, target(f+once.Offset[i]+0.3*rng.NormFloat64()))
		once.Weights = append(once.Weights, float64(1+i%3))
		for range 1 + i%3 {
			rows, index = append(rows, x.RawRowView(i)...), append(index, i)
		}
	}
	many := mat.NewDense(len(index), p, rows)
	if once.X, often.X = design.New(x), design.New(many); !dense {
		once.X, often.X = compressedColumns(x), compressedColumns(many)
	}
	for _, i := range index {
		often.Y, often.Offset = append(often.Y, once.Y[i]), append(often.Offset, once.Offset[i])
	}
	floats.Scale(17, once.Weights) // of any unit
	return once, often
}

// observers are regressions of a sample.
var observers = map[string]struct {
	target func(f float64) float64
	of     func(s Sample, intercept bool, t Terms) (*Fit, error)
}{
	"squares":  {func(f float64) float64 { return f }, Squares},
	"logistic": {func(f float64) float64 { return math.Copysign(1, f) }, Logistic},
	"poisson":  {func(f float64) float64 { return math.Floor(2 * math.Exp(f)) }, Poisson},
}

// TestRowsOfWeight: a row of weight 2 is two rows, with offsets and without, with terms and without.
func TestRowsOfWeight(t *testing.T) {
	ctx := context.Background()
	for name, c := range observers {
		for _, dense := range []bool{true, false} {
			once, often := weighed(3, 60, 12, c.target, dense)
			for _, intercept := range []bool{true, false} {
				for _, terms := range []Terms{{}, {Factors: append([]float64{0, 0, 2}, 1, 1, 1, 1, 1, 1, 1, 1, 1),
					Upper: append([]float64{0.1}, infinite(11)...)}} {
					a, err := c.of(once, intercept, terms)
					require.NoError(t, err, name)
					b, err := c.of(often, intercept, terms)
					require.NoError(t, err, name)
					require.InEpsilon(t, b.LambdaMax(), a.LambdaMax(), 1e-9, name)
					require.InEpsilon(t, b.scale, a.scale, 1e-9, name)
					for _, share := range []float64{0.5, 0.05} {
						s := must.Of(a.solve(ctx, share*a.LambdaMax(), 0.01, 1e-13, nil))(t)
						r := must.Of(b.solve(ctx, share*a.LambdaMax(), 0.01, 1e-13, nil))(t)
						require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, s.Status, name)
						require.InDelta(t, r.Objective, s.Objective, 1e-10, name)
						require.InDelta(t, r.B0[0], s.B0[0], 1e-6, name)
						require.InDeltaSlice(t, r.B, s.B, 1e-6, name)
					}
				}
			}
		}
	}
}

func infinite(n int) []float64 {
	return slices.Repeat([]float64{math.Inf(1)}, n)
}
