package glm

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// sweep minimises over one unit of a list after the other and returns the largest decrease of the objective, about.
func (f *fold) sweep(list []int, w *Weights) (most float64) {
	if s, ok := f.work.(*rowwise); ok {
		return s.sweep(f, list, w)
	}
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
	next := f.minimum(j, f.work.at(j, 0), curve, first, second)
	step := next - f.b[j]
	if step == 0 {
		return 0
	}
	f.shift(j, next)
	return (curve + second) * step * step
}

// minimum is where a coefficient, of some gradient, less its sign, and curvature, is best beside the others.
func (f *fold) minimum(j int, pull, curve, first, second float64) float64 {
	lo, hi := f.d.bounds(j)
	return max(lo, min(hi, numerics.Soft(pull+curve*f.b[j], first)/(curve+second)))
}

// block takes the steps of prox over a unit with several coefficients.
func (f *fold) block(u int, w *Weights) float64 {
	members, q := f.d.units[u], f.d.q
	f.pull = f.work.fall(f.pull[:0], members)
	if w.L1 == nil && !f.inUse(u) && !(floats.Norm(f.pull, 2) > w.Norm[u]) {
		return 0
	}
	e := f.spectrum(u)
	if !(e.most > 0) {
		return 0
	}
	curve := e.most
	for _, j := range members {
		curve = max(curve, e.most+w.second(j))
	}
	f.prox(u, curve, w, e.products)
	moved := 0.0
	for i, v := range f.next {
		v -= f.b[members[i/q]*q+i%q]
		f.next[i] = v
		moved += v * v
	}
	if moved > 0 {
		f.move(f.next, members)
	}
	s, ok := f.work.(*residual)
	if !ok || s.x.Dense() || q > 1 || e.products != nil || !f.inUse(u) {
		return curve * moved
	}
	// Sparse columns, as indicators of a category, differ in curvature and hardly in direction.
	f.next = f.next[:0]
	for _, j := range members {
		f.next = append(f.next, f.b[j])
	}
	at := func(i int) float64 { return s.at(members[i], 0) }
	moves := func(i int, _ float64) { f.shift(members[i], f.next[i]) }
	return max(curve*moved, f.singles(u, w, floats.Norm(f.next, 2), at, moves))
}

// prox sets next to a unit's coefficients after a proximal step of curvature curve, and where that does not make all of
// them zero and the products of the features are known, after steps of single coefficients, which are cheap beside what
// the whole change moves.
func (f *fold) prox(u int, curve float64, w *Weights, products []float64) {
	members, q, norm := f.d.units[u], f.d.q, w.Norm[u]
	n := len(members)
	f.next = f.next[:0]
	size := 0.0
	for i, j := range members {
		for k := range q {
			b := f.b[j*q+k]
			v := numerics.Soft(curve*b+f.pull[i*q+k]-w.second(j)*b, w.absolute(j))
			f.next = append(f.next, v)
			size += v * v
		}
	}
	factor := 0.0
	if size = math.Sqrt(size); size > norm {
		factor = (1 - norm/size) / curve
	}
	floats.Scale(factor, f.next)
	if size *= factor; size == 0 || products == nil || q > 1 {
		return
	}
	moves := func(i int, step float64) { dense.Axpy(-step, products[i*n:(i+1)*n], f.pull) }
	for i, j := range members {
		if s := f.next[i] - f.b[j]; s != 0 {
			moves(i, s)
		}
	}
	f.singles(u, w, size, func(i int) float64 { return f.pull[i] }, moves)
}

// singles changes the coefficients of a unit that are next, of a size, by steps of one after the other, with the norm
// below the half square that touches it where they are, and returns the largest decrease, about. The gradient of a
// coefficient, less its sign, is at, and moves is told of its step.
func (f *fold) singles(
	u int, w *Weights, size float64, at func(i int) float64, moves func(i int, step float64),
) (most float64) {
	const sweeps, near = 10, 1e-2 // and length of the change in the last beside the coefficients
	for range sweeps {
		change, fall := 0.0, 0.0
		for i, j := range f.d.units[u] {
			b, h := f.next[i], f.work.diagonal(j)
			if !(h > 0) {
				continue
			}
			v := numerics.Soft(at(i)+h*b, w.absolute(j)) / (h + w.second(j) + w.Norm[u]/size)
			if v == b {
				continue
			}
			f.next[i] = v
			moves(i, v-b)
			change += (v - b) * (v - b)
			fall += h * (v - b) * (v - b)
			size = math.Sqrt(max(size*size-b*b+v*v, 1e-300))
		}
		if most = max(most, fall); change <= near*near*size*size {
			break
		}
	}
	return most
}

// spectrum is the largest eigenvalue of the products of a unit, or a bound of it, and where they are few these.
type spectrum struct {
	most     float64
	products []float64
}

// spectrum is that of a unit.
func (f *fold) spectrum(u int) spectrum {
	members := f.d.units[u]
	if len(members) == 1 {
		return spectrum{most: f.work.diagonal(members[0])}
	}
	f.part.lock.Lock()
	defer f.part.lock.Unlock()
	if f.part.spectra == nil {
		f.part.spectra = make([]spectrum, len(f.d.units))
	}
	e := &f.part.spectra[u]
	if e.most > 0 {
		return *e
	}
	const few = 128 // members up to which eigenvalues are computed; a sum of absolute values bounds those of more
	n, products := len(members), f.work.block(members)
	if n <= few {
		dense.Mirror(products, n)
		e.products = products
	}
	h := mat.NewSymDense(n, products)
	e.most = mat.Norm(h, math.Inf(1))
	var eigen mat.EigenSym
	if n <= few && eigen.Factorize(h, false) {
		e.most = max(eigen.Values(nil)[n-1]*(1+1e-12), math.SmallestNonzeroFloat64)
	}
	return *e
}
