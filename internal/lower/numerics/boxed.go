package numerics

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Boxed is the step of Newton's method,
//
//	maximize over d   g'd - 1/2 d'Kd   subject to lo <= d <= hi,  sum d <= most,
//
// with lo <= 0 <= hi and most >= 0, by an active-set method from d = 0. K is positive semidefinite.
type Boxed struct {
	G, Lo, Hi []float64
	K         [][]float64
	Most      float64
}

// What holds a coordinate.
const (
	loose = iota
	low
	high
)

// ridge is the share of the largest diagonal entry of K that is added to it, leastRidge what is added at least.
const ridge, leastRidge = 1e-13, 1e-290

// Solve returns d.
func (b *Boxed) Solve() []float64 {
	n := len(b.G)
	d, held := make([]float64, n), make([]int, n)
	top := 0.0
	for i := range n {
		top = math.Max(top, b.K[i][i])
		switch {
		case b.Lo[i] == 0 && b.G[i] <= 0:
			held[i] = low
		case b.Hi[i] == 0:
			held[i] = high
		}
	}
	plus := math.Max(ridge*top, leastRidge)
	tight := b.Most == 0
	for range 20 * (n + 1) {
		grad := b.gradient(d)
		p, nu := b.direction(held, tight, grad, plus)
		if step, blocker := b.longest(d, p, held, tight); blocker != none {
			for i := range d {
				d[i] += step * p[i]
			}
			switch {
			case blocker == sum:
				tight = true
			case p[blocker] < 0:
				d[blocker], held[blocker] = b.Lo[blocker], low
			default:
				d[blocker], held[blocker] = b.Hi[blocker], high
			}
			continue
		}
		for i := range d {
			d[i] += p[i]
		}
		grad = b.gradient(d)
		worst, at := 0.0, none
		for i, h := range held {
			push := grad[i]
			if tight {
				push -= nu
			}
			if h == high {
				push = -push
			}
			if h != loose && push > worst+1e-12*math.Abs(grad[i]) && b.Lo[i] < b.Hi[i] {
				worst, at = push, i
			}
		}
		if tight && -nu > worst {
			at = sum
		}
		switch at {
		case none:
			return d
		case sum:
			tight = false
		default:
			held[at] = loose
		}
	}
	return d
}

// The blockers of a step that are no coordinates.
const (
	none = -1
	sum  = -2
)

// gradient is g - Kd.
func (b *Boxed) gradient(d []float64) []float64 {
	out := make([]float64, len(d))
	for i, row := range b.K {
		out[i] = b.G[i]
		for j, v := range row {
			out[i] -= v * d[j]
		}
	}
	return out
}

// direction goes to the best point of the loose coordinates; nu is the multiplier of the sum.
func (b *Boxed) direction(held []int, tight bool, grad []float64, plus float64) (p []float64, nu float64) {
	p = make([]float64, len(held))
	var free []int
	for i, h := range held {
		if h == loose {
			free = append(free, i)
		}
	}
	if len(free) == 0 {
		return p, 0
	}
	m, right := mat.NewSymDense(len(free), nil), mat.NewVecDense(len(free), nil)
	ones := mat.NewVecDense(len(free), nil)
	for i, a := range free {
		right.SetVec(i, grad[a])
		ones.SetVec(i, 1)
		for j, c := range free[i:] {
			m.SetSym(i, i+j, b.K[a][c])
		}
		m.SetSym(i, i, b.K[a][a]+plus)
	}
	var factor mat.Cholesky
	for try := plus; !factor.Factorize(m); try *= 100 {
		if !(try <= math.MaxFloat64) { // no ridge helps, as where an entry of K is NaN
			return p, 0
		}
		for i := range free {
			m.SetSym(i, i, m.At(i, i)+try)
		}
	}
	var x, y mat.VecDense
	if factor.SolveVecTo(&x, right) != nil && x.Len() == 0 {
		return p, 0
	}
	if tight {
		if factor.SolveVecTo(&y, ones) != nil && y.Len() == 0 {
			return p, 0
		}
		nu = mat.Dot(ones, &x) / mat.Dot(ones, &y)
		x.AddScaledVec(&x, -nu, &y)
	}
	for i, a := range free {
		if p[a] = x.AtVec(i); math.IsNaN(p[a]) { // as where an entry of K is infinite
			return make([]float64, len(held)), 0
		}
	}
	return p, nu
}

// longest is the longest step along p up to 1, and what ends it before.
func (b *Boxed) longest(d, p []float64, held []int, tight bool) (step float64, blocker int) {
	step, blocker = 1, none
	total, rise := 0.0, 0.0
	for i, v := range p {
		total += d[i]
		rise += v
		if held[i] != loose {
			continue
		}
		if v < 0 && d[i]+step*v < b.Lo[i] {
			step, blocker = (b.Lo[i]-d[i])/v, i
		} else if v > 0 && d[i]+step*v > b.Hi[i] {
			step, blocker = (b.Hi[i]-d[i])/v, i
		}
	}
	if !tight && rise > 0 && total+step*rise > b.Most {
		step, blocker = math.Max(0, (b.Most-total)/rise), sum
	}
	return step, blocker
}
