package singular

import (
	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Programs with nuclear norms that are solved as they are.
//
// Working sets of singular vectors are for large matrices. A semidefinite matrix of order n = rows + columns on
// whose entries nothing else stands than a few rows costs an interior-point method a few products of n x n matrices
// and a system of the number of these rows, and it takes a dozen iterations whatever the rank is. At 60 x 60 with 220 known
// entries that is 60 ms, where working sets take from 30 ms to a second.

// Size is an order of semidefinite matrices and a number of rows.
type Size struct{ order, rows int }

var (
	// Always solved as they are: up to wholeSize, at which an iteration takes 20 ms.
	WholeSize = Size{200, 500}
	// Solved as they are once working sets have not settled in hardRounds rounds: up to secondSize,
	// at which an iteration takes half a second.
	SecondSize = Size{400, 2000}
)

const hardRounds = 12

// touching returns the order of the largest semidefinite matrix that the nuclear norms of whole variables need, and the number of rows
// of squares and constraints in which these variables stand otherwise. whole says that there is a square of all entries of one, which
// leaves no system of few rows.
func touching(p *compile.Program) (order, rows int, whole bool) {
	for _, mv := range p.Matrices {
		order = max(order, mv.Rows+mv.Cols)
	}
	count := func(a *affine.Expr) {
		for k := range a.Vars {
			if t := &a.Vars[k]; p.MatrixOf(t.V) {
				rows += t.Height()
			}
		}
	}
	for _, g := range p.Groups {
		if use, _ := p.Restricted(g); use == nil {
			count(&g.Expr)
		}
	}
	for i := range p.Squares {
		a := &p.Squares[i].Arg
		whole = whole || a.Whole() && p.MatrixOf(a.Vars[0].V)
		count(a)
	}
	return order, rows, whole
}

// Direct says that the program is within the bounds for being solved as it is, on a backend with semidefinite matrices.
func Direct(p *compile.Program, c backends.Capabilities, most Size) bool {
	if !c.Supports(backends.PSDCone) || c.Supports(backends.NuclearNormCone) {
		return false
	}
	order, rows, whole := touching(p)
	return order <= most.order && rows <= most.rows && !whole
}
