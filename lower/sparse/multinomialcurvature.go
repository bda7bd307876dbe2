package sparse

import (
	"context"
	"runtime"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
)

// curvatures are the second derivatives over the working set, by rows.
func (s *multinomialSolve) curvatures(ctx context.Context) []float64 {
	size := len(s.set)
	out := make([]float64, size*size)
	if s.x.Dense() {
		s.denseCurvatures(ctx, out)
	} else {
		s.sparseCurvatures(ctx, out)
	}
	for i := range size {
		for l := range i {
			out[i*size+l] = out[l*size+i]
		}
	}
	return out
}

// blocks are where the entries of each class begin in the set, and their number.
func (s *multinomialSolve) blocks() []int {
	from := make([]int, s.k+1)
	for i, e := range s.set {
		from[e.class+1] = i + 1
	}
	for k := range s.k {
		from[k+1] = max(from[k], from[k+1])
	}
	return from
}

const (
	// curvatureRows are taken at a time, so that their features stay in the cache, and curvatureColumns are those of one part of a product. They do not depend on the threads, so that neither does rounding.
	curvatureRows, curvatureColumns = 256, 128
)

// denseCurvatures sets the entries on and right of the diagonal: with rows x_i of all features of the set, as often as these have classes, and p_i, the
// probabilities of these classes, they are sum_i v_i/n (p_i x_i)(x_i)' within a class, less sum_i v_i/n (p_i x_i)(p_i x_i)'.
func (s *multinomialSolve) denseCurvatures(ctx context.Context, out []float64) {
	size, from, threads := len(s.set), s.blocks(), runtime.GOMAXPROCS(0)
	features := featuresOf(s.set)
	minus, likely, weighted := make([]float64, size*curvatureRows), make([]float64, size*curvatureRows), make([]float64, size*curvatureRows)
	for first := 0; first < len(s.class) && ctx.Err() == nil; first += curvatureRows {
		rows := min(curvatureRows, len(s.class)-first)
		s.x.Pack(minus, features, first, rows, -1)
		for l := range rows {
			for k, p := range s.p {
				v, at := p[first+l], l*size
				u := s.weigh(first+l, v) / s.n
				for i := at + from[k]; i < at+from[k+1]; i++ {
					likely[i], weighted[i] = -v*minus[i], -u*minus[i]
				}
			}
		}
		crew.Each((size+curvatureColumns-1)/curvatureColumns, threads, func(part int) {
			lo, hi := part*curvatureColumns, min(size, (part+1)*curvatureColumns)
			dense.SyrkNT(hi-lo, rows, likely[lo:], size, weighted[lo:], size, out[lo*size+lo:], size)
			if hi < size {
				dense.GemmNT(size-hi, hi-lo, rows, likely[hi:], size, weighted[lo:], size, out[lo*size+hi:], size)
			}
		})
		crew.Each(s.k, threads, func(k int) {
			if lo, hi := from[k], from[k+1]; lo < hi {
				dense.SyrkNT(hi-lo, rows, minus[lo:], size, weighted[lo:], size, out[lo*size+lo:], size)
			}
		})
	}
}

// sparseCurvatures sets the same, class by class.
func (s *multinomialSolve) sparseCurvatures(ctx context.Context, out []float64) {
	size, from := len(s.set), s.blocks()
	columns := func(k int) []int { return featuresOf(s.set[from[k]:from[k+1]]) }
	weights := make([]float64, len(s.class))
	for k := range s.k {
		right := columns(k)
		for m := range k + 1 {
			left := columns(m)
			if len(right) == 0 || len(left) == 0 {
				continue
			}
			for i, v := range s.p[k] {
				if weights[i] = -v * s.p[m][i]; k == m {
					weights[i] += v
				}
				weights[i] = s.weigh(i, weights[i]) / s.n
			}
			products := s.x.Products(ctx, left, right, weights, runtime.GOMAXPROCS(0))
			for r := range left {
				copy(out[(from[m]+r)*size+from[k]:], products[r*len(right):(r+1)*len(right)])
			}
		}
	}
}
