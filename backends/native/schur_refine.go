package native

import (
	"math"
	"slices"
)

// refineMatrices improves a solution by its residuals in the columns and rows that
// semidefinite cones are eliminated onto. The sums A'H^-1 A and B~ H B~', whose
// rounding solveReduced cannot see, are left out of these: they are measured on the
// z and x that were recovered. Their error would otherwise stay as infeasibility.
//
// The factors of K precondition the method of generalised conjugate residuals
// (Eisenstat, Elman and Schultz 1983), which Toh, Todd and Tutuncu do with another Krylov
// method: near the end of a degenerate problem the factors are too far from
// the sums for plain refinement.
func (s *schur) refineMatrices(x, z, rx, rz []float64, to accuracy) error {
	if !s.eliminates {
		return nil
	}
	o := &s.outer
	limit := to.rows * (1 + max(maxAbs(rx), maxAbs(rz)))
	last := s.outerResidual(x, z, rx, rz)
	if !(last > limit) {
		return finiteOr(last)
	}
	copy(o.x, x)
	copy(o.z, z)
	for i := range o.d {
		if s.f.stop.Reached(2 * (s.f.n + s.f.m)) {
			return errStopped
		}
		o.used = max(o.used, i+1)
		d := &o.d[i]
		copy(o.wx, o.rx)
		copy(o.wz, o.rz)
		if s.solveReduced(d.x, d.z, o.wx, o.wz, to) != nil {
			break
		}
		s.outerProduct(d.imageX, d.imageZ, d.x, d.z)
		for e := range o.d[:i] {
			if s.f.stop.Reached(4 * (s.f.n + s.f.m)) {
				return errStopped
			}
			p := &o.d[e]
			b := dot(d.imageX, p.imageX) + dot(d.imageZ, p.imageZ)
			d.add(-b, p)
		}
		norm := math.Sqrt(dot(d.imageX, d.imageX) + dot(d.imageZ, d.imageZ))
		if !(norm > 0) || math.IsInf(norm, 1) {
			break
		}
		d.scale(1 / norm)
		a := dot(d.imageX, o.rx) + dot(d.imageZ, o.rz)
		axpy(a, d.x, x)
		axpy(a, d.z, z)
		axpy(-a, d.imageX, o.rx)
		axpy(-a, d.imageZ, o.rz)
		if max(maxAbs(o.rx), maxAbs(o.rz)) <= limit {
			break
		}
	}
	if now := s.outerResidual(x, z, rx, rz); !(now < last) {
		copy(x, o.x)
		copy(z, o.z)
	}
	return finiteOr(last)
}

// finiteOr returns an error for the residual of no solution.
func finiteOr(residual float64) error {
	if math.IsNaN(residual) || math.IsInf(residual, 0) {
		return errUnsolved
	}
	return nil
}

// outer is the work space of refineMatrices.
type outer struct {
	columns, rows        []int32 // those with residuals
	rx, rz, wx, wz, x, z []float64
	d                    []outerDirection
	used                 int // the largest number of directions used, set to 0 by whoever asks
}

// outerDirection is a direction with its product with the matrix.
type outerDirection struct{ x, z, imageX, imageZ []float64 }

func (d *outerDirection) add(a float64, o *outerDirection) {
	axpy(a, o.x, d.x)
	axpy(a, o.z, d.z)
	axpy(a, o.imageX, d.imageX)
	axpy(a, o.imageZ, d.imageZ)
}

func (d *outerDirection) scale(a float64) {
	for _, v := range [4][]float64{d.x, d.z, d.imageX, d.imageZ} {
		scaleBy(v, a)
	}
}

func newOuter(f *form, matrices []*matrixPart) outer {
	n, m := f.n, f.m
	vector := func(size int) []float64 { return make([]float64, size) }
	o := outer{rx: vector(n), wx: vector(n), x: vector(n), rz: vector(m), wz: vector(m), z: vector(m)}
	for _, p := range matrices {
		for i := range p.g.members {
			j := p.g.members[i].item
			switch {
			case p.form == eliminateRows:
				o.columns = append(o.columns, j)
			case p.form == eliminateColumns && int(j) < f.zero+f.nonneg:
				o.rows = append(o.rows, j) // other cones have an H whose products are less exact than K
			}
		}
	}
	slices.Sort(o.columns)
	slices.Sort(o.rows)
	o.columns, o.rows = slices.Compact(o.columns), slices.Compact(o.rows)
	for range outerSteps {
		o.d = append(o.d, outerDirection{vector(n), vector(m), vector(n), vector(m)})
	}
	return o
}

// outerSteps is the number of directions of refineMatrices.
const outerSteps = 15

// outerProduct writes P x + A'z and A x - H z into px and pz, in the columns and rows
// that cones are eliminated onto; the others are zero.
func (s *schur) outerProduct(px, pz, x, z []float64) {
	f, o := s.f, &s.outer
	f.mulP(o.wx, x)
	f.a.addMulT(o.wx, z)
	f.mulA(o.wz, x)
	clear(px)
	clear(pz)
	for _, j := range o.columns {
		px[j] = o.wx[j]
	}
	for _, r := range o.rows {
		pz[r] = o.wz[r]
		if i := int(r) - f.zero; i >= 0 {
			pz[r] -= s.h[i] * z[r]
		}
	}
}

// outerResidual writes the residuals of refineMatrices into s.outer and returns the largest.
func (s *schur) outerResidual(x, z, rx, rz []float64) float64 {
	o := &s.outer
	s.outerProduct(o.rx, o.rz, x, z)
	for _, j := range o.columns {
		o.rx[j] = rx[j] - o.rx[j]
	}
	for _, r := range o.rows {
		o.rz[r] = rz[r] - o.rz[r]
	}
	return max(maxAbs(o.rx), maxAbs(o.rz))
}
