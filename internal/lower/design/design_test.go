package design

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/textfile"
)

// Dense and sparse storage of the same matrix, by rows and by columns, do the same.
func TestStorage(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 0, 0, -2, 3, 4})
	for name, d := range map[string]*Matrix{
		"rows":    New(x),
		"matrix":  New(mat.DenseCopyOf(x.T()).T()),
		"columns": FromColumns(3, 2, []float64{1, 0, 3, 0, -2, 4}),
		"sparse":  New(sparse.NewCSC(3, 2, []int{0, 2, 4}, []int{0, 2, 1, 2}, []float64{1, 3, -2, 4})),
	} {
		n, p := d.Dims()
		require.Equal(t, []int{3, 2, 3, 2}, []int{n, p, d.Rows(), d.Columns()}, name)
		require.Equal(t, name != "sparse", d.Dense(), name)
		for j := range 2 {
			index, value := d.Column(j)
			require.Len(t, value, d.Len(j), name)
			full := make([]float64, 3)
			for k, v := range value {
				if index != nil {
					full[index[k]] = v
				} else {
					full[k] = v
				}
			}
			require.Equal(t, mat.Col(nil, j, x), full, name)
			require.Equal(t, mat.Dot(x.ColView(j), mat.NewVecDense(3, []float64{5, 6, 7})), d.Dot(j, []float64{5, 6, 7}), name)
		}
		sum, squares := must.Both(d.Sums(1))(t)
		require.Equal(t, []float64{2, 20}, []float64{sum, squares}, name)
		out, back := []float64{1, 1, 1}, make([]float64, 2)
		d.Mul(out, []float64{2, 3})
		require.Equal(t, []float64{3, -5, 19}, out, name)
		d.MulTrans(back, out)
		require.Equal(t, []float64{60, 86}, back, name)
	}
}

func TestWrongInput(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e200, 1.5e70} {
		_, _, err := FromColumns(2, 2, []float64{1, 1, v, 1}).Sums(1)
		require.ErrorContains(t, err, "column 1")
	}
	for _, v := range []float64{textfile.LargestEntry, -textfile.LargestEntry} { // what files and tables may hold
		must.First(FromColumns(2, 1, []float64{v, v}).Sums(0))(t)
	}
	require.Panics(t, func() { FromColumns(2, 2, make([]float64, 3)) })
}

// Stacked rows are those of both, in the storage of both.
func TestStack(t *testing.T) {
	x := mat.NewDense(5, 3, []float64{1, 0, 2, 0, 3, 0, 4, 5, 6, 0, 0, 7, 8, 0, 0})
	part := func(from, to int, compressed bool) *Matrix {
		m := mat.DenseCopyOf(x.Slice(from, to, 0, 3))
		if !compressed {
			return New(m)
		}
		n, p := m.Dims()
		c := sparse.NewDOK(n, p)
		for i := range n {
			for j := range p {
				if v := m.At(i, j); v != 0 {
					c.Set(i, j, v)
				}
			}
		}
		return New(c.ToCSC())
	}
	for _, kind := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
		s := Stack(part(0, 2, kind[0]), part(2, 5, kind[1]))
		require.Equal(t, kind != [2]bool{true, true}, s.Dense())
		for i := range 5 {
			unit := make([]float64, 5)
			unit[i] = 1
			for j := range 3 {
				require.Equal(t, x.At(i, j), s.Dot(j, unit))
			}
		}
	}
}

// Gram matrices of listed columns, with a column of ones and weights, are those that gonum multiplies; in
// either storage, and on any number of threads.
func TestProducts(t *testing.T) {
	const n, p = 70, 200
	rng := rand.New(rand.NewPCG(4, 5))
	x, cells := mat.NewDense(n, p, nil), sparse.NewDOK(n, p)
	for i := range n {
		for j := range p {
			if rng.IntN(8) == 0 {
				v := rng.NormFloat64()
				x.Set(i, j, v)
				cells.Set(i, j, v)
			}
		}
	}
	w := make([]float64, n)
	for i := range w {
		w[i] = rng.Float64()
	}
	b := []int{7, Ones, 3, 199}
	for j := 150; j >= 0; j-- {
		b = append(b, j)
	}
	column := func(j int) *mat.VecDense {
		v := mat.NewVecDense(n, nil)
		for i := range n {
			v.SetVec(i, 1)
			if j != Ones {
				v.SetVec(i, x.At(i, j))
			}
		}
		return v
	}
	product := func(j, k int, weights []float64) float64 {
		left := column(j)
		if weights != nil {
			left.MulElemVec(left, mat.NewVecDense(n, weights))
		}
		return mat.Dot(left, column(k))
	}
	for name, d := range map[string]*Matrix{"dense": New(x), "sparse": New(cells.ToCSC())} {
		for _, weights := range [][]float64{nil, w} {
			gram := d.Gram(context.Background(), b, weights, 1)
			require.Equal(t, gram, d.Gram(context.Background(), b, weights, 3), name)
			for k, l := range b {
				for i, j := range b {
					require.InDelta(t, product(j, l, weights), gram[i*len(b)+k], 1e-12, name)
				}
			}
		}
	}
	ended, stop := context.WithCancel(context.Background())
	stop()
	require.Len(t, New(cells.ToCSC()).Gram(ended, b, w, 2), len(b)*len(b))
}

// Columns read together are read as each of them is.
func TestTogether(t *testing.T) {
	for _, n := range []int{7, 130} {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		x, r := mat.NewDense(n, 12, nil), make([]float64, n)
		for i := range n {
			r[i] = rng.NormFloat64()
			for j := range 12 {
				x.Set(i, j, rng.NormFloat64())
			}
		}
		d := New(x)
		out := make([]float64, 5)
		d.Dots(3, r, out)
		for k, v := range out {
			require.Equal(t, d.Dot(3+k, r), v)
			want := 0.0
			for i := range n {
				want += x.At(i, 3+k) * r[i]
			}
			require.InDelta(t, want, v, 1e-12)
		}
	}
}

// Products of several vectors with all columns, in blocks of rows and columns, are those of matrices.
func TestEach(t *testing.T) {
	const n, p, k, classes = 3 * eachRows / 2, eachColumns + 3, 2, 3
	rng := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(n, p, nil)
	x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() * float64(rng.IntN(2)) }, x)
	start, index, value := []int{0}, []int(nil), []float64(nil)
	for j := range p {
		for i := range n {
			if v := x.At(i, j); v != 0 {
				index, value = append(index, i), append(value, v)
			}
		}
		start = append(start, len(index))
	}
	for _, d := range []*Matrix{New(x), FromEntries(n, p, start, index, value)} {
		c := Classes{X: d, K: classes}
		var b, r, out [][]float64
		for range k {
			one, two := make([]float64, p*classes+classes-1), make([]float64, n*classes)
			for j := range one {
				one[j] = float64(rng.IntN(3)) - 1
			}
			for i := range two {
				two[i] = rng.NormFloat64()
			}
			b, r, out = append(b, one), append(r, two), append(out, make([]float64, len(one)))
		}
		c.DotsEach(context.Background(), r, out, 2)
		for m := range k {
			before := append([]float64(nil), r[m]...)
			for e, v := range out[m] {
				require.InDelta(t, c.Dot(e, r[m]), v, 1e-11)
			}
			c.LessEach(context.Background(), b[m:m+1], r[m:m+1], 2)
			for e, v := range b[m] {
				c.Axpy(-v, e, before)
			}
			require.InDeltaSlice(t, before, r[m], 1e-12)
		}
	}
}
