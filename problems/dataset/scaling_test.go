package dataset

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

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
		s, err := ParseScaling(name)
		require.NoError(t, err)
		require.Equal(t, name, s.String())
	}
	_, err := ParseScaling("by-table")
	require.EqualError(t, err, `dataset: unknown scaling "by-table"; known are: deviation, largest, common`)
}
