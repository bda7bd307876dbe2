package dense

import (
	"math"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/stop"
)

// Within has the kernels whose time may be long, as they are called within a computation that may have to end: they
// look at Stop between blocks of some milliseconds, and leave their outputs unfinished where it is reached. A call that
// takes less than that does not look at it at all; whoever makes many tells Stop about them. Products of matrices, and
// what consists of them, are shared by so many Threads where they are worth it, none and one being the same: each entry
// is the same to the bit, as its terms are added up by one of them.
type Within struct {
	Stop    *stop.Stop
	Threads int
	// Strips keeps GemmNT from taking a part of a product for a [Tiny] one, whose last bits are others.
	Strips bool
}

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

// shareWork is how many multiplications the share of a thread has at least, a quarter of a millisecond.
const shareWork = 1 << 22

// shares returns into how many parts to cut a product of these sizes.
func (w Within) shares(m, n, k int) int {
	if w.Threads <= 1 {
		return 1
	}
	return int(min(int64(4*w.Threads), int64(m)*int64(n)*int64(k)/shareWork))
}

// share calls f for parts of 0..n, which end at multiples of unit, side by side. With lower they have the same parts of
// a triangle below its diagonal.
func (w Within) share(parts, n, unit int, lower bool, f func(in Within, from, to int)) {
	end := func(part int) int {
		x := float64(part) / float64(parts)
		if lower {
			x = 1 - math.Sqrt(1-x)
		}
		return min(n, int(math.Ceil(x*float64(n)/float64(unit)))*unit)
	}
	crew.Each(parts, w.Threads, func(part int) {
		if from, to := end(part), end(part+1); from < to {
			f(Within{Stop: w.Stop.Copy()}, from, to)
		}
	})
	w.Stop.Look()
}

// cost returns what a product of these sizes is to Stop.
func cost(m, n, k int) int { return int(min(int64(m)*int64(n)*int64(k)/perOperation, stop.Interval)) }

// forSolve is the Stop of a solve with a triangle.
func (w Within) forSolve(n int) *stop.Stop {
	if n <= longSolve {
		return nil
	}
	return w.Stop
}

// GemvN computes y -= A x.
func (w Within) GemvN(m, n int, a []float64, lda int, x, y []float64) {
	block := w.columns(m, n)
	for j := 0; j < n && !(block < n && w.Stop.Reached(m*block)); j += block {
		GemvN(m, min(block, n-j), a[j*lda:], lda, x[j:], y)
	}
}

// GemvT computes y -= A'x.
func (w Within) GemvT(m, n int, a []float64, lda int, x, y []float64) {
	block := w.columns(m, n)
	for j := 0; j < n && !(block < n && w.Stop.Reached(m*block)); j += block {
		GemvT(m, min(block, n-j), a[j*lda:], lda, x, y[j:])
	}
}

// columns returns how many of n columns of length m to multiply at a time.
func (w Within) columns(m, n int) int {
	if w.Stop == nil || m*n <= longVector {
		return n
	}
	return max(8, longVector/m/8*8)
}
