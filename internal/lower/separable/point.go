package separable

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/numerics"
)

// program is the convex program of both levels, over the parts t of a subproblem or for the one of a lower level:
//
//	minimize   sum_sets weight/2 |X b + b0 - y|^2 + rho/2 |x - centre|^2 + rho/2 |r - radius|^2
//	           + m_0 gamma'(r - radius) + (alpha - m_0) t
//	subject to |b_g| <= r_g + t,  |b|_1 <= r_s + t,  t >= 0,  low <= r <= high
//
// with the training rows' weight times m_0. In a lower level (fixed) m_0 is 1, t is 0, and low and high are radius.
type program struct {
	parts                    []*part
	groups                   [][]int
	shared                   bool
	rho                      float64
	centre                   [][]float64
	centre0                  []float64
	matrix                   *matrix // nil without one
	centreG                  [][]float64
	radius, gamma, low, high []float64
	fixed                    bool
	alpha, offset            float64 // offset is v_k + epsilon
}

// part are the rows of a part, in sets.
type part struct {
	sets      []set
	rows      int
	intercept bool
	places    []int // of the rows in the matrix, if there is one
}

// set are rows with their weight, to be multiplied by m_0 if they are for training.
type set struct {
	Rows
	weight   float64
	training bool
	from     int // the first of them in vectors of all rows of the part
}

func newPart(intercept bool, sets ...set) *part {
	p := &part{sets: sets, intercept: intercept}
	for i := range sets {
		sets[i].from = p.rows
		p.rows += len(sets[i].Y)
	}
	return p
}

// of are the entries of a vector of the part's rows that belong to the set.
func (s *set) of(v []float64) []float64 { return v[s.from : s.from+len(s.Y)] }

// by is the weight at m_0.
func (s *set) by(m0 float64) float64 {
	if s.training {
		return s.weight * m0
	}
	return s.weight
}

// mul adds X b + b0 to out.
func (p *part) mul(out, b []float64, b0 float64) {
	for i := range p.sets {
		s := &p.sets[i]
		f := s.of(out)
		if s.X.Mul(f, b); p.intercept {
			floats.AddConst(b0, f)
		}
	}
}

// axpy adds a multiple of x_j to v.
func (p *part) axpy(by float64, j int, v []float64) {
	for i := range p.sets {
		s := &p.sets[i]
		s.X.Axpy(by, j, s.of(v))
	}
}

// image sets out to X b + b0, with the entries g of the matrix at the places, if there is one.
func (p *part) image(out, b []float64, b0 float64, g []float64) {
	clear(out)
	p.mul(out, b, b0)
	for e, at := range p.places {
		out[e] += g[at]
	}
}

// mulTrans sets out to X'u, and returns the sum of u.
func (p *part) mulTrans(out, u []float64) (sum float64) {
	clear(out)
	work := make([]float64, len(out))
	for i := range p.sets {
		s := &p.sets[i]
		s.X.MulTrans(work, s.of(u))
		floats.Add(out, work)
	}
	if p.intercept {
		for _, v := range u {
			sum += v
		}
	}
	return sum
}

// point is one of the dual function, with the minimiser of the Lagrangian there.
type point struct {
	m0 float64
	of []portion

	t     float64
	r     []float64 // the last one of |b|_1, if it is shared
	value float64
}

// shift are the multipliers of a part, or a step in them.
type shift struct {
	ms float64   // of |b|_1
	u  []float64 // one for each row
	c  []float64 // X'u
	c0 float64   // the sum of u
}

// portion is what a part has in it.
type portion struct {
	shift
	soft  []float64 // the coefficients before their norms are bounded
	norms []float64 // theirs, one for each group
	b     []float64
	b0    float64
	l1    float64 // |b|_1, or |G|_*
	g     *mat.Dense
	z     *spectrum
}

func (p *program) newPoint() *point {
	out := &point{m0: 1, r: slices.Clone(p.radius), of: make([]portion, len(p.parts))}
	for t, part := range p.parts {
		k := len(p.centre[t])
		out.of[t] = portion{shift: shift{u: make([]float64, part.rows), c: make([]float64, k)}, soft: make([]float64, k),
			norms: make([]float64, len(p.groups)), b: make([]float64, k)}
		if p.matrix != nil {
			out.of[t].g = mat.NewDense(p.matrix.m, p.matrix.n, nil)
		}
	}
	return out
}

// rest is alpha less all multipliers but those of the groups.
func (p *program) rest(at *point) float64 {
	rest := p.alpha - at.m0
	for t := range at.of {
		rest -= at.of[t].ms
	}
	return rest
}

// aim is the radius that a group would have if it held nothing back, but for its bounds.
func (p *program) aim(g int, m0 float64) float64 { return p.radius[g] - m0*p.gamma[g]/p.rho }

func (p *program) clip(g int, r float64) float64 {
	return max(p.low[g], min(p.high[g], r))
}

