package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/proptest"
)

// drawTable draws a table with zeros in any number, whole columns of them, and constant columns.
func drawTable(t *rapid.T, label string, p int) *Data {
	n := rapid.IntRange(1, 8).Draw(t, label+" rows")
	x := mat.NewDense(n, p, nil)
	for j := range p {
		share := rapid.SampledFrom([]float64{0, 0.1, 0.5, 1}).Draw(t, label+" share")
		constant := rapid.IntRange(0, 5).Draw(t, label+" constant") == 0
		for i := range n {
			if rapid.Float64Range(0, 1).Draw(t, label+" at") < share {
				v := 2.5
				if !constant {
					if v = rapid.Float64Range(-100, 100).Draw(t, label+" value"); math.Abs(v) < 1e-100 {
						v = 1 // numbers whose inverse is none have no standard deviation to divide by
					}
				}
				x.Set(i, j, v)
			}
		}
	}
	d := &Data{X: x, Y: make([]float64, n), Features: libsvm.Names(p), Target: "y"}
	for i := range d.Y {
		d.Y[i] = float64(i)
	}
	return d
}

// same says that two tables hold the same numbers.
func same(t require.TestingT, want, got *Data, delta float64) {
	n, p := want.Dims()
	m, q := got.Dims()
	require.Equal(t, [2]int{n, p}, [2]int{m, q})
	require.Equal(t, want.Y, got.Y)
	require.Equal(t, want.Features, got.Features)
	for i := range n {
		for j := range p {
			require.InDelta(t, want.X.At(i, j), got.X.At(i, j), delta)
		}
	}
}

// A sparse table has the rows, products and sums of the dense one, by the definitions of gonum.
func TestSparseIsDense(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		p := rapid.IntRange(1, 6).Draw(t, "features")
		d := drawTable(t, "a", p)
		s := d.Compress()
		require.True(t, s.Sparse())
		require.False(t, d.Sparse())
		require.NoError(t, s.Validate())
		same(t, d, s, 0)
		same(t, d, &Data{X: s.Dense(), Y: s.Y, Features: s.Features}, 0)
		require.Equal(t, d.Nonzeros(), s.Nonzeros())
		require.Equal(t, d.Nonzeros(), s.Stored())
		require.Equal(t, d.MostlyZero(), s.MostlyZero())

		n, _ := d.Dims()
		b := rapid.SliceOfN(rapid.Float64Range(-3, 3), p, p).Draw(t, "b")
		r := rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n).Draw(t, "r")
		for _, e := range []*Data{d, s} {
			var xb, xr mat.VecDense
			xb.MulVec(d.X, mat.NewVecDense(p, b))
			xr.MulVec(d.X.T(), mat.NewVecDense(n, r))
			require.InDeltaSlice(t, xb.RawVector().Data, e.Mul(b), 1e-10)
			require.InDeltaSlice(t, xr.RawVector().Data, e.MulTrans(r), 1e-10)
			for i := range n {
				require.InDelta(t, xb.AtVec(i), e.Dot(i, b), 1e-10)
				row := floats.AddScaledTo(make([]float64, p), b, 2, mat.Row(nil, i, d.X))
				out := append([]float64(nil), b...)
				e.AddRow(out, 2, i)
				require.InDeltaSlice(t, row, out, 1e-12)
			}
			for j, v := range e.Deviations() {
				require.InDelta(t, stat.PopStdDev(mat.Col(nil, j, d.X), nil), v, 1e-10)
			}
		}

		index := rapid.SliceOfN(rapid.IntRange(0, n-1), 1, 5).Draw(t, "index")
		same(t, d.Rows(index), s.Rows(index), 0)
		require.True(t, s.Rows(index).Sparse())
		factor := rapid.SliceOfN(rapid.Float64Range(-3, 3), len(index), len(index)).Draw(t, "factor")
		same(t, d.ScaledRows(index, factor), s.ScaledRows(index, factor), 0)
		same(t, d, s, 0) // both are as they were

		other := drawTable(t, "b", p)
		both := Stack(d, other)
		for i := range n {
			require.Equal(t, mat.Row(nil, i, d.X), both.Dense().RawRowView(i))
		}
		require.Equal(t, both.Dense().RawMatrix(), both.X.(mat.RawMatrixer).RawMatrix())
		require.True(t, mat.Equal(both.X.T(), both.Dense().T()))
		same(t, both, Stack(s, other.Compress()), 0)
		require.True(t, Stack(s, other.Compress()).Sparse())
		same(t, both, Stack(s, other), 0)

		for _, center := range []bool{false, true} {
			dense, sparse := NewTransform(d, ByDeviation, center), NewTransform(s, ByDeviation, center)
			require.InDeltaSlice(t, dense.Scale, sparse.Scale, 1e-12*(1+floats.Max(dense.Scale)))
			for j, v := range sparse.Mean {
				if center && !slices.Contains(mat.Col(nil, j, d.X), 0) {
					require.InDelta(t, dense.Mean[j], v, 1e-12)
				} else {
					require.Zero(t, v, "of a column with zeros")
				}
			}
			z := sparse.Apply(s)
			require.Equal(t, 2*len(indices.Where(sparse.Mean, func(v float64) bool { return v != 0 })) <= p, z.Sparse())
			same(t, sparse.Apply(d), z, 0)
			same(t, dense.Apply(d), dense.Apply(s), 0)
			// The same function of the user's features, with the means in the intercept.
			c, c0 := dense.Undo(b, 1)
			shift := 1.0
			for j := range b {
				shift -= b[j] * (dense.Mean[j] - sparse.Mean[j]) / dense.Scale[j]
			}
			e, e0 := sparse.Undo(b, shift)
			require.InDeltaSlice(t, c, e, 1e-9*(1+floats.Norm(c, math.Inf(1))))
			require.InDelta(t, c0, e0, 1e-9*(1+math.Abs(c0)))
		}
	})
}

