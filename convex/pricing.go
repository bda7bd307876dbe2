package convex

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// completion extends a primal-dual point of a program restricted to working
// sets to the full program. For entry j of a sparse variable v with epigraphs
// u_i >= |c_i v|, write g for the gradient in v_j of the Lagrangian without the
// rows of these epigraphs, and h_i for that in u_ij, the weight of the norm.
// The rows u - c v >= 0 and u + c v >= 0 have multipliers y+, y- >= 0 with
//
//	g_j + sum_i c_i (y+_i - y-_i) = 0,   h_ij - y+_i - y-_i = 0
//
// which can be solved exactly if |g_j| <= sum_i |c_i| h_ij, the threshold.
// Outside the working set v_j = u_ij = 0, the multipliers do not appear in the
// restricted program, and what |g_j| exceeds the threshold by is the residual
// of stationarity that no choice of them can avoid.
type completion struct {
	p     *Program
	g     [][]float64   // for each sparse variable
	h     [][][]float64 // for each sparse variable and epigraph
	extra [][]float64   // for each group with dropped rows in a second-order cone, their multipliers
	// excess is the signed residual of v outside the working sets, 0 inside.
	excess [][]float64
	// worst is the largest residual outside, and q the largest linear term there.
	worst, q float64
}

// threshold is the largest |g_j| that the epigraphs can balance.
func (c *completion) threshold(k, j int) float64 {
	sum := 0.0
	for i, use := range c.p.sparse[k].uses {
		sum += math.Abs(use.scale) * max(0, c.h[k][i][j])
	}
	return sum
}

// place is a term of a group whose source is a sparse variable or one of its epigraphs.
type place struct {
	group, term int
	use         int // -1 for the variable itself
}

// places finds the terms of each sparse variable outside its own epigraph rows.
func (p *Program) places() [][]place {
	out := make([][]place, len(p.sparse))
	for i, g := range p.groups {
		if g.own {
			continue
		}
		for t := range g.expr.vars {
			v := g.expr.vars[t].v
			k := p.sparseOf[v.id]
			if k < 0 {
				continue
			}
			use := -1
			for u := range p.sparse[k].uses {
				if p.sparse[k].uses[u].u == v {
					use = u
				}
			}
			out[k] = append(out[k], place{group: i, term: t, use: use})
		}
	}
	return out
}

// complete computes the completion of a point, or with x = nil of a certificate
// of infeasibility, in which the objective has no part.
func (w *columnSets) complete(as *assembled, x, z []float64) *completion {
	p := w.p
	c := &completion{p: p, g: make([][]float64, len(p.sparse)), h: make([][][]float64, len(p.sparse)),
		excess: make([][]float64, len(p.sparse)), extra: make([][]float64, len(p.groups))}
	for k, sv := range p.sparse {
		g := make([]float64, sv.v.n)
		h := make([][]float64, len(sv.uses))
		for i := range h {
			h[i] = make([]float64, sv.v.n)
		}
		target := func(v *Variable) []float64 {
			for i := range sv.uses {
				if sv.uses[i].u == v {
					return h[i]
				}
			}
			if v == sv.v {
				return g
			}
			return nil
		}
		if x != nil {
			p.objective.adjoint(1, []float64{1}, target)
			for i := range p.squares {
				as.squareGradient(i, k, x, target)
			}
			if _, inv := as.set(sv.v); inv != nil {
				for j, pos := range inv {
					if pos < 0 {
						c.q = max(c.q, math.Abs(g[j]))
					}
				}
			}
		}
		for _, at := range w.places[k] {
			out := g
			if at.use >= 0 {
				out = h[at.use]
			}
			rows := as.groupRows(at.group, z, w.scratch)
			p.groups[at.group].expr.vars[at.term].adjoint(out, -1, rows)
		}
		c.g[k], c.h[k], c.excess[k] = g, h, make([]float64, sv.v.n)
	}
	c.measure(as)
	if !(c.worst <= 0) {
		c.fillCones(as, z)
	}
	return c
}

