package glm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// awkward are n rows whose columns 1 is constant, 2 is a sum of others, 3 far from zero, 4 sorted and 5 tiny, and
// targets with noise.
func awkward(n, p int, seed uint64) (*mat.Dense, []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, y := mat.NewDense(n, p, nil), make([]float64, n)
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		row[1], row[2], row[3], row[4], row[5] = 2.5, row[0]-row[6], 1e4+row[3], float64(i)/float64(n), 1e-9*row[5]
		for j := range row {
			y[i] += row[j] / float64(1+j)
		}
		y[i] += 3 * rng.NormFloat64()
	}
	return x, y
}

// meanSquare sums row by row, with compensation.
func meanSquare(x mat.Matrix, y, b []float64, b0 float64) float64 {
	n, p := x.Dims()
	sum, low := 0.0, 0.0
	for i := range n {
		r := y[i] - b0
		for j := range p {
			r -= x.At(i, j) * b[j]
		}
		v := r*r - low
		next := sum + v
		low = (next - sum) - v
		sum = next
	}
	return sum / float64(n)
}

// reduced is a reduced design as a matrix.
func reduced(t *testing.T, x mat.Matrix, y []float64, threads int) (*mat.Dense, []float64) {
	small, targets, ok := Reduce(x, y, threads)
	require.True(t, ok)
	m, p := small.Dims()
	out := mat.NewDense(m, p, nil)
	for j := range p {
		_, column := small.Column(j)
		out.SetCol(j, column)
	}
	return out, targets
}

// Mean squares are those of all rows, with constants and without.
func TestReduceKeepsSquares(t *testing.T) {
	for _, n := range []int{5000, 3 * reducePart, reduceParts*reducePart + 77} {
		x, y := awkward(n, 21, uint64(n))
		small, targets := reduced(t, x, y, 1)
		rows, _ := small.Dims()
		require.Equal(t, 23, rows)
		rng := rand.New(rand.NewPCG(7, 7))
		for trial := range 6 {
			b := make([]float64, 21)
			for j := range b {
				b[j] = rng.NormFloat64()
			}
			b0 := 1e4 * rng.NormFloat64()
			if trial%2 == 0 {
				b0, b[3] = 0, 1e-4*b[3]
			}
			whole := meanSquare(x, y, b, b0)
			require.InEpsilon(t, whole, meanSquare(small, targets, b, b0), 1e-11)
		}
	}
}

// The least squares solution is that of Householder's method on all rows.
func TestReduceKeepsLeastSquares(t *testing.T) {
	x, y := awkward(20_000, 12, 3)
	for i := range 20_000 { // no column depends on others
		row := x.RawRowView(i)
		row[1], row[2], row[5] = row[7]*row[8], row[9]*row[10], 1e9*row[5]
	}
	solve := func(x mat.Matrix, y []float64) []float64 {
		n, p := x.Dims()
		ones := mat.NewDense(n, 1, nil)
		for i := range n {
			ones.Set(i, 0, 1)
		}
		var all mat.Dense
		all.Augment(ones, x)
		var qr mat.QR
		qr.Factorize(&all)
		b := mat.NewVecDense(p+1, nil)
		require.NoError(t, qr.SolveVecTo(b, false, mat.NewVecDense(n, y)))
		return b.RawVector().Data
	}
	small, targets := reduced(t, x, y, 1)
	want := solve(x, y)
	for j, v := range solve(small, targets) {
		require.InDelta(t, want[j], v, 1e-9*math.Max(1, math.Abs(want[j])))
	}
}

func TestReduceIsTheSameOnAllThreads(t *testing.T) {
	x, y := awkward(9*reducePart+5, 13, 5)
	small, targets := reduced(t, x, y, 1)
	for _, threads := range []int{2, 3, 16} {
		again, others := reduced(t, x, y, threads)
		require.Equal(t, small, again)
		require.Equal(t, targets, others)
	}
}

// Tables that would lose digits, or gain no time, are left alone.
func TestReduceRefuses(t *testing.T) {
	refused := func(x mat.Matrix, y []float64) {
		t.Helper()
		_, _, ok := Reduce(x, y, 1)
		require.False(t, ok)
	}
	x, y := awkward(5000, 21, 1)
	reduced(t, x, y, 1)
	explained := make([]float64, 5000)
	near, constant := mat.DenseCopyOf(x), make([]float64, 5000)
	for i := range explained {
		constant[i] = 3
		explained[i] = x.At(i, 0) - 2*x.At(i, 7) + 1e-4*y[i]
		near.Set(i, 2, x.At(i, 0)+1e-6*math.Sin(float64(i*i)))
	}
	refused(x, explained)
	refused(x, constant)
	refused(near, y)
	refused(x, y[1:])
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e160} {
		bad := mat.DenseCopyOf(x)
		bad.Set(77, 5, v)
		refused(bad, y)
	}
	refused(x.Slice(0, 4000, 0, 21), y[:4000])
	long, targets := awkward(1000, 200, 1)
	refused(long, targets)
	refused(sparse.NewCSR(5000, 21, make([]int, 5001), nil, nil), y)
}
