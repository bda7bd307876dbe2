package machine

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// newton computes Newton steps of a subproblem by conjugate gradients in all unknowns at once: z of each fold, h and
// t, in this order. With the rows in the bands, and the constraints that hold, the matrix is
//
//	rho + sum_i weight_i b_i b_i' + box sum of e e' + ball sum of k k' + stiff v v',
//
// e = (+-e_j, -e_j of h, -1 of t) of a bound, k = (w, -1 of r, -1 of t) of a ball, v = (-sums of the fold, gamma, -1
// of t) of V. The preconditioner has as a block the features, all of them or those with most weight in the bands: the
// parts of the folds in these and c, with a border of r, t and the h_j of bounds that hold (see [arrow]), and v by the
// formula of Sherman and Morrison. Of each other feature it has the diagonal in the folds with its h_j. With all
// features in the block it is the matrix, and there is nothing to iterate.
type newton struct {
	p, n     int // p features, n unknowns of a fold
	x, right []float64
	r, image []float64
	free     []bool
	curve    []float64 // the diagonal part, and
	heavy    []float64 // the diagonal of the rows, where not all features are in the block
	in       []int32   // of each feature, its number in the block + 1, or 0; nil for all
	features []int     // of the block
	others   []int     // that are not in the block
	of       []int     // the unknowns of the border
	at       []int     // of each feature, the number of h_j in the border, or 0
	arrow    arrow
	v, by    []float64 // the row of V, and the preconditioner's inverse without V times it
	pivot    float64   // of V, 0 where it has none
	system   numerics.System

	iterations int // of the system that took most, since the last one with a small block
}

const (
	// manyHeavy is the largest number of features in the block, and heavyFeatures that of some of them, until a system
	// took more than manyIterations.
	heavyFeatures, manyHeavy, manyIterations = 100, 250, 100
	// mostIterations bounds the conjugate gradients of one system.
	mostIterations = 1000
	// finest and coarsest bound their accuracy, in the norm of the preconditioner.
	finest, coarsest = 1e-10, 1e-4
)

func newNewton(q *solving) *newton {
	p := q.p
	s := &newton{p: p, n: p + 1, at: make([]int, p)}
	all := (len(q.folds)+1)*s.n + 1
	for _, v := range []*[]float64{&s.x, &s.right, &s.r, &s.image, &s.curve, &s.heavy, &s.v, &s.by} {
		*v = make([]float64, all)
	}
	s.free = make([]bool, all)
	s.arrow.arms = make([]arm, len(q.folds))
	s.system.Multiply = func(out, v []float64) bool {
		ok := q.multiply(out, v)
		s.mask(out)
		return ok
	}
	s.system.Divide = q.divide
	return s
}

// height and last are where h begins, and t.
func (s *newton) height() int { return len(s.arrow.arms) * s.n }
func (s *newton) last() int   { return len(s.x) - 1 }

// mask makes a vector zero where unknowns are not free.
func (s *newton) mask(v []float64) {
	for i, free := range s.free {
		if !free {
			v[i] = 0
		}
	}
}

