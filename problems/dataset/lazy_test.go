package dataset

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
)

// copied has copies of rows.
func copied(d *Data, index []int) *Data {
	_, p := d.Dims()
	part, x := d.without(index), mat.NewDense(len(index), p, nil)
	for k, i := range index {
		d.Fill(x.RawRowView(k), i)
	}
	part.X = x
	return part
}

// Rows of a large table that are looked up are what copies of them are, in all ways in which they may be read.
func TestViews(t *testing.T) {
	const n, p = 60_000, 40
	random := rand.New(rand.NewPCG(1, 2))
	d := &Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Weights: make([]float64, n)}
	for i := range n {
		d.Y[i], d.Weights[i] = random.NormFloat64(), random.Float64()+0.5
		for j := range p {
			d.X.(*mat.Dense).Set(i, j, random.NormFloat64()*float64(j+1)+3)
		}
	}
	index := random.Perm(n)[:n-7]
	most := random.Perm(n - 7)[:n/2]
	some := []int{5, 3, 3, 20_000, 44_444}
	g := &Gaps{Fill: [][]float64{make([]float64, p), make([]float64, p)}}
	for i := range n {
		if i%3 == 0 {
			g.Row, g.Feature = append(g.Row, i, i), append(g.Feature, i%7, 10+i%11)
		}
	}
	for j := range p {
		g.Fill[1][j] = float64(-1000 - j)
	}
	filled := copied(d, index)
	for k, i := range index {
		if i%3 == 0 {
			filled.X.(*mat.Dense).Set(k, i%7, g.Fill[1][i%7])
			filled.X.(*mat.Dense).Set(k, 10+i%11, g.Fill[1][10+i%11])
		}
	}
	tr := NewTransform(d, ByDeviation, true)
	whole := &Data{X: d.X, Y: d.Y}
	for name, c := range map[string]struct{ want, got *Data }{
		"rows":              {copied(d, index), d.Rows(index)},
		"rows of rows":      {copied(copied(d, index), some), d.Rows(index).Rows(some)},
		"most rows of rows": {copied(copied(d, index), most), d.Rows(index).Rows(most)},
		"gaps":              {filled, g.Filled(d, 1, index)},
		"rows of gaps":      {copied(filled, some), g.Filled(d, 1, index).Rows(some)},
		"units":             {tr.Apply(d), tr.Later(d)},
		"rows in units":     {tr.Apply(copied(d, index)), tr.Later(d.Rows(index))},
		"gaps in units":     {tr.Apply(filled), tr.Later(g.Filled(d, 1, index))},
		"stacked":           {Stack(copied(d, index), whole), Stack(d.Rows(index), whole)},
		"rows of rows again": {copied(copied(d, index), slices.Repeat(some, 7000)),
			d.Rows(index).Rows(slices.Repeat(some, 7000))},
	} {
		rows, _ := c.want.Dims()
		m, q := c.got.Dims()
		require.Equal(t, [2]int{rows, p}, [2]int{m, q}, name)
		require.Equal(t, c.want.Y, c.got.Y, name)
		b, r := make([]float64, p), make([]float64, rows)
		for j := range b {
			b[j] = random.NormFloat64()
		}
		for i := range r {
			r[i] = random.NormFloat64()
		}
		require.Equal(t, c.want.Mul(b), c.got.Mul(b), name)
		require.InDeltaSlice(t, c.want.MulTrans(r), c.got.MulTrans(r), 1e-6, name)
		require.True(t, mat.Equal(c.want.Dense(), c.got.Dense()), name)
		columns := design.New(c.got.X)
		to := make([]float64, p)
		for range 200 {
			i, j := random.IntN(rows), random.IntN(p)
			_, row := c.got.Row(i)
			_, want := c.want.Row(i)
			require.Equal(t, want, row, name)
			c.got.Fill(to, i)
			require.Equal(t, want, to, name)
			require.Equal(t, want[j], c.got.X.At(i, j), name)
			require.Equal(t, want[j], columns.At(i, j), name)
			require.Equal(t, c.want.Dot(i, b), c.got.Dot(i, b), name)
		}
		require.InDeltaSlice(t, c.want.Deviations(), c.got.Deviations(), 1e-9, name)
	}
	require.IsType(t, &lazy{}, d.Rows(index).X)
	require.IsType(t, &mat.Dense{}, d.Rows(some).X)
	require.IsType(t, &lazy{}, g.Filled(d, 1, index).X)
	require.Panics(t, func() { d.Rows([]int{n}) })
}
