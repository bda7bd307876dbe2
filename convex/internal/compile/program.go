// Package compile turns convex functions of affine expressions into a conic program whose numbers depend on parameters.
//
// A [Program] is typed: groups of rows, each an affine expression in a cone, squares in the objective, and what is
// known of their structure: entries that a 1-norm can hold at zero, hinges, boxes, matrices in nuclear norms. A
// [Layout] places its variables and rows, without those outside of working sets; [Assembled] has the pattern, and
// [Numbers] the numbers at the parameters' values in a [State].
package compile

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
)

// Program is a compiled model: the conic program with its dependence on the
// parameters. It does not change when the model does.
type Program struct {
	Vars      []*affine.Variable // the model's, then auxiliary ones; vars[i].id == i
	Users     int                // number of the model's variables
	Params    []*affine.Parameter
	Groups    []*Group    // in the order of the rows
	Objective affine.Expr // scalar, without squares
	Squares   []Square
	Refs      map[*Constraint][]dualRef
	weights   []*affine.Parameter // weights of atoms, which must not be negative
	Sparse    []*SparseVariable
	Boxes     [][2]*Group // the two sides of boxes
	SparseOf  []int       // for each variable, the sparse variable whose entries it follows, or -1
	Matrices  []*MatrixVariable
	Curves    []Curve
}

// Constraint is f <= 0, or f = 0 or in a cone for f affine.
type Constraint struct {
	N     int
	Equal bool
	Cone  *backends.Cone
	F     Function
}

// Group is a block of consecutive rows with s = expr in one cone.
type Group struct {
	Kind  backends.ConeKind
	Expr  affine.Expr
	Index int
	// shape has the exponents, bounds or sizes of the cone; of a nuclear norm its Cols are the rows of the matrix.
	shape backends.Cone
	// From is, in a program derived from another one, the group of that program which this one, or its first row, stands
	// for.
	From *Group
	// Own marks the two row groups of an epigraph u >= |v| of a sparse variable.
	Own bool
	// Overlap says that two terms may meet in one entry of A.
	Overlap bool
	// DropOf and drop say, for each row, which entry of which sparse variable takes the row with it when it is excluded;
	// dropOf is -1 for rows that always stay. Nil when all stay.
	DropOf, Drop []int
}

// Square is weight * |arg|^2 in the objective, where each entry of arg has at most one entry of a variable.
type Square struct {
	Arg   affine.Expr
	Scale float64
	W     *affine.Parameter
}

// Weight is the factor.
func (q *Square) Weight(at affine.Values) float64 {
	if q.W != nil {
		return q.Scale * at.Entry(q.W, 0)
	}
	return q.Scale
}

// dualRef says that entries first, first+step, .. of a constraint's multiplier
// get coef times the multipliers of the rows row, row+1, .. of a group.
type dualRef struct {
	G           *Group
	Row, Rows   int
	Coef        float64
	First, Step int
}

// SparseVariable is a variable whose entries outside a working set are fixed at zero.
type SparseVariable struct {
	V    *affine.Variable
	Uses []absUse
}

// absUse is an epigraph u >= |scale v|, in rows u - scale v >= 0 and u + scale v >= 0.
type absUse struct {
	U           *affine.Variable
	Scale       float64
	Plus, Minus *Group
}

// Compile turns an objective, nil for zero, and constraints into a conic program. It reports entries that are not
// finite.
func Compile(vars []*affine.Variable, params []*affine.Parameter, objective *Function,
	constraints []*Constraint) (*Program, error) {
	c := &compiler{
		Program: &Program{Vars: vars, Users: len(vars), Params: params, Refs: map[*Constraint][]dualRef{}},
		shared:  map[*Atom]*affine.Variable{},
		bounds:  map[*affine.Variable]*affine.Variable{},
		known:   map[*Atom]*Atom{},
	}
	for _, con := range constraints {
		c.constraint(con)
	}
	if objective != nil {
		c.minimize(c.resolve(*objective))
	}
	c.order()
	c.sparsity()
	c.opposite()
	if err := c.finite(); err != nil {
		return nil, err
	}
	return c.Program, nil
}

