package separable

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The border: m_0, the multipliers of |b|_1, then what is minimised, t and the radii of tied groups.
type border struct {
	n       int
	m0, t   int   // -1 where they do not move
	ms      []int // of each part
	tied    []int // the group of each of the last entries
	first   int   // the entry of the first of them
	columns [][][]float64
	m       *mat.Dense // second derivatives
	slope   []float64
}

// fill sets the columns of the border, its second derivatives and the slopes. For the Lagrangian F, minimised over the coefficients and over the radii that
// move alone, and with e = b_g / |b_g|, S the parts in which a group is above, the columns are the derivatives of X b - u / weight, and
//
//	F_m0 = V - t,  F_mk = |b^k|_1 - r_s - t,  F_t = alpha - m_0 - sum_k m_k - sum_g M_g,  F_rg = rho (r_g - c_g) - M_g,  M_g = rho sum_S (q_k - t - r_g),
//
//	of a group  below:   db = dsoft
//	            loose:   db = across dsoft + e (e'dsoft + dt + dc_g) / 2,  dr_g = (dc_g + e'dsoft - dt) / 2
//	            capped:  db = across dsoft + e dt,  dr_g = 0
//	            tied:    db = across dsoft + e (dt + dr_g),  r_g an entry of the border
//
// with dsoft = -(X'du + sign(b) dm_k) / rho where it is not zero, dc_g = -gamma_g dm_0 / rho, and across = (r_g + t) / q (I - e e').
func (a *ascent) fill(b *border, kind [][]uint8, free []bool, reach float64) {
	b.m = mat.NewDense(max(1, b.n), max(1, b.n), nil)
	b.slope = make([]float64, b.n)
	b.columns = make([][][]float64, len(a.parts))
	tie := a.corner(b, free, reach)
	for t := range a.parts {
		a.edge(b, t, kind[t], tie)
	}
}

// plus adds to both entries of the second derivatives; an index below 0 stands for what does not move.
func (b *border) plus(i, j int, v float64) {
	if i < 0 || j < 0 {
		return
	}
	b.m.Set(i, j, b.m.At(i, j)+v)
	if i != j {
		b.m.Set(j, i, b.m.At(j, i)+v)
	}
}

// corner sets what does not depend on the parts, and returns the entry of each tied group.
func (a *ascent) corner(b *border, free []bool, reach float64) map[int]int {
	at, rho := a.at, a.rho
	if b.m0 >= 0 {
		b.slope[b.m0] = a.slopes.m0
		for g, loose := range free {
			if loose {
				b.plus(b.m0, b.m0, -a.gamma[g]*a.gamma[g]/rho)
			}
		}
		b.plus(b.m0, b.t, -1)
	}
	if b.t >= 0 {
		b.plus(b.t, b.t, reach)
		b.slope[b.t] = a.rest(at)
		for g := range a.groups.len() {
			_, _, _, excess := a.bound(g, at, at.t)
			b.slope[b.t] -= rho * excess
		}
	}
	tie := make(map[int]int, len(b.tied))
	for i, g := range b.tied {
		tie[g] = b.first + i
		b.plus(b.first+i, b.first+i, rho)
		b.plus(b.m0, b.first+i, a.gamma[g])
	}
	if a.shared {
		s := a.groups.len()
		moves := !a.fixed && at.r[s] > a.low[s] && at.r[s] < a.high[s]
		if moves {
			b.plus(b.m0, b.m0, -a.gamma[s]*a.gamma[s]/rho)
		}
		for t, i := range b.ms {
			b.slope[i] = a.slopes.ms[t]
			if b.t >= 0 {
				b.plus(i, b.t, -1)
			}
			if moves {
				b.plus(b.m0, i, a.gamma[s]/rho)
				for _, j := range b.ms[t:] {
					b.plus(i, j, -1/rho)
				}
			}
		}
	}
	return tie
}

// moves are the derivatives of the coefficients of a part in t, m_0 and the multiplier of |b|_1, nil for what does not move.
type moves struct{ t, m0, ms []float64 }

// edge sets what a part has in the columns.
func (a *ascent) edge(b *border, t int, kind []uint8, tie map[int]int) {
	s := &a.at.of[t]
	b.columns[t] = make([][]float64, b.n)
	var by moves
	if b.t >= 0 {
		by.t = make([]float64, len(s.b))
	}
	if b.m0 >= 0 {
		by.m0 = make([]float64, len(s.b))
	}
	if b.ms != nil {
		by.ms = make([]float64, len(s.b))
	}
	for g := range a.groups.len() {
		switch {
		case s.norms[g] == 0:
		case kind[g] == below:
			a.below(b, t, g, &by)
		default:
			l1 := a.above(b, t, g, kind[g] == loose, &by)
			if i, ok := tie[g]; ok {
				a.tied(b, t, g, i, l1)
			}
		}
	}
	a.products(b, t, &by)
}

