package convex

import (
	"slices"

	"github.com/conetune/conetune/backends"
)

// Programs with nuclear norms that are solved as they are.
//
// Working sets of singular vectors (see matrixset.go) are for large matrices. A semidefinite matrix of order n = rows + columns on
// whose entries nothing else stands than a few rows costs an interior-point method a few products of n x n matrices
// and a system of the number of these rows, and it takes a dozen iterations whatever the rank is. At 60 x 60 with 220 known
// entries that is 60 ms, where working sets take from 30 ms to a second.

// matrixSize is an order of semidefinite matrices and a number of rows.
type matrixSize struct{ order, rows int }

var (
	// Always solved as they are: up to wholeSize, at which an iteration takes 20 ms.
	wholeSize = matrixSize{200, 500}
	// Solved as they are once working sets have not settled in hardRounds rounds: up to secondSize,
	// at which an iteration takes half a second.
	secondSize = matrixSize{400, 2000}
)

const hardRounds = 12

// touching returns the order of the largest semidefinite matrix that the nuclear norms of whole variables need, and the number of rows
// of squares and constraints in which these variables stand otherwise. whole says that there is a square of all entries of one, which
// leaves no system of few rows.
func (p *Program) touching() (order, rows int, whole bool) {
	for _, mv := range p.matrices {
		order = max(order, mv.rows+mv.cols)
	}
	count := func(a *Affine) {
		for k := range a.vars {
			if t := &a.vars[k]; p.matrixOf(t.v) {
				rows += t.height()
			}
		}
	}
	for _, g := range p.groups {
		if use, _ := p.restricted(g); use == nil {
			count(&g.expr)
		}
	}
	for i := range p.squares {
		a := &p.squares[i].arg
		whole = whole || wholeVariable(*a) && p.matrixOf(a.vars[0].v)
		count(a)
	}
	return order, rows, whole
}

// matrixOf says that the variable is that of a nuclear norm.
func (p *Program) matrixOf(v *Variable) bool {
	return slices.ContainsFunc(p.matrices, func(mv *matrixVariable) bool { return mv.v == v })
}

// direct says that the program is within the bounds for being solved as it is, on a backend with semidefinite matrices.
func (p *Program) direct(c backends.Capabilities, most matrixSize) bool {
	if !c.Supports(backends.PSDCone) || c.Supports(backends.NuclearNormCone) {
		return false
	}
	order, rows, whole := p.touching()
	return order <= most.order && rows <= most.rows && !whole
}

// residuals replaces squares in which matrices stand by squares of new variables e with a - e = 0, so that nothing quadratic
// stands on the semidefinite matrices.
func (p *Program) residuals(d *Program) {
	d.squares = slices.Clone(p.squares)
	for i := range d.squares {
		q := &d.squares[i]
		touched := slices.ContainsFunc(q.arg.vars, func(t term) bool { return p.matrixOf(t.v) })
		if !touched || wholeVariable(q.arg) {
			continue
		}
		q.arg = d.residual(q.arg)
	}
}

// residual adds a variable e with a - e = 0, and returns it.
func (p *Program) residual(a Affine) Affine {
	e := p.auxiliary(a.m, "residuals", a.n).Expr()
	p.groups = append(p.groups, &group{kind: backends.ZeroCone, expr: a.Minus(e)})
	return e
}