// measure computes the residuals outside the working sets.
func (c *completion) measure(as *assembled) {
	c.worst = 0
	for k, sv := range c.p.sparse {
		_, inv := as.set(sv.v)
		if inv == nil {
			continue
		}
		for j, pos := range inv {
			if pos >= 0 {
				continue
			}
			over := math.Abs(c.g[k][j]) - c.threshold(k, j)
			if !(over <= 0) { // also for NaN
				c.excess[k][j] = math.Copysign(over, c.g[k][j])
				c.worst = max(c.worst, over)
			} else {
				c.excess[k][j] = 0
			}
		}
	}
}

// fillCones gives the dropped rows of second-order cones multipliers that lower
// the excess: the cone allows |(z_kept, z_dropped)| <= z_0, and with s = 0 in
// dropped rows any such choice leaves s'z and the dual objective alone. This is
// what decides about whole groups in a sparse group norm.
func (c *completion) fillCones(as *assembled, z []float64) {
	changed := false
	for i, g := range c.p.groups {
		if g.kind != backends.SecondOrderCone || as.rowOf[i] == nil {
			continue
		}
		head, kept, wanted := z[as.first[i]], 0.0, 0.0
		for _, v := range z[as.first[i]+1 : as.first[i]+as.rows(i)] {
			kept += v * v
		}
		// A small part of the slack stays, so that rounding leaves z in the cone.
		slack := (1 - 1e-12) * math.Sqrt(max(0, head*head-kept))
		if slack == 0 {
			continue
		}
		extra := make([]float64, g.expr.n)
		for t := range g.expr.vars {
			term := &g.expr.vars[t]
			if term.mat != nil || term.sum || term.w != nil {
				continue
			}
			for r := range term.rows {
				row := term.off + r
				if as.rowOf[i][row] >= 0 || c.p.sparse[g.dropOf[row]].v != term.v {
					continue
				}
				// g falls by f z: z = excess / f removes the excess.
				if f := term.fixed(r); f != 0 {
					extra[row] = c.excess[g.dropOf[row]][g.drop[row]] / f
					wanted += extra[row] * extra[row]
				}
			}
		}
		if wanted == 0 {
			continue
		}
		shrink := min(1, slack/math.Sqrt(wanted))
		for t := range g.expr.vars {
			term := &g.expr.vars[t]
			for r := range term.rows {
				row := term.off + r
				if term.mat == nil && !term.sum && row < len(extra) && extra[row] != 0 && c.p.sparse[g.dropOf[row]].v == term.v {
					delta := shrink * extra[row]
					k, j := g.dropOf[row], g.drop[row]
					c.g[k][j] -= term.fixed(r) * delta
					c.excess[k][j] -= term.fixed(r) * delta
					extra[row] = delta
				}
			}
		}
		c.extra[i] = extra
		changed = true
	}
	if changed {
		c.measure(as)
	}
}

// squareGradient adds the gradient of square i in sparse variable k at the point x.
func (as *assembled) squareGradient(i, k int, x []float64, target func(*Variable) []float64) {
	q := &as.prog.squares[i]
	var d []float64
	for t := range q.arg.vars {
		term := &q.arg.vars[t]
		if as.prog.sparseOf[term.v.id] != k {
			continue
		}
		if d == nil {
			d = q.arg.constant()
		}
		active, inv := as.set(term.v)
		out, columns := target(term.v), x[as.start[term.v.id]:]
		for r := range term.rows {
			j, f := term.entry(r), term.fixed(r)
			value, pos := d[term.off+r], j
			if active != nil {
				pos = inv[j]
			}
			if pos >= 0 {
				value += f * columns[pos]
			}
			out[j] += 2 * q.weight() * f * value
		}
	}
}

// multiplier returns the completed multiplier of a dropped row of a group.
func (c *completion) multiplier(g *group, r int) float64 {
	if !g.own {
		if c.extra[g.index] != nil {
			return c.extra[g.index][r]
		}
		return 0
	}
	k, j := g.dropOf[r], g.drop[r]
	// Each epigraph takes the share of g in proportion to what it can balance.
	threshold := c.threshold(k, j)
	for i, use := range c.p.sparse[k].uses {
		if use.plus != g && use.minus != g {
			continue
		}
		h := max(0, c.h[k][i][j])
		d := 0.0 // y- - y+
		if threshold > 0 {
			ratio := min(1, max(-1, c.g[k][j]/threshold))
			d = math.Copysign(1, use.scale) * ratio * h
		}
		if use.plus == g {
			return (h - d) / 2
		}
		return (h + d) / 2
	}
	return 0
}
