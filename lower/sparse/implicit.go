package sparse

import (
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
	// firstHeavy is the number of columns, those with most entries, that are preconditioned by a factor. Where steps are more than slowSteps and their multiplications,
	// each of which takes slowWork times as long as one of a factor, cost more than that of more columns, there are moreHeavy times as many from then on, mostHeavy at most.
	firstHeavy, mostHeavy, moreHeavy, slowSteps, slowWork = 200, 1600, 3, 100, 4
	// firstAccuracy is the relative accuracy of Newton steps while signs change, bestAccuracy that of the last ones, and curvatureAccuracy that of
	// second derivatives.
	firstAccuracy, bestAccuracy, curvatureAccuracy = 1e-2, 1e-8, 1e-6
	// conjugateSteps bounds the steps of conjugate gradients, conjugatePatience those in a row that lower the function by no more than the share of the accuracy.
	conjugateSteps, conjugatePatience = 1000, 60
	// searchSweeps bounds the rounds of coordinate descent after each trial of a step.
	searchSweeps = 3
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

// solve is [quadratic.solve], from b with the losses modelled at a. It is not ok where the context ended; what is reached where signs keep changing is an answer that is not exact, as a
// look at all columns will show.
func (p *implicit) solve(ctx context.Context, b, a []float64) (ok bool) {
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
		if worst <= implicitRounding*p.size || same && accuracy <= bestAccuracy && worst > least/2 && (worst <= exactEnough*p.size || idle > 0) {
			break
		}
		if idle++; worst <= least/2 {
			idle = 0
		}
		if same {
			accuracy = bestAccuracy
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
