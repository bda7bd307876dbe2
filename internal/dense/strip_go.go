package dense

// Rows and columns of the register block of the portable strips.
const (
	goRows = 4
	goCols = 4
)

// gemmStripGo computes C -= A B' for the nr <= goCols columns of a strip.
//
// C is m x nr, B nr x k, A m x k in blocks of goRows rows: the block that starts
// at row i starts at a[i/goRows*step]. An unpacked A has step = goRows. With
// tri = 1 column j of C is touched from row j on only, as for a strip on the
// diagonal of a lower triangle.
func gemmStripGo(nr, m, k int, a []float64, lda, step int, b []float64, ldb int, c []float64, ldc, tri int) {
	i, p := 0, 0
	for ; i+goRows <= m; i, p = i+goRows, p+step {
		if nr == goCols && (tri == 0 || i >= goCols) {
			gemm4x4(k, a[p:], lda, b, ldb, c[i:], ldc)
			continue
		}
		gemmEdge(nr, goRows, k, a[p:], lda, b, ldb, c[i:], ldc, tri != 0, i)
	}
	if i < m {
		gemmEdge(nr, m-i, k, a[p:], lda, b, ldb, c[i:], ldc, tri != 0, i)
	}
}

// gemm4x4 computes a 4 x 4 block of C -= A B' as two halves of 4 x 2, whose
// accumulators fit in the registers.
func gemm4x4(k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	for j := 0; j < 4; j += 2 {
		c0, c1 := dots4x2(k, a, lda, b[j:], ldb)
		for r, q := range [2]*[4]float64{&c0, &c1} {
			to := c[(j+r)*ldc : (j+r)*ldc+4 : (j+r)*ldc+4]
			to[0] -= q[0]
			to[1] -= q[1]
			to[2] -= q[2]
			to[3] -= q[3]
		}
	}
}

// dots4x2 is A B' for four rows of A and two of B, the terms of each entry added in order.
func dots4x2(k int, a []float64, lda int, b []float64, ldb int) (c0, c1 [4]float64) {
	var c00, c10, c20, c30, c01, c11, c21, c31 float64
	pa, pb := 0, 0
	for range k {
		al := a[pa : pa+4 : pa+4]
		bl := b[pb : pb+2 : pb+2]
		a0, a1, a2, a3 := al[0], al[1], al[2], al[3]
		b0, b1 := bl[0], bl[1]
		c00 = fma(a0, b0, c00)
		c10 = fma(a1, b0, c10)
		c20 = fma(a2, b0, c20)
		c30 = fma(a3, b0, c30)
		c01 = fma(a0, b1, c01)
		c11 = fma(a1, b1, c11)
		c21 = fma(a2, b1, c21)
		c31 = fma(a3, b1, c31)
		pa += lda
		pb += ldb
	}
	return [4]float64{c00, c10, c20, c30}, [4]float64{c01, c11, c21, c31}
}

// gemmEdge computes rows x nr entries of C -= A B', both at most 4; with lower
// set, only those with row+i >= j.
func gemmEdge(nr, rows, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int, lower bool, row int) {
	for j := range nr {
		first := 0
		if lower {
			first = max(0, j-row)
		}
		for i := first; i < rows; i++ {
			sum := 0.0
			for l := range k {
				sum = fma(a[i+l*lda], b[j+l*ldb], sum)
			}
			c[i+j*ldc] -= sum
		}
	}
}

// trsmStripGo solves Y L' = C - A B' for the nr <= goCols columns of a strip, the sum
// of an entry being that over the columns of A and then over those of Y before it. A is
// m x k, B the nr x k block of L left of its diagonal block, and L the nr x nr unit
// lower triangle that follows at b[k*ldb]. Y becomes the nr columns after the last
// one of A, at a[k*lda], and C, which may be the same place, becomes Y diag(dInv)
// unless dInv is empty.
func trsmStripGo(nr, m, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int, dInv []float64) {
	for i := 0; i < m; i += goRows {
		rows := min(goRows, m-i)
		for j := 0; j < nr; j += 2 {
			cols := min(2, nr-j)
			solveBlock(rows, cols, k+j, a[i:], lda, b[j:], ldb, c[i+j*ldc:], ldc)
			for q := range cols {
				from := c[i+(j+q)*ldc:][:rows]
				copy(a[i+(k+j+q)*lda:][:rows], from)
				if len(dInv) > 0 {
					Scale(from, dInv[j+q])
				}
			}
		}
	}
}

// solveBlock takes C - A B' for at most four rows and two columns, and of the first
// column, done, its part from the second: the sum goes on, as in the columns of A.
func solveBlock(rows, cols, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	var c0, c1 [4]float64
	if rows == 4 && cols == 2 {
		c0, c1 = dots4x2(k, a, lda, b, ldb)
	} else {
		for i := range rows {
			for l := range k {
				c0[i] = fma(a[i+l*lda], b[l*ldb], c0[i])
				if cols == 2 {
					c1[i] = fma(a[i+l*lda], b[1+l*ldb], c1[i])
				}
			}
		}
	}
	for i := range rows {
		c[i] -= c0[i]
		if cols == 2 {
			c[i+ldc] -= fma(c[i], b[1+k*ldb], c1[i])
		}
	}
}
