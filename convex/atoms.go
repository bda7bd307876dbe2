package convex

import (
	"math"

	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// entries returns all entries of an atom with the argument a.
func entries(a Affine, t *compile.Atom) Convex {
	t.Arg = a.e
	return Convex{f: compile.Function{N: t.N, Aff: affine.Expr{N: t.N}, Atoms: []compile.AtomTerm{{Atom: t, Scale: 1}}},
		m: a.m, err: a.err}
}

// SumSquares returns the scalar sum of a[i]^2.
func SumSquares(a Affine) Convex { return entries(a, &compile.Atom{Kind: compile.SquaresAtom, N: 1}) }

// Norm1 returns the scalar sum of |a[i]|. Applied to a whole variable it makes
// the variable a candidate for working sets, see [SolverOptions].
func Norm1(a Affine) Convex { return Abs(a).Sum() }

// Norm2 returns the scalar Euclidean norm of a.
func Norm2(a Affine) Convex { return entries(a, &compile.Atom{Kind: compile.NormsAtom, N: 1}) }

// NormInf returns the scalar largest |a[i]|, zero for no entries.
func NormInf(a Affine) Convex {
	if a.e.N == 0 {
		return Linear(Affine{e: affine.Expr{N: 1}, m: a.m, err: a.err})
	}
	return Max(Abs(a))
}

// GroupNorms returns a vector with one entry for each group g of entries of a,
// the Euclidean norm of a[groups[g][0]], a[groups[g][1]], ... Groups may
// overlap. The index lists are kept by reference and must not change.
func GroupNorms(a Affine, groups [][]int) Convex {
	if a.err == nil {
		for g, group := range groups {
			for _, i := range group {
				if i < 0 || i >= a.e.N {
					return failed(len(groups), a.m, "GroupNorms: entry %d in group %d of %v", i, g, a)
				}
			}
		}
	}
	if groups == nil {
		groups = [][]int{}
	}
	return entries(a, &compile.Atom{Kind: compile.NormsAtom, N: len(groups), Groups: groups})
}

// NuclearNorm returns the scalar sum of the singular values of a matrix of
// rows x cols, whose entries a holds row by row, as mat.NewDense takes them.
// Applied to a whole variable it makes the variable a candidate for working
// sets, see [SolverOptions].
func NuclearNorm(a Affine, rows, cols int) Convex {
	switch {
	case a.err != nil:
		return broken(1, a.m, a.err)
	case rows < 0 || cols < 0 || rows*cols != a.e.N:
		return failed(1, a.m, "NuclearNorm: %v is not a matrix of %d x %d", a, rows, cols)
	case a.e.N == 0:
		return Linear(Affine{e: affine.Expr{N: 1}, m: a.m})
	case rows == 1 || cols == 1:
		return Norm2(a)
	}
	return entries(a, &compile.Atom{Kind: compile.NuclearAtom, N: 1, Rows: rows})
}

// Abs returns the vector of |a[i]|.
func Abs(a Affine) Convex { return entries(a, &compile.Atom{Kind: compile.AbsAtom, N: a.e.N}) }

// Pos returns the vector of max(0, a[i]).
func Pos(a Affine) Convex { return entries(a, &compile.Atom{Kind: compile.PosAtom, N: a.e.N}) }

// Max returns the scalar largest entry of f, which must have at least one.
func Max(f Convex) Convex {
	switch w := f.f.Weighted(); {
	case f.err != nil:
		return broken(1, f.m, f.err)
	case f.f.N == 0:
		return failed(1, f.m, "Max of no entries")
	case w != nil:
		return failed(1, f.m, "Max of %v with the weight %s: Weight is for objectives only, outside of other atoms", f,
			w.Name)
	}
	return entries(Affine{m: f.m}, &compile.Atom{Kind: compile.MaxAtom, N: 1, Of: f.f})
}

// Huber returns the vector of Huber functions of a[i] with threshold delta > 0,
//
//	a^2/2 for |a| <= delta,  delta |a| - delta^2/2 elsewhere.
func Huber(a Affine, delta float64) Convex {
	if a.err == nil && (!(delta > 0) || math.IsInf(delta, 1)) {
		return failed(a.e.N, a.m, "Huber of %v with threshold %v, expected a positive number", a, delta)
	}
	return entries(a, &compile.Atom{Kind: compile.HuberAtom, N: a.e.N, Delta: delta})
}

// Logistic returns the vector of log(1 + exp(a[i])). The backend needs exponential cones.
func Logistic(a Affine) Convex {
	return entries(a, &compile.Atom{Kind: compile.LogisticAtom, N: a.e.N})
}

// LogSumExp returns a vector with one entry for each group g of entries of a, log(sum of exp(a[i]) over i in g). The
// index lists are kept by reference and must not change. The backend needs exponential cones.
func LogSumExp(a Affine, groups [][]int) Convex {
	if a.err == nil {
		for g, group := range groups {
			for _, i := range group {
				if i < 0 || i >= a.e.N {
					return failed(len(groups), a.m, "LogSumExp: entry %d in group %d of %v", i, g, a)
				}
			}
			if len(group) == 0 {
				return failed(len(groups), a.m, "LogSumExp: no entries in group %d of %v", g, a)
			}
		}
	}
	return entries(a, &compile.Atom{Kind: compile.LogSumExpAtom, N: len(groups), Groups: groups})
}

// Exp returns the vector of exp(a[i]). The backend needs exponential cones.
func Exp(a Affine) Convex { return entries(a, &compile.Atom{Kind: compile.ExpAtom, N: a.e.N}) }
