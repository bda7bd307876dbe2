package sparse

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
)

// rare are rows with a few entries in columns of very different lengths, each column divided by its standard deviation, most of which have one entry, some in the same row.
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

// Systems of what is free have the solutions of a dense factor, with columns of one entry and next to no ridge.
func TestSingles(t *testing.T) {
	for _, ridge := range []float64{0.3, 1e-6} {
		x, _ := rare(1, 60, 200, 8, func(f float64) float64 { return f })
		v, _ := rare(2, 40, 200, 8, func(f float64) float64 { return f })
		rng := rand.New(rand.NewPCG(3, 3))
		q := &implicit{ctx: context.Background(), columns: append([]int{design.Ones}, indices(200)...)}
		for _, z := range []*mat.Dense{x, v} {
			n, _ := z.Dims()
			part := implicitPart{x: compressedColumns(z), omega: make([]float64, n), share: 1, curvature: new(implicitModel)}
			for i := range part.omega {
				part.omega[i] = math.Exp(3*rng.NormFloat64()) / float64(n)
			}
			q.parts = append(q.parts, part)
		}
		k := len(q.columns)
		q.ridge, q.most = make([]float64, k), 15
		for i := 1; i < k; i++ {
			q.ridge[i] = ridge * (0.5 + rng.Float64())
		}
		q.end.Begin(q.ctx, 0)
		q.prepare()
		q.most = 15
		for i := range k {
			if i%7 != 3 {
				q.free = append(q.free, i)
			}
		}
		full, right := mat.NewSymDense(len(q.free), nil), mat.NewVecDense(len(q.free), nil)
		for l, i := range q.free {
			right.SetVec(l, rng.NormFloat64())
			full.SetSym(l, l, q.ridge[i]+leastPlus*q.norm[i])
		}
		entry := func(z *mat.Dense, row, i int) float64 {
			if i == 0 {
				return 1
			}
			return z.At(row, i-1)
		}
		for t, z := range []*mat.Dense{x, v} {
			for row, w := range q.parts[t].omega {
				for l, i := range q.free {
					for m := range l + 1 {
						full.SetSym(m, l, full.At(m, l)+w*entry(z, row, i)*entry(z, row, q.free[m]))
					}
				}
			}
		}
		var factor mat.Cholesky
		require.True(t, factor.Factorize(full))
		var want mat.VecDense
		require.NoError(t, factor.SolveVecTo(&want, right))
		require.True(t, q.precondition())
		require.Greater(t, len(q.single.at), 40)
		require.Less(t, len(slices.Concat(q.single.rows...)), len(q.single.at)) // some share a row
		require.Len(t, q.inside, q.most)
		if ridge > 1e-3 { // else steps are many
			require.InDeltaSlice(t, want.RawVector().Data, q.conjugate(right.RawVector().Data, 1e-12), 1e-7*mat.Norm(&want, math.Inf(1)))
		}
		// Preconditioned with all columns, it is one step.
		q.most, q.heavy = 1000, nil
		require.True(t, q.precondition())
		require.Len(t, q.inside, len(q.kept))
		require.InDeltaSlice(t, want.RawVector().Data, q.conjugate(right.RawVector().Data, 1e-3), 1e-7*mat.Norm(&want, math.Inf(1)), ridge)
	}
}

// On tables of rare features, brought to one deviation, the solutions meet the conditions of optimality, which gonum works out, to the gap asked for.
func TestRareFeatures(t *testing.T) {
	const n, m, p = 300, 150, 900
	for name, c := range lossesOfTests {
		if name == "poisson" {
			continue // of which predictions of some hundred have no exponential
		}
		x, y := rare(4, n, p, 12, c.target)
		v, z := rare(5, m, p, 12, c.target)
		centre := [][]float64{make([]float64, p), {0.1}}
		for j := range centre[0] {
			centre[0][j] = 0.05 * float64(j%3-1)
		}
		for k, w := range []*lower.JointWeights{
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
				pt, err := s.Solve(context.Background(), w)
				require.NoError(t, err)
				require.NotNil(t, pt, what)
				_, err = s.Check(context.Background(), w) // which lets features in
				require.NoError(t, err)
			}
			require.NotEmpty(t, s.without.single.at, what)
			stationary(t, s, w, x, v)
		}
	}
}