func TestValidateSparse(t *testing.T) {
	one := func(index []int, value []float64) error {
		return (&Data{X: sparse.NewCSR(1, 3, []int{0, len(index)}, index, value), Y: []float64{1}, Features: libsvm.Names(3),
			Target: "y"}).Validate()
	}
	require.NoError(t, one([]int{0, 2}, []float64{1, 2}))
	require.NoError(t, one(nil, nil))
	require.EqualError(t, one([]int{2, 0}, []float64{1, 2}),
		"dataset: sparse row 0 has column 0 after 2, expected rising ones below 3")
	require.EqualError(t, one([]int{1, 1}, []float64{1, 2}),
		"dataset: sparse row 0 has column 1 after 1, expected rising ones below 3")
	require.EqualError(t, one([]int{3}, []float64{1}),
		"dataset: sparse row 0 has column 3 after -1, expected rising ones below 3")
	require.EqualError(t, one([]int{1}, []float64{math.NaN()}), `dataset: "x2" of row 0 is NaN, expected a finite number`)
	for _, x := range []mat.Matrix{nil, (*mat.Dense)(nil), (*sparse.CSR)(nil)} {
		require.EqualError(t, (&Data{X: x}).Validate(), "dataset: no data")
	}
}

// copied has copies of rows.
func copied(d *Data, index []int) *Data {
	_, p := d.Dims()
	part, x := d.without(index), mat.NewDense(len(index), p, nil)
	for k, i := range index {
		d.Fill(x.RawRowView(k), i)
	}
	part.X = x
	return part
}

