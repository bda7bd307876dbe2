package convex

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/backends"
)

// Program is a compiled model: the conic program with its dependence on the
// parameters. It does not change when the model does; the parameters are shared.
type Program struct {
	vars      []*Variable // the model's, then auxiliary ones; vars[i].id == i
	users     int         // number of the model's variables
	params    []*Parameter
	groups    []*group // in the order of the rows
	objective Affine   // scalar, without squares
	squares   []square
	refs      map[*Constraint][]dualRef
	weights   []*Parameter // weights of atoms, which must not be negative
	sparse    []*sparseVariable
	boxes     [][2]*group // the two sides of boxes
	hinges    []*hinge    // with working sets of rows
	kinks     []*hinge    // all hinges whose weights are plain numbers, also small ones
	slack     []*group    // groups of inequalities whose rows may be left out
	sparseOf  []int       // for each variable, the sparse variable whose entries it follows, or -1
	matrices  []*matrixVariable
	curves    []curve
}

// group is a block of consecutive rows with s = expr in one cone.
type group struct {
	kind  backends.ConeKind
	expr  Affine
	index int
	// rows is the number of rows of the matrix of a nuclear norm.
	rows int
	// from is, in a program derived from another one, the group of that program
	// which this one, or its first row, stands for.
	from *group
	// own marks the two row groups of an epigraph u >= |v| of a sparse variable.
	own bool
	// squared is not 0 for a cone that stands for a sum of squares, see squaresBelow: its constant c.
	squared float64
	// overlap says that two terms may meet in one entry of A.
	overlap bool
	// dropOf and drop say, for each row, which entry of which sparse variable
	// takes the row with it when it is excluded; dropOf is -1 for rows that
	// always stay. Nil when all stay.
	dropOf, drop []int
	// kept are the rows of the group of the full program that are rows of this one, place is
	// the inverse, -1 for rows left out. Nil when all are.
	kept, place []int
}

// square is weight * |arg|^2 in the objective, where each entry of arg has at
// most one entry of a variable.
type square struct {
	arg   Affine
	scale float64
	w     *Parameter
}

// weight is the factor at the parameter's current value.
func (q *square) weight() float64 {
	if q.w != nil {
		return q.scale * q.w.values[0]
	}
	return q.scale
}

// dualRef says that entries first, first+step, .. of a constraint's multiplier
// get coef times the multipliers of the rows row, row+1, .. of a group.
type dualRef struct {
	g           *group
	row, rows   int
	coef        float64
	first, step int
}

// sparseVariable is a variable whose entries outside a working set are fixed at zero.
type sparseVariable struct {
	v    *Variable
	uses []absUse
}

// absUse is an epigraph u >= |scale v|, in rows u - scale v >= 0 and u + scale v >= 0.
type absUse struct {
	u           *Variable
	scale       float64
	plus, minus *group
}

// Compile turns the model into a conic program. It reports the first error made
// in building the model: non-convex use, lengths that differ, variables of
// another model, entries that are not finite.
func (m *Model) Compile() (*Program, error) {
	c := &compiler{
		Program: &Program{vars: slices.Clone(m.vars), users: len(m.vars), params: slices.Clone(m.params), refs: map[*Constraint][]dualRef{}},
		model:   m, shared: map[*atom]*Variable{},
	}
	for i, con := range m.constraints {
		if con == nil {
			return nil, fmt.Errorf("convex: constraint %d is nil", i)
		}
		if con.err != nil {
			return nil, fmt.Errorf("constraint %d: %w", i, con.err)
		}
		if owner := con.f.model(); owner != nil && owner != m {
			return nil, fmt.Errorf("convex: constraint %d on %v belongs to another model", i, con.f)
		}
		c.constraint(con)
	}
	if m.minimized {
		switch f := m.objective; {
		case f.err != nil:
			return nil, fmt.Errorf("objective: %w", f.err)
		case f.n != 1:
			return nil, fmt.Errorf("convex: the objective has length %d, expected a scalar", f.n)
		case f.model() != nil && f.model() != m:
			return nil, fmt.Errorf("convex: the objective, %v, belongs to another model", f)
		default:
			c.minimize(f)
		}
	}
	c.order()
	c.sparsity()
	c.opposite()
	c.rowSets()
	if err := c.finite(); err != nil {
		return nil, err
	}
	return c.Program, nil
}

