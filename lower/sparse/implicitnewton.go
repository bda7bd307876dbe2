package sparse

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// newton is a step of [quadratic.newton] to a relative accuracy.
func (p *implicit) newton(b, a []float64, accuracy float64) (same, ok bool) {
	p.free = p.inUse(b)
	k := len(p.free)
	if k == 0 {
		return true, true
	}
	g := make([]float64, k)
	for l, i := range p.free {
		g[l] = p.rest(b, i)
		if p.w[i] > 0 {
			g[l] -= math.Copysign(p.w[i], b[i])
		}
	}
	if !p.precondition() {
		return false, false
	}
	step := p.conjugate(g, accuracy)
	t, first, end := 1.0, -1, 0.0
	for l, i := range p.free {
		if at, last := p.box.reach(i, b[i], step[l], p.w[i]); at < t {
			t, first, end = at, i, last
		}
	}
	if first < 0 {
		p.along(b, b, a, step, 1)
		return true, true
	}
	if !p.search(b, a, step, t) {
		p.along(b, slices.Clone(b), a, step, t)
		b[first] = end
		p.begin(b, a)
	}
	return false, true
}

// search goes along the step as far as is best among halvings of it, with what comes to the end of its piece left there and some coordinate descent after that. It does not, and
// b stays, where nothing is lower that is farther than the share least. Where columns are nearly the same, steps are long and meet many ends: one step then serves for many of them.
func (p *implicit) search(b, a, step []float64, least float64) bool {
	from, best, value := slices.Clone(b), []float64(nil), p.value(b)
	for t := 1.0; t > least; t /= 2 {
		p.along(b, from, a, step, t)
		for range searchSweeps {
			if p.end.Look() || !p.sweep(b, p.inUse(b)) {
				break
			}
		}
		if v := p.value(b); v < value {
			value, best = v, append(best[:0], b...)
		} else if best != nil {
			break
		}
	}
	if best == nil {
		copy(b, from)
		return false
	}
	copy(b, best)
	p.begin(b, a)
	return true
}

// along sets b to what is t of the step from a point, each coefficient no farther than the end of its piece.
func (p *implicit) along(b, from, a, step []float64, t float64) {
	for l, i := range p.free {
		lo, hi := p.box.piece(i, from[i], p.w[i])
		b[i] = math.Max(lo, math.Min(hi, from[i]+t*step[l]))
	}
	p.begin(b, a)
}

// choose finds the heavy columns among those that are free, unless those of before are most of them.
func (p *implicit) choose() {
	want := min(len(p.free), p.most)
	known := 0
	for _, i := range p.heavy {
		if _, in := slices.BinarySearch(p.free, i); in {
			known++
		}
	}
	if known*heavyShare >= want*(heavyShare-1) && len(p.heavy) <= 2*known {
		return
	}
	p.heavy = slices.Clone(p.free)
	slices.SortStableFunc(p.heavy, func(a, b int) int { return cmp.Compare(p.length[b], p.length[a]) })
	p.heavy = p.heavy[:want]
	slices.Sort(p.heavy)
}

// leastPlus is the share of the diagonal that is added to the matrix in Newton steps. It is singular where more columns are free than there are rows, and steps then are long and end
// at a change of sign.
const leastPlus = 1e-9

// heavyShare: one column in so many may be missing in the factor.
const heavyShare = 20

// precondition factors the matrix of the heavy columns that are free. It is not ok where the context ended.
func (p *implicit) precondition() bool {
	if p.inside = p.inside[:0]; !p.byRows.prepare(p) {
		return false
	}
	p.list()
	if p.byRows.on {
		return true
	}
	p.choose()
	if !p.formHeavy() {
		return false
	}
	var of []int // places in heavy
	l := 0
	for place, i := range p.free {
		for l < len(p.heavy) && p.heavy[l] < i {
			l++
		}
		if l < len(p.heavy) && p.heavy[l] == i {
			of = append(of, l)
			p.inside = append(p.inside, place)
		}
	}
	return len(of) == 0 || p.factorHeavy(of)
}

// formHeavy forms the matrix of the heavy columns, unless it is there. It is not ok where the context ended.
func (p *implicit) formHeavy() bool {
	list := make([]int, len(p.heavy))
	for l, i := range p.heavy {
		list[l] = p.columns[i]
	}
	for t := range p.parts {
		part := &p.parts[t]
		if m := part.curvature; !slices.Equal(m.heavy, list) || m.products == nil {
			m.heavy, m.products = list, part.x.Gram(p.ctx, list, part.omega, 1)
			for _, row := range m.products {
				floats.Scale(1/part.share, row)
			}
			if p.ctx.Err() != nil {
				m.products = nil
				return false
			}
		}
	}
	return true
}

