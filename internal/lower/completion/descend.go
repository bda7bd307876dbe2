package completion

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// centreIntercept makes b0 the best one.
func (f *factored) centreIntercept() {
	if !f.j.intercept {
		return
	}
	sum, weight := -f.rho*(f.b0-f.c0), f.rho
	for s, w := range f.w {
		if w > 0 {
			sum += w * floats.Sum(f.r[s])
			weight += w * float64(len(f.r[s]))
		}
	}
	if !(weight > 0) {
		return
	}
	f.b0 += sum / weight
	for s, w := range f.w {
		if w > 0 {
			floats.AddConst(-sum/weight, f.r[s])
		}
	}
}

// epoch takes a proximal step for each group: b_g moves along the gradient over a bound of the curvature, and its norm
// falls by m_g over it.
func (f *factored) epoch() {
	for g, group := range f.j.members {
		curvature := f.rho
		for s, w := range f.w {
			if w > 0 {
				curvature += w * f.side(s).lipschitz[g]
			}
		}
		if !(curvature > 0) {
			continue
		}
		z := f.correlations(group)
		for i, l := range group {
			z[i] = f.x[l] + z[i]/curvature
		}
		size, to := floats.Norm(z, 2), 0.0
		if least := f.norm[g] / curvature; size > least {
			to = 1 - least/size
		}
		for i, l := range group {
			d := to*z[i] - f.x[l]
			if d == 0 {
				continue
			}
			f.x[l] += d
			for s, w := range f.w {
				if w > 0 {
					f.side(s).x.Axpy(-d, l, f.r[s])
				}
			}
		}
	}
}

// descend goes to the solution with as many columns, until a step promises less than tol^2 times the training loss at
// zero or, where columns may be taken in, a system had a direction of negative curvature.
//
// Away from the solution, and where columns are missing, the Hessian is not positive definite: in a column it is about
// m_0 I less T, whose singular values may be larger. A multiple of the identity on the factors is added then, at first
// that by which T was found to be too large, later by what directions of conjugate gradients show; it falls with each
// step that needed no more.
func (f *factored) descend(tol float64, grows bool) {
	unit := math.Max(f.j.unit, math.SmallestNonzeroFloat64)
	last := tol * tol * unit
	for range jointSteps {
		if f.end.Look() {
			return
		}
		f.refresh()
		f.centreIntercept()
		f.epoch()
		for range coreSteps {
			if !(f.shrink() > last) {
				break
			}
		}
		f.use()
		g := f.gradient()
		if len(g.all) == 0 {
			return
		}
		f.prepare()
		steep := floats.Dot(g.all, f.precondition(g).all)
		if !(steep > steepShare*last) {
			return
		}
		accuracy := math.Min(forcing, math.Sqrt(steep/unit))
		accuracy = math.Max(accuracy, math.Min(coarsest, 0.5*tol*math.Sqrt(unit/steep)))
		d := f.conjugate(g, accuracy, jointCG)
		promise := floats.Dot(g.all, d.all)
		if !(promise > 0) || !f.move(d, promise, steep) || promise <= last && f.bent == 0 {
			return
		}
		f.shift *= shiftFall
		if f.bent > 0 {
			f.shift = shiftGrowth * math.Max(f.shift/shiftFall, f.bent)
			if grows {
				return
			}
		}
	}
}

// move goes to (A, B, b, b0) - t d.
func (f *factored) move(d tangent, slope, steep float64) bool {
	before := f.objective()
	a, b, x, b0 := f.a, f.b, slices.Clone(f.x), f.b0
	for t := 1.0; t > 1e-6; t /= 2 {
		f.a, f.b, f.svd = slices.Clone(a), slices.Clone(b), nil
		floats.AddScaled(f.a, -t, d.A)
		floats.AddScaled(f.b, -t, d.B)
		for i, l := range f.set {
			f.x[l] = x[l] - t*d.S[i]
		}
		if f.j.intercept {
			f.b0 = b0 - t*d.S[len(f.set)]
		}
		f.refresh()
		after := f.objective()
		if after <= before-1e-4*t*slope && before-after > 1e-14*before {
			return true
		}
		if t == 1 && after <= before*(1+1e-13) {
			if g := f.gradient(); floats.Dot(g.all, f.precondition(g).all) < steep/4 {
				return true
			}
		}
	}
	f.a, f.b, f.b0 = a, b, b0
	copy(f.x, x)
	f.refresh()
	return false
}
