package machine

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/indices"
)

// interior solves subproblems of few features and rows, one after the other, by a primal-dual interior-point method
// with the predictor and corrector of Mehrotra (1992). With x_i >= 0 and x_i >= s_i for the hinges of the rows, the
// constraints are linear but for the balls, so that slacks follow the point; those of the balls come near to it as
// steps are whole. For slack s, multiplier m and a target k of their product, a Newton step has
//
//	dm = k/s - m - (m/s) ds,
//
// by which the multipliers and the x_i are eliminated. What remains in z of each fold, h and t is the matrix
//
//	rho + sum_i weight_i b_i b_i' + bounds and balls as in [newton] + v v'/pivot
//
// with weight = d e/(d + e), d and e the ratios m/s of both constraints of a row with x_i, v = (-sum p d/(d + e) b of
// the folds, gamma, -1 of t) and pivot = s/m + sum p^2/(d + e) of V, p the weights of the training rows.
type interior struct {
	*solving
	folds    []*interiorFold
	sets     []*pairs // common and those of the folds
	common   pairs    // of the lower bounds of h, the upper ones, V and t
	arrow    arrow
	v, by    []float64 // of t and h
	at       []int     // of all features, see [arrow.fill]
	features []int
	pivot    float64
	dm0      float64
	alpha    float64 // of the multipliers of the last solve, 0 where there are none
}

// pairs are slacks and multipliers of constraints, both positive, or the multiplier 0 of what is none.
type pairs struct {
	slack, mult   []float64
	ratio         []float64 // of multiplier and slack
	dSlack, dMult []float64
	goal          []float64 // the target of their product over the slack
}

// interiorFold is a fold, with the pairs of margins, the x_i, upper and lower bounds of w_j, and the ball.
type interiorFold struct {
	*fold
	pairs
	force        []float64 // of the rows: goals less weights
	v, by        []float64
	beyond       float64 // how far the slack of the ball is above what the point has, with the curvature of the step
	value, total float64 // its parts of value and pivot
}

const (
	// mostInterior bounds the steps, nearWall is the share of the way to the nearest bound that one takes.
	mostInterior, nearWall = 60, 0.995
	// firstGap is the sum of the products at the first start, startGap at those that know the multipliers of the last
	// solve, for alpha up to 1, and else relative to it; near is how far products may be from the same there, as a
	// factor. On w1a the first solve takes 24 to 31 steps from 10 and comes to no end in 60 from 0.1; the others take 1.25
	// times the time from 0.1 and within 0.3, and on diabetes 1.3 times from 0.01.
	firstGap, startGap, near = 10.0, 0.03, 0.03
	// wallShare is how far from its bounds h starts at least, relative to where rho/2 d^2 is one product.
	wallShare = 0.01
	// negligible is the size of what is left out of the matrix, relative to rho: couplings of a feature and its bound, and
	// rows, of which it is that of all if they were alike.
	negligible = 0.1
	// unbounded stands for a bound of h at infinity.
	unbounded = 1e9
)

func newPairs(n int) (s pairs) {
	for _, v := range []*[]float64{&s.slack, &s.mult, &s.ratio, &s.dSlack, &s.dMult, &s.goal} {
		*v = make([]float64, n)
	}
	return s
}

// aim sets the goals to those for a target of all products: with those of the last direction as the corrector, or of
// the predictor.
func (s *pairs) aim(target float64, correct bool) {
	for i, x := range s.slack {
		k := target
		if correct {
			k -= s.dSlack[i] * s.dMult[i]
		}
		if s.goal[i] = k / x; s.mult[i] == 0 {
			s.goal[i] = 0
		}
	}
}

// follow computes the directions of the multipliers.
func (s *pairs) follow() {
	for i, d := range s.dSlack {
		s.dMult[i] = s.goal[i] - s.mult[i] - s.ratio[i]*d
	}
}