// direction computes the direction of a Newton step.
func (q *solving) direction() bool {
	s, rho := q.newton, q.c.Rho+q.damp
	height, last := s.height(), s.last()
	for k, f := range q.folds {
		f.bands(q.m0Now, q.width)
		for j := range s.n {
			s.curve[k*s.n+j], s.right[k*s.n+j] = rho, -f.gradient[j]
			if j < s.p {
				s.curve[k*s.n+j] += f.ballNow
			}
		}
		f.curve.curve = s.curve[k*s.n : (k+1)*s.n]
	}
	for j := range s.free {
		s.free[j], s.x[j] = true, 0
	}
	for j := range s.n {
		s.curve[height+j], s.right[height+j] = rho, -q.slope[j]
		s.free[height+j] = !q.held(j)
	}
	s.curve[last], s.right[last] = 1e-9*q.stiff+q.damp, -q.slopeT
	s.free[last] = q.t > 0 || q.slopeT < 0
	accuracy := math.Max(finest, math.Min(coarsest, 0.1*math.Sqrt(math.Max(0, q.gap)/math.Max(1, q.c.Alpha))))
	if q.choose(); !q.precondition() {
		return false
	}
	for round := range mostFixes {
		if !q.descend(accuracy, round > 0) {
			return false
		}
		changed := false
		for j := range s.n {
			if !s.free[height+j] {
				continue
			}
			if d, beyond := q.beyond(j, s.x[height+j]); beyond {
				s.x[height+j], s.free[height+j], changed = d, false, true
			}
		}
		if s.free[last] && q.t+s.x[last] < 0 {
			s.x[last], s.free[last], changed = -q.t, false, true
		}
		if !changed {
			break
		}
	}
	for k, f := range q.folds {
		copy(f.d, s.x[k*s.n:(k+1)*s.n])
	}
	copy(q.dh, s.x[height:])
	q.dt = s.x[last]
	return true
}

// descend solves for the free unknowns with the others as they are, all at 0 but again.
func (q *solving) descend(accuracy float64, again bool) bool {
	s := q.newton
	for b, i := range s.of {
		s.arrow.held[b] = !s.free[i]
	}
	if !s.arrow.factor() {
		return false
	}
	if copy(s.r, s.right); again {
		if !q.multiply(s.image, s.x) {
			return false
		}
		floats.Sub(s.r, s.image)
	}
	s.mask(s.r)
	if s.pivot = 0; q.between() {
		for k, f := range q.folds {
			floats.ScaleTo(s.v[k*s.n:(k+1)*s.n], -1, f.sums[1])
		}
		copy(s.v[s.height():], q.c.Gamma)
		s.v[s.last()] = -1
		s.mask(s.v)
		q.divide(s.by, s.v)
		s.pivot = 1/q.stiff + floats.Dot(s.v, s.by)
	}
	if len(s.others) == 0 {
		q.divide(s.image, s.r)
		floats.Add(s.x, s.image)
		return !math.IsNaN(floats.Sum(s.x))
	}
	steps, ok := s.system.Solve(s.x, s.r, accuracy, mostIterations)
	s.iterations = max(s.iterations, steps)
	return ok
}

// multiply sets out to the matrix times v.
func (q *solving) multiply(out, v []float64) bool {
	s := q.newton
	height, last := s.height(), s.last()
	floats.MulTo(out[height:], s.curve[height:], v[height:])
	if !q.each(func(f *fold) bool {
		from, to := f.number*s.n, (f.number+1)*s.n
		return f.curve.times(out[from:to], v[from:to])
	}) {
		return false
	}
	h, toH := v[height:last], out[height:last]
	value := floats.Dot(q.c.Gamma, h) - v[last]
	for k, f := range q.folds {
		d, to := v[k*s.n:(k+1)*s.n], out[k*s.n:(k+1)*s.n]
		value -= floats.Dot(f.sums[1], d)
		for side, sign := range boundSigns {
			for j, stiff := range f.stiff[side] {
				if stiff > 0 {
					x := stiff * (sign*d[j] - h[1+j] - v[last])
					to[j] += sign * x
					toH[1+j] -= x
					out[last] -= x
				}
			}
		}
		if f.balled > 0 {
			x := f.balled * (floats.Dot(f.z[:s.p], d[:s.p]) - h[0] - v[last])
			floats.AddScaled(to[:s.p], x, f.z[:s.p])
			toH[0] -= x
			out[last] -= x
		}
	}
	if q.between() {
		x := q.stiff * value
		for k, f := range q.folds {
			floats.AddScaled(out[k*s.n:(k+1)*s.n], -x, f.sums[1])
		}
		floats.AddScaled(toH, x, q.c.Gamma)
		out[last] -= x
	}
	return true
}

// boundSigns are those of w_j in its two bounds.
var boundSigns = [2]float64{1, -1}

