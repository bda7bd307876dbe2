package glm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/numerics"
)

const (
	// truncatedSize is the number of entries from which on steps are truncated: of digits, 1797 x 64 with ten classes,
	// products with 17 directions take as long as forming the matrix of 500, and a step needs as many. Ten of them are a
	// column of it: solves that have done as many as two matrices would take, or are slow, go on with these up to
	// wholeSize entries, as with a large weight of absolute values signs change with each step, which they find at once.
	truncatedSize, truncatedShare, wholeSize = 400, 5, 4096
	// truncatedProducts bounds those of a step, and truncatedLoosest is the largest residual that they leave.
	truncatedProducts, truncatedLoosest = 250, 0.1
)

// truncated takes the coefficients of large working sets of a coupled loss to the minimum of its model in their
// orthant, with zeros on the side to which they want to move, by conjugate gradients, to an accuracy that grows with
// that of the point; what leaves the orthant on the way is zero (Byrd, Chin, Nocedal, Oztoprak, A family of
// second-order methods for convex l1-regularized optimization, Math. Program. 2016). It says whether it has.
func (f *fold) truncated(ctx context.Context, w *Weights) bool {
	pt, x := f.point, f.d.entries()
	size := len(f.working)
	if pt.coupled.Times == nil || size < truncatedSize || f.rowwise() ||
		size <= wholeSize && pt.products >= size/truncatedShare {
		return false
	}
	curve := make([]float64, x.K) // means
	for k := range curve {
		curve[k] = floats.Sum(pt.curve[k*x.X.Rows():(k+1)*x.X.Rows()]) / pt.total
	}
	var free []int
	var side, down, diagonal []float64
	for _, j := range f.working {
		first, b, g := w.Norm[j]+w.absolute(j), f.b[j], f.gradient[j]-w.second(j)*f.b[j]
		at := math.Copysign(1, b)
		if b == 0 {
			at = math.Copysign(1, g)
		}
		lo, hi := f.d.bounds(j)
		if g -= first * at; b == 0 && g*at <= 0 || b >= hi && g > 0 || b <= lo && g < 0 {
			continue // it stays
		}
		if first == 0 {
			at = 0
		}
		squares, _ := x.Squares(j)
		free, side, down = append(free, j), append(side, at), append(down, g)
		diagonal = append(diagonal, curve[j%x.K]*squares/float64(x.X.Rows())+w.second(j)+math.SmallestNonzeroFloat64)
	}
	image := make([]float64, f.d.n)
	system := numerics.System{
		Multiply: func(out, v []float64) bool {
			pt.products++
			clear(image)
			for i, j := range free {
				x.Axpy(v[i], j, image)
			}
			pt.coupled.Times(image)
			for i, j := range free {
				out[i] = x.Dot(j, image)/pt.total + w.second(j)*v[i]
			}
			return ctx.Err() == nil
		},
		Divide: func(out, v []float64) { floats.DivTo(out, v, diagonal) },
	}
	accuracy := math.Min(truncatedLoosest, math.Sqrt(f.gap/f.null()))
	step := make([]float64, len(free))
	system.Solve(step, down, accuracy, truncatedProducts)
	for i, j := range free {
		lo, hi := f.d.bounds(j)
		if f.b[j] = max(lo, min(hi, f.b[j]+step[i])); f.b[j]*side[i] < 0 {
			f.b[j] = 0
		}
	}
	return true
}
