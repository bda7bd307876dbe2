package completion

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
)

// Products with features of rows, of columns and of neither, some left out, are those with the whole design.
func TestLines(t *testing.T) {
	const m, n, entries, p = 7, 5, 23, 6
	rng := rand.New(rand.NewPCG(3, 4))
	rows, cols := normals(rng, 2*m), normals(rng, 2*n)
	d := &Data{M: m, N: n, Y: make([]float64, entries)}
	x := mat.NewDense(entries, p, nil)
	for e, at := range rng.Perm(m * n)[:entries] {
		i, l := at/n, at%n
		d.Row, d.Col = append(d.Row, i), append(d.Col, l)
		x.SetRow(e, []float64{rows[2*i], cols[2*l], rng.NormFloat64(), rows[2*i+1], 0, cols[2*l+1]})
	}
	d.X = design.New(x)
	s := newLines(d)
	require.Equal(t, []int{0, 1, 2, 3, 4, 5}, s.all)
	for l, side := range []int{0, 1, -1, 0, 0, 1} {
		if side < 0 {
			require.Nil(t, s.value[l])
			continue
		}
		require.NotNil(t, s.value[l])
		require.Equal(t, side, s.of[l])
	}
	for _, set := range [][]int{nil, {2}, {1, 4}, s.all} {
		full := mat.NewVecDense(p, nil)
		c := normals(rng, len(set))
		if len(c) > 1 {
			c[1] = 0
		}
		for i, l := range set {
			full.SetVec(l, c[i])
		}
		to, v := normals(rng, entries), normals(rng, entries)
		want := mat.NewVecDense(entries, append([]float64{}, to...))
		var product, back mat.VecDense
		product.MulVec(x, full)
		want.AddScaledVec(want, -2, &product)
		s.push(to, -2, d.X, set, c)
		require.InDeltaSlice(t, want.RawVector().Data, to, 1e-13)

		back.MulVec(x.T(), mat.NewVecDense(entries, v))
		out := normals(rng, len(set))
		expected := append([]float64{}, out...)
		for i, l := range set {
			expected[i] += 0.5 * back.AtVec(l)
		}
		s.pull(out, 0.5, d.X, set, v)
		require.InDeltaSlice(t, expected, out, 1e-13)
	}
}
