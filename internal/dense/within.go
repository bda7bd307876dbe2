package dense

import "github.com/conetune/conetune/internal/stop"

// Within has the kernels whose time may be long, the functions of the same names, as
// they are called within a computation that may have to end: they look at Stop between blocks of
// some milliseconds, and leave their outputs unfinished where it is reached. A
// call that takes less than that does not look at it at all; whoever makes many tells
// Stop about them.
type Within struct{ Stop *stop.Stop }

const (
	// Up to so many multiplications a call is over before anybody waits.
	longWork = 1 << 24
	// How many multiplications of a kernel take the time of one operation of Stop.
	perOperation = 8
	// Matrices up to this order are solved with at once, and those of so many entries multiplied with vectors.
	longSolve  = 1 << 10
	longVector = 1 << 21
	// A strip has at most so many rows between two looks, a multiple of every rowsPerBlock.
	stripRows = 2048 * 24
)

// cost returns what a product of these sizes is to Stop.
func cost(m, n, k int) int { return int(min(int64(m)*int64(n)*int64(k)/perOperation, stop.Interval)) }

// GemmNT computes C -= A B'.
func (w Within) GemmNT(m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	gemmNT(w.Stop, m, n, k, a, lda, b, ldb, c, ldc)
}

// SyrkNT computes the lower triangle of C -= A B'.
func (w Within) SyrkNT(n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	syrkNT(w.Stop, n, k, a, lda, b, ldb, c, ldc)
}

// TrsmRightLT overwrites X with X L^{-T}.
func (w Within) TrsmRightLT(m, n int, l []float64, ldl int, x []float64, ldx int) {
	solveRight(w.Stop, m, n, l, ldl, x, ldx)
}

// SolvePanel takes rows below a factored block to their part of the factor.
func (w Within) SolvePanel(m, n int, l []float64, ldl int, dInv []float64, a []float64, lda int, x []float64, ldx int) {
	solvePanel(w.Stop, m, n, l, ldl, dInv, a, lda, x, ldx)
}

// LDL factors A = L D L'.
func (w Within) LDL(n int, a []float64, lda int, d []float64, sign []int8, eps, delta float64) int {
	return ldl(w.Stop, n, a, lda, d, sign, eps, delta)
}

// TrsvN overwrites x with L^{-1} x.
func (w Within) TrsvN(n int, l []float64, ldl int, x []float64) { trsvN(w.forSolve(n), n, l, ldl, x) }

// TrsvT overwrites x with L^{-T} x.
func (w Within) TrsvT(n int, l []float64, ldl int, x []float64) { trsvT(w.forSolve(n), n, l, ldl, x) }

func (w Within) forSolve(n int) *stop.Stop {
	if n <= longSolve {
		return nil
	}
	return w.Stop
}

// GemvN computes y -= A x.
func (w Within) GemvN(m, n int, a []float64, lda int, x, y []float64) {
	if m*n <= longVector {
		GemvN(m, n, a, lda, x, y)
	} else {
		w.gemvN(m, n, a, lda, x, y)
	}
}

func (w Within) gemvN(m, n int, a []float64, lda int, x, y []float64) {
	block := w.columns(m, n)
	for j := 0; j < n && !(block < n && w.Stop.Reached(m*block)); j += block {
		GemvN(m, min(block, n-j), a[j*lda:], lda, x[j:], y)
	}
}

// GemvT computes y -= A'x.
func (w Within) GemvT(m, n int, a []float64, lda int, x, y []float64) {
	if m*n <= longVector {
		GemvT(m, n, a, lda, x, y)
	} else {
		w.gemvT(m, n, a, lda, x, y)
	}
}

func (w Within) gemvT(m, n int, a []float64, lda int, x, y []float64) {
	block := w.columns(m, n)
	for j := 0; j < n && !(block < n && w.Stop.Reached(m*block)); j += block {
		GemvT(m, min(block, n-j), a[j*lda:], lda, x, y[j:])
	}
}

// columns returns how many of n columns of length m to multiply at a time.
func (w Within) columns(m, n int) int {
	if w.Stop == nil || m <= 0 || n <= longVector/m {
		return n
	}
	return max(8, longVector/m/8*8)
}
