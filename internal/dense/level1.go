package dense

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
		scale(dj, a[j*lda:j*lda+m], b[j*ldb:j*ldb+m])
	}
}

// scaleGo is y = a x; len(y) = len(x).
func scaleGo(a float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = a * v
	}
}
