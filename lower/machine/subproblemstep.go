package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// rounded is a slope that is rounding, relative to alpha.
const rounded = 1e-14

// border is what is left of the system of a Newton step when those of the folds are solved.
type border struct {
	of     []int     // h_j of each unknown, or -1 for t
	full   []float64 // of the order of these
	right  []float64
	value  []float64 // the column of V
	quad   float64   // of V
	rest   float64
	fixed  []float64 // NaN where free
	answer []float64
}

// step is a Newton step with a search along it. It returns how much the model falls, and whether the step was whole.
func (q *solving) step() (fall float64, whole, ok bool) {
	direction := q.eliminate
	if q.wide != nil {
		direction = q.iterate
	}
	if !direction() || !q.each((*fold).rates) {
		return 0, false, false
	}
	return q.move()
}

// eliminate computes the direction of a Newton step by factors of the folds' parts and of the border.
func (q *solving) eliminate() bool {
	b, several := q.border()
	if !q.each(func(f *fold) bool { return f.factor(q.m0Now, q.c.Rho+q.damp, q.width, q.box, q.ball, several) }) {
		return false
	}
	q.assemble(b)
	in := make([]bool, q.p+1)
	for _, j := range b.of {
		if j >= 0 {
			in[j] = true
		}
	}
	loose := make([]float64, q.p+1) // the moves of those h that are at a bound then
	for j := range loose {
		if loose[j] = math.NaN(); q.held(j) {
			loose[j] = 0
		}
	}
	eta := 0.0
	for range mostFixes {
		var ok bool
		quad, rest := q.outside(b, in, loose)
		if eta, ok = q.solveBorder(b, quad, rest); !ok {
			return false
		}
		fixed, held := q.fix(b), q.loosen(in, loose, eta)
		if !fixed && !held {
			break
		}
	}
	q.dt = 0
	for j, v := range loose {
		if !math.IsNaN(v) {
			q.dh[j] = v
		}
	}
	for k, j := range b.of {
		if j < 0 {
			q.dt = b.answer[k]
		} else {
			q.dh[j] = b.answer[k]
		}
	}
	return q.each(func(f *fold) bool { q.expand(f, in, eta); return !f.end.Reached(0) })
}

// border says which h_j and whether t are in the border, and whether bounds of features are.
func (q *solving) border() (b *border, several bool) {
	b = &border{}
	for j := range q.p {
		count := 0.0
		for _, f := range q.folds {
			_, n := f.sign(j)
			count += n
		}
		if count > 0 && !q.held(1+j) {
			b.of = append(b.of, 1+j)
			several = true
		}
	}
	if slices.ContainsFunc(q.folds, func(f *fold) bool { return f.balled }) && !q.held(0) {
		b.of = append(b.of, 0)
	}
	if q.t > 0 || q.slopeT < 0 {
		b.of = append(b.of, -1)
	}
	return b, several
}

// outside adds to the row of V what the h_j outside the border have in it.
func (q *solving) outside(b *border, in []bool, loose []float64) (quad, rest float64) {
	quad, rest = b.quad, b.rest
	for j, g := range q.c.Gamma {
		switch {
		case in[j]:
		case !math.IsNaN(loose[j]):
			rest += g * loose[j]
		default:
			quad += g * g / (q.c.Rho + q.damp)
			rest -= g * q.slope[j] / (q.c.Rho + q.damp)
		}
	}
	return quad, rest
}

// fix fixes the unknowns of the border that go beyond their bounds, and says whether there are any.
func (q *solving) fix(b *border) (changed bool) {
	for k, j := range b.of {
		if !math.IsNaN(b.fixed[k]) {
			continue
		}
		if j < 0 {
			if q.t+b.answer[k] < 0 {
				b.fixed[k], changed = -q.t, true
			}
		} else if d, beyond := q.beyond(j, b.answer[k]); beyond {
			b.fixed[k], changed = d, true
		}
	}
	return changed
}

// loosen computes the moves of the h_j outside the border, and fixes those that go beyond their bounds; it says whether there are any.
func (q *solving) loosen(in []bool, loose []float64, eta float64) (changed bool) {
	for j, g := range q.c.Gamma {
		if in[j] || !math.IsNaN(loose[j]) {
			continue
		}
		d := -(q.slope[j] + g*eta) / (q.c.Rho + q.damp)
		if to, beyond := q.beyond(j, d); beyond {
			loose[j], changed = to, true
		} else {
			q.dh[j] = d
		}
	}
	return changed
}

// beyond is the move of h_j to the bound that a move d goes beyond, if it does.
func (q *solving) beyond(j int, d float64) (to float64, yes bool) {
	switch x := q.h[j] + d; {
	case x < q.c.Low[j]:
		return q.c.Low[j] - q.h[j], true
	case x > q.c.High[j]:
		return q.c.High[j] - q.h[j], true
	}
	return d, false
}

