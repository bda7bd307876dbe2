package machine

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// rounded is a slope that is rounding, relative to alpha.
const rounded = 1e-14

// step is a Newton step with a search along it. It returns how much the model falls, and whether the step was whole.
func (q *solving) step() (fall float64, whole, ok bool) {
	if !q.direction() || !q.each(func(f *fold) bool { return f.rates() }) {
		return 0, false, false
	}
	return q.move()
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
		t = math.Min(t, f.reach())
	}
	t = flatten(t, slope, q.along)
	for j, d := range q.dh {
		q.h[j] = q.heightAt(j, t, d)
	}
	q.t = math.Max(0, q.t+t*q.dt)
	for _, f := range q.folds {
		floats.AddScaled(f.z, t, f.d)
		f.advance(t)
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

// along is the derivative of the augmented function along the step.
func (q *solving) along(t float64) float64 {
	c := q.c
	top, rateTop := math.Max(0, q.t+t*q.dt), q.dt
	if q.t+t*q.dt < 0 {
		rateTop = 0
	}
	value, rateValue := -c.Value-c.Epsilon-top, -rateTop
	sum := c.Alpha * rateTop
	h, rate := q.height, q.rate
	for j, d := range q.dh {
		h[j] = q.heightAt(j, t, d)
		if rate[j] = 0; h[j] == q.h[j]+t*d {
			rate[j] = d
		}
		value += c.Gamma[j] * (h[j] - c.R[j])
		rateValue += c.Gamma[j] * rate[j]
		sum += c.Rho * (h[j] - c.R[j]) * rate[j]
	}
	for k, f := range q.folds {
		v, r := f.smoothed(t, q.width)
		value += v
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
