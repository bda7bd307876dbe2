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
		x0, x1, x2, x3 := -x[j], -x[j+1], -x[j+2], -x[j+3]
		a0 := a[j*lda:][:len(y)]
		a1 := a[(j+1)*lda:][:len(y)]
		a2 := a[(j+2)*lda:][:len(y)]
		a3 := a[(j+3)*lda:][:len(y)]
		for i, v := range y {
			v = fma(a0[i], x0, v)
			v = fma(a1[i], x1, v)
			v = fma(a2[i], x2, v)
			y[i] = fma(a3[i], x3, v)
		}
	}
	for ; j < n; j++ {
		xj := -x[j]
		for i, v := range a[j*lda : j*lda+m] {
			y[i] = fma(v, xj, y[i])
		}
	}
}

// gemvTGo takes the columns one by one.
func gemvTGo(m, n int, a []float64, lda int, x, y []float64) {
	for j := range n {
		y[j] -= sumGo(a[j*lda:j*lda+m], x)
	}
}

// sumLanes is how many sums of every 16th product stand behind a product of vectors.
const sumLanes = 16

// sumGo is x'y by sumLanes sums, as the vector registers of all levels hold them: rows 16
// at a time, then eight to the first eight sums, then the rest to them, zeros to those of
// the eight that have none left. The sums are added by halves.
func sumGo(x, y []float64) float64 {
	y = y[:len(x)]
	whole := len(x) / sumLanes * sumLanes
	var s [sumLanes]float64
	for half := 0; half < sumLanes; half += 8 { // eight sums fit in the registers
		var s0, s1, s2, s3, s4, s5, s6, s7 float64
		for i := half; i < whole; i += sumLanes {
			p, q := x[i:i+8:i+8], y[i:i+8:i+8]
			s0 = fma(p[0], q[0], s0)
			s1 = fma(p[1], q[1], s1)
			s2 = fma(p[2], q[2], s2)
			s3 = fma(p[3], q[3], s3)
			s4 = fma(p[4], q[4], s4)
			s5 = fma(p[5], q[5], s5)
			s6 = fma(p[6], q[6], s6)
			s7 = fma(p[7], q[7], s7)
		}
		*(*[8]float64)(s[half:]) = [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
	}
	rest := len(x) - whole
	for i := range (rest + 7) / 8 * 8 {
		if i < rest {
			s[i%8] = fma(x[whole+i], y[whole+i], s[i%8])
		} else {
			s[i%8] += 0 // a sum of -0, where products were too small for numbers, is 0 then
		}
	}
	for half := sumLanes / 2; half >= 1; half /= 2 {
		for i := range half {
			s[i] += s[i+half]
		}
	}
	return s[0]
}
