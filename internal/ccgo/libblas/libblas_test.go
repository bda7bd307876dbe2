//go:build scs_go

package libblas

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/ccgo/libc"
)

// The functions are called as SCS calls them and compared with what defines their results.

// fortran has memory of C for arguments.
type fortran struct {
	*testing.T
	tls   *libc.TLS
	arena *libc.Arena
	rng   *rand.Rand
}

func newFortran(t *testing.T) *fortran {
	tls := libc.New()
	f := &fortran{t, tls, libc.NewArena(tls), rand.New(rand.NewPCG(1, 2))}
	t.Cleanup(func() { f.arena.Free(); tls.Close() })
	return f
}

func (f *fortran) int(n int) uintptr       { return f.arena.Integers([]int{n}) }
func (f *fortran) float(x float64) uintptr { return f.arena.Floats([]float64{x}) }
func (f *fortran) text(s string) uintptr {
	p := f.arena.Bytes(len(s) + 1)
	for i := range len(s) {
		*(*byte)(libc.Pointer(p + uintptr(i))) = s[i]
	}
	return p
}

// mat is a matrix by columns that are ld apart, in memory of C.
type mat struct {
	p              uintptr
	rows, cols, ld int
}

func (m mat) at(i, j int) *float64 { return float(m.p + uintptr(8*(i+j*m.ld))) }

// random has two numbers more in each column than rows, which stay 7.
func (f *fortran) random(rows, cols int) mat {
	v := make([]float64, (rows+2)*cols)
	for k := range v {
		v[k] = f.rng.NormFloat64()
		if k%(rows+2) >= rows {
			v[k] = 7
		}
	}
	return mat{f.arena.Floats(v), rows, cols, rows + 2}
}

func (f *fortran) copy(m mat) mat {
	return mat{f.arena.Floats(libc.Floats(m.p, m.ld*m.cols)), m.rows, m.cols, m.ld}
}

// near compares a matrix, also between its columns.
func (f *fortran) near(m mat, want func(i, j int) float64) {
	f.Helper()
	for j := range m.cols {
		for i := range m.ld {
			w := 7.0
			if i < m.rows {
				w = want(i, j)
			}
			require.InDelta(f, w, *m.at(i, j), 1e-12, "%d, %d", i, j)
		}
	}
}

// op is an entry of the matrix or of its transpose.
func (m mat) op(trans string, i, j int) float64 {
	if trans[0] == 'N' {
		return *m.at(i, j)
	}
	return *m.at(j, i)
}

func sum(n int, term func(k int) float64) float64 {
	total := 0.0
	for k := range n {
		total += term(k)
	}
	return total
}

var transposes = []string{"NoTrans", "Trans"}

// shape is that of a matrix whose op has these rows and columns.
func shape(trans string, rows, cols int) (int, int) {
	if trans[0] == 'N' {
		return rows, cols
	}
	return cols, rows
}

func TestVectors(t *testing.T) {
	f := newFortran(t)
	n, one, two, zero := f.int(4), f.int(1), f.int(2), f.int(0)
	x, y := f.arena.Floats([]float64{1, -2, 3, -4, 5, -6, 7}), f.arena.Floats([]float64{2, 3, 5, 7})
	assert.Equal(t, 2.-6+15-28, Xddot_(f.tls, n, x, one, y, one))
	assert.Equal(t, 2.+9+25+49, Xddot_(f.tls, n, x, two, y, one))
	assert.Equal(t, 3.*(1-2+3-4), Xddot_(f.tls, n, x, one, f.float(3), zero)) // SCS's sum of a vector
	assert.InDelta(t, math.Sqrt(30), Xdnrm2_(f.tls, n, x, one), 1e-14)
	assert.EqualValues(t, 4, Xidamax_(f.tls, n, x, one))
	assert.EqualValues(t, 0, Xidamax_(f.tls, zero, x, one))
	Xdaxpy_(f.tls, n, f.float(10), y, one, x, two)
	assert.Equal(t, []float64{21, -2, 33, -4, 55, -6, 77}, libc.Floats(x, 7))
	Xdscal_(f.tls, n, f.float(-1), y, one)
	assert.Equal(t, []float64{-2, -3, -5, -7}, libc.Floats(y, 4))
	nan := f.float(math.NaN())
	Xdscal_(f.tls, one, f.float(0), nan, one)
	assert.True(t, math.IsNaN(*float(nan)))
	for _, empty := range []func(){func() { Xdscal_(f.tls, zero, nan, 0, one) },
		func() { Xdaxpy_(f.tls, zero, nan, 0, one, 0, one) }} {
		assert.NotPanics(t, empty)
	}
	assert.Zero(t, Xddot_(f.tls, zero, 0, one, 0, one))
}