// order sorts the groups by cone, keeping the order within each kind.
func (p *Program) order() {
	slices.SortStableFunc(p.groups, func(a, b *group) int { return int(a.kind) - int(b.kind) })
	for i, g := range p.groups {
		g.index = i
		slices.SortStableFunc(g.expr.vars, func(a, b term) int { return a.off - b.off })
		g.overlap = overlapping(g.expr.vars)
	}
}

// overlapping says whether two terms of one variable may share a row, or a
// sum may read an entry twice. The terms are sorted by their first row.
func overlapping(terms []term) bool {
	end := map[*Variable]int{}
	for i := range terms {
		t := &terms[i]
		if t.off < end[t.v] {
			return true
		}
		end[t.v] = t.off + t.height()
		if t.sum && t.mat == nil && t.idx != nil {
			seen := make(map[int]bool, len(t.idx))
			for _, j := range t.idx {
				if seen[j] {
					return true
				}
				seen[j] = true
			}
		}
	}
	return false
}

// sparsity finds which variable follows which sparse variable, and the rows
// that vanish with an entry: rows s = expr whose only entries of variables are
// excluded together and which have no constant. There s = 0, and the
// multiplier 0 completes the dual point.
func (p *Program) sparsity() {
	p.sparseOf = make([]int, len(p.vars))
	for i := range p.sparseOf {
		p.sparseOf[i] = -1
	}
	for k, s := range p.sparse {
		p.sparseOf[s.v.id] = k
		for _, use := range s.uses {
			p.sparseOf[use.u.id] = k
		}
	}
	if len(p.sparse) == 0 {
		return
	}
	const unknown, stays = -2, -1
	for _, g := range p.groups {
		of, drop := make([]int, g.expr.n), make([]int, g.expr.n)
		for r := range of {
			of[r] = unknown
			if g.expr.c != nil && g.expr.c[r] != 0 || !orthant(g.kind) && (r == 0 || g.kind != backends.SecondOrderCone) {
				of[r] = stays
			}
		}
		for i := range g.expr.pars {
			t := &g.expr.pars[i]
			for r := range t.height() {
				of[t.off+r] = stays
			}
		}
		for i := range g.expr.vars {
			t := &g.expr.vars[i]
			k := p.sparseOf[t.v.id]
			for r := range t.height() {
				row := t.off + r
				switch {
				case of[row] == stays:
				case k < 0 || t.mat != nil || t.sum:
					of[row] = stays
				case of[row] == unknown:
					of[row], drop[row] = k, t.entry(r)
				case of[row] != k || drop[row] != t.entry(r):
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
			g.dropOf, g.drop = of, drop
		}
	}
}

// finite checks the numbers of all matrices.
func (p *Program) finite() error {
	seen := map[*matrix]bool{}
	check := func(a Affine) error {
		for _, terms := range [][]term{a.vars, a.pars} {
			for i := range terms {
				t := &terms[i]
				if t.mat == nil || seen[t.mat] {
					continue
				}
				seen[t.mat] = true
				if i, j, ok := t.mat.finite(); !ok {
					return fmt.Errorf("convex: the matrix in %v has an entry at (%d, %d) that is not finite", a, i, j)
				}
			}
		}
		for i, v := range a.c {
			if notFinite(v) {
				return fmt.Errorf("convex: constant %d of %v is %v, expected a finite number", i, a, v)
			}
		}
		return nil
	}
	for _, g := range p.groups {
		if err := check(g.expr); err != nil {
			return err
		}
	}
	for i := range p.squares {
		if err := check(p.squares[i].arg); err != nil {
			return err
		}
	}
	return check(p.objective)
}