// factorHeavy factors the matrix of some of the heavy columns. It is not ok where the context ended; what is inside is empty where there is no factor.
func (p *implicit) factorHeavy(of []int) bool {
	order := float64(len(of))
	for plus := leastPlus; plus < 1; plus *= 1e3 {
		p.spent += order * order * order / 6
		if p.factor.Factor(len(of), func(j int, column []float64) {
			clear(column[j:])
			for _, part := range p.parts {
				row := part.curvature.products[of[j]]
				for i := j; i < len(of); i++ {
					column[i] += part.share * row[of[i]]
				}
			}
			at := p.free[p.inside[j]]
			column[j] += p.ridge[at] + plus*p.norm[at]
		}) {
			return true
		}
		if p.end.Look() {
			return false
		}
	}
	p.inside = p.inside[:0]
	return true
}

// list lists what is free by rows, for sparse designs.
func (p *implicit) list() {
	p.rows = p.rows[:0]
	columns := make([]int, len(p.free))
	for l, i := range p.free {
		columns[l] = p.columns[i]
	}
	for _, part := range p.parts {
		if !part.x.Dense() {
			p.rows = append(p.rows, part.x.List(columns))
		}
	}
}

// conjugate solves with the matrix of what is free for the right-hand side g, by conjugate gradients.
func (p *implicit) conjugate(g []float64, accuracy float64) []float64 {
	k, r := len(g), slices.Clone(g)
	x, d, image := make([]float64, k), make([]float64, k), make([]float64, k)
	z := p.preconditioned(r)
	copy(d, z)
	rz := floats.Dot(r, z)
	goal := accuracy * accuracy * rz
	fall, known, idle := 0.0, 0.0, 0 // of the quadratic function, twice, and where that was large last
	each, slow := float64(len(p.inside))*float64(len(p.inside)), p.slow()
	for _, i := range p.free {
		each += 2 * float64(p.length[i])
	}
	for step := range conjugateSteps {
		p.spent += each
		if step >= slowSteps && float64(step)*each > slow {
			slow = math.Inf(1)
			p.most = min(mostHeavy, moreHeavy*p.most) // next time
		}
		if !(rz > goal) || p.end.Look() {
			break
		}
		p.product(d, image)
		curve := floats.Dot(d, image)
		if !(curve > 0) {
			break
		}
		alpha := rz / curve
		floats.AddScaled(x, alpha, d)
		floats.AddScaled(r, -alpha, image)
		z = p.preconditioned(r)
		next := floats.Dot(r, z)
		fall += alpha * rz
		if idle++; fall-known > accuracy*fall {
			known, idle = fall, 0
		}
		if idle > conjugatePatience {
			break
		}
		floats.Scale(next/rz, d)
		floats.Add(d, z)
		rz = next
	}
	return x
}

// slow is the work of steps from which on a factor of more columns costs less. It is infinite where there are no more.
func (p *implicit) slow() float64 {
	if p.byRows.on || len(p.inside) == len(p.free) {
		return math.Inf(1)
	}
	order := float64(min(mostHeavy, moreHeavy*p.most, len(p.free)))
	return order * order * order / (6 * slowWork)
}

// preconditioned divides by the factor and the diagonal, or by the factor of the rows.
func (p *implicit) preconditioned(r []float64) []float64 {
	if p.byRows.on {
		return p.byRows.solve(p, r)
	}
	z := make([]float64, len(r))
	for l, i := range p.free {
		if v := p.norm[i]; v > 0 {
			z[l] = r[l] / v
		}
	}
	if len(p.inside) > 0 {
		part := make([]float64, len(p.inside))
		for m, l := range p.inside {
			part[m] = r[l]
		}
		p.factor.Solve(part)
		for m, l := range p.inside {
			z[l] = part[m]
		}
	}
	return z
}

// product sets out to the matrix of what is free times d.
func (p *implicit) product(d, out []float64) {
	for l, i := range p.free {
		out[l] = (p.ridge[i] + leastPlus*p.norm[i]) * d[l]
	}
	if len(p.rows) == len(p.parts) {
		for t, l := range p.rows {
			l.AddNormal(out, p.parts[t].omega, d)
		}
		return
	}
	for t := range p.parts {
		part := &p.parts[t]
		v := make([]float64, len(part.omega))
		for l, i := range p.free {
			part.add(d[l], p.columns[i], v)
		}
		floats.Mul(v, part.omega)
		for l, i := range p.free {
			out[l] += part.dot(p.columns[i], v)
		}
	}
}
