package dataset

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/internal/must"
)

func randomSplit() *Split {
	r := rand.New(rand.NewPCG(5, 6))
	part := func(n int) *Data {
		d := &Data{X: mat.NewDense(n, 4, nil), Y: make([]float64, n), Features: []string{"a", "b", "c", "d"}, Target: "y"}
		for i := range n {
			// The units differ, and the third column is constant.
			d.Dense().SetRow(i, []float64{1e8 + r.NormFloat64(), 1e-200 * r.NormFloat64(), 0.1, 1e200 * r.NormFloat64()})
			d.Y[i] = r.NormFloat64()
		}
		return d
	}
	return &Split{Train: part(30), Val: part(20)}
}

// standardized is the split in the units of the training rows.
func standardized(s *Split, scaling Scaling, center bool) (*Split, *Transform) {
	t := NewTransform(s.Train, scaling, center)
	return &Split{Train: t.Apply(s.Train), Val: t.Apply(s.Val), Test: t.Apply(s.Test)}, t
}

func TestStandardize(t *testing.T) {
	s := randomSplit()
	before := mat.DenseCopyOf(s.Train.X)
	z, tr := standardized(s, ByDeviation, true)
	require.True(t, mat.Equal(before, s.Train.X), "the data do not change")
	require.Nil(t, z.Test)
	for j := range 4 {
		column := mat.Col(nil, j, z.Train.X)
		want := 1.0
		if j == 2 {
			want = 0
		}
		require.InDelta(t, 0, stat.Mean(column, nil), 1e-7)
		require.InDelta(t, want, stat.PopStdDev(column, nil), 1e-7)
	}
	require.Equal(t, 1.0, tr.Scale[2])
	require.Equal(t, 0.1, tr.Mean[2])
	require.Zero(t, z.Train.X.At(7, 2))
	// The validation rows are in the units of the training rows.
	mean, sd := stat.PopMeanStdDev(mat.Col(nil, 0, s.Train.X), nil)
	require.InDelta(t, (s.Val.X.At(3, 0)-mean)/sd, z.Val.X.At(3, 0), 1e-6)
	require.Equal(t, s.Val.Y, z.Val.Y)
}

func TestStandardizeWithoutCenter(t *testing.T) {
	s := randomSplit()
	z, tr := standardized(s, ByDeviation, false)
	require.Equal(t, make([]float64, 4), tr.Mean)
	require.Equal(t, 0.1, z.Train.X.At(0, 2))
	require.InDelta(t, 1, stat.PopStdDev(mat.Col(nil, 3, z.Train.X), nil), 1e-7)
}

// A model for the transformed features and its undone form predict the same.
func TestUndo(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	s := must.First(Generate(Config{Train: 20, Val: 10, Features: 6}, 1))(t)
	b := make([]float64, 6)
	for j := range b {
		b[j] = r.NormFloat64()
	}
	for _, center := range []bool{true, false} {
		z, tr := standardized(s, ByDeviation, center)
		c, c0 := tr.Undo(b, 0.7)
		if !center {
			require.Equal(t, 0.7, c0, "no intercept comes in")
		}
		for i := range 10 {
			want := 0.7 + floats.Dot(b, z.Val.Dense().RawRowView(i))
			require.InDelta(t, want, c0+floats.Dot(c, s.Val.Dense().RawRowView(i)), 1e-12)
		}
	}
	_, tr := standardized(s, ByDeviation, true)
	require.Panics(t, func() { tr.Undo(b[:5], 0) })
	require.Panics(t, func() { tr.Apply(table(2, "a")) })
	require.Nil(t, tr.Apply(nil))
}

func TestStandardizeExtremes(t *testing.T) {
	for _, values := range [][]float64{{math.MaxFloat64, -math.MaxFloat64 / 2}, {0, 5e-324}, {3, 3},
		{math.Copysign(0, -1), 0}} {
		d := &Data{X: mat.NewDense(2, 1, values), Y: []float64{0, 0}, Features: []string{"a"}, Target: "y"}
		_, tr := standardized(&Split{Train: d, Val: d}, ByDeviation, true)
		require.Greater(t, tr.Scale[0], 0.0)
		require.False(t, math.IsInf(tr.Scale[0], 0) || math.IsNaN(tr.Scale[0]))
	}
}