// order sorts the groups by cone, keeping the order within each kind.
func (p *Program) order() {
	slices.SortStableFunc(p.Groups, func(a, b *Group) int { return int(a.Kind) - int(b.Kind) })
	for i, g := range p.Groups {
		g.Index = i
		slices.SortStableFunc(g.Expr.Vars, func(a, b affine.Term) int { return a.Off - b.Off })
		g.Overlap = Overlapping(g.Expr.Vars)
	}
}

// Overlapping says whether two terms of one variable may share a row, or a
// sum may read an entry twice. The terms are sorted by their first row.
func Overlapping(terms []affine.Term) bool {
	end := map[*affine.Variable]int{}
	for _, t := range terms {
		if t.Off < end[t.V] {
			return true
		}
		end[t.V] = t.End()
		if t.Sum && t.Mat == nil && t.Idx != nil {
			if distinct := slices.Compact(slices.Sorted(slices.Values(t.Idx))); len(distinct) < len(t.Idx) {
				return true
			}
		}
	}
	return false
}

// sparsity finds which variable follows which sparse variable, and the rows that vanish with an entry: rows s = expr
// whose only entries of variables are excluded together and which have no constant. There s = 0, and the multiplier 0
// completes the dual point.
func (p *Program) sparsity() {
	p.SparseOf = slices.Repeat([]int{-1}, len(p.Vars))
	for k, s := range p.Sparse {
		p.SparseOf[s.V.ID] = k
		for _, use := range s.Uses {
			p.SparseOf[use.U.ID] = k
		}
	}
	if len(p.Sparse) == 0 {
		return
	}
	const unknown, stays = -2, -1
	for _, g := range p.Groups {
		of, drop := make([]int, g.Expr.N), make([]int, g.Expr.N)
		for r := range of {
			of[r] = unknown
			if g.Expr.C != nil && g.Expr.C[r] != 0 || !orthant(g.Kind) && (r == 0 || g.Kind != backends.SecondOrderCone) {
				of[r] = stays
			}
		}
		for _, t := range g.Expr.Pars {
			for r := range t.Rows {
				of[t.Row(r)] = stays
			}
		}
		for _, t := range g.Expr.Vars {
			k := p.SparseOf[t.V.ID]
			for r := range t.Rows {
				row := t.Row(r)
				switch {
				case of[row] == stays:
				case k < 0 || t.Mat != nil || t.Sum:
					of[row] = stays
				case of[row] == unknown:
					of[row], drop[row] = k, t.Entry(r)
				case of[row] != k || drop[row] != t.Entry(r):
					of[row] = stays
				}
			}
		}
		some := false
		for r := range of {
			if of[r] == unknown {
				of[r] = stays
			}
			some = some || of[r] != stays
		}
		if some {
			g.DropOf, g.Drop = of, drop
		}
	}
}

// finite checks the numbers of all matrices.
func (p *Program) finite() error {
	seen := map[*affine.Matrix]bool{}
	check := func(a affine.Expr) error {
		for _, terms := range [][]affine.Term{a.Vars, a.Pars} {
			for _, t := range terms {
				for r, v := range t.Coef {
					if affine.NotFinite(v) {
						return fmt.Errorf("convex: the matrix in %v has an entry at (%d, %d) that is not finite", a, t.Row(r), t.Entry(r))
					}
				}
				if t.Mat == nil || seen[t.Mat] {
					continue
				}
				seen[t.Mat] = true
				if i, j, ok := t.Mat.Finite(); !ok {
					return fmt.Errorf("convex: the matrix in %v has an entry at (%d, %d) that is not finite", a, i, j)
				}
			}
		}
		for i, v := range a.C {
			if affine.NotFinite(v) {
				return fmt.Errorf("convex: constant %d of %v is %v, expected a finite number", i, a, v)
			}
		}
		return nil
	}
	for _, g := range p.Groups {
		if err := check(g.Expr); err != nil {
			return err
		}
	}
	for i := range p.Squares {
		if err := check(p.Squares[i].Arg); err != nil {
			return err
		}
	}
	return check(p.Objective)
}