// reach is how far along the direction all stay positive, at most t.
func (s *pairs) reach(t float64) float64 {
	for i, d := range s.dSlack {
		if d < 0 {
			t = math.Min(t, -s.slack[i]/d)
		}
		if e := s.dMult[i]; e < 0 {
			t = math.Min(t, -s.mult[i]/e)
		}
	}
	return t
}

// products are the sum of products t along the direction, and their number.
func (s *pairs) products(t float64) (sum, count float64) {
	for i, x := range s.slack {
		if m := s.mult[i]; m > 0 {
			sum += (x + t*s.dSlack[i]) * (m + t*s.dMult[i])
			count++
		}
	}
	return sum, count
}

func (s *pairs) move(t float64) {
	floats.AddScaled(s.slack, t, s.dSlack)
	floats.AddScaled(s.mult, t, s.dMult)
}

// newInterior has room for one solve at a time.
func newInterior(q *Subproblem) *interior {
	p := q.p
	s := &interior{common: newPairs(2*(p+1) + 2)}
	s.sets = append(s.sets, &s.common)
	s.v, s.by = make([]float64, p+2), make([]float64, p+2)
	s.features, s.at = indices.Range(0, p), indices.Range(2, p+2)
	s.arrow.arms = make([]arm, len(q.folds))
	for _, f := range q.folds {
		n := f.rows.n
		in := &interiorFold{fold: f, pairs: newPairs(2*n + 2*p + 1), force: make([]float64, n), v: make([]float64, p+1),
			by: make([]float64, p+1)}
		s.folds, s.sets = append(s.folds, in), append(s.sets, &in.pairs)
	}
	return s
}

// start makes the slacks those at the centre, moved inside, and the multipliers those of the last solve as far as all
// products are nearly the same; false where it was ended.
func (s *interior) start() bool {
	c, p := s.c, s.p
	count := 0
	for _, v := range s.sets {
		count += len(v.slack)
	}
	slack, mult := s.common.slack, s.common.mult
	m0, gap, share, within := startShare*c.Alpha, firstGap, 0.0, 1.0
	if s.alpha > 0 {
		gap, share, within = startGap, c.Alpha/s.alpha, near
	}
	mu := gap * max(1, c.Alpha) / float64(count)
	if s.alpha > 0 {
		m0 = math.Max(mu, share*mult[2*p+2]) // as losses that nothing pulls at have hinges without end
	}
	if !s.eachInside(func(f *interiorFold) bool {
		copy(f.z, c.X[f.number][0])
		f.z[p] = c.X[f.number][1][0]
		return f.measure()
	}) {
		return false
	}
	room := wallShare * math.Sqrt(mu/c.Rho)
	for j := range p + 1 {
		low, high := c.Low[j], math.Min(c.High[j], unbounded)
		if slack[j], slack[p+1+j] = 1, 1; !(low < high) {
			s.h[j] = low
			continue
		}
		d := math.Min(room, (high-low)/4)
		s.h[j] = math.Max(low+d, math.Min(high-d, c.R[j]))
		slack[j], slack[p+1+j] = s.h[j]-low, high-s.h[j]
	}
	// x = m/2 + k + sqrt(m^2/4 + k^2) has mu/x + mu/(x - m) = u for k = mu/u
	value := -c.Value - c.Epsilon
	for j, g := range c.Gamma {
		value += g * (s.h[j] - c.R[j])
	}
	worst := 0.0
	for _, f := range s.folds {
		n := f.rows.n
		for i, m := range f.margins {
			k := mu / (f.part[0][i] + m0*f.part[1][i])
			size := math.Hypot(m/2, k) + math.Abs(m)/2
			f.slack[i], f.slack[n+i] = k+k*k/size, k+size
			if m < 0 {
				f.slack[i], f.slack[n+i] = f.slack[n+i], f.slack[i]
			}
			value += f.part[1][i] * f.slack[n+i]
		}
		for j, w := range f.z[:p] {
			f.slack[2*n+j], f.slack[2*n+p+j] = s.h[1+j]-w, s.h[1+j]+w
			worst = math.Max(worst, math.Abs(w)-s.h[1+j])
		}
		f.slack[2*n+2*p] = s.h[0] - f.squares()
		worst = math.Max(worst, -f.slack[2*n+2*p])
	}
	worst = math.Max(worst, value)
	// t with the sum of the multipliers alpha, by bisection
	sum := func(t float64) float64 {
		out := mu/t + mu/(t-value)
		for _, f := range s.folds {
			for _, x := range f.slack[2*f.rows.n:] {
				out += mu / (x + t)
			}
		}
		return out
	}
	low, high := worst, worst+mu/c.Alpha
	for sum(high) > c.Alpha {
		high = worst + 4*(high-worst)
	}
	for range 20 {
		if t := (low + high) / 2; sum(t) > c.Alpha {
			low = t
		} else {
			high = t
		}
	}
	s.t = high
	slack[2*p+2], slack[2*p+3] = s.t-value, s.t
	for _, f := range s.folds {
		floats.AddConst(s.t, f.slack[2*f.rows.n:])
	}
	for _, v := range s.sets {
		for i, x := range v.slack {
			v.mult[i] = math.Max(within*mu/x, math.Min(mu/(within*x), share*v.mult[i]))
		}
	}
	for j := range p + 1 {
		if !(c.Low[j] < math.Min(c.High[j], unbounded)) {
			mult[j], mult[p+1+j] = 0, 0
		}
	}
	return true
}

