package sparse

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/internal/leastsquares"
)

// implicit is the problem of [quadratic] without its matrix, for many columns,
//
//	minimize over b   sum over parts of sum_i (omega_i / 2 d_i^2 - e0_i d_i) + sum_j (ridge_j / 2 b_j^2 - linear_j b_j + w_j |b_j|),   d = X (b - a),
//
// subject to b in box.
//
// Coordinates are descended along columns of the designs, of which e = e0 - omega d is kept, and Newton steps are solved by conjugate gradients,
// preconditioned by the factor of the matrix of the columns with most entries and by the diagonal of the others.
type implicit struct {
	columns          []int // design.Ones for the intercept
	parts            []implicitPart
	ridge, linear, w []float64
	box              box
	norm             []float64 // the diagonal of the matrix
	free             []int     // of the last solution: what is free to move, b_j != 0 or w_j = 0 between the bounds

	length []int // entries of the columns

	most   int   // columns that the factor may have
	heavy  []int // positions of the columns of the factor, rising
	factor factor.Definite
	byRows byRows           // in its place where rows are few
	inside []int            // places in free of those that the factor is of
	rows   []*design.Listed // what is free, for sparse designs
	size   float64          // of the derivatives where a coefficient is zero
	spent  float64          // multiplications of conjugate gradients and factors, all together
	ctx    context.Context
	end    stop.Stop
}

// implicitPart are the rows of one set.
type implicitPart struct {
	x         *design.Matrix
	omega, e0 []float64
	e         []float64
	share     float64        // omega in units of that of the curvature
	curvature *implicitModel // of the set
}

// implicitModel is what the curvatures of a set make of its columns: it stays while they do.
type implicitModel struct {
	norm     []float64   // sum_i d_i x_ij^2 / n of each position
	heavy    []int       // columns
	products [][]float64 // their matrix
}

const (
	// firstHeavy is the number of columns, those with most entries, that are preconditioned by a factor. Where that takes more than slowSteps, there are moreHeavy times as many from then
	// on, mostHeavy at most.
	firstHeavy, mostHeavy, moreHeavy, slowSteps = 200, 1600, 3, 100
	// firstAccuracy is the relative accuracy of Newton steps while signs change, bestAccuracy that of the last ones, and curvatureAccuracy that of
	// second derivatives.
	firstAccuracy, bestAccuracy, curvatureAccuracy = 1e-2, 1e-8, 1e-6
	// conjugateSteps bounds the steps of conjugate gradients, conjugatePatience those in a row that leave the residual as it is.
	conjugateSteps, conjugatePatience = 1000, 60
	// implicitRounds bounds the Newton steps.
	implicitRounds = 60
	// implicitRounding is the share of the size of the linear term that is taken for rounding.
	implicitRounding = 1e-12
	// exactEnough is that below which one step without progress is the last one; above it there are two.
	exactEnough = 1e-9
)

// dot is x_j'v in a part.
func (p *implicitPart) dot(j int, v []float64) float64 {
	if j == design.Ones {
		return floats.Sum(v)
	}
	return p.x.Dot(j, v)
}

// add adds t times column j to v.
func (p *implicitPart) add(t float64, j int, v []float64) {
	if j == design.Ones {
		floats.AddConst(t, v)
		return
	}
	p.x.Axpy(t, j, v)
}

// fall subtracts t times column j, weighted, from e.
func (p *implicitPart) fall(t float64, j int) {
	index, value := []int(nil), []float64(nil)
	if j == design.Ones {
		floats.AddScaled(p.e, -t, p.omega)
		return
	}
	if index, value = p.x.Column(j); index == nil {
		for i, v := range value {
			p.e[i] -= t * v * p.omega[i]
		}
		return
	}
	for k, i := range index {
		p.e[i] -= t * value[k] * p.omega[i]
	}
}

