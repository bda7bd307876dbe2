package glm

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/design"
)

// Multinomial is minus the logarithm of the probability exp(eta_y) / sum_k exp(eta_k) of the class y of a row, a number
// from 0 on. Its predictions are those of all rows for one class after the other, and its features stand for each
// class: units, weights and bounds are those of the entries of [design.Classes]. What is added to the predictions of
// all classes changes nothing: the last one has the constant 0, and the others are entries without a penalty.
type Multinomial struct{ Classes int }

// Rows implements [Loss]. The curvatures are the probabilities times the weights. With the probabilities p_i of the
// classes in a row and its entries x_i, the second derivatives are the sums of w_i (p_i x_i)(x_i)' within a class, less
// those of w_i (p_i x_i)(p_i x_i)'.
func (m Multinomial) Rows(y []float64) Sums {
	return func(w Counted) func() Coupled { return m.of(y, w.of(len(y))) }
}

// of is that of rows with weights.
func (m Multinomial) of(y, weights []float64) func() Coupled {
	n := len(y)
	return func() Coupled {
		var last []float64
		f := make([]float64, m.Classes)
		sum := func(eta, pull, curve []float64) (sum float64) {
			last = curve
			product := 1.0
			for i, w := range weights {
				if w == 0 {
					for k := range f {
						pull[k*n+i], curve[k*n+i] = 0, 0
					}
					continue
				}
				top, all, own := math.Inf(-1), 0.0, int(y[i])
				for k := range f {
					v := eta[k*n+i]
					if f[k] = v; v > top {
						top = v
					}
				}
				sum += w * (top - f[own])
				for k, v := range f {
					f[k] = math.Exp(v - top)
					all += f[k]
				}
				if w != 1 {
					sum += w * math.Log(all)
				} else if product *= all; !(product < mostProduct) {
					sum, product = sum+math.Log(product), 1
				}
				share := w / all
				for k, v := range f {
					v *= share
					pull[k*n+i], curve[k*n+i] = -v, v
				}
				pull[own*n+i] += w
			}
			return sum + math.Log(product)
		}
		second := func(ctx context.Context, x design.Classes, entries []int, threads int) []float64 {
			return secondOfClasses(ctx, x, entries, last, weights, threads)
		}
		return Coupled{sum, second, func(v []float64) {
			mean := make([]float64, n)
			for k := range f {
				for i, c := range last[k*n : (k+1)*n] {
					mean[i] += c * v[k*n+i]
				}
			}
			for i, w := range weights {
				if w > 0 {
					mean[i] /= w
				}
			}
			for k := range f {
				for i, c := range last[k*n : (k+1)*n] {
					v[k*n+i] = c * (v[k*n+i] - mean[i])
				}
			}
		}}
	}
}

// frequencies are the logarithms of those of the classes over that of the last: the best constants without features.
func (m Multinomial) frequencies(y, weights []float64) []float64 {
	out := make([]float64, m.Classes)
	for i, k := range y {
		out[int(k)] += weights[i]
	}
	last := len(out) - 1
	for k, v := range out {
		out[k] = math.Log(max(v, math.SmallestNonzeroFloat64) / max(out[last], math.SmallestNonzeroFloat64))
	}
	return out[:last]
}

// classColumns are the columns of one part of a product. They do not depend on the threads, so that neither does
// rounding.
const classColumns = 128

// secondOfClasses are the second derivatives of [Multinomial] of such curvatures, by rows.
func secondOfClasses(
	ctx context.Context, x design.Classes, entries []int, curve, weights []float64, threads int,
) []float64 {
	size := len(entries)
	order := indices.Range(0, size) // by classes, so that the entries of two of them are a block
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(entries[a]%x.K, entries[b]%x.K) })
	columns, class, begin := make([]int, size), make([]int, size), make([]int, x.K+1)
	for i, l := range order {
		columns[i], class[i] = x.Feature(entries[l]), entries[l]%x.K
		begin[class[i]+1] = i + 1
	}
	for k := range x.K {
		begin[k+1] = max(begin[k], begin[k+1])
	}
	h := dense.Zeros(size * size) // the lower triangle by columns
	if x.X.Dense() {
		denseClasses(ctx, x, columns, begin, curve, weights, h, threads)
	} else {
		sparseClasses(ctx, x, columns, class, curve, weights, h)
	}
	dense.Mirror(h, size)
	if slices.IsSorted(order) {
		return h
	}
	for i, l := range order {
		columns[l] = i
	}
	out := pick(h, size, columns)
	dense.Mirror(out, size)
	return out
}