// run begins at the centre and takes steps until the gap is small enough, or as small as rounding lets it become, which
// is about 1e-11 of alpha.
func (s *interior) run(q *solving) {
	s.solving = q
	ok := s.start()
	s.alpha = 0
	if !ok {
		return
	}
	for s.certified() > s.c.Tol && s.steps < mostInterior {
		if !s.factor() || !s.step() {
			return
		}
		s.steps++
	}
	if s.out.Gap <= s.c.Tol {
		s.alpha = s.c.Alpha
	}
}

// certified computes the gap at the point.
func (s *interior) certified() float64 {
	p := s.p
	s.m0Now = s.common.mult[2*p+2]
	s.slopeT = s.c.Alpha - s.m0Now
	if !s.eachInside(func(f *interiorFold) bool {
		n := f.rows.n
		if f.end.Look() || !f.measure() {
			return false
		}
		for i, a := range f.mult[:n] {
			f.shares[i] = math.Min(1, a/(f.part[0][i]+s.m0Now*f.part[1][i]))
		}
		f.losses()
		copy(f.overNow, f.mult[2*n:2*n+p])
		copy(f.underNow, f.mult[2*n+p:2*n+2*p])
		f.ballNow, f.half = f.mult[2*n+2*p], f.squares()
		return f.sum()
	}) {
		return math.NaN()
	}
	for _, f := range s.folds {
		s.slopeT -= floats.Sum(f.mult[2*f.rows.n:])
	}
	s.certify(true)
	return s.out.Gap
}

// eachInside is each.
func (s *interior) eachInside(do func(f *interiorFold) bool) bool {
	return s.each(func(f *fold) bool { return do(s.folds[f.number]) })
}

