package backends

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/conetune/conetune/internal/must"
)

// TestCSC compares with sums in a dense matrix.
func TestTriplets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		rows, cols := 1+rng.IntN(8), 1+rng.IntN(8)
		dense := make([]float64, rows*cols)
		there := make([]bool, rows*cols)
		var m Triplets
		for range rng.IntN(60) {
			i, j, v := rng.IntN(rows), rng.IntN(cols), float64(rng.IntN(9)-4)
			m.Add(i, j, v)
			dense[i*cols+j] += v
			there[i*cols+j] = true
		}
		got := must.Of(m.CSC(rows, cols))(t)
		raw := got.RawMatrix()
		count := 0
		for j := range cols {
			column := raw.Ind[raw.Indptr[j]:raw.Indptr[j+1]]
			assert.True(t, slices.IsSorted(column))
			for k, i := range column {
				assert.Equal(t, dense[i*cols+j], raw.Data[raw.Indptr[j]+k])
				assert.True(t, there[i*cols+j])
				count++
			}
		}
		for _, here := range there {
			if here {
				count--
			}
		}
		assert.Zero(t, count, "each place once")
	}
}

func TestTripletsWithoutColumns(t *testing.T) {
	m := must.Of(new(Triplets).CSC(3, 0))(t)
	assert.Equal(t, []int{0}, m.RawMatrix().Indptr)
}

func TestTripletsOutside(t *testing.T) {
	for _, at := range [][2]int{{2, 0}, {0, 3}, {-1, 0}, {0, -1}, {math.MinInt, 0}} {
		var m Triplets
		m.Add(0, 0, 1)
		m.Add(at[0], at[1], 1)
		_, err := m.CSC(2, 3)
		assert.ErrorContains(t, err, fmt.Sprintf("entry (%d, %d) is outside of 2 x 3", at[0], at[1]))
	}
	_, err := (&Triplets{Row: []int32{0}, Value: []float64{1}}).CSC(2, 2)
	assert.ErrorContains(t, err, "1 rows, 0 columns and 1 values")
	_, err = new(Triplets).CSC(-1, 2)
	assert.ErrorContains(t, err, "-1 x 2")
}