func TestProducts(t *testing.T) {
	f := newFortran(t)
	const m, n, k = 4, 3, 5
	for _, ta := range transposes {
		ra, ca := shape(ta, m, k)
		a := f.random(ra, ca)
		for _, tb := range transposes {
			rb, cb := shape(tb, k, n)
			b, c := f.random(rb, cb), f.random(m, n)
			old := f.copy(c)
			Xdgemm_(f.tls, f.text(ta), f.text(tb), f.int(m), f.int(n), f.int(k), f.float(2), a.p, f.int(a.ld), b.p, f.int(b.ld),
				f.float(-3), c.p, f.int(c.ld))
			f.near(c, func(i, j int) float64 {
				return 2*sum(k, func(l int) float64 { return a.op(ta, i, l) * b.op(tb, l, j) }) - 3**old.at(i, j)
			})
		}
		x, y := f.random(k, 1), f.random(m, 1)
		old := f.copy(y)
		Xdgemv_(f.tls, f.text(ta), f.int(a.rows), f.int(a.cols), f.float(2), a.p, f.int(a.ld), x.p, f.int(1), f.float(-3),
			y.p, f.int(1))
		f.near(y, func(i, _ int) float64 {
			return 2*sum(k, func(l int) float64 { return a.op(ta, i, l) * *x.at(l, 0) }) - 3**old.at(i, 0)
		})
		for _, uplo := range []string{"Lower", "Upper"} {
			c := f.random(m, m)
			old := f.copy(c)
			Xdsyrk_(f.tls, f.text(uplo), f.text(ta), f.int(m), f.int(k), f.float(2), a.p, f.int(a.ld), f.float(-3), c.p,
				f.int(c.ld))
			f.near(c, func(i, j int) float64 {
				if uplo[0] == 'L' && i < j || uplo[0] == 'U' && i > j {
					return *old.at(i, j)
				}
				return 2*sum(k, func(l int) float64 { return a.op(ta, i, l) * a.op(ta, j, l) }) - 3**old.at(i, j)
			})
		}
	}
}

func TestTriangles(t *testing.T) {
	f := newFortran(t)
	const n = 5
	a := f.random(n, n)
	for i := range n {
		*a.at(i, i) += 4
	}
	for _, uplo := range []string{"Lower", "Upper"} {
		for _, trans := range transposes {
			for _, diag := range []string{"NonUnit", "Unit"} {
				entry := func(i, j int) float64 {
					if trans[0] == 'T' {
						i, j = j, i
					}
					switch {
					case i == j && diag[0] == 'U':
						return 1
					case uplo[0] == 'L' && i < j || uplo[0] == 'U' && i > j:
						return 0
					}
					return *a.at(i, j)
				}
				x := f.random(n, 1)
				old := f.copy(x)
				Xdtrmv_(f.tls, f.text(uplo), f.text(trans), f.text(diag), f.int(n), a.p, f.int(a.ld), x.p, f.int(1))
				f.near(x, func(i, _ int) float64 { return sum(n, func(l int) float64 { return entry(i, l) * *old.at(l, 0) }) })
				Xdtrsv_(f.tls, f.text(uplo), f.text(trans), f.text(diag), f.int(n), a.p, f.int(a.ld), x.p, f.int(1))
				f.near(x, func(i, _ int) float64 { return *old.at(i, 0) })
			}
		}
	}
}

