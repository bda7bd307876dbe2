package singular

import (
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Programs are solved as they are up to semidefinite matrices of directOrder, on whose entries nothing else stands than
// directRows rows: they cost an interior-point method a few products of matrices and a system of the order of the rows
// in an iteration, 20 ms at most, and take a dozen iterations whatever the rank is.
const directOrder, directRows = 200, 500

// Takes says that a program has matrices to restrict, on a backend that could solve the whole of it.
func Takes(p *compile.Program, c backends.Capabilities) bool {
	return len(p.Matrices) > 0 && (c.Supports(backends.PSDCone) || c.Supports(backends.NuclearNormCone))
}

// Direct says that a program is solved as it is, on a backend with semidefinite matrices. A square of all entries of a
// matrix leaves no system of few rows.
func Direct(p *compile.Program, c backends.Capabilities) bool {
	if !c.Supports(backends.PSDCone) || c.Supports(backends.NuclearNormCone) {
		return false
	}
	rows := 0
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
		if a.Whole() && p.MatrixOf(a.Vars[0].V) {
			return false
		}
		count(a)
	}
	return rows <= directRows && !slices.ContainsFunc(p.Matrices, func(mv *compile.MatrixVariable) bool {
		return mv.Rows+mv.Cols > directOrder
	})
}