// Rows of a large table that are looked up are what copies of them are, in all ways in which they may be read.
func TestViews(t *testing.T) {
	const n, p = 60_000, 40
	random := rand.New(rand.NewPCG(1, 2))
	d := &Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Weights: make([]float64, n)}
	for i := range n {
		d.Y[i], d.Weights[i] = random.NormFloat64(), random.Float64()+0.5
		for j := range p {
			d.X.(*mat.Dense).Set(i, j, random.NormFloat64()*float64(j+1)+3)
		}
	}
	index := random.Perm(n)[:n-7]
	most := random.Perm(n - 7)[:n/2]
	some := []int{5, 3, 3, 20_000, 44_444}
	g := &Gaps{}
	for i := range n {
		if i%3 == 0 {
			g.Row, g.Feature = append(g.Row, i, i), append(g.Feature, i%7, 10+i%11)
		}
	}
	of := make([]float64, len(g.Row))
	for k, j := range g.Feature {
		of[k] = float64(-1000 - g.Row[k]%10 - j)
	}
	g.Values = [][]float64{make([]float64, len(g.Row)), of}
	filled := copied(d, index)
	for k, i := range index {
		if i%3 == 0 {
			filled.X.(*mat.Dense).Set(k, i%7, float64(-1000-i%10-i%7))
			filled.X.(*mat.Dense).Set(k, 10+i%11, float64(-1000-i%10-10-i%11))
		}
	}
	tr := NewTransform(d, ByDeviation, true)
	whole := &Data{X: d.X, Y: d.Y}
	for name, c := range map[string]struct{ want, got *Data }{
		"rows":              {copied(d, index), d.Rows(index)},
		"rows of rows":      {copied(copied(d, index), some), d.Rows(index).Rows(some)},
		"most rows of rows": {copied(copied(d, index), most), d.Rows(index).Rows(most)},
		"gaps":              {filled, g.Filled(d, 1, index)},
		"rows of gaps":      {copied(filled, some), g.Filled(d, 1, index).Rows(some)},
		"units":             {tr.Apply(d), tr.Later(d)},
		"rows in units":     {tr.Apply(copied(d, index)), tr.Later(d.Rows(index))},
		"gaps in units":     {tr.Apply(filled), tr.Later(g.Filled(d, 1, index))},
		"stacked":           {Stack(copied(d, index), whole), Stack(d.Rows(index), whole)},
		"rows of rows again": {copied(copied(d, index), slices.Repeat(some, 7000)),
			d.Rows(index).Rows(slices.Repeat(some, 7000))},
	} {
		rows, _ := c.want.Dims()
		m, q := c.got.Dims()
		require.Equal(t, [2]int{rows, p}, [2]int{m, q}, name)
		require.Equal(t, c.want.Y, c.got.Y, name)
		b, r := make([]float64, p), make([]float64, rows)
		for j := range b {
			b[j] = random.NormFloat64()
		}
		for i := range r {
			r[i] = random.NormFloat64()
		}
		require.Equal(t, c.want.Mul(b), c.got.Mul(b), name)
		require.InDeltaSlice(t, c.want.MulTrans(r), c.got.MulTrans(r), 1e-6, name)
		require.True(t, mat.Equal(c.want.Dense(), c.got.Dense()), name)
		columns := design.New(c.got.X)
		to := make([]float64, p)
		for range 200 {
			i, j := random.IntN(rows), random.IntN(p)
			_, row := c.got.Row(i)
			_, want := c.want.Row(i)
			require.Equal(t, want, row, name)
			c.got.Fill(to, i)
			require.Equal(t, want, to, name)
			require.Equal(t, want[j], c.got.X.At(i, j), name)
			require.Equal(t, want[j], columns.At(i, j), name)
			require.Equal(t, c.want.Dot(i, b), c.got.Dot(i, b), name)
		}
		require.InDeltaSlice(t, c.want.Deviations(), c.got.Deviations(), 1e-9, name)
	}
	require.IsType(t, &lazy{}, d.Rows(index).X)
	require.IsType(t, &lazy{}, g.Filled(d, 1, index).X)
	require.Panics(t, func() { d.Rows([]int{n}) })
}

// weighted is a table with weights, and the table with each row as often as its weight says.
func weighted(t *rapid.T) (d, repeated *Data) {
	n, p := rapid.IntRange(1, 12).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "p")
	d = &Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Weights: make([]float64, n), Target: "y"}
	for j := range p {
		d.Features = append(d.Features, string(rune('a'+j)))
	}
	value := rapid.Float64Range(-100, 100)
	var index []int
	for i := range n {
		times := rapid.IntRange(1, 4).Draw(t, "weight")
		d.Weights[i] = float64(times)
		index = append(index, slices.Repeat([]int{i}, times)...)
		d.Y[i] = value.Draw(t, "y")
		for j := range p {
			d.Dense().Set(i, j, value.Draw(t, "x"))
		}
	}
	repeated = d.Rows(index)
	repeated.Weights = nil
	return d, repeated
}

// meanSquare is that of the residuals, row by row.
func meanSquare(d *Data, b []float64, b0 float64) float64 {
	sum := 0.0
	for i, y := range d.Y {
		r := y - b0
		for j, c := range b {
			r -= c * d.X.At(i, j)
		}
		sum += r * r / float64(len(d.Y))
	}
	return sum
}

