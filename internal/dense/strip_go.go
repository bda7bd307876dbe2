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
		var c00, c10, c20, c30, c01, c11, c21, c31 float64
		pa, pb := 0, j
		for range k {
			al := a[pa : pa+4 : pa+4]
			bl := b[pb : pb+2 : pb+2]
			a0, a1, a2, a3 := al[0], al[1], al[2], al[3]
			b0, b1 := bl[0], bl[1]
			c00 += a0 * b0
			c10 += a1 * b0
			c20 += a2 * b0
			c30 += a3 * b0
			c01 += a0 * b1
			c11 += a1 * b1
			c21 += a2 * b1
			c31 += a3 * b1
			pa += lda
			pb += ldb
		}
		q := c[j*ldc : j*ldc+4 : j*ldc+4]
		q[0] -= c00
		q[1] -= c10
		q[2] -= c20
		q[3] -= c30
		q = c[(j+1)*ldc : (j+1)*ldc+4 : (j+1)*ldc+4]
		q[0] -= c01
		q[1] -= c11
		q[2] -= c21
		q[3] -= c31
	}
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
				sum += a[i+l*lda] * b[j+l*ldb]
			}
			c[i+j*ldc] -= sum
		}
	}
}

// trsmStripGo solves Y L' = C - A B' for the nr <= goCols columns of a strip. A is
// m x k, B the nr x k block of L left of its diagonal block, and L the nr x nr unit
// lower triangle that follows at b[k*ldb]. Y becomes the nr columns after the last
// one of A, at a[k*lda], and C, which may be the same place, becomes Y diag(dInv)
// unless dInv is empty.
func trsmStripGo(nr, m, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int, dInv []float64) {
	if k > 0 {
		gemmStripGo(nr, m, k, a, lda, goRows, b, ldb, c, ldc, 0)
	}
	l, y := b[k*ldb:], a[k*lda:]
	for j := range nr {
		cj := c[j*ldc : j*ldc+m]
		for i := j + 1; i < nr; i++ {
			axpyGo(-l[i+j*ldb], cj, c[i*ldc:i*ldc+m])
		}
		copy(y[j*lda:j*lda+m], cj)
		if len(dInv) > 0 {
			scaleGo(dInv[j], cj, cj)
		}
	}
}