// move goes along the direction as far as the augmented function falls, see step.
func (q *solving) move() (fall float64, whole, ok bool) {
	slope := q.dt * q.slopeT
	for j, d := range q.dh {
		slope += d * q.slope[j]
	}
	for _, f := range q.folds {
		slope += floats.Dot(f.gradient, f.d)
	}
	if !(slope < 0) {
		if slope > rounded*q.c.Alpha {
			q.damp = math.Max(10*q.damp, q.c.Rho)
			q.short = mostShort // the bounds of h turned the step round
		}
		return 0, true, !math.IsNaN(slope)
	}
	t := 1.0
	for _, f := range q.folds {
		if len(f.work) < f.rows.n && f.most > 0 {
			t = math.Min(t, math.Max(farthest*f.radius-f.moved, 0.1*f.radius)/f.most)
		}
	}
	t = q.search(t)
	for j, d := range q.dh {
		q.h[j] = q.heightAt(j, t, d)
	}
	q.t = math.Max(0, q.t+t*q.dt)
	for _, f := range q.folds {
		floats.AddScaled(f.z, t, f.d)
		for _, i := range f.work {
			f.margins[i] += t * f.rate[i]
		}
		f.moved += t * f.most
	}
	if q.short++; t > shortStep {
		q.short = 0
	}
	switch {
	case t <= shortStep:
		q.damp = math.Max(10*q.damp, q.c.Rho)
	case t > 0.5:
		if q.damp /= 10; q.damp < q.c.Rho/10 {
			q.damp = 0
		}
	}
	return -slope / 2, t == 1, true
}

// heightAt is h_j, t along the step.
func (q *solving) heightAt(j int, t, d float64) float64 {
	return math.Max(q.c.Low[j], math.Min(q.c.High[j], q.h[j]+t*d))
}

// held says whether h_j is at a bound that it would cross.
func (q *solving) held(j int) bool {
	return q.h[j] <= q.c.Low[j] && q.slope[j] >= 0 || q.h[j] >= q.c.High[j] && q.slope[j] <= 0
}

// assemble makes the system of the border.
func (q *solving) assemble(b *border) {
	c, k := q.c, len(b.of)
	b.full, b.right, b.value = make([]float64, k*k), make([]float64, k), make([]float64, k)
	b.fixed, b.answer = make([]float64, k), make([]float64, k)
	b.quad = 1 / q.stiff
	for _, f := range q.folds {
		b.quad -= floats.Dot(f.sums[1], f.byValue) // the column of V is -sums[1]
		b.rest -= floats.Dot(f.sums[1], f.byRight)
	}
	for a, j := range b.of {
		b.fixed[a] = math.NaN()
		diagonal := 0.0
		if j >= 0 {
			b.right[a], b.value[a], diagonal = -q.slope[j], c.Gamma[j], c.Rho+q.damp
		} else {
			b.right[a], b.value[a] = -q.slopeT, -1
			diagonal = 1e-9*q.stiff + q.damp
		}
		for _, f := range q.folds {
			diagonal += q.reach(f, a, b)
		}
		b.full[a*k+a] += diagonal
	}
}

// reach adds what fold f has in row a of the border, and returns what it has on the diagonal before the elimination.
func (q *solving) reach(f *fold, a int, b *border) (diagonal float64) {
	k, p := len(b.of), q.p
	// B'v for the column a of the fold's border
	column := func(j int, v []float64) float64 {
		switch {
		case j > 0:
			sign, _ := f.sign(j - 1)
			return -q.box * sign * v[j-1]
		case !f.balled && j == 0:
			return 0
		}
		sum := 0.0
		if j < 0 {
			for i := range p {
				if sign, _ := f.sign(i); sign != 0 {
					sum -= q.box * sign * v[i]
				}
			}
		}
		if f.balled {
			sum -= q.ball * floats.Dot(f.z[:p], v[:p])
		}
		return sum
	}
	j := b.of[a]
	b.right[a] -= column(j, f.byRight)
	b.value[a] -= column(j, f.byValue)
	switch {
	case j > 0:
		sign, count := f.sign(j - 1)
		diagonal = q.box * count
		for e := range a {
			// both have one entry each
			other, _ := f.sign(b.of[e] - 1)
			if v := q.box * q.box * sign * other * f.inverse[(j-1)*(p+1)+b.of[e]-1]; v != 0 {
				b.full[a*k+e] -= v
				b.full[e*k+a] -= v
			}
		}
		b.full[a*k+a] -= q.box * q.box * sign * sign * f.inverse[(j-1)*(p+1)+j-1]
	case j == 0:
		if !f.balled {
			return 0
		}
		diagonal = q.ball
		for e := range a {
			v := column(b.of[e], f.byR)
			b.full[a*k+e] -= v
			b.full[e*k+a] -= v
		}
		b.full[a*k+a] -= column(0, f.byR)
	default:
		for i := range p {
			_, count := f.sign(i)
			diagonal += q.box * count
		}
		if f.balled {
			diagonal += q.ball
		}
		for e := range a {
			v := column(b.of[e], f.byT)
			if o := b.of[e]; o > 0 {
				_, count := f.sign(o - 1)
				v -= q.box * count
			} else if f.balled {
				v -= q.ball
			}
			b.full[a*k+e] -= v
			b.full[e*k+a] -= v
		}
		b.full[a*k+a] -= column(-1, f.byT)
	}
	return diagonal
}

