package machine

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/factor"
)

// wide computes Newton steps of a subproblem with more features than matrices are stored for, by conjugate gradients in all unknowns at once: z of each fold, h and t, in this order. With
// the rows in the bands, and the constraints that hold, the matrix is
//
//	rho + sum_i weight_i b_i b_i' + box sum of e e' + ball sum of k k' + stiff v v',
//
// e = (+-e_j, -e_j of h, -1 of t) of a bound, k = (w, -1 of r, -1 of t) of a ball, v = (-sums of the fold, gamma, -1 of t) of V. The preconditioner has those features with most
// weight in the bands as a block with all that couples them, c, t and the radius among it, and of each other feature its unknowns in the folds with its h_j.
type wide struct {
	p, n     int // p features, n unknowns of a fold
	x, right []float64
	r, z     []float64
	way, at  []float64
	free     []bool
	curve    []float64 // the diagonal part, and
	heavy    []float64 // the diagonal of the rows
	in       []int32   // of each unknown, its number in the block + 1, or 0
	of       []int     // the unknowns of the block
	block    []float64
	part     []float64
	chol     factor.Definite

	iterations int // of the system that took most, since the last one with a small block
}

const (
	// heavyFeatures is the largest number of features in the block, and manyHeavy that after a system that took more than manyIterations.
	heavyFeatures, manyHeavy, manyIterations = 100, 250, 100
	// mostIterations bounds the conjugate gradients of one system.
	mostIterations = 1000
	// finest and coarsest bound their accuracy, in the norm of the preconditioner.
	finest, coarsest = 1e-10, 1e-4
)

func newWide(folds, p int) *wide {
	s := &wide{p: p, n: p + 1}
	all := (folds+1)*s.n + 1
	for _, v := range []*[]float64{&s.x, &s.right, &s.r, &s.z, &s.way, &s.at, &s.curve, &s.heavy} {
		*v = make([]float64, all)
	}
	s.free, s.in = make([]bool, all), make([]int32, all)
	return s
}

