package sparse

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/lower/design"
)

// classed are rows of classes, whose loss is the mean of minus the logarithms of their probabilities.
type classed struct {
	x       *design.Matrix
	class   []int
	weights []float64 // of mean 1
	classes int
}

func (r *classed) features() *design.Matrix { return r.x }

// look has the probabilities of the classes as its curve.
func (r *classed) look(f [][]float64) *look {
	n := float64(len(r.class))
	out := &look{slopes: make([][]float64, len(f)), curve: f}
	for k := range f {
		out.slopes[k] = make([]float64, len(r.class))
	}
	for i, y := range r.class {
		top := math.Inf(-1)
		for k := range f {
			top = math.Max(top, f[k][i])
		}
		sum, own, weight := 0.0, f[y][i], r.weights[i]/n
		for k := range f {
			f[k][i] = math.Exp(f[k][i] - top)
			sum += f[k][i]
		}
		out.value += weight * (top + math.Log(sum) - own)
		for k := range f {
			f[k][i] /= sum
			out.slopes[k][i] = -weight * f[k][i]
		}
		out.slopes[y][i] += weight
	}
	return out
}

const (
	// curvatureRows are taken at a time, so that their features stay in the cache, and curvatureColumns are those of
	// one part of a product. They do not depend on the threads, so that neither does rounding.
	curvatureRows, curvatureColumns = 256, 128
)

// second are sum_i v_i/n x_ij x_il p_ik (1{k=m} - p_im).
func (r *classed) second(ctx context.Context, at *look, set []entry, from int) []float64 {
	if from > 0 || !r.x.Dense() {
		return r.pairs(ctx, at, set, from)
	}
	size := len(set)
	order := indices(size) // by classes, so that the entries of two of them are a block
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(set[a].class, set[b].class) })
	features, begin := make([]int, size), make([]int, len(at.curve)+1)
	for i, l := range order {
		features[i] = set[l].feature
		begin[set[l].class+1] = i + 1
	}
	for k := range at.curve {
		begin[k+1] = max(begin[k], begin[k+1])
	}
	upper, out := make([]float64, size*size), make([]float64, size*size)
	r.dense(ctx, at, features, begin, upper)
	for i, a := range order {
		for l, b := range order {
			out[a*size+b] = upper[min(i, l)*size+max(i, l)]
		}
	}
	return out
}

// pairs is second by pairs of classes.
func (r *classed) pairs(ctx context.Context, at *look, set []entry, from int) []float64 {
	size, n, classes := len(set), float64(len(r.class)), len(at.curve)
	places, features, first := make([][]int, classes), make([][]int, classes), make([]int, classes) // of the entries of a class, and the first of those from there on
	for i, e := range set {
		k := e.class
		if places[k], features[k] = append(places[k], i), append(features[k], e.feature); i < from {
			first[k] = len(places[k])
		}
	}
	out, weights := make([]float64, (size-from)*size), make([]float64, len(r.class))
	for k, p := range at.curve {
		for m, q := range at.curve {
			left, right := features[k][first[k]:], features[m]
			if len(left) == 0 || len(right) == 0 || from == 0 && m > k {
				continue
			}
			for i, v := range p {
				if weights[i] = -v * q[i]; k == m {
					weights[i] += v
				}
				weights[i] *= r.weights[i] / n
			}
			products := r.x.Products(ctx, left, right, weights, runtime.GOMAXPROCS(0))
			for a, i := range places[k][first[k]:] {
				for b, l := range places[m] {
					v := products[a*len(right)+b]
					if out[(i-from)*size+l] = v; from == 0 {
						out[l*size+i] = v
					}
				}
			}
		}
	}
	return out
}

// dense sets the entries on and right of the diagonal: with rows x_i of all features of the set, as often as these
// have classes, and p_i, the probabilities of these classes, they are sum_i v_i/n (p_i x_i)(x_i)' within a class, less
// sum_i v_i/n (p_i x_i)(p_i x_i)'.
func (r *classed) dense(ctx context.Context, at *look, features, from []int, out []float64) {
	size, n, threads := len(features), len(r.class), runtime.GOMAXPROCS(0)
	minus, likely, weighted := make([]float64, size*curvatureRows), make([]float64, size*curvatureRows), make([]float64, size*curvatureRows)
	for first := 0; first < n && ctx.Err() == nil; first += curvatureRows {
		rows := min(curvatureRows, n-first)
		r.x.Pack(minus, features, first, rows, -1)
		for l := range rows {
			for k, p := range at.curve {
				v, place := p[first+l], l*size
				u := r.weights[first+l] * v / float64(n)
				for i := place + from[k]; i < place+from[k+1]; i++ {
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
		crew.Each(len(at.curve), threads, func(k int) {
			if lo, hi := from[k], from[k+1]; lo < hi {
				dense.SyrkNT(hi-lo, rows, minus[lo:], size, weighted[lo:], size, out[lo*size+lo:], size)
			}
		})
	}
}
