//go:build !noasm

package dense

import "golang.org/x/sys/cpu"

// The kernels there are, in rising order of speed.
const (
	levelGo = iota
	levelAVX2
	levelAVX512
)

// level selects the kernels. It is set once, from the CPU; the tests set it to run
// all that the CPU has.
var level = bestLevel()

func bestLevel() int {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA || !x.HasBMI2:
		return levelGo
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL:
		return levelAVX512
	}
	return levelAVX2
}

// columnsPerStrip is the largest nr of gemmStrip and trsmStrip.
func columnsPerStrip() int {
	if level == levelAVX512 {
		return 8
	}
	return 4
}

// rowsPerBlock is the number of rows in a block of a strip.
func rowsPerBlock() int {
	switch level {
	case levelAVX512:
		return 24
	case levelAVX2:
		return 12
	}
	return goRows
}

// gemmStrip computes a strip of C -= A B' as described at gemmStripGo; m, nr, k >= 1.
func gemmStrip(nr, m, k int, a []float64, lda, step int, b []float64, ldb int, c []float64, ldc, tri int) {
	switch level {
	case levelAVX512:
		gemmStripAVX512(nr, m, k, &a[0], lda, step, &b[0], ldb, &c[0], ldc, tri)
	case levelAVX2:
		gemmStripAVX2(nr, m, k, &a[0], lda, step, &b[0], ldb, &c[0], ldc, tri)
	default:
		gemmStripGo(nr, m, k, a, lda, step, b, ldb, c, ldc, tri)
	}
}

// trsmStrip solves a strip as described at trsmStripGo; m, nr >= 1, k >= 0.
func trsmStrip(nr, m, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int, dInv []float64) {
	var p *float64
	if len(dInv) > 0 {
		p = &dInv[0]
	}
	switch level {
	case levelAVX512:
		trsmStripAVX512(nr, m, k, &a[0], lda, &b[0], ldb, &c[0], ldc, p)
	case levelAVX2:
		trsmStripAVX2(nr, m, k, &a[0], lda, &b[0], ldb, &c[0], ldc, p)
	default:
		trsmStripGo(nr, m, k, a, lda, b, ldb, c, ldc, dInv)
	}
}

// gemvN computes y -= A x; m, n >= 1.
func gemvN(m, n int, a []float64, lda int, x, y []float64) {
	switch level {
	case levelAVX512:
		gemvNAVX512(m, n, &a[0], lda, &x[0], &y[0])
	case levelAVX2:
		gemvNAVX2(m, n, &a[0], lda, &x[0], &y[0])
	default:
		gemvNGo(m, n, a, lda, x, y)
	}
}

// gemvT computes y -= A'x; m, n >= 1.
func gemvT(m, n int, a []float64, lda int, x, y []float64) {
	switch level {
	case levelAVX512:
		gemvTAVX512(m, n, &a[0], lda, &x[0], &y[0])
	case levelAVX2:
		gemvTAVX2(m, n, &a[0], lda, &x[0], &y[0])
	default:
		gemvTGo(m, n, a, lda, x, y)
	}
}
