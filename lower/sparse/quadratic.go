package sparse

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/lower/internal/leastsquares"
)

// quadratic is
//
//	minimize over b   1/2 b'Ab - q'b + sum_i w_i |b_i|   subject to b in box
//
// with a positive definite matrix A of order k.
type quadratic struct {
	k    int
	a    []float64 // by rows
	q, w []float64
	box  box
	// Of the last solution: what is free to move, b_i != 0 or w_i = 0 between the bounds, and the factor of that part of A.
	free   []int
	factor factor.Definite

	rest []float64 // q - Ab
	end  stop.Stop
}

func (p *quadratic) resize(k int) {
	p.k = k
	if cap(p.a) < k*k {
		p.a = make([]float64, k*k, 2*k*k)
	}
	if cap(p.q) < k {
		p.q, p.w, p.rest = make([]float64, k, 2*k), make([]float64, k, 2*k), make([]float64, k, 2*k)
	}
	p.a, p.q, p.w, p.rest = p.a[:k*k], p.q[:k], p.w[:k], p.rest[:k]
}

const (
	// quadraticRounds bounds the Newton steps. Between the first of them there are sweeps of coordinate descent, quadraticSweeps each time, which find most signs
	// at once; where signs still change after sweptRounds, one more coefficient is let in at a time, which comes to an end.
	quadraticRounds, quadraticSweeps, sweptRounds = 2000, 10, 20
	// quadraticRounding is the share of the sizes of the terms of a gradient's entry that is rounding.
	quadraticRounding = 1e-13
)

// solve improves b until no sign changes any more, which is the solution. It says whether it came to that.
func (p *quadratic) solve(ctx context.Context, b []float64) bool {
	p.end.Begin(ctx, 0)
	p.factor.End = &p.end
	p.remainder(b)
	for round := range quadraticRounds {
		if p.end.Look() {
			return false
		}
		same, ok := p.newton(b)
		if !ok {
			return false
		}
		worst := p.worst(b)
		switch {
		case same && worst < 0:
			return true
		case round < sweptRounds:
			for range quadraticSweeps {
				if !p.sweep(b) {
					break
				}
			}
		case same:
			p.descend(b, worst)
		}
	}
	return false
}

// remainder sets rest to q - Ab.
func (p *quadratic) remainder(b []float64) {
	copy(p.rest, p.q)
	for i, v := range b {
		if v != 0 {
			dense.Axpy(-v, p.a[i*p.k:(i+1)*p.k], p.rest)
		}
	}
}

// worst is the entry of b at zero or a bound that is farthest from being one of the solution, -1 where none is.
func (p *quadratic) worst(b []float64) int {
	size, most, at := floats.Norm(p.q, math.Inf(1)), 0.0, -1
	for i, v := range b {
		if p.box.free(i, v, p.w[i]) {
			continue
		}
		if over := p.box.over(i, v, p.w[i], p.rest[i]); over > quadraticRounding*(size+p.w[i]) && over > most {
			most, at = over, i
		}
	}
	return at
}

// sweep is one round of coordinate descent. It says whether a sign has changed, or what is at a bound.
func (p *quadratic) sweep(b []float64) (changed bool) {
	for i, old := range b {
		if p.end.Reached(p.k) {
			return false
		}
		p.descend(b, i)
		changed = changed || math.Signbit(b[i]) != math.Signbit(old) || p.box.free(i, b[i], p.w[i]) != p.box.free(i, old, p.w[i])
	}
	return changed
}

// descend minimises over one coefficient.
func (p *quadratic) descend(b []float64, i int) {
	row := p.a[i*p.k : (i+1)*p.k]
	v := p.box.clip(i, leastsquares.Soft(row[i]*b[i]+p.rest[i], p.w[i])/row[i])
	if v != b[i] {
		dense.Axpy(b[i]-v, row, p.rest)
		b[i] = v
	}
}

// newton goes to the best point with the signs of b and what is at bounds; same says that it has these. Where it has not, it goes where signs that change are zeros
// and bounds are met, if that is lower, and else as far as the first one. It is not ok where the matrix is not positive definite to rounding.
func (p *quadratic) newton(b []float64) (same, ok bool) {
	p.free = p.free[:0]
	for i, v := range b {
		if p.box.free(i, v, p.w[i]) {
			p.free = append(p.free, i)
		}
	}
	if len(p.free) == 0 {
		return true, true
	}
	k := len(p.free)
	if !p.factor.Factor(k, func(j int, column []float64) {
		row := p.a[p.free[j]*p.k : (p.free[j]+1)*p.k]
		for i := j; i < k; i++ {
			column[i] = row[p.free[i]]
		}
	}) {
		return false, false
	}
	to := make([]float64, k)
	for l, i := range p.free {
		to[l] = p.rest[i]
		if p.w[i] > 0 {
			to[l] -= math.Copysign(p.w[i], b[i])
		}
	}
	p.factor.Solve(to) // the step
	t, first, last := 1.0, -1, 0.0
	for l, i := range p.free {
		if at, end := p.box.reach(i, b[i], to[l], p.w[i]); at < t {
			t, first, last = at, l, end
		}
		to[l] += b[i]
	}
	if first < 0 {
		for l, i := range p.free {
			b[i] = p.box.clip(i, to[l])
		}
		p.remainder(b)
		return true, true
	}
	before := p.value(b)
	old := make([]float64, k)
	for l, i := range p.free {
		old[l] = b[i]
		lo, hi := p.box.piece(i, b[i], p.w[i])
		b[i] = math.Max(lo, math.Min(hi, to[l]))
	}
	p.remainder(b)
	if p.value(b) < before {
		return false, true
	}
	for l, i := range p.free {
		b[i] = old[l] + t*(to[l]-old[l])
	}
	b[p.free[first]] = last
	p.remainder(b)
	return false, true
}

// value is the objective; rest belongs to b.
func (p *quadratic) value(b []float64) float64 {
	sum := 0.0
	for i, v := range b {
		if v != 0 {
			sum += p.w[i]*math.Abs(v) - v*(p.q[i]+p.rest[i])/2
		}
	}
	return sum
}
