package glm

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// sweep minimises over one unit of a list after the other and returns the largest decrease of the objective, about.
func (f *fold) sweep(list []int, w *Weights) (most float64) {
	for _, u := range list {
		members := f.d.units[u]
		if f.d.q > 1 || len(members) > 1 && w.Norm[u] > 0 {
			most = max(most, f.block(u, w))
			continue
		}
		for _, j := range members {
			most = max(most, f.single(j, w.Norm[u]+w.absolute(j), w.second(j)))
		}
	}
	return most
}

// single minimises over one coefficient.
func (f *fold) single(j int, first, second float64) float64 {
	curve := f.work.diagonal(j)
	if !(curve > 0) { // which does not vary
		return 0
	}
	b := f.b[j]
	next := soft(f.work.at(j, 0)+curve*b, first) / (curve + second)
	if f.d.lower != nil || f.d.upper != nil {
		lo, hi := f.d.bounds(j)
		next = max(lo, min(hi, next))
	}
	step := next - b
	if step == 0 {
		return 0
	}
	f.shift(j, next)
	return (curve + second) * step * step
}

// block takes a proximal step in a unit with several coefficients.
func (f *fold) block(u int, w *Weights) float64 {
	members, q := f.d.units[u], f.d.q
	curve := f.curvature(u)
	if !(curve > 0) {
		return 0
	}
	second := 0.0
	for _, j := range members {
		second = max(second, w.second(j))
	}
	curve += second
	f.prox(u, curve, w, w.Norm[u])
	moved := 0.0
	for i, v := range f.next {
		v -= f.b[members[i/q]*q+i%q]
		f.next[i] = v
		moved += v * v
	}
	if r, ok := f.adjacent(u); ok && r.even && r.x.Dense() {
		for i, j := range members {
			f.b[j] += f.next[i]
		}
		r.moveAll(members[0], f.next)
		return curve * moved
	}
	for i, j := range members {
		if step := f.next[i*q : (i+1)*q]; nonzero(step) {
			f.move(j, step)
		}
	}
	return curve * moved
}

// adjacent is the work by residuals of a whole table, and whether the features of unit u, of one target, stand side by
// side there.
func (f *fold) adjacent(u int) (s *residual, ok bool) {
	members := f.d.units[u]
	for i, j := range members {
		if j != members[0]+i {
			return nil, false
		}
	}
	s, ok = f.work.(*residual)
	return s, ok && s.root == nil && f.d.q == 1
}

// atUnit are the gradients, less their signs, of the coefficients of unit u.
func (f *fold) atUnit(u int) []float64 {
	members, q := f.d.units[u], f.d.q
	out := make([]float64, len(members)*q)
	if r, ok := f.adjacent(u); ok {
		r.atAll(members[0], 0, out)
		return out
	}
	for i := range out {
		out[i] = f.work.at(members[i/q], i%q)
	}
	return out
}

// prox sets next to a unit's coefficients after a proximal step of curvature curve.
func (f *fold) prox(u int, curve float64, w *Weights, norm float64) {
	f.next = f.next[:0]
	size, q, pull := 0.0, f.d.q, f.atUnit(u)
	for i, j := range f.d.units[u] {
		for k := range q {
			b := f.b[j*q+k]
			v := soft(curve*b+pull[i*q+k]-w.second(j)*b, w.absolute(j))
			f.next = append(f.next, v)
			size += v * v
		}
	}
	factor := 0.0
	if size = math.Sqrt(size); size > norm {
		factor = (1 - norm/size) / curve
	}
	floats.Scale(factor, f.next)
}

// curvature is the largest eigenvalue of the products of a unit, or a bound of it.
func (f *fold) curvature(u int) float64 {
	members := f.d.units[u]
	if len(members) == 1 {
		return f.work.diagonal(members[0])
	}
	f.part.lock.Lock()
	defer f.part.lock.Unlock()
	if f.part.curvature == nil {
		f.part.curvature = make([]float64, len(f.d.units))
	}
	if known := f.part.curvature[u]; known > 0 {
		return known
	}
	const few = 128 // members up to which eigenvalues are computed; a sum of absolute values bounds those of more
	n := len(members)
	h := mat.NewSymDense(n, nil)
	for i, row := range f.work.block(members) {
		for j := i; j < n; j++ {
			h.SetSym(i, j, row[j])
		}
	}
	var eigen mat.EigenSym
	most := 0.0
	if n > few || !eigen.Factorize(h, false) {
		most = mat.Norm(h, math.Inf(1))
	} else {
		most = max(eigen.Values(nil)[n-1]*(1+1e-12), math.SmallestNonzeroFloat64)
	}
	f.part.curvature[u] = most
	return most
}