func TestEquations(t *testing.T) {
	f := newFortran(t)
	const n, count = 6, 3
	a, b, info := f.random(n, n), f.random(n, count), f.int(9)
	lu, x, pivots := f.copy(a), f.copy(b), f.arena.Integers(make([]int, n))
	Xdgesv_(f.tls, f.int(n), f.int(count), lu.p, f.int(lu.ld), pivots, x.p, f.int(x.ld), info)
	require.Zero(t, integer(info))
	f.near(b, func(i, j int) float64 { return sum(n, func(l int) float64 { return *a.at(i, l) * *x.at(l, j) }) })
	for _, trans := range transposes {
		y := f.copy(b)
		Xdgetrs_(f.tls, f.text(trans), f.int(n), f.int(count), lu.p, f.int(lu.ld), pivots, y.p, f.int(y.ld), info)
		f.near(b, func(i, j int) float64 { return sum(n, func(l int) float64 { return a.op(trans, i, l) * *y.at(l, j) }) })
	}
	singular := f.copy(a)
	for j := range n {
		*singular.at(0, j), *singular.at(1, j) = 0, 0
	}
	Xdgesv_(f.tls, f.int(n), f.int(count), singular.p, f.int(lu.ld), pivots, x.p, f.int(x.ld), info)
	assert.Positive(t, integer(info))
}

// work asks for a workspace and allocates it.
func (f *fortran) work(query func(work, lwork uintptr)) (work, lwork uintptr) {
	best := f.float(0)
	query(best, f.int(-1))
	require.GreaterOrEqual(f, *float(best), 1.)
	return f.arena.Bytes(8 * int(*float(best))), f.int(int(*float(best)))
}

// TestQR has A P = Q R: Q' A has the columns of R in the order of the pivots, and lengths fall along its diagonal.
func TestQR(t *testing.T) {
	f := newFortran(t)
	for _, rows := range []int{3, 7, 40} {
		const cols = 3
		a, info := f.random(rows, cols), f.int(9)
		qr, pivots, tau := f.copy(a), f.arena.Integers(make([]int, cols)), f.arena.Bytes(8*cols)
		factor := func(work, lwork uintptr) {
			Xdgeqp3_(f.tls, f.int(rows), f.int(cols), qr.p, f.int(qr.ld), pivots, tau, work, lwork, info)
		}
		factor(f.work(factor))
		require.Zero(t, integer(info))
		for _, part := range []int{1, cols} { // SCS has one column, or all
			b := mat{a.p, rows, part, a.ld}
			b = f.copy(b)
			apply := func(work, lwork uintptr) {
				Xdormqr_(f.tls, f.text("Left"), f.text("Trans"), f.int(rows), f.int(part), f.int(cols), qr.p, f.int(qr.ld), tau,
					b.p, f.int(b.ld), work, lwork, info)
			}
			apply(f.work(apply))
			require.Zero(t, integer(info))
			for j, p := range integers(pivots, cols) {
				if int(p) > part {
					continue
				}
				for i := range rows {
					want := 0.0
					if i <= j {
						want = *qr.at(i, j)
					}
					require.InDelta(t, want, *b.at(i, int(p)-1), 1e-13)
				}
			}
		}
		for j := 1; j < cols; j++ {
			assert.LessOrEqual(t, math.Abs(*qr.at(j, j)), math.Abs(*qr.at(j-1, j-1)))
		}
		assert.Equal(t, 7., *qr.at(rows, 0))
	}
}

