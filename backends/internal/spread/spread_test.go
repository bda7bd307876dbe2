package spread

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// TestLeastSquares compares with the least squares as a dense problem, solved by QR.
func TestLeastSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		m, n := 6, 4
		s := System{Rows: m, Cols: n, Ridge: 0.01}
		of := []int{0, 1, 2, 2, 2, 3} // the unknown of a row: rows 2 to 4 are a block
		s.Blocks = func(visit func(first, dim int)) { visit(2, 3) }
		const c, t0 = 8, 9 // after 4 of d and 4 of e
		var rows [][]float64
		var right []float64
		term := func(v float64, unknowns ...int) {
			row := make([]float64, 10)
			for _, k := range unknowns {
				row[k]++
			}
			rows, right = append(rows, row), append(right, -v)
		}
		for i := range m {
			for j := range n {
				if v := 10 * rng.NormFloat64(); rng.IntN(2) == 0 {
					s.A.Add(i, j, v)
					term(v, j, 4+of[i])
				}
			}
			if v := 10 * rng.NormFloat64(); rng.IntN(2) == 0 {
				s.B.Add(i, v)
				term(v, 4+of[i], t0)
			}
		}
		for j := range n {
			for i := range j + 1 {
				if v := 10 * rng.NormFloat64(); rng.IntN(2) == 0 {
					s.P.Add(i, j, v)
					term(v, i, j, c)
				}
			}
			if v := 10 * rng.NormFloat64(); rng.IntN(2) == 0 {
				s.Q.Add(j, v)
				term(v, j, c)
			}
		}
		term(0, t0)
		for k := range 8 { // the ridge
			term(0, k)
			rows[len(rows)-1][k] = math.Sqrt(s.Ridge)
		}
		dense := mat.NewDense(len(rows), 10, nil)
		for i, row := range rows {
			dense.SetRow(i, row)
		}
		var want mat.VecDense
		require.NoError(t, want.SolveVec(dense, mat.NewVecDense(len(right), right)))
		f := s.Solve(200_000, 1e-13)
		for j, v := range f.D {
			assert.InDelta(t, want.AtVec(j), v, 1e-6)
		}
		for i, v := range f.E {
			assert.InDelta(t, want.AtVec(4+of[i]), v, 1e-6)
		}
		assert.InDelta(t, want.AtVec(c), f.C, 1e-6)
		assert.InDelta(t, want.AtVec(t0), f.T, 1e-6)
	}
}

func TestOf(t *testing.T) {
	assert.Empty(t, Of(nil, math.Log2))
	e := Of(sparse.NewCSC(2, 2, []int{0, 2, 3}, []int{0, 1, 1}, []float64{-8, 0, 2}), math.Log2)
	assert.Equal(t, Entries{[]int32{0, 1}, []int32{0, 1}, []float64{3, 1}}, e)
}

func TestRoughLog2(t *testing.T) {
	for _, v := range []float64{1e-300, 1e-9, 0.3, 1, 1.5, 2, 7, 1e9, 1e300} {
		assert.InDelta(t, math.Log2(v), RoughLog2(v), 0.1)
	}
	assert.Equal(t, 0.125, Power(-2.6))
	assert.Equal(t, 0.0, Power(-2000))
	assert.Equal(t, math.Inf(1), Power(2000))
}