// Rows of equal weights have the mean squares of the rows repeated, whatever the coefficients and the constant.
func TestEqualWeights(t *testing.T) {
	proptest.Check(t, func(r *rapid.T) {
		d, repeated := weighted(r)
		require.NoError(r, d.Validate())
		value := rapid.Float64Range(-10, 10)
		b := make([]float64, len(d.Features))
		for range 3 {
			for j := range b {
				b[j] = value.Draw(r, "b")
			}
			b0 := value.Draw(r, "b0")
			want := meanSquare(repeated, b, b0)
			require.InDelta(r, want, meanSquare(d.EqualWeights(true), b, b0), 1e-9*(1+want))
			want = meanSquare(repeated, b, 0)
			require.InDelta(r, want, meanSquare(d.EqualWeights(false), b, 0), 1e-9*(1+want))
		}
		same := *d
		same.Weights = slices.Repeat([]float64{3}, len(d.Y))
		require.InDeltaSlice(r, d.Y, same.EqualWeights(true).Y, 1e-10)
	})
}

// Means and deviations are those of the rows repeated, of sparse tables too.
func TestWeightedMoments(t *testing.T) {
	proptest.Check(t, func(r *rapid.T) {
		d, repeated := weighted(r)
		for _, of := range []*Data{d, d.Compress()} {
			mean, deviation := of.Moments()
			wantMean, wantDeviation := repeated.Moments()
			require.InDeltaSlice(r, wantMean, mean, 1e-10)
			require.InDeltaSlice(r, wantDeviation, deviation, 1e-6)
		}
		require.InDelta(r, repeated.Mean(repeated.Y), d.Mean(d.Y), 1e-10)
	})
}

// Weights go with their rows.
func TestWeightsOfParts(t *testing.T) {
	d := table(4, "a", "b")
	d.Weights = []float64{1, 2, 3, 4}
	require.Equal(t, []float64{4, 2}, d.Rows([]int{3, 1}).Weights)
	plain := *d
	plain.Weights = nil
	require.Equal(t, []float64{1, 2, 3, 4, 1, 1, 1, 1}, Stack(d, &plain).Weights)
	require.Nil(t, Stack(&plain, &plain).Weights)
	require.Equal(t, d.Weights, NewTransform(d, ByTable, true).Apply(d).Weights)
	require.Same(t, &plain, plain.EqualWeights(true))
	require.False(t, d.Compress().EqualWeights(true).Sparse())
	require.True(t, mat.EqualApprox(d.EqualWeights(true).X, d.Compress().EqualWeights(true).X, 1e-14))
	d.Offset = []float64{5, 6, 7, 8}
	require.Equal(t, []float64{8, 6}, d.Rows([]int{3, 1}).Offset)
	require.Equal(t, []float64{5, 6, 7, 8, 0, 0, 0, 0}, Stack(d, &plain).Offset)
	require.Equal(t, d.Offset, NewTransform(d, ByTable, true).Apply(d).Offset)
	require.True(t, d.Compress().EqualWeights(false).Sparse())
	for _, w := range [][]float64{{1, 2, 3}, {1, 0, 1, 1}, {1, -1, 1, 1}, {1, math.NaN(), 1, 1}, {1, math.Inf(1), 1, 1}} {
		d.Weights = w
		require.ErrorContains(t, d.Validate(), "weight")
	}
}

// The moments of a dense table are those, bit for bit, of one that keeps the same numbers as compressed rows; a
// constant column has its value and 0.
func TestDenseMoments(t *testing.T) {
	const n, p = 37, 23
	rng := rand.New(rand.NewPCG(8, 1))
	x := mat.NewDense(n, p, nil)
	x.Apply(func(_, j int, _ float64) float64 { return rng.NormFloat64() * math.Pow(10, float64(20*(j%7)-60)) }, x)
	x.SetCol(5, slices.Repeat([]float64{0.1}, n))
	d := &Data{X: x, Y: make([]float64, n)}
	means, deviations := d.Moments()
	sparseMean, sparseDeviation := d.Compress().Moments()
	require.Equal(t, [][]float64{sparseMean, sparseDeviation}, [][]float64{means, deviations})
	require.Equal(t, 0.1, means[5])
	require.Zero(t, deviations[5])
	column := mat.Col(nil, 3, x)
	mean, deviation := stat.PopMeanStdDev(column, nil)
	require.InEpsilon(t, mean, means[3], 1e-12)
	require.InEpsilon(t, deviation, deviations[3], 1e-12)
}
