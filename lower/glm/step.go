package glm

import (
	"math"

	"github.com/conetune/conetune/internal/dense"
	"gonum.org/v1/gonum/mat"
)

// sweep minimises over one unit of a list after the other and returns the largest decrease of the objective, about.
func (f *fold) sweep(list []int, w *Weights) (most float64) {
	for _, u := range list {
		members := f.d.units[u]
		if len(members) == 1 && f.d.q == 1 {
			most = max(most, f.single(members[0], w.Norm[u]+w.absolute(members[0]), w.second(members[0])))
		} else {
			most = max(most, f.block(u, w))
		}
	}
	return most
}

// single minimises over one coefficient.
func (f *fold) single(j int, first, second float64) float64 {
	curve := f.products.diagonal(f, j)
	if !(curve+second > 0) {
		return 0
	}
	b := f.b[j]
	next := soft(f.products.at(f, j, 0)+curve*b, first) / (curve + second)
	if f.d.lower != nil || f.d.upper != nil {
		lo, hi := f.d.bounds(j)
		next = max(lo, min(hi, next))
	}
	step := next - b
	if step == 0 {
		return 0
	}
	f.b[j] = next
	f.step[0] = step
	f.products.move(f, j, f.step)
	return (curve + second) * step * step
}

// block takes a proximal step over a unit with several coefficients, which is exact where it has one feature.
func (f *fold) block(u int, w *Weights) float64 {
	members, q := f.d.units[u], f.d.q
	curve := f.curvature(u)
	for _, j := range members {
		curve = max(curve, f.curvature(u)+w.second(j))
	}
	if !(curve > 0) {
		return 0
	}
	next := make([]float64, 0, len(members)*q)
	size := 0.0
	for _, j := range members {
		for k := range q {
			b := f.b[j*q+k]
			v := soft(curve*b+f.products.at(f, j, k)-w.second(j)*b, w.absolute(j))
			next = append(next, v)
			size += v * v
		}
	}
	factor := 0.0
	if size = math.Sqrt(size); size > w.Norm[u] {
		factor = (1 - w.Norm[u]/size) / curve
	}
	moved := 0.0
	step := f.step
	for i, j := range members {
		any := false
		for k := range q {
			step[k] = factor*next[i*q+k] - f.b[j*q+k]
			moved += step[k] * step[k]
			any = any || step[k] != 0
		}
		if any {
			f.move(j, step)
		}
	}
	return curve * moved
}

// curvature bounds the largest eigenvalue of the products of a unit.
func (f *fold) curvature(u int) float64 {
	members := f.d.units[u]
	if len(members) == 1 {
		return f.products.diagonal(f, members[0])
	}
	if f.curve[u] > 0 {
		return f.curve[u]
	}
	const exact = 128 // members up to which eigenvalues are computed; a sum of absolute values bounds those of more
	n, q := len(members), f.d.q
	all := make([]float64, n*q*n*q)
	f.products.system(f, members, all)
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			h.SetSym(i, j, all[i*q*n*q+j*q])
		}
	}
	if n > exact {
		f.curve[u] = mat.Norm(h, math.Inf(1))
		return f.curve[u]
	}
	var eigen mat.EigenSym
	if eigen.Factorize(h, false) {
		values := eigen.Values(nil)
		f.curve[u] = max(values[n-1]*(1+1e-12), math.SmallestNonzeroFloat64)
	}
	return f.curve[u]
}

// newtons takes Newton steps until one is not cut, each over what the one before has left, and says whether any moved.
func (f *fold) newtons(active []int, w *Weights) (moved bool) {
	for range len(active) + 1 {
		went, cut := f.newton(active, w)
		moved = moved || went
		if !went || !cut {
			break
		}
		active = f.active()
	}
	return moved
}

