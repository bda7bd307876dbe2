//go:build !amd64 || noasm

package dense

func columnsPerStrip() int { return goCols }
func rowsPerBlock() int    { return goRows }

func gemmStrip(nr, m, k int, a []float64, lda, step int, b []float64, ldb int, c []float64, ldc, tri int) {
	gemmStripGo(nr, m, k, a, lda, step, b, ldb, c, ldc, tri)
}

func trsmStrip(nr, m, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int, dInv []float64) {
	trsmStripGo(nr, m, k, a, lda, b, ldb, c, ldc, dInv)
}

func gemvN(m, n int, a []float64, lda int, x, y []float64) { gemvNGo(m, n, a, lda, x, y) }
func gemvT(m, n int, a []float64, lda int, x, y []float64) { gemvTGo(m, n, a, lda, x, y) }
