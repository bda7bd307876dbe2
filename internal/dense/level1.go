package dense

// Dot returns x'y; y has at least the length of x.
func Dot(x, y []float64) float64 {
	checkVector("y", len(x), y)
	return dot(x, y[:len(x)])
}

// Axpy computes y += a x; y has at least the length of x.
func Axpy(a float64, x, y []float64) {
	checkVector("y", len(x), y)
	axpy(a, x, y[:len(x)])
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
		scale(dj, a[j*lda:j*lda+m], b[j*ldb:j*ldb+m])
	}
}

// dotGo is x'y in four interleaved sums; len(y) = len(x).
func dotGo(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		p, q := x[i:i+4:i+4], y[i:i+4:i+4]
		s0 += p[0] * q[0]
		s1 += p[1] * q[1]
		s2 += p[2] * q[2]
		s3 += p[3] * q[3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// axpyGo is y += a x; len(y) = len(x).
func axpyGo(a float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += a * v
	}
}

// scaleGo is y = a x; len(y) = len(x).
func scaleGo(a float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = a * v
	}
}
