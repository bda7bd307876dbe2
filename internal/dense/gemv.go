package dense

// GemvN computes y -= A x, A m x n; x has n entries, y has m.
func GemvN(m, n int, a []float64, lda int, x, y []float64) {
	if m <= 0 || n <= 0 {
		return
	}
	checkMatrix("A", m, n, a, lda)
	checkVector("x", n, x)
	checkVector("y", m, y)
	gemvN(m, n, a, lda, x, y)
}

// GemvT computes y -= A'x, A m x n; x has m entries, y has n.
func GemvT(m, n int, a []float64, lda int, x, y []float64) {
	if m <= 0 || n <= 0 {
		return
	}
	checkMatrix("A", m, n, a, lda)
	checkVector("x", m, x)
	checkVector("y", n, y)
	gemvT(m, n, a, lda, x, y)
}

// gemvNGo takes the columns four at a time, so that y is read and written once
// for four columns.
func gemvNGo(m, n int, a []float64, lda int, x, y []float64) {
	y = y[:m]
	j := 0
	for ; j+4 <= n; j += 4 {
		x0, x1, x2, x3 := x[j], x[j+1], x[j+2], x[j+3]
		a0 := a[j*lda:][:len(y)]
		a1 := a[(j+1)*lda:][:len(y)]
		a2 := a[(j+2)*lda:][:len(y)]
		a3 := a[(j+3)*lda:][:len(y)]
		for i := range y {
			y[i] -= (a0[i]*x0 + a1[i]*x1) + (a2[i]*x2 + a3[i]*x3)
		}
	}
	for ; j < n; j++ {
		axpyGo(-x[j], a[j*lda:j*lda+m], y)
	}
}

// gemvTGo takes the columns four at a time, so that x is read once for four columns.
func gemvTGo(m, n int, a []float64, lda int, x, y []float64) {
	x = x[:m]
	j := 0
	for ; j+4 <= n; j += 4 {
		var s0, s1, s2, s3 float64
		a0 := a[j*lda:][:len(x)]
		a1 := a[(j+1)*lda:][:len(x)]
		a2 := a[(j+2)*lda:][:len(x)]
		a3 := a[(j+3)*lda:][:len(x)]
		for i, v := range x {
			s0 += a0[i] * v
			s1 += a1[i] * v
			s2 += a2[i] * v
			s3 += a3[i] * v
		}
		y[j] -= s0
		y[j+1] -= s1
		y[j+2] -= s2
		y[j+3] -= s3
	}
	for ; j < n; j++ {
		y[j] -= dotGo(a[j*lda:j*lda+m], x)
	}
}