// solveBorder solves for the free unknowns of the border and the change of the multiplier of V.
func (q *solving) solveBorder(b *border, quad, rest float64) (eta float64, ok bool) {
	k := len(b.of)
	var free []int
	for a, v := range b.fixed {
		if math.IsNaN(v) {
			free = append(free, a)
		} else {
			b.answer[a] = v
			rest += b.value[a] * v
		}
	}
	right, column := make([]float64, len(free)), make([]float64, len(free))
	for e, a := range free {
		right[e], column[e] = b.right[a], b.value[a]
		for o, v := range b.fixed {
			if !math.IsNaN(v) {
				right[e] -= b.full[a*k+o] * v
			}
		}
	}
	if len(free) > 0 {
		if !q.chol.Factor(len(free), func(e int, to []float64) {
			for o := e; o < len(free); o++ {
				to[o] = b.full[free[e]*k+free[o]]
			}
		}) {
			return 0, false
		}
		q.chol.Solve(right)
	}
	if q.between(q.m0Now) {
		by := append([]float64(nil), column...)
		if len(free) > 0 {
			q.chol.Solve(by)
		}
		eta = (floats.Dot(column, right) + rest) / (quad + floats.Dot(column, by))
		floats.AddScaled(right, -eta, by)
	}
	for e, a := range free {
		b.answer[a] = right[e]
	}
	return eta, !math.IsNaN(eta)
}

// expand computes the step of a fold from that of the border.
func (q *solving) expand(f *fold, in []bool, eta float64) {
	p := q.p
	clear(f.d)
	any := false
	for j := range p {
		if sign, _ := f.sign(j); sign != 0 && q.dh[1+j] != 0 {
			f.d[j], any = q.box*sign*q.dh[1+j], true
		}
	}
	if any {
		f.chol.Solve(f.d)
	}
	floats.Add(f.d, f.byRight)
	floats.AddScaled(f.d, -q.dt, f.byT)
	floats.AddScaled(f.d, -q.dh[0], f.byR)
	floats.AddScaled(f.d, -eta, f.byValue)
}

// search returns how far along the step, up to t, the augmented function falls.
func (q *solving) search(t float64) float64 {
	first, last := q.along(0), q.along(t)
	if last <= flatEnough*math.Abs(first) {
		return t
	}
	lo, hi, atLo, atHi := 0.0, t, first, last
	for range 30 {
		t = lo + (hi-lo)*math.Max(0.02, math.Min(0.98, -atLo/(atHi-atLo)))
		switch at := q.along(t); {
		case math.Abs(at) <= flatEnough*math.Abs(first):
			return t
		case at < 0:
			lo, atLo = t, at
			atHi /= 2
		default:
			hi, atHi = t, at
			atLo /= 2
		}
	}
	return t
}

// along is the derivative of the augmented function along the step.
func (q *solving) along(t float64) float64 {
	c := q.c
	top, rateTop := math.Max(0, q.t+t*q.dt), q.dt
	if q.t+t*q.dt < 0 {
		rateTop = 0
	}
	value, rateValue := -c.Value-c.Epsilon-top, -rateTop
	sum := c.Alpha * rateTop
	h, rate := make([]float64, q.p+1), make([]float64, q.p+1)
	for j, d := range q.dh {
		h[j] = q.heightAt(j, t, d)
		if x := q.h[j] + t*d; x >= c.Low[j] && x <= c.High[j] {
			rate[j] = d
		}
		value += c.Gamma[j] * (h[j] - c.R[j])
		rateValue += c.Gamma[j] * rate[j]
		sum += c.Rho * (h[j] - c.R[j]) * rate[j]
	}
	for k, f := range q.folds {
		v, r := f.smoothed(t, q.width)
		value += v[1]
		rateValue += r[1]
		sum += r[0]
		half, way := 0.0, 0.0
		for j := range q.p {
			w, d := f.z[j]+t*f.d[j], f.d[j]
			half += w * w / 2
			way += w * d
			sum += c.Rho * (w - c.X[k][0][j]) * d
			if a := f.over[j] + q.box*(w-h[1+j]-top); a > 0 {
				sum += math.Min(a, c.Alpha) * (d - rate[1+j] - rateTop)
			}
			if b := f.under[j] + q.box*(-w-h[1+j]-top); b > 0 {
				sum += math.Min(b, c.Alpha) * (-d - rate[1+j] - rateTop)
			}
		}
		sum += c.Rho * (f.z[q.p] + t*f.d[q.p] - c.X[k][1][0]) * f.d[q.p]
		if a := f.ball + q.ball*(half-h[0]-top); a > 0 {
			sum += math.Min(a, c.Alpha) * (way - rate[0] - rateTop)
		}
	}
	if m := q.m0 + q.stiff*value; m > 0 {
		sum += math.Min(m, c.Alpha) * rateValue
	}
	return sum
}
