package glm

import (
	"gonum.org/v1/gonum/floats"
)

// past are the coefficients of some units after the last sweeps over them.
type past struct {
	units []int
	b     [][]float64
}

// depth is the number of differences that are extrapolated, slightest the share of the sum of their squares that is
// added to each.
const depth, slightest = 5, 1e-10

// extrapolate takes in where a sweep has led, and after some of these goes towards where their last differences would
// vanish, if the objective falls (Anderson acceleration of coordinate descent: Bertrand, Massias, AISTATS 2021).
func (f *fold) extrapolate(p *past, w *Weights) {
	q := f.d.q
	var b []float64
	for _, u := range p.units {
		for _, j := range f.d.units[u] {
			b = append(b, f.b[j*q:(j+1)*q]...)
		}
	}
	if p.b = append(p.b, b); len(p.b) <= depth {
		return
	}
	all := p.step()
	p.b = p.b[:0]
	f.newton(p.units, w, func(features, _ []int, _ []float64, _ *Weights) (step []float64) {
		at := 0
		for _, u := range p.units {
			for _, j := range f.d.units[u] {
				if n := len(step) / q; n < len(features) && features[n] == j {
					step = append(step, all[at:at+q]...)
				}
				at += q
			}
		}
		return step
	})
}

// step is that to the combination sum_k c_k b_k+1, sum_k c_k = 1, whose differences sum_k c_k (b_k+1 - b_k) are least.
func (p *past) step() []float64 {
	h, share, sum := make([]float64, depth*depth), make([]float64, depth), 0.0
	for k := range depth {
		floats.Sub(p.b[k], p.b[k+1])
		share[k] = 1
		for i := range k + 1 {
			h[i*depth+k] = floats.Dot(p.b[k], p.b[i])
		}
		sum += h[k*depth+k]
	}
	for k := range depth {
		h[k*depth+k] += slightest * sum
	}
	factorise(depth, h, slight).solve(share)
	total, before := floats.Sum(share), 0.0
	step := make([]float64, len(p.b[0]))
	for k := range depth - 1 {
		before += share[k] / total
		floats.AddScaled(step, before, p.b[k+1])
	}
	return step
}
