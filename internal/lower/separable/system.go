package separable

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/stop"
)

// system is the matrix of a part,
//
//	B = 1/weight + X E E'X' / rho = V^(1/2) (I + G G') V^(1/2),   V = 1/weight,  G = V^(-1/2) X E / rho^(1/2)
//
// with E E' the derivative of the coefficients in -X'u, but for what the parts share. Its factor is that of I + G'G or,
// where that is the larger one, I + G G'.
type system struct {
	root   []float64 // V^(-1/2)
	k      int
	narrow bool      // the factor is of order k
	g      []float64 // by columns
	factor factor.Definite
	work   []float64
	turned []float64 // G by rows, if narrow
	matrix []float64 // minus what is factored
}

// solve sets v to B^-1 v.
func (s *system) solve(v []float64) {
	n := len(v)
	floats.Mul(v, s.root)
	if s.narrow {
		h := s.work[:s.k]
		clear(h)
		dense.GemvT(n, s.k, s.g, n, v, h) // -G'v
		if s.k > 0 {
			s.factor.Solve(h)
		}
		for i := range h {
			h[i] = -h[i]
		}
		dense.GemvN(n, s.k, s.g, n, h, v)
	} else {
		s.factor.Solve(v)
	}
	floats.Mul(v, s.root)
}

// build sets up the matrix of a part and factors it. For a group of norm q and e = b / |b|, E E' = along^2 e e' +
// across^2 (I - e e'), with both 1 below the bound; at it or above along^2 is 1/2 where its radius moves for it alone
// and 0 otherwise, and across^2 is the bound / q.
func (a *ascent) build(t int, kind []uint8) bool {
	p, s, at := a.parts[t], &a.newton[t], &a.at.of[t]
	a.prepare(t)
	n, radial := p.rows, make([]float64, p.rows)
	column := func() []float64 {
		s.g = slices.Grow(s.g, n)[:len(s.g)+n]
		clear(s.g[len(s.g)-n:])
		return s.g[len(s.g)-n:]
	}
	for g, members := range a.groups {
		q, along, across := at.norms[g], 1.0, 1.0
		switch kind[g] {
		case below:
		case loose:
			along, across = math.Sqrt(0.5), math.Sqrt((a.at.r[g]+a.at.t)/q)
		default:
			along, across = 0, math.Sqrt((a.at.r[g]+a.at.t)/q)
		}
		if len(members) == 1 {
			across = along
		}
		if q == 0 || along == 0 && across == 0 {
			continue
		}
		if along != across {
			a.radial(t, g, radial)
		}
		for _, j := range members {
			if v := at.soft[j]; v != 0 {
				c := column()
				if along != across {
					floats.AddScaled(c, (along-across)*v/q, radial)
				}
				p.axpy(across, j, c)
			}
		}
	}
	if p.intercept {
		floats.AddConst(1, column())
	}
	weight := slices.Clone(s.root) // V^(-1/2) / rho^(1/2)
	floats.Scale(1/math.Sqrt(a.rho), weight)
	for from := 0; from < len(s.g); from += n {
		floats.Mul(s.g[from:from+n], weight)
	}
	s.k = len(s.g) / n
	s.narrow = s.k <= n && a.matrix == nil
	s.work = dense.Cleared(s.work, max(n, s.k))
	return a.decompose(t)
}

// prepare takes the weights of the point.
func (a *ascent) prepare(t int) {
	p, s := a.parts[t], &a.newton[t]
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
	s.g = s.g[:0]
}

// decompose factors I + G'G or I + GG', to which the derivative of the matrix is added, if there is one.
func (a *ascent) decompose(t int) bool {
	s, n := &a.newton[t], a.parts[t].rows
	order, inner, g := n, s.k, s.g
	if s.narrow {
		order, inner, g = s.k, n, dense.Cleared(s.turned, len(s.g))
		for j := range s.k {
			for i, v := range s.g[j*n : (j+1)*n] {
				g[j+i*s.k] = v
			}
		}
		s.turned = g
	}
	if order == 0 {
		return true
	}
	s.matrix = dense.Cleared(s.matrix, order*order)
	m := s.matrix
	for i := range order {
		m[i+i*order] = -1
	}
	within := dense.Within{Stop: s.factor.End}
	within.SyrkNT(order, inner, g, order, g, order, m, order)
	if a.matrix != nil {
		a.nuclear(t, s.root, m)
	}
	if s.factor.End.Look() {
		return false
	}
	for plus := 0.0; plus < 1e-3; plus = math.Max(1e-14, 100*plus) {
		if s.factor.Factor(order, func(j int, column []float64) {
			for i, v := range m[j*order+j : (j+1)*order] {
				column[j+i] = -v
			}
			column[j] *= 1 + plus
		}) {
			return true
		}
	}
	return false
}