// iterate computes the direction of a Newton step.
func (q *solving) iterate() bool {
	s, rho := q.wide, q.c.Rho+q.damp
	for k, f := range q.folds {
		f.bands(q.m0Now, q.width)
		for j := range s.n {
			s.curve[k*s.n+j], s.right[k*s.n+j] = rho, -f.gradient[j]
			if j < s.p {
				s.curve[k*s.n+j] += f.ballNow
			}
		}
	}
	height, last := len(q.folds)*s.n, len(s.x)-1
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
	for range mostFixes {
		if !q.precondition() || !q.descend(accuracy) {
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

// multiply sets out to the matrix times v.
func (q *solving) multiply(out, v []float64) bool {
	s := q.wide
	height, last := len(q.folds)*s.n, len(v)-1
	floats.MulTo(out, s.curve, v)
	if !q.each(func(f *fold) bool {
		from := slices.Index(q.folds, f) * s.n
		d, to := v[from:from+s.n], out[from:from+s.n]
		for k, i := range f.curve.band {
			x := f.curve.weight[k] * (f.rows.dot(i, d[:s.p]) - f.rows.y[i]*d[s.p])
			f.rows.add(i, x, to[:s.p])
			to[s.p] -= f.rows.y[i] * x
			if f.end.Reached(2 * f.rows.length(i)) {
				return false
			}
		}
		return !f.end.Reached(8 * s.p)
	}) {
		return false
	}
	h, toH := v[height:last], out[height:last]
	value := floats.Dot(q.c.Gamma, h) - v[last]
	for k, f := range q.folds {
		d, to := v[k*s.n:(k+1)*s.n], out[k*s.n:(k+1)*s.n]
		value -= floats.Dot(f.sums[1], d)
		for j, b := range f.boxed {
			if b&1 > 0 {
				x := q.box * (d[j] - h[1+j] - v[last])
				to[j] += x
				toH[1+j] -= x
				out[last] -= x
			}
			if b&2 > 0 {
				x := q.box * (-d[j] - h[1+j] - v[last])
				to[j] -= x
				toH[1+j] -= x
				out[last] -= x
			}
		}
		if f.balled {
			x := q.ball * (floats.Dot(f.z[:s.p], d[:s.p]) - h[0] - v[last])
			floats.AddScaled(to[:s.p], x, f.z[:s.p])
			toH[0] -= x
			out[last] -= x
		}
	}
	if q.between(q.m0Now) {
		x := q.stiff * value
		for k, f := range q.folds {
			floats.AddScaled(out[k*s.n:(k+1)*s.n], -x, f.sums[1])
		}
		floats.AddScaled(toH, x, q.c.Gamma)
		out[last] -= x
	}
	return true
}

// precondition makes the block.
func (q *solving) precondition() bool {
	s := q.wide
	height, last := len(q.folds)*s.n, len(s.x)-1
	clear(s.heavy)
	weight := make([]float64, s.p) // of each feature, over the folds
	for k, f := range q.folds {
		heavy := s.heavy[k*s.n : (k+1)*s.n]
		for e, i := range f.curve.band {
			index, value := f.rows.stored(i)
			for o, v := range value {
				j := o
				if index != nil {
					j = index[o]
				}
				heavy[j] += f.curve.weight[e] * v * v
			}
			heavy[s.p] += f.curve.weight[e]
		}
		floats.Add(weight, heavy[:s.p])
	}
	features := make([]int, 0, s.p)
	for j, v := range weight {
		if v > q.c.Rho {
			features = append(features, j)
		}
	}
	slices.SortFunc(features, func(a, b int) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(a, b)) })
	most := heavyFeatures
	if s.iterations > manyIterations {
		most = manyHeavy
	}
	features = features[:min(len(features), most)]
	clear(s.in)
	s.of = s.of[:0]
	put := func(at int) {
		if s.free[at] {
			s.of = append(s.of, at)
			s.in[at] = int32(len(s.of))
		}
	}
	for k := range q.folds {
		for _, j := range features {
			put(k*s.n + j)
		}
		put(k*s.n + s.p)
	}
	for _, j := range features {
		put(height + 1 + j)
	}
	put(height)
	put(last)
	return q.fill()
}

// fill computes the block and factors it.
func (q *solving) fill() bool {
	s, b := q.wide, len(q.wide.of)
	height, last := len(q.folds)*s.n, len(s.x)-1
	s.block = slices.Grow(s.block[:0], b*b)[:b*b]
	clear(s.block)
	add := func(at []int, value []float64, weight float64) { // weight times the square of a row
		for e, i := range at {
			column := s.block[(s.in[i]-1)*int32(b) : s.in[i]*int32(b)]
			for o, j := range at {
				column[s.in[j]-1] += weight * value[e] * value[o]
			}
		}
	}
	var at []int
	var value []float64
	begin := func() { at, value = at[:0], value[:0] }
	entry := func(i int, v float64) {
		if s.in[i] > 0 && v != 0 {
			at, value = append(at, i), append(value, v)
		}
	}
	for k, f := range q.folds {
		from := k * s.n
		for e, i := range f.curve.band {
			begin()
			index, v := f.rows.stored(i)
			for o, x := range v {
				j := o
				if index != nil {
					j = index[o]
				}
				entry(from+j, x)
			}
			entry(from+s.p, -f.rows.y[i])
			if add(at, value, f.curve.weight[e]); f.end.Reached(len(v) + len(at)*len(at)) {
				return false
			}
		}
		for j, held := range f.boxed {
			for bit, sign := range []float64{1, -1} {
				if held>>bit&1 > 0 {
					begin()
					entry(from+j, sign)
					entry(height+1+j, -1)
					entry(last, -1)
					add(at, value, q.box)
				}
			}
		}
		if f.balled {
			begin()
			for _, i := range s.of {
				if i >= from && i < from+s.p {
					entry(i, f.z[i-from])
				}
			}
			entry(height, -1)
			entry(last, -1)
			add(at, value, q.ball)
		}
	}
	if q.between(q.m0Now) {
		begin()
		for _, i := range s.of {
			switch {
			case i < height:
				entry(i, -q.folds[i/s.n].sums[1][i%s.n])
			case i < last:
				entry(i, q.c.Gamma[i-height])
			default:
				entry(i, -1)
			}
		}
		add(at, value, q.stiff)
	}
	s.part = slices.Grow(s.part[:0], b)[:b]
	s.chol.End = &q.folds[0].end
	return s.chol.Factor(b, func(e int, column []float64) {
		copy(column[e:], s.block[e*b+e:(e+1)*b])
		column[e] += s.curve[s.of[e]] + 1e-14*column[e]
	})
}

// divide sets z to the preconditioner's inverse times r, in the free unknowns.
func (q *solving) divide() {
	s := q.wide
	height := len(q.folds) * s.n
	clear(s.z)
	for e, i := range s.of {
		s.part[e] = s.r[i]
	}
	s.chol.Solve(s.part)
	for e, i := range s.of {
		s.z[i] = s.part[e]
	}
	for j := range s.p {
		if s.in[j] > 0 {
			continue
		}
		// With the diagonal D of the folds and the couplings c = -box sign:  (E - sum c^2 / D) h = r_h - sum c r / D.
		own, right, bound := s.curve[height+1+j], s.r[height+1+j], s.free[height+1+j]
		for k, f := range q.folds {
			i := k*s.n + j
			sign, count := f.sign(j)
			d, c := s.curve[i]+s.heavy[i]+q.box*count, -q.box*sign
			s.z[i] = s.r[i] / d
			own += q.box*count - c*c/d
			right -= c * s.z[i]
		}
		if !bound {
			continue
		}
		h := right / own
		s.z[height+1+j] = h
		for k, f := range q.folds {
			i := k*s.n + j
			if sign, count := f.sign(j); sign != 0 {
				s.z[i] += q.box * sign * h / (s.curve[i] + s.heavy[i] + q.box*count)
			}
		}
	}
}

// descend goes from x to the solution in the free unknowns.
func (q *solving) descend(accuracy float64) bool {
	s := q.wide
	if !q.multiply(s.at, s.x) {
		return false
	}
	free := func(v []float64) {
		for i, f := range s.free {
			if !f {
				v[i] = 0
			}
		}
	}
	floats.SubTo(s.r, s.right, s.at)
	free(s.r)
	clear(s.way)
	first, last := 0.0, 0.0
	for step := range mostIterations {
		s.iterations = max(s.iterations, step)
		q.divide()
		now := floats.Dot(s.r, s.z)
		if step == 0 {
			first = now
		}
		if !(now > accuracy*accuracy*first) {
			break
		}
		turn := 0.0
		if step > 0 {
			turn = now / last
		}
		floats.AddScaledTo(s.way, s.z, turn, s.way)
		last = now
		if !q.multiply(s.at, s.way) {
			return false
		}
		free(s.at)
		curve := floats.Dot(s.way, s.at)
		if !(curve > 0) {
			break
		}
		floats.AddScaled(s.x, now/curve, s.way)
		floats.AddScaled(s.r, -now/curve, s.at)
	}
	return !math.IsNaN(floats.Sum(s.x))
}