// bound returns the best radius of a group for norms q of the parts at t: the root of
//
//	r - aim = sum over the parts of max(0, q - t - r)
//
// between its bounds. loose says that it is between them, and above how many parts are above r + t, by excess in all.
func (p *program) bound(g int, at *point, t float64) (r float64, loose bool, above int, excess float64) {
	aim := p.aim(g, at.m0)
	least := min(aim, p.high[g])
	var few [8]float64
	q := few[:0]
	for k := range at.of {
		if v := at.of[k].norms[g] - t; v > least {
			q = append(q, v)
		}
	}
	r = aim
	if len(q) > 1 {
		slices.SortFunc(q, func(a, b float64) int { return cmp.Compare(b, a) })
	}
	sum := aim
	for k, v := range q {
		if v <= r {
			break
		}
		sum += v
		r = sum / float64(k+2)
	}
	loose = true
	if c := p.clip(g, r); c != r {
		r, loose = c, false
	}
	for _, v := range q {
		if v > r {
			above++
			excess += v - r
		}
	}
	return r, loose, above, excess
}

// evaluate sets what depends on the multipliers and X'u.
func (p *ascent) evaluate(at *point) {
	for t := range at.of {
		p.soften(t, &at.of[t])
	}
	p.level(at)
	value := p.rest(at)*at.t - at.m0*p.offset
	for g := range p.groups {
		r, _, _, _ := p.bound(g, at, at.t)
		at.r[g] = r
		if d := r - p.radius[g]; d != 0 {
			value += p.rho/2*d*d + at.m0*p.gamma[g]*d
		}
	}
	if p.shared {
		s := len(p.groups)
		sum := 0.0
		for t := range at.of {
			sum += at.of[t].ms
		}
		at.r[s] = p.clip(s, p.aim(s, at.m0)+sum/p.rho)
		d := at.r[s] - p.radius[s]
		value += p.rho/2*d*d + at.m0*p.gamma[s]*d - sum*at.r[s]
	}
	for t, part := range p.parts {
		s := &at.of[t]
		for i := range part.sets {
			rows := &part.sets[i]
			w := rows.by(at.m0)
			for k, u := range rows.of(s.u) {
				value -= u * (rows.Y[k] + u/(2*w))
			}
		}
		if part.intercept {
			s.b0 = p.centre0[t] - s.c0/p.rho
			d := s.b0 - p.centre0[t]
			value += s.c0*s.b0 + p.rho/2*d*d
		}
		value += p.shrink(t, at)
	}
	at.value = value
}

// soften sets the coefficients before their norms are bounded, and Z.
func (p *ascent) soften(t int, s *portion) {
	centre, l := p.centre[t], p.threshold(s)/p.rho
	for g, group := range p.groups {
		for _, j := range group {
			s.soft[j] = numerics.Soft(centre[j]-s.c[j]/p.rho, l)
		}
		s.norms[g] = size(group, s.soft)
	}
	if p.matrix != nil {
		p.unfold(t, s)
	}
}

// shrink brings the norms below their bounds, and returns what the coefficients have in the Lagrangian.
func (p *ascent) shrink(t int, at *point) (value float64) {
	s, centre := &at.of[t], p.centre[t]
	s.l1 = 0
	for g := range p.groups {
		factor, q := 1.0, s.norms[g]
		if top := at.r[g] + at.t; q > top {
			factor = top / q
		}
		for _, j := range p.groups[g] {
			b := s.soft[j] * factor
			s.b[j] = b
			if b != 0 {
				if p.matrix == nil {
					s.l1 += math.Abs(b)
				}
				value += s.c[j] * b
			}
			d := b - centre[j]
			value += p.rho / 2 * d * d
		}
	}
	if p.matrix != nil {
		value += p.fold(t, s)
	}
	return value + s.ms*s.l1
}

// level sets the best t: the root of the increasing function rest - sum of the groups' multipliers.
func (p *ascent) level(at *point) {
	at.t = 0
	if p.fixed {
		return
	}
	rest := math.Max(0, p.rest(at))
	hot := p.hot[:0]
	sum, top := 0.0, 0.0
	for g := range p.groups {
		_, _, above, excess := p.bound(g, at, 0)
		if above == 0 {
			continue
		}
		hot = append(hot, g)
		sum += p.rho * excess
		free := p.clip(g, p.aim(g, at.m0))
		for t := range at.of {
			top = math.Max(top, at.of[t].norms[g]-free)
		}
	}
	p.hot = hot
	if sum <= rest {
		return
	}
	if rest == 0 {
		at.t = top
		return
	}
	lo, hi, t := 0.0, top, 0.0
	for range 200 {
		value, slope := rest, 0.0
		for _, g := range hot {
			_, loose, above, excess := p.bound(g, at, t)
			value -= p.rho * excess
			k := float64(above)
			if loose {
				k /= 1 + k
			}
			slope += p.rho * k
		}
		if value < 0 {
			lo = t
		} else {
			hi = t
		}
		next := t - value/slope
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if math.Abs(next-t) <= 1e-15*next || hi-lo <= 1e-15*hi {
			break
		}
		t = next
	}
	at.t = t
}
