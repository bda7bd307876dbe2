package coo

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCSC compares with sums in a dense matrix.
func TestCSC(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		rows, cols := 1+rng.IntN(8), 1+rng.IntN(8)
		dense := make([]float64, rows*cols)
		there := make([]bool, rows*cols)
		var m Matrix
		for range rng.IntN(60) {
			i, j, v := rng.IntN(rows), rng.IntN(cols), float64(rng.IntN(9)-4)
			m.Add(i, j, v)
			dense[i*cols+j] += v
			there[i*cols+j] = true
		}
		got := m.CSC(rows, cols)
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

func TestCSCWithoutColumns(t *testing.T) {
	assert.Equal(t, []int{0}, New(0).CSC(3, 0).RawMatrix().Indptr)
}
