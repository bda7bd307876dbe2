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

// fill sets the columns of the border, its second derivatives and the slopes. For the Lagrangian F, minimised over the
// coefficients and over the radii that move alone, and with e = b_g / |b_g|, S the parts in which a group is above, the
// columns are the derivatives of X b - u / weight, and
//
//	F_m0 = V - t,  F_mk = |b^k|_1 - r_s - t,  F_t = alpha - m_0 - sum_k m_k - sum_g M_g,
//	F_rg = rho (r_g - c_g) - M_g,  M_g = rho sum_S (q_k - t - r_g),
//
//	of a group  below:   db = dsoft
//	            loose:   db = across dsoft + e (e'dsoft + dt + dc_g) / 2,  dr_g = (dc_g + e'dsoft - dt) / 2
//	            capped:  db = across dsoft + e dt,  dr_g = 0
//	            tied:    db = across dsoft + e (dt + dr_g),  r_g an entry of the border
//
// with dsoft = -(X'du + sign(b) dm_k) / rho where it is not zero, dc_g = -gamma_g dm_0 / rho, and across = (r_g + t) /
// q (I - e e').
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
		for g := range a.groups {
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
		s := len(a.groups)
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

// edge sets what a part has in the columns.
func (a *ascent) edge(b *border, t int, kind []uint8, tie map[int]int) {
	at, s, p, rho := a.at, &a.at.of[t], a.parts[t], a.rho
	ms := -1
	if b.ms != nil {
		ms = b.ms[t]
	}
	shrunk := ms >= 0 && a.matrix == nil
	b.columns[t] = make([][]float64, b.n)
	// The derivatives of b in t, m_0 and m_k.
	byT, by0, byS := make([]float64, len(s.b)), make([]float64, len(s.b)), make([]float64, len(s.b))
	for g := range a.groups {
		q, members, gamma := s.norms[g], a.groups[g], a.gamma[g]
		if q == 0 {
			continue
		}
		across, along, inT, alone := 1.0, 1.0, 0.0, 0.0 // the parts of the formulas of fill
		if kind[g] != below {
			across, along, inT = (at.r[g]+at.t)/q, 0, 1
		}
		if kind[g] == loose {
			along, inT, alone = 0.5, 0.5, 0.5
			b.plus(b.m0, b.m0, -gamma*gamma/(2*rho))
			b.plus(b.m0, b.t, -gamma/2)
		}
		l1 := 0.0 // |e|_1
		if shrunk {
			for _, j := range members {
				l1 += math.Abs(s.soft[j]) / q
			}
		}
		for _, j := range members {
			v := s.soft[j]
			if v == 0 {
				continue
			}
			e := v / q
			byT[j], by0[j] = e*inT, -e*alone*gamma/rho
			if shrunk {
				sign := math.Copysign(1, v)
				byS[j] = -(across*(sign-e*l1) + along*e*l1) / rho
				b.plus(ms, ms, sign*byS[j])
			}
		}
		b.plus(ms, b.t, l1*inT)
		b.plus(b.m0, ms, -alone*l1*gamma/rho)
		if i, ok := tie[g]; ok && kind[g] != below {
			b.columns[t][i] = make([]float64, p.rows)
			a.radial(t, g, b.columns[t][i])
			b.plus(i, i, rho)
			b.plus(b.t, i, rho)
			b.plus(ms, i, l1)
		}
	}
	column := func(i int, by []float64) []float64 {
		c := make([]float64, p.rows)
		if i >= 0 {
			p.mul(c, by, 0)
			b.columns[t][i] = c
		}
		return c
	}
	column(b.t, byT)
	if c := column(b.m0, by0); b.m0 >= 0 {
		for i := range p.sets {
			if set := &p.sets[i]; set.training {
				floats.AddScaled(set.of(c), 1/(set.by(at.m0)*at.m0), set.of(s.u))
				b.plus(b.m0, b.m0, -floats.Dot(set.of(s.u), set.of(s.u))/(set.by(at.m0)*at.m0*at.m0))
			}
		}
	}
	if c := column(ms, byS); ms >= 0 && a.matrix != nil {
		k := s.z.rank(a.least(s))
		floats.AddScaled(c, -1/rho, p.pick(s.z.signs(k)))
		b.plus(ms, ms, -float64(k)/rho)
	}
}

// radial sets c to X b_g / |b_g| of a part.
func (a *ascent) radial(t, g int, c []float64) {
	clear(c)
	s := &a.at.of[t]
	for _, j := range a.groups[g] {
		if v := s.soft[j]; v != 0 {
			a.parts[t].axpy(v/s.norms[g], j, c)
		}
	}
}
