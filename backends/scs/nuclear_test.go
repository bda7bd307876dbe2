//go:build (scs && cgo) || scs_go

package scs_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// completion is min |X - M|^2 / 2 over the known half of the entries of M, which is
// near to rank one, plus 0.3 |X|_*, in the variables t and X.
func completion(rows, cols int) *backends.Problem {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	n := 1 + rows*cols
	seen, q := make([]bool, n), make([]float64, n)
	q[0] = 0.3
	for k := range q[1:] {
		if rng.IntN(2) == 0 {
			seen[1+k] = true
			q[1+k] = -float64(k%rows+1) * (1 + float64(k/rows)/2) * (1 + rng.Float64()/10)
		}
	}
	return &backends.Problem{Q: q, P: diagonal(seen), A: matrices.Identity(n, -1), B: make([]float64, n),
		Cones: []backends.Cone{backends.NuclearNorm(rows, cols)}}
}

// lifted is the same with the semidefinite matrix [X1 X; X' X2] and the row
// (tr X1 + tr X2) / 2 <= t, which every backend with PSD cones understands. Its
// variables are those of the other, and then X1 and X2 by their lower triangles.
func lifted(p *backends.Problem) *backends.Problem {
	rows, cols, n := p.Cones[0].Rows, p.Cones[0].Cols, len(p.Q)
	order := rows + cols
	cone := backends.PSD(order)
	ptr, ind, val := []int{0}, []int{}, []float64{}
	column := func(sum float64, entry int, v float64) { // sum in the row of the traces
		if sum != 0 {
			ind, val = append(ind, 0), append(val, sum)
		}
		if v != 0 {
			ind, val = append(ind, 1+entry), append(val, v)
		}
		ptr = append(ptr, len(ind))
	}
	at := func(i, j int) int { return j*order - j*(j-1)/2 + i - j }
	column(-1, 0, 0)
	for j := range cols { // X' stands in the rows after those of X1
		for i := range rows {
			column(0, at(rows+j, i), -math.Sqrt2)
		}
	}
	for j := range order {
		for i := j; i < order; i++ {
			switch {
			case i == j:
				column(0.5, at(i, j), -1)
			case (i < rows) == (j < rows):
				column(0, at(i, j), -math.Sqrt2)
			}
		}
	}
	all := len(ptr) - 1
	seen := make([]bool, all)
	p.P.DoNonZero(func(i, _ int, _ float64) { seen[i] = true })
	return &backends.Problem{
		Q: append(slices.Clone(p.Q), make([]float64, all-n)...), P: diagonal(seen),
		A: sparse.NewCSC(1+cone.Dim, all, ptr, ind, val), B: make([]float64, 1+cone.Dim),
		Cones: []backends.Cone{backends.Nonnegative(1), cone},
	}
}

// TestNuclearNorm completes matrices with the cone of SCS and with a PSD cone.
func TestNuclearNorm(t *testing.T) {
	needsOurLibrary(t)
	for _, size := range [][2]int{{5, 5}, {6, 4}, {3, 7}} {
		p := completion(size[0], size[1])
		plain, other := solve(t, p, backends.Options{}), solve(t, lifted(p), backends.Options{})
		require.Equal(t, backends.Optimal, plain.Status, plain.Message)
		require.Equal(t, backends.Optimal, other.Status, other.Message)
		assert.InDelta(t, other.Objective, plain.Objective, 1e-6*math.Abs(other.Objective))
		assert.InDeltaSlice(t, other.X[:len(p.Q)], plain.X, 1e-3)
	}
}

// TestNuclearNormElsewhere: other backends say that they do not have the cone, and
// which one does.
func TestNuclearNormElsewhere(t *testing.T) {
	needsOurLibrary(t)
	other := must.Of(backends.Open("native"))(t)
	p := &backends.Problem{Q: []float64{1, 0}, A: matrices.Identity(2, -1), B: []float64{0, 1},
		Cones: []backends.Cone{backends.NuclearNorm(1, 1)}}
	_, err := other.Setup(p, backends.Options{})
	var unsupported *backends.UnsupportedError
	require.ErrorAs(t, err, &unsupported)
	assert.Equal(t, "the nuclear norm cone", unsupported.Feature)
	assert.Equal(t, []string{"scs"}, unsupported.Others)
}

// diagonal returns the matrix with ones where the entry is set.
func diagonal(set []bool) *sparse.CSC {
	ptr, ind, val := []int{0}, []int{}, []float64{}
	for i, on := range set {
		if on {
			ind, val = append(ind, i), append(val, 1)
		}
		ptr = append(ptr, len(ind))
	}
	return sparse.NewCSC(len(set), len(set), ptr, ind, val)
}
