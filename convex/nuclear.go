package convex

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
)

// matrixVariable is a variable that stands, as a whole, in nuclear norms: its
// entries are those of a rows x cols matrix X, row by row.
type matrixVariable struct {
	v          *Variable
	rows, cols int
	uses       []nuclearUse
}

// nuclearUse is a group of rows (h, scale X) in the nuclear norm cone.
type nuclearUse struct {
	g     *group
	scale float64
}

// curve is a part of the Lagrangian that is quadratic in the variables:
// weight * |arg|^2 of the objective, or of a constraint whose multiplier is
// that of the second-order cone that the squares share.
type curve struct {
	arg   Affine
	scale float64
	w     *Parameter // nil: 1
	cone  *group     // nil: of the objective
	// residual and rows are the variable and the equations in which the objective has the
	// squares of arg, if it has not those of variables themselves.
	residual *Variable
	rows     *group
}

// weight is the factor of |arg|^2 in the Lagrangian, given the multipliers of
// the rows of the cone, if there is one.
func (c *curve) weight(z []float64) float64 {
	weight := c.scale
	if c.w != nil {
		weight *= c.w.values[0]
	}
	if c.cone != nil {
		// With h in the rows (h-c)/2 and (h+c)/2, its multiplier is their mean.
		weight *= max(0, (z[0]+z[1])/2)
	}
	return weight
}

// noteMatrix records the rows (h, a) of a nuclear norm cone if a is a whole variable.
func (c *compiler) noteMatrix(g *group, a Affine) {
	if len(a.vars) != 1 || !a.fixed() || !a.vars[0].identity() || a.vars[0].off != 0 || floats.Norm(a.c, 1) != 0 {
		return
	}
	t := a.vars[0]
	use := nuclearUse{g: g, scale: t.scale}
	for _, mv := range c.matrices {
		if mv.v == t.v {
			if mv.rows == g.rows {
				mv.uses = append(mv.uses, use)
			}
			return
		}
	}
	c.matrices = append(c.matrices, &matrixVariable{v: t.v, rows: g.rows, cols: t.v.n / g.rows, uses: []nuclearUse{use}})
}

// LowRank says that the program has nuclear norms of whole variables, so that working
// sets restrict these instead of the entries of vectors.
func (p *Program) LowRank() bool { return len(p.matrices) > 0 }

// restricted returns the use of the rows of a group as the nuclear norm of a whole
// variable, and the index of the variable in matrices, or nil.
func (p *Program) restricted(g *group) (use *nuclearUse, k int) {
	for k, mv := range p.matrices {
		for i := range mv.uses {
			if mv.uses[i].g == g {
				return &mv.uses[i], k
			}
		}
	}
	return nil, 0
}

// nuclear says that the program has nuclear norms.
func (p *Program) nuclear() bool {
	for _, g := range p.groups {
		if g.kind == backends.NuclearNormCone {
			return true
		}
	}
	return false
}

// nuclearNorm returns the sum of the singular values of a matrix given by rows.
func nuclearNorm(x []float64, rows int) float64 {
	for _, v := range x {
		if notFinite(v) {
			return math.NaN()
		}
	}
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(rows, len(x)/rows, x), mat.SVDNone) {
		return math.NaN()
	}
	return floats.Sum(svd.Values(nil))
}