// denseClasses adds what columns have of which those of class k are from begin[k] on.
func denseClasses(
	ctx context.Context, x design.Classes, columns, begin []int, curve, weights, h []float64, threads int,
) {
	size, n := len(columns), len(weights)
	room := func() []float64 { return make([]float64, size*rowBlock) }
	minus, likely, weighted := room(), room(), room()
	for first := 0; first < n && ctx.Err() == nil; first += rowBlock {
		rows := min(rowBlock, n-first)
		x.X.Pack(minus, columns, first, rows, nil, -1)
		for l := range rows {
			for k := range x.K {
				c, p := curve[k*n+first+l], 0.0
				if c > 0 {
					p = c / weights[first+l]
				}
				for i := l*size + begin[k]; i < l*size+begin[k+1]; i++ {
					likely[i], weighted[i] = -p*minus[i], -c*minus[i]
				}
			}
		}
		crew.Each((size+classColumns-1)/classColumns, threads, func(part int) {
			lo, hi := part*classColumns, min(size, (part+1)*classColumns)
			dense.SyrkNT(hi-lo, rows, likely[lo:], size, weighted[lo:], size, h[lo*size+lo:], size)
			if hi < size {
				dense.GemmNT(size-hi, hi-lo, rows, likely[hi:], size, weighted[lo:], size, h[lo*size+hi:], size)
			}
		})
		crew.Each(x.K, threads, func(k int) {
			if lo, hi := begin[k], begin[k+1]; lo < hi {
				dense.SyrkNT(hi-lo, rows, minus[lo:], size, weighted[lo:], size, h[lo*size+lo:], size)
			}
		})
	}
}

// sparseClasses is denseClasses of a sparse table.
func sparseClasses(ctx context.Context, x design.Classes, columns, class []int, curve, weights, h []float64) {
	size, n := len(columns), len(weights)
	list := x.X.List(columns)
	for i, w := range weights {
		if w == 0 || ctx.Err() != nil {
			continue
		}
		at, value := list.Row(i)
		for a, e := range at {
			k := class[e]
			v, row := value[a]*curve[k*n+i], h[int(e)*size:]
			for b := a; b < len(at); b++ {
				m := class[at[b]]
				by := -curve[m*n+i] / w
				if m == k {
					by++
				}
				row[at[b]] += v * by * value[b]
			}
		}
	}
}

// centre adds to the coefficients of each feature what makes the penalties of its classes least, which changes nothing
// else: between bounds, none; a median without half squares, a mean with these alone.
func (f *fold) centre(w *Weights) {
	d, k := f.d, f.d.classes
	room := make([][2]float64, k)
	for first := 0; first+k <= d.p; first += k {
		kinks, slope, bend := room[:0], 0.0, 0.0 // where coefficients vanish, and their weights
		for e := first; e < first+k; e++ {
			if lo, hi := d.bounds(e); !f.inWork[e] || !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
				break
			}
			by, second := w.Norm[e]+w.absolute(e), w.second(e)
			kinks = append(kinks, [2]float64{-f.b[e], by})
			slope, bend = slope+second*f.b[e]-by, bend+second
		}
		if len(kinks) < k {
			continue
		}
		slices.SortFunc(kinks, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
		lo, hi, i := math.Inf(-1), kinks[0][0], 0
		for ; i < k && slope+bend*hi < 0; i++ {
			if lo, slope, hi = hi, slope+2*kinks[i][1], math.Inf(1); i+1 < k {
				hi = kinks[i+1][0]
			}
		}
		add := max(lo, min(hi, 0))
		if bend > 0 {
			add = max(lo, min(hi, -slope/bend))
		} else if slope > 0 {
			add = lo
		}
		for e := first; add != 0 && e < first+k; e++ {
			f.b[e] += add
		}
	}
}

// uncommon takes from a step what is common to all classes of a feature.
func (f *fold) uncommon(features []int, step []float64) {
	k := f.d.classes
	count, sum := make([]int, f.d.p/k+1), make([]float64, f.d.p/k+1)
	for i, e := range features {
		count[e/k]++
		sum[e/k] += step[i]
	}
	for i, e := range features {
		if count[e/k] == k {
			step[i] -= sum[e/k] / float64(k)
		}
	}
}