// below is a group whose coefficients are not bounded.
func (a *ascent) below(b *border, t, g int, by *moves) {
	s, rho, members := &a.at.of[t], a.rho, a.groups.of(g)
	if by.ms != nil && a.matrix == nil {
		for _, j := range members {
			if v := s.soft[j]; v != 0 {
				by.ms[j] = -math.Copysign(1/rho, v)
				b.plus(b.ms[t], b.ms[t], -1/rho)
			}
		}
	}
}

// above is a group at its bound or above it; it returns |e|_1.
func (a *ascent) above(b *border, t, g int, isLoose bool, by *moves) float64 {
	s, rho, members := &a.at.of[t], a.rho, a.groups.of(g)
	q := s.norms[g]
	l1 := 0.0 // of the direction
	for _, j := range members {
		l1 += math.Abs(s.soft[j]) / q
	}
	if a.matrix != nil {
		l1 = 0
	}
	along, alone := 0.0, 0.0
	if isLoose {
		along, alone = 0.5, 1
		b.plus(b.m0, b.m0, -a.gammaOf(g)*a.gammaOf(g)/(2*rho))
		b.plus(b.m0, b.t, -a.gammaOf(g)/2)
	}
	across := (a.at.r[g] + a.at.t) / q
	for _, j := range members {
		v := s.soft[j]
		if v == 0 {
			continue
		}
		e := v / q
		if by.t != nil {
			by.t[j] = e * (1 - along)
		}
		if by.m0 != nil {
			by.m0[j] = -alone * e * a.gammaOf(g) / (2 * rho)
		}
		if by.ms != nil && a.matrix == nil {
			by.ms[j] = -(across*(math.Copysign(1, v)-e*l1) + along*e*l1) / rho
		}
	}
	if by.ms != nil && a.matrix == nil {
		own := 0.0
		for _, j := range members {
			if v := s.soft[j]; v != 0 {
				own += math.Copysign(1, v) * by.ms[j]
			}
		}
		b.plus(b.ms[t], b.ms[t], own)
		if b.t >= 0 {
			b.plus(b.ms[t], b.t, l1*(1-along))
		}
		if b.m0 >= 0 {
			b.plus(b.m0, b.ms[t], -alone*l1*a.gammaOf(g)/(2*rho))
		}
	}
	return l1
}

// tied is a group whose radius is entry i of the border.
func (a *ascent) tied(b *border, t, g, i int, l1 float64) {
	s, p, rho, members := &a.at.of[t], a.parts[t], a.rho, a.groups.of(g)
	q := s.norms[g]
	c := make([]float64, p.rows)
	for _, j := range members {
		if v := s.soft[j]; v != 0 {
			for k := range p.sets {
				set := &p.sets[k]
				set.X.Axpy(v/q, j, set.of(c))
			}
		}
	}
	b.columns[t][i] = c
	b.plus(i, i, rho)
	b.plus(b.t, i, rho)
	if b.ms != nil {
		b.plus(b.ms[t], i, l1)
	}
}

// products makes columns of the derivatives of the coefficients.
func (a *ascent) products(b *border, t int, by *moves) {
	at, s, p := a.at, &a.at.of[t], a.parts[t]
	if by.t != nil {
		c := make([]float64, p.rows)
		p.mul(c, by.t, 0)
		b.columns[t][b.t] = c
	}
	if by.m0 != nil {
		c := make([]float64, p.rows)
		p.mul(c, by.m0, 0)
		for i := range p.sets {
			if set := &p.sets[i]; set.training {
				floats.AddScaled(set.of(c), 1/(set.by(at.m0)*at.m0), set.of(s.u))
				b.plus(b.m0, b.m0, -floats.Dot(set.of(s.u), set.of(s.u))/(set.by(at.m0)*at.m0*at.m0))
			}
		}
		b.columns[t][b.m0] = c
	}
	if by.ms != nil {
		c := make([]float64, p.rows)
		if a.matrix == nil {
			p.mul(c, by.ms, 0)
		} else {
			k := s.z.rank(a.least(s))
			floats.AddScaled(c, -1/a.rho, p.pick(s.z.signs(k)))
			b.plus(b.ms[t], b.ms[t], -float64(k)/a.rho)
		}
		b.columns[t][b.ms[t]] = c
	}
}

func (p *program) gammaOf(g int) float64 {
	if p.fixed {
		return 0
	}
	return p.gamma[g]
}
