package separable

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/stop"
)

// system is the matrix of a part,
//
//	B = 1/weight + X E E'X' / rho = V^(1/2) (I + G G') V^(1/2),   V = 1/weight,  G = V^(-1/2) X E / rho^(1/2)
//
// with E E' the derivative of the coefficients in -X'u, but for what the parts share. Its factor is that of I + G'G or, where that is the larger one, I + G G'.
type system struct {
	root   []float64 // V^(-1/2)
	k      int
	narrow bool      // the factor is of order k, and G is kept by rows
	g      []float64 // entry (i, j) is g[j+i*k] if narrow, and else g[i+j*rows]
	factor factor.Definite
	work   []float64
}

// solve sets v to B^-1 v.
func (s *system) solve(v []float64) {
	n := len(v)
	floats.Mul(v, s.root)
	if s.narrow {
		h := s.work[:s.k]
		clear(h)
		dense.GemvN(s.k, n, s.g, max(1, s.k), v, h) // -G'v
		if s.k > 0 {
			s.factor.Solve(h)
		}
		for i := range h {
			h[i] = -h[i]
		}
		dense.GemvT(s.k, n, s.g, max(1, s.k), h, v)
	} else {
		s.factor.Solve(v)
	}
	floats.Mul(v, s.root)
}

// build sets up the matrix of a part and factors it.
func (a *ascent) build(t int, kind []uint8) bool {
	p, at, s := a.parts[t], &a.at.of[t], &a.newton[t]
	n := p.rows
	if s.factor.End == nil {
		s.factor.End = new(stop.Stop)
	}
	s.factor.End.Begin(a.ctx, 0)
	if len(s.root) == 0 {
		s.root = make([]float64, n)
	}
	for i := range p.sets {
		set := &p.sets[i]
		root := set.of(s.root)
		for k := range root {
			root[k] = math.Sqrt(set.by(a.at.m0))
		}
	}
	// The columns: those of the coefficients, or of the direction of a group.
	count := 0
	for _, g := range a.work {
		if at.norms[g] > 0 {
			count += columns(kind[g], a.members[g], at.soft)
		}
	}
	if p.intercept {
		count++
	}
	s.k, s.narrow = count, count <= n
	if need := count * n; cap(s.g) < need {
		s.g = make([]float64, need)
	}
	s.g = s.g[:count*n]
	s.work = make([]float64, max(n, count))
	scale := 1 / math.Sqrt(a.rho)
	column, radial := make([]float64, n), make([]float64, n)
	index := 0
	put := func() {
		for i, v := range column {
			v *= s.root[i] * scale
			if s.narrow {
				s.g[index+i*count] = v
			} else {
				s.g[i+index*n] = v
			}
		}
		index++
	}
	take := func(to []float64, factor float64, j int) {
		for i := range p.sets {
			set := &p.sets[i]
			set.X.Axpy(factor, j, set.of(to))
		}
	}
	for _, g := range a.work {
		q := at.norms[g]
		if q == 0 {
			continue
		}
		members := a.members[g]
		if kind[g] == below {
			for _, j := range members {
				if at.soft[j] != 0 {
					clear(column)
					take(column, 1, j)
					put()
				}
			}
			continue
		}
		along := 0.0
		if kind[g] == loose {
			along = math.Sqrt(0.5)
		}
		if len(members) == 1 {
			if along > 0 {
				clear(column)
				take(column, along, members[0])
				put()
			}
			continue
		}
		across := math.Sqrt((a.at.r[g] + a.at.t) / q)
		clear(radial)
		for _, j := range members {
			if v := at.soft[j]; v != 0 {
				take(radial, v/q, j)
			}
		}
		for _, j := range members {
			if v := at.soft[j]; v != 0 {
				copy(column, radial)
				floats.Scale((along-across)*v/q, column)
				take(column, across, j)
				put()
			}
		}
	}
	if p.intercept {
		for i := range column {
			column[i] = 1
		}
		put()
	}
	return s.decompose(n)
}

// columns is how many a group has.
func columns(kind uint8, members []int, soft []float64) int {
	if kind != below && len(members) == 1 {
		if kind == loose {
			return 1
		}
		return 0
	}
	k := 0
	for _, j := range members {
		if soft[j] != 0 {
			k++
		}
	}
	return k
}

// decompose factors I + G'G or I + GG'.
func (s *system) decompose(n int) bool {
	order, inner := n, s.k
	if s.narrow {
		order, inner = s.k, n
	}
	if order == 0 {
		return true
	}
	minus, m := make([]float64, len(s.g)), make([]float64, order*order)
	for i, v := range s.g {
		minus[i] = -v
	}
	for i := range order {
		m[i+i*order] = 1
	}
	within := dense.Within{Stop: s.factor.End}
	within.SyrkNT(order, inner, s.g, order, minus, order, m, order)
	if s.factor.End.Look() {
		return false
	}
	for plus := 0.0; plus < 1e-3; plus = math.Max(1e-14, 100*plus) {
		if s.factor.Factor(order, func(j int, column []float64) {
			copy(column[j:], m[j*order+j:(j+1)*order])
			column[j] *= 1 + plus
		}) {
			return true
		}
	}
	return false
}