// prepare works out what depends on columns and weights.
func (p *implicit) prepare() {
	k := len(p.columns)
	p.norm, p.length = slices.Clone(p.ridge), make([]int, k)
	for t := range p.parts {
		part := &p.parts[t]
		m := part.curvature
		for i := len(m.norm); i < k; i++ {
			m.norm = append(m.norm, part.square(p.columns[i])/part.share)
		}
		floats.AddScaled(p.norm, part.share, m.norm[:k])
		for i, j := range p.columns {
			if j == design.Ones {
				p.length[i] += part.x.Rows()
			} else {
				p.length[i] += part.x.Len(j)
			}
		}
	}
	p.most = max(p.most, firstHeavy)
}

// square is sum_i omega_i x_ij^2.
func (p *implicitPart) square(j int) float64 {
	if j == design.Ones {
		return floats.Sum(p.omega)
	}
	index, value := p.x.Column(j)
	sum := 0.0
	for l, v := range value {
		row := l
		if index != nil {
			row = index[l]
		}
		sum += p.omega[row] * v * v
	}
	return sum
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// begin brings e to the point b; a is that of the losses.
func (p *implicit) begin(b, a []float64) {
	for t := range p.parts {
		part := &p.parts[t]
		d := make([]float64, len(part.omega))
		for i, j := range p.columns {
			if v := b[i] - a[i]; v != 0 {
				part.add(v, j, d)
			}
		}
		part.e = append(part.e[:0], part.e0...)
		for i, v := range d {
			part.e[i] -= part.omega[i] * v
		}
	}
}

// rest is minus the derivative of the smooth part in coordinate i.
func (p *implicit) rest(b []float64, i int) float64 {
	sum := p.linear[i] - p.ridge[i]*b[i]
	for t := range p.parts {
		sum += p.parts[t].dot(p.columns[i], p.parts[t].e)
	}
	return sum
}

// solve is [quadratic.solve], from b with the losses modelled at a, to a relative accuracy of the last Newton step. It is not ok where the context ended; what is reached where signs keep changing is an answer that is not exact, as a
// look at all columns will show.
func (p *implicit) solve(ctx context.Context, b, a []float64, best float64) (ok bool) {
	p.ctx = ctx
	p.end.Begin(ctx, 0)
	p.factor.End = &p.end
	p.begin(b, a)
	p.size = slices.Max(p.w)
	accuracy, least, idle := firstAccuracy, math.Inf(1), 0
	all := indices(len(b))
	settled := false // no sign has changed, nor seems about to
	for range implicitRounds {
		if !settled {
			if p.sweep(b, all) {
				for range quadraticSweeps {
					if p.end.Look() || !p.sweep(b, p.inUse(b)) {
						break
					}
				}
			}
			p.begin(b, a) // without the rounding of the steps
		}
		same, ok := p.newton(b, a, accuracy)
		if !ok || p.end.Look() {
			return false
		}
		worst := 0.0
		settled = same
		for i, v := range b {
			g := p.rest(b, i)
			if !p.box.free(i, v, p.w[i]) {
				g = math.Max(0, p.box.over(i, v, p.w[i], g))
				settled = settled && g <= implicitRounding*p.size
			} else if p.w[i] > 0 {
				g -= math.Copysign(p.w[i], v)
			}
			worst = math.Max(worst, math.Abs(g))
		}
		if worst <= implicitRounding*p.size || same && accuracy <= best && (best > bestAccuracy || worst > least/2 && (worst <= exactEnough*p.size || idle > 0)) {
			break
		}
		if idle++; worst <= least/2 {
			idle = 0
		}
		if same {
			accuracy = best
			least = math.Min(least, worst)
		}
	}
	p.free = p.inUse(b)
	return true
}

// inUse are the positions that are free to move.
func (p *implicit) inUse(b []float64) []int {
	var set []int
	for i, v := range b {
		if p.box.free(i, v, p.w[i]) {
			set = append(set, i)
		}
	}
	return set
}

// sweep is one round of coordinate descent. It says whether a sign has changed, or what is at a bound.
func (p *implicit) sweep(b []float64, set []int) (changed bool) {
	for _, i := range set {
		if p.norm[i] == 0 {
			continue
		}
		if p.end.Reached(2 * p.length[i]) {
			return false
		}
		old := b[i]
		pull := p.norm[i]*old + p.rest(b, i)
		p.size = math.Max(p.size, math.Abs(pull))
		v := p.box.clip(i, leastsquares.Soft(pull, p.w[i])/p.norm[i])
		if v == old {
			continue
		}
		b[i] = v
		for t := range p.parts {
			p.parts[t].fall(v-old, p.columns[i])
		}
		changed = changed || math.Signbit(v) != math.Signbit(old) || p.box.free(i, v, p.w[i]) != p.box.free(i, old, p.w[i])
	}
	return changed
}

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
	t, first, last := 1.0, -1, 0.0
	for l, i := range p.free {
		if at, end := p.box.reach(i, b[i], step[l], p.w[i]); at < t {
			t, first, last = at, l, end
		}
	}
	old := slices.Clone(b)
	before := p.value(b)
	for l, i := range p.free {
		if b[i] = p.box.clip(i, b[i]+step[l]); first >= 0 {
			lo, hi := p.box.piece(i, old[i], p.w[i])
			b[i] = math.Max(lo, math.Min(hi, b[i]))
		}
	}
	p.begin(b, a)
	if first < 0 {
		return true, true
	}
	if p.value(b) < before {
		return false, true
	}
	for l, i := range p.free {
		b[i] = old[i] + t*step[l]
	}
	b[p.free[first]] = last
	p.begin(b, a)
	return false, true
}

