package compile

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
)

// MatrixVariable is a variable that stands, as a whole, in nuclear norms: its
// entries are those of a rows x cols matrix X, row by row.
type MatrixVariable struct {
	V          *affine.Variable
	Rows, Cols int
	Uses       []nuclearUse
}

// nuclearUse is a group of rows (h, scale X) in the nuclear norm cone.
type nuclearUse struct {
	G     *Group
	Scale float64
}

// Curve is a part of the Lagrangian that is quadratic in the variables: weight * |arg|^2 of the objective, or of a
// constraint whose multiplier is that of the second-order cone that the squares share.
type Curve struct {
	Square
	Cone *Group // nil: of the objective
}

// Weight is the factor of |arg|^2 in the Lagrangian, given the multipliers of the rows of the cone, if there is one.
func (c *Curve) Weight(at affine.Values, z []float64) float64 {
	weight := c.Square.Weight(at)
	if c.Cone != nil {
		// With h in the rows (h-c)/2 and (h+c)/2, its multiplier is their mean.
		weight *= max(0, (z[0]+z[1])/2)
	}
	return weight
}

// whole says that an expression is a multiple of a whole variable of the model, and more.
func (c *compiler) whole(a affine.Expr) bool { return a.Whole() && a.Vars[0].V.ID < c.Users }

// noteMatrix records the rows (h, a) of a nuclear norm cone if a is a whole variable.
func (c *compiler) noteMatrix(g *Group, a affine.Expr) {
	if !c.whole(a) || !a.Fixed() || floats.Norm(a.C, 1) != 0 {
		return
	}
	t := a.Vars[0]
	use := nuclearUse{G: g, Scale: t.Scale}
	for _, mv := range c.Matrices {
		if mv.V == t.V {
			if mv.Rows == g.shape.Cols {
				mv.Uses = append(mv.Uses, use)
			}
			return
		}
	}
	c.Matrices = append(c.Matrices, &MatrixVariable{V: t.V, Rows: g.shape.Cols, Cols: g.shape.Rows,
		Uses: []nuclearUse{use}})
}

// Restricted returns the use of the rows of a group as the nuclear norm of a whole
// variable, and the index of the variable in matrices, or nil.
func (p *Program) Restricted(g *Group) (use *nuclearUse, k int) {
	for k, mv := range p.Matrices {
		for i := range mv.Uses {
			if mv.Uses[i].G == g {
				return &mv.Uses[i], k
			}
		}
	}
	return nil, 0
}

// Nuclear says that the program has nuclear norms.
func (p *Program) Nuclear() bool {
	return slices.ContainsFunc(p.Groups, func(g *Group) bool { return g.Kind == backends.NuclearNormCone })
}
