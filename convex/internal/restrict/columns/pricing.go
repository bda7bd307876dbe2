package columns

import (
	"math"
	"slices"

	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// completion extends a primal-dual point of a program restricted to working sets to the full program. For entry j of a
// sparse variable v with epigraphs u_i >= |c_i v|, write g for the gradient in v_j of the Lagrangian without the rows
// of these epigraphs, and h_i for that in u_ij, the weight of the norm. The rows u - c v >= 0 and u + c v >= 0 have
// multipliers y+, y- >= 0 with
//
//	g_j + sum_i c_i (y+_i - y-_i) = 0,   h_ij - y+_i - y-_i = 0
//
// which can be solved exactly if |g_j| <= sum_i |c_i| h_ij, the threshold. Outside the working set v_j = u_ij = 0, the
// multipliers do not appear in the restricted program, and what |g_j| exceeds the threshold by is the residual of
// stationarity that no choice of them can avoid.
type completion struct {
	p *compile.Program
	g [][]float64   // for each sparse variable
	h [][][]float64 // for each sparse variable and epigraph
	// excess is the signed residual of v outside the working sets, 0 inside.
	excess [][]float64
	// worst is the largest residual outside, and q the largest linear term there.
	worst, q float64
}

// threshold is the largest |g_j| that the epigraphs can balance.
func (c *completion) threshold(k, j int) float64 {
	sum := 0.0
	for i, use := range c.p.Sparse[k].Uses {
		sum += math.Abs(use.Scale) * max(0, c.h[k][i][j])
	}
	return sum
}

// complete computes the completion of a point.
func (w *Sets) complete(as *compile.Assembled, x, z []float64) *completion {
	p, at := w.p, w.s.State.Values
	c := &completion{p: p, g: make([][]float64, len(p.Sparse)), h: make([][][]float64, len(p.Sparse)),
		excess: make([][]float64, len(p.Sparse))}
	for k, sv := range p.Sparse {
		g := make([]float64, sv.V.N)
		h := make([][]float64, len(sv.Uses))
		for i := range h {
			h[i] = make([]float64, sv.V.N)
		}
		target := func(v *affine.Variable) []float64 {
			for i := range sv.Uses {
				if sv.Uses[i].U == v {
					return h[i]
				}
			}
			if v == sv.V {
				return g
			}
			return nil
		}
		p.Objective.Adjoint(1, []float64{1}, at, target)
		for i := range p.Squares {
			squareGradient(as, i, x, at, target)
		}
		if _, inv := as.Set(sv.V); inv != nil {
			for j, pos := range inv {
				if pos < 0 {
					c.q = max(c.q, math.Abs(g[j]))
				}
			}
		}
		for i, group := range p.Groups {
			if !group.Own && touches(&group.Expr, target) {
				group.Expr.Adjoint(-1, as.GroupRows(i, z, w.scratch), at, target)
			}
		}
		c.g[k], c.h[k], c.excess[k] = g, h, make([]float64, sv.V.N)
	}
	c.measure(as)
	return c
}

// touches says that an expression has a variable for which target returns something.
func touches(a *affine.Expr, target func(*affine.Variable) []float64) bool {
	return slices.ContainsFunc(a.Vars, func(t affine.Term) bool { return target(t.V) != nil })
}

// measure computes the residuals outside the working sets.
func (c *completion) measure(as *compile.Assembled) {
	for k, sv := range c.p.Sparse {
		_, inv := as.Set(sv.V)
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
			}
		}
	}
}

// squareGradient adds the gradient of square i at the point x to what target returns for a variable, nil for none.
func squareGradient(as *compile.Assembled, i int, x []float64, at affine.Values,
	target func(*affine.Variable) []float64) {
	q := &as.Program.Squares[i]
	if !touches(&q.Arg, target) {
		return
	}
	value := q.Arg.Constant(at)
	q.Arg.Forward(value, at, func(v *affine.Variable) []float64 {
		full := make([]float64, v.N)
		as.Expand(full, v, x)
		return full
	})
	q.Arg.Adjoint(2*q.Weight(at), value, at, target)
}

// multiplier returns the completed multiplier of a dropped row of a group.
func (c *completion) multiplier(g *compile.Group, r int) float64 {
	if !g.Own {
		return 0
	}
	k, j := g.DropOf[r], g.Drop[r]
	// Each epigraph takes the share of g in proportion to what it can balance.
	threshold := c.threshold(k, j)
	for i, use := range c.p.Sparse[k].Uses {
		if use.Plus != g && use.Minus != g {
			continue
		}
		h := max(0, c.h[k][i][j])
		d := 0.0 // y- - y+
		if threshold > 0 {
			ratio := min(1, max(-1, c.g[k][j]/threshold))
			d = math.Copysign(1, use.Scale) * ratio * h
		}
		if use.Plus == g {
			return (h - d) / 2
		}
		return (h + d) / 2
	}
	return 0
}