// value is the objective, up to a constant; e belongs to b. With omega d = e0 - e each row has omega/2 d^2 - e0 d = -(e0 - e)(e0 + e) / (2 omega).
func (p *implicit) value(b []float64) float64 {
	sum := 0.0
	for t := range p.parts {
		part := &p.parts[t]
		for i, w := range part.omega {
			if w > 0 {
				sum -= (part.e0[i] - part.e[i]) * (part.e0[i] + part.e[i]) / (2 * w)
			}
		}
	}
	for i, v := range b {
		if v != 0 {
			sum += p.w[i]*math.Abs(v) + v*(p.ridge[i]*v/2-p.linear[i])
		}
	}
	return sum
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
	if len(of) == 0 {
		return true
	}
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
			column[j] += p.ridge[p.free[p.inside[j]]] + plus*p.norm[p.free[p.inside[j]]]
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
	free := make([]int, len(p.free))
	for l, i := range p.free {
		free[l] = p.columns[i]
	}
	for _, part := range p.parts {
		if !part.x.Dense() {
			p.rows = append(p.rows, part.x.List(free))
		}
	}
}

// conjugate solves with the matrix of what is free for the right-hand side g, by conjugate gradients.
func (p *implicit) conjugate(g []float64, accuracy float64) []float64 {
	k := len(g)
	x, r, d, image := make([]float64, k), slices.Clone(g), make([]float64, k), make([]float64, k)
	z := p.preconditioned(r)
	copy(d, z)
	rz := floats.Dot(r, z)
	goal := accuracy * accuracy * rz
	best, least, idle := slices.Clone(x), rz, 0
	each := float64(len(p.inside)) * float64(len(p.inside))
	for _, i := range p.free {
		each += 2 * float64(p.length[i])
	}
	for step := range conjugateSteps {
		p.spent += each
		if step == slowSteps && !p.byRows.on && len(p.inside) < len(p.free) {
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
		if idle++; next < least/2 {
			least, idle = next, 0
			copy(best, x)
		}
		if idle > conjugatePatience {
			return best
		}
		floats.Scale(next/rz, d)
		floats.Add(d, z)
		rz = next
	}
	return x
}

// preconditioned divides by the factor and the diagonal, or by the factor of the rows.
func (p *implicit) preconditioned(r []float64) []float64 {
	if p.byRows.on {
		return p.byRows.solve(p, r)
	}
	z := make([]float64, len(r))
	for l, i := range p.free {
		if p.norm[i] > 0 {
			z[l] = r[l] / p.norm[i]
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