// Divided by the largest absolute values of the training rows, worked out by hand: a column of zeros stays one, and
// other rows may be larger.
func TestByLargest(t *testing.T) {
	train := &Data{X: mat.NewDense(3, 3, []float64{0, -4, 0, 2, 0, 0, 1, 1, 0}), Y: []float64{1, 2, 3},
		Features: []string{"a", "b", "c"}, Target: "y"}
	val := &Data{X: mat.NewDense(1, 3, []float64{6, 2, 5}), Y: []float64{1}, Features: train.Features, Target: "y"}
	want := mat.NewDense(3, 3, []float64{0, -1, 0, 1, 0, 0, 0.5, 0.25, 0})
	for _, s := range []*Split{{Train: train, Val: val}, {Train: train.Compress(), Val: val.Compress()}} {
		for _, center := range []bool{false, true} {
			z, tr := standardized(s, ByLargest, center)
			require.Equal(t, &Transform{Mean: []float64{0, 0, 0}, Scale: []float64{2, 4, 1}}, tr)
			require.Equal(t, s.Train.Sparse(), z.Train.Sparse())
			require.True(t, mat.Equal(want, z.Train.Dense()))
			require.Equal(t, []float64{3, 0.5, 5}, z.Val.Dense().RawRowView(0))
		}
	}
}

// The scaling of the table is that by the largest values for sparse tables of many features alone: a small one has the
// unit of a dense one.
func TestByTable(t *testing.T) {
	for p, want := range map[int]Scaling{rareFeatures - 1: ByDeviation, rareFeatures: ByLargest} {
		d := &Data{X: mat.NewDense(2, p, nil), Y: make([]float64, 2), Features: make([]string, p), Target: "y"}
		require.Equal(t, ByDeviation, ByTable.Of(d))
		require.Equal(t, want, ByTable.Of(d.Compress()))
	}
	d := &Data{X: mat.NewDense(4, 1, []float64{0, 3, 0, 0}), Y: make([]float64, 4), Features: []string{"a"}, Target: "y"}
	require.Equal(t, []float64{3}, NewTransform(d.Compress(), ByLargest, true).Scale)
	require.Equal(t, []float64{math.Sqrt(27) / 4}, NewTransform(d.Compress(), ByTable, true).Scale) // of 0, 3, 0, 0
	require.Equal(t, NewTransform(d, ByDeviation, true), NewTransform(d, ByTable, true))
	require.NotEqual(t, NewTransform(d, ByLargest, true), NewTransform(d, ByTable, true))
}

// Divided by one number, worked out by hand: the columns have mean nonzeros 1.5, 2.5 and none, and the larger one of
// two is the median.
func TestTogether(t *testing.T) {
	d := &Data{X: mat.NewDense(3, 3, []float64{0, -4, 0, 2, 0, 0, 1, 1, 0}), Y: []float64{1, 2, 3},
		Features: []string{"a", "b", "c"}, Target: "y"}
	for _, table := range []*Data{d, d.Compress()} {
		require.Equal(t, &Transform{Mean: make([]float64, 3), Scale: []float64{2.5, 2.5, 2.5}}, NewTransform(table, Together,
			true))
	}
}

// A model with the norm of all coefficients leaves sparse columns of comparable sizes in their unit: up to a factor of
// 100, and where nothing is asked for.
func TestOfNorm(t *testing.T) {
	table := func(first, last float64) *Data {
		return (&Data{X: mat.NewDense(4, 4, []float64{first, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, last}),
			Y: make([]float64, 4), Features: []string{"a", "b", "c", "d"}, Target: "y"}).Compress()
	}
	require.Equal(t, Together, ByTable.OfNorm(table(100, 0.01)))
	require.Equal(t, ByLargest, ByTable.OfNorm(table(101, 1)))
	require.Equal(t, ByLargest, ByTable.OfNorm(table(1, 0.009)))
	require.Equal(t, Together, ByTable.OfNorm(table(1, 0)))
	require.Equal(t, Together, ByTable.OfNorm((&Data{X: mat.NewDense(2, 1, nil), Y: make([]float64, 2),
		Features: []string{"a"}, Target: "y"}).Compress()))
	for _, asked := range []Scaling{ByDeviation, ByLargest, Together} {
		require.Equal(t, asked, asked.OfNorm(table(1, 1)))
	}
	dense := table(1, 1)
	dense.X = dense.Dense()
	require.Equal(t, ByDeviation, ByTable.OfNorm(dense))
}

func TestParseScaling(t *testing.T) {
	for _, name := range Scalings() {
		s := must.Of(ParseScaling(name))(t)
		require.Equal(t, name, s.String())
	}
	_, err := ParseScaling("by-table")
	require.EqualError(t, err, `dataset: unknown scaling "by-table"; known are: deviation, largest, common`)
}
