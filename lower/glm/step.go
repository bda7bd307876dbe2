package glm

import (
	"math"
	"slices"

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
	if w.L2 != nil {
		most := 0.0
		for _, j := range members {
			most = max(most, w.L2[j])
		}
		curve += most
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
	const few, most = 50, 3 // units up to which all cuts are followed: sweeps are slow where these depend on each other
	times := most
	if len(active) <= few {
		times = len(active) + 1
	}
	for range times {
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
		if !f.inUse(u) { // sweeps have made it zero
			continue
		}
		for _, j := range f.d.units[u] {
			if w.absolute(j) > 0 && !f.used(j) || f.atBound(j) {
				continue
			}
			features, unit = append(features, j), append(unit, u)
		}
	}
	n, order := len(features), len(features)*q
	g := f.descents(features, unit, w)
	step := f.direction(features, unit, g, w)
	if step == nil {
		return false, false
	}
	slope := 0.0
	first := 1.0 // up to which no sign changes and none passes a bound
	for i := range n {
		for k := range q {
			b, v := f.b[features[i]*q+k], step[i*q+k]
			slope += v * g[i*q+k]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false, false
			}
			if to := f.within(b, b+first*v, features[i], unit[i], w); to != b+first*v {
				first = (to - b) / v
			}
		}
	}
	if !(slope > 0) || !(first > 0) {
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
	one := make([]float64, q)
	const projected, halvings = 3, 30 // steps that go on where a coefficient has stopped
	far := 1.0
	for try := range halvings {
		if try == projected {
			far = min(far, first)
		}
		cutShort, expected := false, 0.0
		for i, j := range features {
			for k := range q {
				b := f.b[j*q+k]
				whole := b + far*step[i*q+k]
				to := f.within(b, whole, j, unit[i], w)
				cutShort = cutShort || to != whole
				one[k] = to - b
				expected += one[k] * g[i*q+k]
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
		if expected > 0 && change <= -1e-4*expected+1e-15*math.Abs(before) {
			return true, cutShort
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
		far /= 2
	}
	return false, false
}

// within is where a coefficient stops on its way: at zero, where its penalty bends, and at its bounds.
func (f *fold) within(from, to float64, j, u int, w *Weights) float64 {
	if from*to < 0 && (f.alone(u) && w.Norm[u] > 0 || w.absolute(j) > 0) {
		return 0
	}
	if f.d.lower != nil || f.d.upper != nil {
		lo, hi := f.d.bounds(j)
		return max(lo, min(hi, to))
	}
	return to
}

// norms are those of the coefficients of units.
func (f *fold) norms(features, unit []int) map[int]float64 {
	norms := map[int]float64{}
	for i, j := range features {
		for _, b := range f.b[j*f.d.q : (j+1)*f.d.q] {
			norms[unit[i]] += b * b
		}
	}
	for u, v := range norms {
		norms[u] = math.Sqrt(v)
	}
	return norms
}

// alone says that unit u has one coefficient.
func (f *fold) alone(u int) bool { return len(f.d.units[u]) == 1 && f.d.q == 1 }

// descents are the derivatives of the objective, less their signs, in the coefficients of features, whose units are not zero.
func (f *fold) descents(features, unit []int, w *Weights) []float64 {
	q := f.d.q
	g := make([]float64, len(features)*q)
	norms := f.norms(features, unit)
	for i, j := range features {
		for k := range q {
			b := f.b[j*q+k]
			v := f.products.at(f, j, k) - w.second(j)*b - math.Copysign(w.absolute(j), b)
			if weight := w.Norm[unit[i]]; f.alone(unit[i]) {
				v -= math.Copysign(weight, b)
			} else if norm := norms[unit[i]]; norm > 0 {
				v -= weight * b / norm
			}
			g[i*q+k] = v
		}
	}
	return g
}

// mostOrder bounds the order of the systems of Newton steps, mostSparse where their products are of sparse columns, leastRidge the weight of squares beside the curvature of the loss where there are more coefficients than rows.
const mostOrder, mostSparse, leastRidge = 4000, 100, 1e-4

// direction is Newton's for the coefficients of features, nil where their system is too large.
func (f *fold) direction(features, unit []int, g []float64, w *Weights) []float64 {
	n, q := len(features), f.d.q
	order := n * q
	if order == 0 {
		return nil
	}
	if r, ok := f.products.(*rows); ok && n > f.d.n && r.x.Dense() && !slices.ContainsFunc(unit, func(u int) bool { return !f.alone(u) }) {
		second := make([]float64, n)
		for i, j := range features {
			second[i] = w.second(j)
		}
		bends := slices.ContainsFunc(unit, func(u int) bool { return w.Norm[u] > 0 })
		if least := slices.Min(second); !(least > 0) || bends && least < leastRidge*r.diagonal(f, features[0]) || f.d.n > mostOrder {
			return nil // the rows do not determine a direction
		}
		return r.wide(f, features, second, g)
	}
	if r, ok := f.products.(*rows); order > mostOrder || ok && !r.x.Dense() && n > mostSparse {
		return nil
	}
	h := make([]float64, order*order)
	f.products.system(f, features, h)
	norms := f.norms(features, unit)
	for i, j := range features {
		norm, weight := norms[unit[i]], w.Norm[unit[i]]
		for k := range q {
			to := h[(i*q+k)*order:]
			to[i*q+k] += w.second(j)
			if f.alone(unit[i]) || norm == 0 || weight == 0 {
				continue
			}
			to[i*q+k] += weight / norm
			b := f.b[j*q+k]
			for l := i; l < n && unit[l] == unit[i]; l++ {
				for m := range q {
					if l*q+m >= i*q+k {
						to[l*q+m] -= weight * b * f.b[features[l]*q+m] / (norm * norm * norm)
					}
				}
			}
		}
	}
	step := slices.Clone(g)
	solveDefinite(order, h, step, 1e-13)
	return step
}

// solveDefinite overwrites x with the solution of the positive definite system whose lower triangle is h, by columns, which it destroys. Pivots up to the share least
// of the largest diagonal entry are taken for that.
func solveDefinite(n int, h, x []float64, least float64) {
	d, sign, most := make([]float64, n), make([]int8, n), 0.0
	for i := range n {
		sign[i] = 1
		most = max(most, h[i*n+i])
	}
	dense.LDL(n, h, n, d, sign, least*most, most)
	dense.TrsvN(n, h, n, x)
	for i := range x {
		x[i] /= d[i]
	}
	dense.TrsvT(n, h, n, x)
}

// atBound says that the coefficient of a feature is at a bound.
func (f *fold) atBound(j int) bool {
	if f.d.lower == nil && f.d.upper == nil {
		return false
	}
	lo, hi := f.d.bounds(j)
	b := f.b[j]
	return b != 0 && (b == lo || b == hi)
}

// penalties are those of the coefficients of some units.
func (f *fold) penalties(units []int, w *Weights) (sum float64) {
	for _, u := range units {
		sum = f.d.withPenalty(sum, u, w, f.b)
	}
	return sum
}