// choose finds the features of the block.
func (q *solving) choose() {
	s := q.newton
	s.others, s.in = s.others[:0], nil
	if s.p <= q.block {
		s.features = indices.Range(0, s.p)
		return
	}
	clear(s.heavy)
	weight := make([]float64, s.p) // of each feature, over the folds
	for k, f := range q.folds {
		heavy := s.heavy[k*s.n : (k+1)*s.n]
		f.curve.diagonal(heavy)
		floats.Add(weight, heavy[:s.p])
	}
	s.features = indices.Where(weight, func(v float64) bool { return v > q.c.Rho })
	slices.SortFunc(s.features, func(a, b int) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(a, b)) })
	most := q.block
	if s.iterations <= manyIterations {
		most = min(most, heavyFeatures)
	}
	s.features = s.features[:min(len(s.features), most)]
	slices.Sort(s.features)
	s.in = make([]int32, s.n)
	for e, j := range s.features {
		s.in[j] = int32(e + 1)
	}
	s.in[s.p] = int32(len(s.features) + 1)
	for j := range s.p {
		if s.in[j] == 0 {
			s.others = append(s.others, j)
		}
	}
}

// precondition makes the block of the preconditioner and factors it but for the border.
func (q *solving) precondition() bool {
	s, a := q.newton, &q.newton.arrow
	height, last := s.height(), s.last()
	s.of = append(s.of[:0], last, height)
	clear(s.at)
	for _, j := range s.features {
		if slices.ContainsFunc(q.folds, func(f *fold) bool { return f.stiff[0][j]+f.stiff[1][j] > 0 }) {
			s.at[j] = len(s.of)
			s.of = append(s.of, height+1+j)
		}
	}
	k := len(s.of)
	a.begin(k)
	for b, i := range s.of {
		a.border[b*k+b] = s.curve[i]
	}
	for _, f := range q.folds {
		a.add(f, s.at)
	}
	if !q.each(func(f *fold) bool { return a.fill(f, q.c.Rho+q.damp, s.features, s.in, s.at, 0) }) {
		return false
	}
	a.eliminate()
	return true
}

// divide sets z to the preconditioner's inverse times r, in the free unknowns.
func (q *solving) divide(z, r []float64) {
	s := q.newton
	height := s.height()
	for i, free := range s.free[height:] { // of which those not in the border stay
		if z[height+i] = 0; free {
			z[height+i] = r[height+i] / s.curve[height+i]
		}
	}
	for k := range q.folds {
		part := s.arrow.arms[k].right
		for e, j := range s.features {
			part[e] = r[k*s.n+j]
		}
		part[len(part)-1] = r[k*s.n+s.p]
	}
	for b, i := range s.of {
		s.arrow.right[b] = r[i]
	}
	s.arrow.solve()
	for k := range q.folds {
		part := s.arrow.arms[k].right
		for e, j := range s.features {
			z[k*s.n+j] = part[e]
		}
		z[k*s.n+s.p] = part[len(part)-1]
	}
	for b, i := range s.of {
		z[i] = s.arrow.right[b]
	}
	for _, j := range s.others {
		q.divideOther(z, r, j)
	}
	if s.pivot > 0 {
		floats.AddScaled(z, -floats.Dot(s.v, z)/s.pivot, s.by)
	}
}

// divideOther is divide for a feature outside the block: with the diagonal D of the folds and the couplings
// c = -lean, (E - sum c^2 / D) h = r_h - sum c r / D.
func (q *solving) divideOther(z, r []float64, j int) {
	s := q.newton
	at := s.height() + 1 + j
	own, right := s.curve[at], r[at]
	for k, f := range q.folds {
		i := k*s.n + j
		lean, sum := f.held(j)
		d := s.curve[i] + s.heavy[i] + sum
		z[i] = r[i] / d
		own += sum - lean*lean/d
		right += lean * z[i]
	}
	if !s.free[at] {
		return
	}
	z[at] = right / own
	for k, f := range q.folds {
		i := k*s.n + j
		lean, sum := f.held(j)
		z[i] += lean * z[at] / (s.curve[i] + s.heavy[i] + sum)
	}
}
