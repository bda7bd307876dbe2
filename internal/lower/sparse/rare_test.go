package sparse

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/must"
)

// rare are rows with a few entries in columns of very different lengths, each column divided by its standard deviation,
// most of which have one entry, some in the same row.
func rare(seed uint64, n, p, entries int, target func(f float64) float64) (x *mat.Dense, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	x, y = mat.NewDense(n, p, nil), make([]float64, n)
	f := make([]float64, n)
	for i := range n {
		for range entries {
			j := min(p-1, int(math.Exp(rng.Float64()*math.Log(20*float64(p))))-1)
			x.Set(i, j, 0.5+rng.Float64())
		}
		f[i] = 0.3 * rng.NormFloat64()
	}
	for j := range p {
		column := mat.Col(nil, j, x)
		sum, squares := 0.0, 0.0
		for _, v := range column {
			sum += v
			squares += v * v
		}
		if sum == 0 {
			continue
		}
		mean := sum / float64(n)
		deviation := math.Sqrt(squares/float64(n) - mean*mean)
		for i, v := range column {
			x.Set(i, j, v/deviation)
			if j < 20 {
				f[i] += 0.3 * float64(j%3-1) * v
			}
		}
	}
	for i, v := range f {
		y[i] = target(v)
	}
	return x, y
}

// On tables of rare features, brought to one deviation, the solutions meet the conditions of optimality, which gonum
// works out, to the gap asked for.
func TestRareFeatures(t *testing.T) {
	const n, m, p = 300, 150, 900
	for _, name := range smooth[:2] { // predictions of some hundred have no exponential
		c := lossesOfTests[name]
		x, y := rare(4, n, p, 12, c.target)
		v, z := rare(5, m, p, 12, c.target)
		centre := [][]float64{make([]float64, p), {0.1}}
		for j := range centre[0] {
			centre[0][j] = 0.05 * float64(j%3-1)
		}
		for k, w := range []*bilevel.JointWeights{
			{Train: 1, Penalties: []float64{0.01, 1e-4}},
			{Train: 1, Penalties: []float64{0.003, 1e-7}},
			{Train: 100, Validation: 1, Rho: 1e-3, Centre: centre, Penalties: []float64{0.4, 4e-3}},
		} {
			what := fmt.Sprint(name, " ", k)
			s := joined(t, name, Sample{X: compressedColumns(x), Y: y}, Sample{X: compressedColumns(v), Y: z}).solver()
			s.most = 5
			s.take(nil)
			require.NoError(t, s.Model(context.Background(), nil))
			for range 12 {
				pt := must.Of(s.Solve(context.Background(), w))(t)
				require.NotNil(t, pt, what)
				_, err := s.Check(context.Background(), w) // which lets features in
				require.NoError(t, err)
			}
			stationary(t, s, w, x, v)
		}
	}
}