func TestEigenvalues(t *testing.T) {
	f := newFortran(t)
	for _, n := range []int{1, 2, 9, 30} {
		for _, uplo := range []string{"Lower", "Upper"} {
			a, info := f.random(n, n), f.int(9)
			full := func(i, j int) float64 {
				if (uplo[0] == 'L') == (i >= j) {
					return *a.at(i, j)
				}
				return *a.at(j, i)
			}
			for i := range n { // the other triangle is not looked at
				for j := range i {
					if uplo[0] == 'L' {
						*a.at(j, i) = math.NaN()
					} else {
						*a.at(i, j) = math.NaN()
					}
				}
			}
			values := f.arena.Bytes(8 * n)
			check := func(z mat) {
				t.Helper()
				require.Zero(t, integer(info))
				w := libc.Floats(values, n)
				for j := range n {
					if j > 0 {
						assert.LessOrEqual(t, w[j-1], w[j])
					}
					for i := range n {
						require.InDelta(t, w[j]**z.at(i, j), sum(n, func(k int) float64 { return full(i, k) * *z.at(k, j) }), 1e-12)
						require.InDelta(t, map[bool]float64{true: 1}[i == j],
							sum(n, func(k int) float64 { return *z.at(k, i) * *z.at(k, j) }), 1e-12)
					}
				}
			}
			v := f.copy(a)
			call := func(work, lwork uintptr) {
				Xdsyev_(f.tls, f.text("Vectors"), f.text(uplo), f.int(n), v.p, f.int(v.ld), values, work, lwork, info)
			}
			call(f.work(call))
			check(v)
			v, z, found, zero := f.copy(a), f.random(n, n), f.int(0), f.float(0)
			iwork := f.int(0)
			call = func(work, lwork uintptr) {
				Xdsyevr_(f.tls, f.text("V"), f.text("A"), f.text(uplo), f.int(n), v.p, f.int(v.ld), zero, zero, zero, zero, zero,
					found, values,
					z.p, f.int(z.ld), f.arena.Bytes(8*n), work, lwork, iwork, lwork, info)
			}
			call(f.work(call))
			check(z)
			assert.Equal(t, n, integer(found))
			assert.Equal(t, 7., *z.at(n, 0))

			*a.at(n-1, n-1) = math.NaN()
			v = f.copy(a)
			call(f.work(call))
			assert.Positive(t, integer(info))
		}
	}
}

func TestSingularValues(t *testing.T) {
	f := newFortran(t)
	for _, size := range [][2]int{{1, 1}, {3, 3}, {5, 2}, {40, 6}} {
		m, n := size[0], size[1]
		a, info := f.random(m, n), f.int(9)
		old, u, vt, s := f.copy(a), f.random(m, n), f.random(n, n), f.arena.Bytes(8*n)
		call := func(work, lwork uintptr) {
			Xdgesvd_(f.tls, f.text("S"), f.text("A"), f.int(m), f.int(n), a.p, f.int(a.ld), s, u.p, f.int(u.ld), vt.p,
				f.int(vt.ld), work, lwork, info)
		}
		call(f.work(call))
		require.Zero(t, integer(info))
		values := libc.Floats(s, n)
		f.near(old, func(i, j int) float64 {
			return sum(n, func(k int) float64 { return *u.at(i, k) * values[k] * *vt.at(k, j) })
		})
		for i := range n {
			assert.GreaterOrEqual(t, values[i], 0.)
			for j := range n {
				one := map[bool]float64{true: 1}[i == j]
				require.InDelta(t, one, sum(m, func(k int) float64 { return *u.at(k, i) * *u.at(k, j) }), 1e-13)
				require.InDelta(t, one, sum(n, func(k int) float64 { return *vt.at(i, k) * *vt.at(j, k) }), 1e-13)
			}
		}
		*a.at(0, 0) = math.Inf(1)
		call(f.work(call))
		assert.Positive(t, integer(info))
	}
}
