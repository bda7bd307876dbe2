package dataset

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
)

// tableAndTransform are n x p numbers of different sizes with a change of their units.
func tableAndTransform(n, p int) (*Data, *Transform) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(p)))
	d := &Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Features: make([]string, p), Target: "y"}
	for i := range n {
		d.Y[i] = rng.NormFloat64()
		for j := range p {
			d.X.(*mat.Dense).Set(i, j, float64(j)+rng.NormFloat64())
		}
	}
	return d, NewTransform(d, ByDeviation, true)
}

// A table by columns has the numbers of the one by rows, and whatever is made of it, too.
func TestColumnsAgainstRows(t *testing.T) {
	d, unit := tableAndTransform(21, 37)
	rows, columns := unit.Apply(d), unit.Columns(d)
	n, p := columns.Dims()
	require.Equal(t, []int{21, 37}, []int{n, p})
	require.True(t, mat.Equal(rows.X, columns.X))
	require.True(t, mat.Equal(rows.X.T(), columns.X.T()))
	require.Equal(t, rows.Dense(), columns.Dense())
	for i := range n {
		_, want := rows.Row(i)
		_, got := columns.Row(i)
		require.Equal(t, want, got)
	}
	for _, step := range []int{1, 7} { // many and few coefficients
		b := make([]float64, p)
		for j := 0; j < p; j += step {
			b[j] = 1 / float64(1+j)
		}
		require.InDeltaSlice(t, rows.Mul(b), columns.Mul(b), 1e-13)
		require.InDelta(t, rows.Dot(3, b), columns.Dot(3, b), 1e-13)
	}
	require.InDeltaSlice(t, rows.MulTrans(d.Y), columns.MulTrans(d.Y), 1e-13)

	some := []int{4, 20, 4, 0}
	require.True(t, mat.Equal(rows.Rows(some).X, columns.Rows(some).X))
	scale := []float64{1, 2, 3, 4}
	require.True(t, mat.Equal(rows.ScaledRows(some, scale).X, columns.ScaledRows(some, scale).X))
	require.True(t, mat.Equal(unit.Apply(rows).X, unit.Apply(columns).X))
	require.True(t, mat.Equal(Stack(rows, rows.Rows(some)).X, Stack(columns, columns.Rows(some)).X))
	require.True(t, mat.Equal(Stack(rows, rows.Rows(some)).X, Stack(columns, rows.Rows(some)).X), "one of each kind")
	require.Equal(t, rows.Compress().X, columns.Compress().X)
}

// Fits work with the numbers themselves.
func TestColumnsShared(t *testing.T) {
	d, unit := tableAndTransform(5, 3)
	columns := unit.Columns(d)
	require.Same(t, design.New(columns.X), design.New(columns.X))
	require.Equal(t, design.New(unit.Apply(d).X), design.New(columns.X))
}
