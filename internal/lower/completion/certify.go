package completion

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// certify bounds the objective from below. Where the gap is above least it takes in the columns that are missing, and
// leaves out those that are small: singular vectors of such values are not determined, so that in the bound they belong
// to the complement.
func (f *factored) certify(least float64) (objective, gap float64, grew bool) {
	f.refresh()
	f.centreIntercept()
	d := &decomposition{}
	if f.k > 0 {
		if d = f.decompose(); math.IsNaN(d.values[0]) {
			return math.NaN(), math.Inf(1), false
		}
		d = d.above(small)
	}
	objective = f.objective()
	top, rest, found := f.spectral(d.vectors)
	if f.end.Look() {
		return objective, math.Inf(1), false
	}
	f.shift = math.Max(0, rest-f.nuclear)
	gap = math.Max(0, objective-f.bound(top))
	missing := gap > least && len(found.values) > 0
	if f.k > len(d.values) && (missing || rest < f.nuclear*(1-idle)) {
		f.balance(d)
		f.refresh()
	}
	grew = missing && f.grow(found)
	after := f.objective()
	return after, math.Max(0, gap-objective+after), grew
}

// bound is the value of the dual, for a bound of |R(u) - Z|_2, at the multipliers t (u, Z) with t the largest for which
// that is at most m_0; those of the groups are shortened too or, with rho, changed until they fit.
func (f *factored) bound(top float64) float64 {
	t := 1.0
	if top > f.nuclear {
		t = f.nuclear / top
	}
	linear, square := 0.0, 0.0
	for s, w := range f.w {
		if w > 0 {
			linear += w * floats.Dot(f.r[s], f.side(s).y)
			square += w * floats.Dot(f.r[s], f.r[s])
		}
	}
	correlations, sizes := make([][]float64, len(f.j.members)), make([]float64, len(f.j.members))
	for g, group := range f.j.members {
		correlations[g] = f.correlations(group)
		sizes[g] = floats.Norm(correlations[g], 2)
	}
	if f.rho == 0 {
		for g, size := range sizes {
			if size > f.norm[g] {
				t = math.Min(t, f.norm[g]/size)
			}
		}
		return t*linear - t*t/2*square
	}
	// Z = rho (G - C): <Z, C> and |Z|^2 / rho.
	gg, gc, cc := f.matrices()
	linear -= f.rho * (gc - cc)
	square += f.rho * math.Max(0, gg-2*gc+cc)
	value := t*linear - t*t/2*square
	for g, group := range f.j.members {
		over := 0.0
		if t*sizes[g] > f.norm[g] {
			over = t - f.norm[g]/sizes[g]
		}
		for i, l := range group {
			z := t*f.rho*(f.x[l]-f.cx[l]) + over*correlations[g][i]
			value -= z*f.cx[l] + z*z/(2*f.rho)
		}
	}
	if f.j.intercept {
		z := t * f.rho * (f.b0 - f.c0)
		value -= z*f.c0 + z*z/(2*f.rho)
	}
	return value
}

// grow takes in columns by a step along the sum of (sigma - m_0) u v' over what was found.
func (f *factored) grow(found triplets) bool {
	slope, curvature := 0.0, 0.0
	excess := make([]float64, len(found.values))
	for l, v := range found.values {
		excess[l] = v - f.nuclear
		slope += excess[l] * excess[l]
	}
	n := len(excess)
	left, right := make([]float64, f.j.m*n), make([]float64, f.j.n*n)
	for l := range excess {
		for i, v := range found.u[l] {
			left[i*n+l] = v
		}
		for i, v := range found.v[l] {
			right[i*n+l] = v * excess[l]
		}
	}
	for s, w := range f.w {
		if w == 0 {
			continue
		}
		of := f.side(s)
		along := f.work[s]
		of.entries(n, func(e int) {
			i, c := of.row[e], of.col[e]
			along[e] = inner(left[i*n:(i+1)*n], right[c*n:(c+1)*n])
		})
		curvature += w * floats.Dot(along, along)
	}
	curvature += f.rho * slope
	if !(curvature > 0) || !(slope > 0) {
		return false
	}
	step := ample * slope / curvature
	k := f.k + n
	both := make([]float64, (f.j.m+f.j.n)*k)
	for s, old := range [][]float64{f.a, f.b} {
		rows, from, vectors := f.j.m, 0, found.u
		if s == 1 {
			rows, from, vectors = f.j.n, f.j.m*k, found.v
		}
		for i := range rows {
			to := both[from+i*k : from+(i+1)*k]
			copy(to, old[i*f.k:(i+1)*f.k])
			for l := range n {
				to[f.k+l] = vectors[l][i] * math.Sqrt(step*excess[l])
			}
		}
	}
	f.setFactors(k, both)
	f.refresh()
	return true
}
