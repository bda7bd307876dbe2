package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/proptest"
)

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
	var start, index []int
	var value []float64
	for i := range n {
		start = append(start, len(value))
		for j := range p {
			v := rng.NormFloat64() * math.Pow(10, float64(20*(j%7)-60))
			if j == 5 {
				v = 0.1
			}
			x.Set(i, j, v)
			index, value = append(index, j), append(value, v)
		}
	}
	start = append(start, len(value))
	means, deviations := (&Data{X: x, Y: make([]float64, n)}).Moments()
	sparseMean, sparseDeviation := (&Data{X: sparse.NewCSR(n, p, start, index, value), Y: make([]float64, n)}).Moments()
	require.Equal(t, [][]float64{sparseMean, sparseDeviation}, [][]float64{means, deviations})
	require.Equal(t, 0.1, means[5])
	require.Zero(t, deviations[5])
	column := mat.Col(nil, 3, x)
	mean, deviation := stat.PopMeanStdDev(column, nil)
	require.InEpsilon(t, mean, means[3], 1e-12)
	require.InEpsilon(t, deviation, deviations[3], 1e-12)
}
