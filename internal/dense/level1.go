package dense

import (
	"math"
	"slices"
)

// Dot returns x'y; y has at least the length of x.
func Dot(x, y []float64) float64 {
	checkVector("y", len(x), y)
	if len(x) == 0 {
		return 0
	}
	var r [1]float64
	gemvT(len(x), 1, x, len(x), y, r[:]) // r = 0 - x'y, exactly
	return 0 - r[0]
}

// Axpy computes y += a x; y has at least the length of x.
func Axpy(a float64, x, y []float64) {
	checkVector("y", len(x), y)
	if len(x) > 0 {
		minus := [1]float64{-a}
		gemvN(len(x), 1, x, len(x), minus[:], y)
	}
}

// ScaleColumns computes B = A diag(d), both m x k. B may be A itself.
func ScaleColumns(m, k int, a []float64, lda int, d []float64, b []float64, ldb int) {
	if m <= 0 || k <= 0 {
		return
	}
	checkMatrix("A", m, k, a, lda)
	checkMatrix("B", m, k, b, ldb)
	checkVector("d", k, d)
	for j, dj := range d[:k] {
		to := b[j*ldb : j*ldb+m]
		for i, v := range a[j*lda : j*lda+m] {
			to[i] = dj * v
		}
	}
}

// MaxAbs returns the largest absolute entry of v, NaN if there is one.
func MaxAbs(v []float64) float64 {
	// Without its sign a number is ordered as its bits are, and NaN comes last. Four independent maxima.
	const sign = 1 << 63
	var a, b, c, d uint64
	for ; len(v) >= 4; v = v[4:] {
		a = max(a, math.Float64bits(v[0])&^sign)
		b = max(b, math.Float64bits(v[1])&^sign)
		c = max(c, math.Float64bits(v[2])&^sign)
		d = max(d, math.Float64bits(v[3])&^sign)
	}
	for _, x := range v {
		a = max(a, math.Float64bits(x)&^sign)
	}
	return math.Float64frombits(max(a, b, c, d))
}

// Norm1 returns the sum of the absolute entries of v.
func Norm1(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += math.Abs(x)
	}
	return sum
}

// Scale multiplies v by a number.
func Scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}

// Mirror copies the lower triangle of a matrix of order n, by columns, to the upper one, in blocks that stay in the
// cache.
func Mirror(h []float64, n int) {
	const block = 16
	for j0 := 0; j0 < n; j0 += block {
		for i0 := j0; i0 < n; i0 += block {
			for j := j0; j < min(n, j0+block); j++ {
				column := h[j*n : j*n+n]
				for i := max(i0, j+1); i < min(n, i0+block); i++ {
					h[i*n+j] = column[i]
				}
			}
		}
	}
}

// Zeros allocates zeros that a product is added to. It writes to each page: where the first access of a page reads, as
// that of a product does, the operating system maps it twice, and stops the other threads the second time.
func Zeros(n int) []float64 {
	const page = 512
	v := make([]float64, n)
	for i := 0; i < n; i += page {
		v[i] = 0
	}
	return v
}

// Cleared returns n zeros, which are not nil, in the memory of v where it is large enough.
func Cleared[T any](v []T, n int) []T {
	if v == nil {
		return make([]T, n)
	}
	v = slices.Grow(v[:0], n)[:n]
	clear(v)
	return v
}

// Sum is a sum in twice the digits (Ogita, Rump, Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005).
// The zero value is an empty one.
type Sum struct{ high, low float64 }

// Add adds v.
func (s *Sum) Add(v float64) {
	t := s.high + v
	w := t - s.high
	s.low += (s.high - (t - w)) + (v - w)
	s.high = t
}

// AddProduct adds a b.
func (s *Sum) AddProduct(a, b float64) {
	p := a * b
	s.Add(p)
	s.low += math.FMA(a, b, -p)
}

// Value is the sum, rounded.
func (s *Sum) Value() float64 { return s.high + s.low }