// newton goes along Newton's direction for the coefficients that are not zero, as far as no sign changes, none passes a bound, and the objective falls. It says
// whether it moved, and whether one of the first two has cut it.
func (f *fold) newton(active []int, w *Weights) (moved, cutShort bool) {
	q := f.d.q
	var features, unit []int
	for _, u := range active {
		for _, j := range f.d.units[u] {
			if w.absolute(j) > 0 && !f.used(j) || f.atBound(j, w) {
				continue
			}
			features, unit = append(features, j), append(unit, u)
		}
	}
	n := len(features)
	const largest = 4000 // order of systems
	if n == 0 || n*q > largest {
		return false, false
	}
	order := n * q
	h, g := make([]float64, order*order), make([]float64, order)
	sizes := map[int]float64{}
	for i := range n {
		for k := range q {
			b := f.b[features[i]*q+k]
			sizes[unit[i]] += b * b
		}
	}
	f.products.system(f, features, h)
	slope := 0.0
	for i := range n {
		for k := range q {
			h[(i*q+k)*order+i*q+k] += w.second(features[i])
		}
		alone := len(f.d.units[unit[i]]) == 1 && q == 1
		norm := math.Sqrt(sizes[unit[i]])
		for k := range q {
			b := f.b[features[i]*q+k]
			v := f.products.at(f, features[i], k) - w.second(features[i])*b - math.Copysign(w.absolute(features[i]), b)
			if weight := w.Norm[unit[i]]; alone {
				v -= math.Copysign(weight, b)
			} else if norm > 0 && weight > 0 {
				v -= weight * b / norm
				to := h[(i*q+k)*order:]
				to[i*q+k] += weight / norm
				for l := i; l < n && unit[l] == unit[i]; l++ {
					for m := range q {
						if l*q+m >= i*q+k {
							to[l*q+m] -= weight * b * f.b[features[l]*q+m] / (norm * norm * norm)
						}
					}
				}
			}
			g[i*q+k] = v
		}
	}
	d, sign := make([]float64, order), make([]int8, order)
	most := 0.0
	for i := range order {
		sign[i] = 1
		most = max(most, h[i*order+i])
	}
	step := append([]float64(nil), g...)
	dense.LDL(order, h, order, d, sign, 1e-13*most, most)
	dense.TrsvN(order, h, order, step)
	for i := range step {
		step[i] /= d[i]
	}
	dense.TrsvT(order, h, order, step)
	far := 1.0
	cut := -1
	for i := range n {
		single := len(f.d.units[unit[i]]) == 1 && q == 1
		for k := range q {
			b, s := f.b[features[i]*q+k], step[i*q+k]
			slope += s * g[i*q+k]
			if math.IsNaN(s) || math.IsInf(s, 0) {
				return false, false
			}
			if (single || w.absolute(features[i]) > 0) && (w.Norm[unit[i]] > 0 || w.absolute(features[i]) > 0) && b*(b+far*s) < 0 {
				far, cut = -b/s, i*q+k
			}
			if f.d.lower != nil || f.d.upper != nil {
				lo, hi := f.d.bounds(features[i])
				if b+far*s < lo {
					far, cut = (lo-b)/s, -1
				} else if b+far*s > hi {
					far, cut = (hi-b)/s, -1
				}
			}
		}
	}
	if !(slope > 0) || !(far > 0) {
		return false, false
	}
	before := f.penalties(active, w)
	kept, pull := make([]float64, 0, order), make([]float64, order)
	for i, j := range features {
		kept = append(kept, f.b[j*q:(j+1)*q]...)
		for k := range q {
			pull[i*q+k] = f.products.at(f, j, k)
		}
	}
	one, whole := make([]float64, q), true
	for range 30 {
		for i, j := range features {
			for k := range q {
				one[k] = far * step[i*q+k]
				if i*q+k == cut {
					one[k] = -f.b[j*q+k]
				}
			}
			if nonzero(one) {
				f.move(j, one)
			}
		}
		change := f.penalties(active, w) - before
		for i, j := range features {
			for k := range q { // half the sum of the gradients at both ends, as the loss is quadratic
				change -= (f.b[j*q+k] - kept[i*q+k]) * (pull[i*q+k] + f.products.at(f, j, k)) / 2
			}
		}
		if change <= -1e-4*far*slope+1e-15*math.Abs(before) {
			return true, far < 1 && whole
		}
		for i, j := range features {
			for k := range q {
				one[k] = kept[i*q+k] - f.b[j*q+k]
			}
			if nonzero(one) {
				f.move(j, one)
				copy(f.b[j*q:(j+1)*q], kept[i*q:])
			}
		}
		far, cut, whole = far/2, -1, false
	}
	return false, false
}

// atBound says that the coefficient of a feature is at a bound, against which its gradient pulls.
func (f *fold) atBound(j int, w *Weights) bool {
	if f.d.lower == nil && f.d.upper == nil {
		return false
	}
	lo, hi := f.d.bounds(j)
	b := f.b[j]
	return b != 0 && (b == lo || b == hi)
}

// penalties are those of the coefficients of some units.
func (f *fold) penalties(active []int, w *Weights) float64 {
	q, sum := f.d.q, 0.0
	for _, u := range active {
		size := 0.0
		for _, j := range f.d.units[u] {
			for _, b := range f.b[j*q : (j+1)*q] {
				sum += w.second(j)*b*b/2 + w.absolute(j)*math.Abs(b)
				size += b * b
			}
		}
		sum += w.Norm[u] * math.Sqrt(size)
	}
	return sum
}