// factor factors the matrix without what is negligible beside rho, of rows far from their kinks and features far from
// their bounds; the steps, which are computed from all of the gradient, are as much off.
func (s *interior) factor() bool {
	a, c, p := &s.arrow, s.c, s.p
	k, least := p+2, negligible*c.Rho
	a.begin(k)
	clear(a.held)
	for _, v := range s.sets {
		floats.DivTo(v.ratio, v.mult, v.slack)
	}
	slack, mult := s.common.slack, s.common.mult
	for j, gamma := range c.Gamma {
		b := 1 + j
		a.border[b*k+b] = c.Rho + s.common.ratio[j] + s.common.ratio[p+1+j]
		if mult[j] == 0 {
			a.border[b*k+b] = unbounded * unbounded
		}
		s.v[b] = gamma
	}
	a.border[0] = s.common.ratio[2*p+3]
	s.v[0] = -1
	for _, f := range s.folds {
		n := f.rows.n
		copy(f.stiff[0], f.ratio[2*n:])
		copy(f.stiff[1], f.ratio[2*n+p:])
		f.balled = f.ratio[2*n+2*p]
		a.add(f.fold, s.at)
	}
	if !s.eachInside(func(f *interiorFold) bool {
		n := f.rows.n
		clear(f.v)
		f.total = 0
		f.curve.band, f.curve.weight = f.curve.band[:0], f.curve.weight[:0]
		for i := range n {
			d, e := f.ratio[i], f.ratio[n+i]
			size := f.rows.size[i]
			if w := d * e / (d + e); w*(1+size*size)*float64(n) > least {
				f.curve.band, f.curve.weight = append(f.curve.band, i), append(f.curve.weight, w)
			}
			if u := f.part[1][i]; u > 0 {
				x := u * d / (d + e)
				f.rows.add(i, -x, f.v[:p])
				f.v[p] += x * f.rows.y[i]
				f.total += u * u / (d + e)
			}
		}
		return a.fill(f.fold, c.Rho, s.features, nil, s.at, least)
	}) {
		return false
	}
	a.eliminate()
	if !a.factor() {
		return false
	}
	s.pivot = slack[2*p+2] / mult[2*p+2]
	for _, f := range s.folds {
		s.pivot += f.total
		copy(a.arms[f.number].right, f.v)
	}
	copy(a.right, s.v)
	a.solve()
	for _, f := range s.folds {
		copy(f.by, a.arms[f.number].right)
		s.pivot += floats.Dot(f.v, f.by)
	}
	copy(s.by, a.right)
	s.pivot += floats.Dot(s.v, s.by)
	return s.pivot > 0
}

