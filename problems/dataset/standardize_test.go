package dataset

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
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
	s, _, err := Generate(Config{Train: 20, Val: 10, Features: 6}, 1)
	require.NoError(t, err)
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