// direction computes the step for the goals.
func (s *interior) direction() bool {
	a, c, p := &s.arrow, s.c, s.p
	co := &s.common
	m0 := co.mult[2*p+2]
	if !s.eachInside(func(f *interiorFold) bool {
		n, right := f.rows.n, a.arms[f.number].right
		last := 2*n + 2*p
		f.goal[last] += f.ratio[last] * f.beyond
		clear(right)
		f.value = 0
		for i := range n {
			u := f.part[1][i]
			d, e := f.ratio[i], f.ratio[n+i]
			f.force[i] = f.goal[i] + f.goal[n+i] - f.part[0][i] - m0*u
			x := f.goal[i] - d/(d+e)*f.force[i]
			f.rows.add(i, x, right[:p])
			right[p] -= x * f.rows.y[i]
			f.value += u * f.force[i] / (d + e)
		}
		for j, w := range f.z[:p] {
			right[j] -= c.Rho*(w-c.X[f.number][0][j]) + f.goal[2*n+j] - f.goal[2*n+p+j] + w*f.goal[2*n+2*p]
		}
		right[p] -= c.Rho * (f.z[p] - c.X[f.number][1][0])
		return !f.end.Reached(2 * len(f.rows.value))
	}) {
		return false
	}
	value := co.goal[2*p+2]*co.slack[2*p+2]/m0 - co.slack[2*p+2]
	for j, h := range s.h {
		a.right[1+j] = -c.Rho*(h-c.R[j]) - m0*c.Gamma[j] + co.goal[j] - co.goal[p+1+j]
	}
	a.right[0] = m0 - c.Alpha + co.goal[2*p+3]
	for _, f := range s.folds {
		n := f.rows.n
		ball := f.goal[2*n+2*p]
		a.right[0] += ball
		a.right[1] += ball
		for j := range p {
			x := f.goal[2*n+j] + f.goal[2*n+p+j]
			a.right[0] += x
			a.right[2+j] += x
		}
		value += f.value
	}
	a.solve()
	along := value + floats.Dot(s.v, a.right)
	for _, f := range s.folds {
		along += floats.Dot(f.v, a.arms[f.number].right)
	}
	// x = K^-1 (right - v dm0), dm0 = (value + v'x) / (pivot without v'K^-1 v)
	s.dm0 = along / s.pivot
	for b := range a.right {
		a.right[b] -= s.dm0 * s.by[b]
	}
	if math.IsNaN(s.dm0) {
		return false
	}
	copy(s.dh, a.right[1:])
	s.dt = a.right[0]
	copy(co.dSlack[:p+1], s.dh)
	for j, d := range s.dh {
		co.dSlack[p+1+j] = -d
		if co.mult[j] == 0 {
			s.dh[j], co.dSlack[j], co.dSlack[p+1+j] = 0, 0, 0
		}
	}
	co.dSlack[2*p+3] = s.dt
	co.dSlack[2*p+2] = s.dt - floats.Dot(c.Gamma, s.dh)
	s.eachInside(func(f *interiorFold) bool {
		n := f.rows.n
		copy(f.d, a.arms[f.number].right)
		floats.AddScaled(f.d, -s.dm0, f.by)
		for i := range n {
			d, e := f.ratio[i], f.ratio[n+i]
			way := f.rows.product(i, f.d[:p]) - f.rows.y[i]*f.d[p]
			x := (f.force[i] - f.part[1][i]*s.dm0 - d*way) / (d + e)
			f.dSlack[i], f.dSlack[n+i] = x+way, x
		}
		for j, d := range f.d[:p] {
			f.dSlack[2*n+j], f.dSlack[2*n+p+j] = s.dh[1+j]+s.dt-d, s.dh[1+j]+s.dt+d
		}
		last := 2*n + 2*p
		f.dSlack[last] = s.dh[0] + s.dt - floats.Dot(f.z[:p], f.d[:p]) - f.beyond
		f.goal[last] -= f.ratio[last] * f.beyond
		f.follow()
		return true
	})
	for _, f := range s.folds {
		n := f.rows.n
		for i, u := range f.part[1] {
			co.dSlack[2*p+2] -= u * f.dSlack[n+i]
		}
	}
	co.follow()
	co.dMult[2*p+2] = s.dm0
	return true
}

// step is a step of predictor and corrector. The target is the share of the products that the predictor leaves, to the
// fourth power: with the third, as Mehrotra has it, there are a tenth more steps.
func (s *interior) step() bool {
	products := func(t float64) float64 {
		sum, count := 0.0, 0.0
		for _, v := range s.sets {
			x, n := v.products(t)
			sum, count = sum+x, count+n
		}
		return sum / count
	}
	reach := func() float64 {
		t := 1 / nearWall
		for _, v := range s.sets {
			t = v.reach(t)
		}
		return nearWall * t
	}
	mu := products(0)
	for _, v := range s.sets {
		v.aim(0, false)
	}
	for _, f := range s.folds {
		f.beyond = f.slack[len(f.slack)-1] - (s.h[0] + s.t - f.half)
	}
	if !s.direction() {
		return false
	}
	left := products(reach()) / mu
	left *= left
	target := left * left * mu
	for _, v := range s.sets {
		v.aim(target, true)
	}
	for _, f := range s.folds {
		f.beyond += floats.Dot(f.d[:s.p], f.d[:s.p]) / 2
	}
	if !s.direction() {
		return false
	}
	t := reach()
	for _, v := range s.sets {
		v.move(t)
	}
	floats.AddScaled(s.h, t, s.dh)
	s.t += t * s.dt
	for _, f := range s.folds {
		floats.AddScaled(f.z, t, f.d)
	}
	return true
}
