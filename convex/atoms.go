package convex

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// entries returns all entries of an atom with the argument a, an affine expression, in its shape if there are as many.
func entries(a *expression, t *compile.Atom) *expression {
	t.Arg = a.f().Aff
	e := newExpr(compile.Function{N: t.N, Aff: affine.Expr{N: t.N}, Atoms: []compile.AtomTerm{{Atom: t, Scale: 1}}}, a.m)
	if e.err = a.err; t.N == a.Len() && t.N > 1 {
		return e.like(a)
	}
	return e
}

// SumSquares returns the scalar sum of a[i]^2.
func SumSquares(a Operand) Expr {
	return entries(argument("SumSquares", a, byMagnitude), &compile.Atom{Kind: compile.SquaresAtom, N: 1})
}

// Norm1 returns the scalar sum of |a[i]|. Applied to a whole variable it makes
// the variable a candidate for working sets, see [SolverOptions].
func Norm1(a Operand) Expr { return Sum(Abs(a)) }

// Norm2 returns the scalar Euclidean norm, of matrices that of Frobenius.
func Norm2(a Operand) Expr {
	return entries(argument("Norm2", a, byMagnitude), &compile.Atom{Kind: compile.NormsAtom, N: 1})
}

// NormInf returns the scalar largest |a[i]|, zero for no entries.
func NormInf(a Operand) Expr {
	if e := operand("NormInf", a); e.Len() == 0 {
		return Sum(e)
	}
	return Max(Abs(a))
}

// grouped checks lists of entries, which no list must lack where empty is false; nil is a list of all.
func grouped(op string, a *expression, groups [][]int, empty bool) error {
	for g, group := range groups {
		for _, i := range group {
			if i < 0 || i >= a.Len() {
				return fmt.Errorf("convex: %s: entry %d in group %d of %v", op, i, g, a)
			}
		}
		if len(group) == 0 && !empty {
			return fmt.Errorf("convex: %s: no entries in group %d of %v", op, g, a)
		}
	}
	return nil
}

// GroupNorms returns a vector with one entry for each group g of entries of a,
// the Euclidean norm of a[groups[g][0]], a[groups[g][1]], ... Groups may
// overlap. The index lists are kept by reference and must not change.
func GroupNorms(a Operand, groups [][]int) Expr {
	e := argument("GroupNorms", a, byMagnitude)
	if err := grouped("GroupNorms", e, groups, true); err != nil && e.err == nil {
		return broken(len(groups), 1, e.m, err)
	}
	if groups == nil {
		groups = [][]int{}
	}
	return entries(e, &compile.Atom{Kind: compile.NormsAtom, N: len(groups), Groups: groups}).shaped(len(groups), 1)
}

// NuclearNorm returns the scalar sum of the singular values of a matrix. Applied to a whole variable it makes the
// variable a candidate for working sets, see [SolverOptions].
func NuclearNorm(a Operand) Expr {
	e := argument("NuclearNorm", a, neither)
	switch {
	case e.err == nil && e.Len() == 0:
		return Sum(e)
	case e.rows == 1 || e.cols == 1:
		return Norm2(e)
	}
	return entries(e, &compile.Atom{Kind: compile.NuclearAtom, N: 1, Rows: e.rows})
}

// Abs returns |a[i]|, entry by entry.
func Abs(a Operand) Expr {
	e := argument("Abs", a, byMagnitude)
	return entries(e, &compile.Atom{Kind: compile.AbsAtom, N: e.Len()})
}

// Pos returns max(0, a[i]), entry by entry.
func Pos(a Operand) Expr {
	e := argument("Pos", a, increasing)
	return entries(e, &compile.Atom{Kind: compile.PosAtom, N: e.Len()})
}

// Max returns the scalar largest entry of a convex expression, which must have at least one.
func Max(a Operand) Expr {
	e := operand("Max", a)
	switch {
	case e.err != nil:
		return broken(1, 1, e.m, e.err)
	case e.Len() == 0:
		return failed(1, 1, e.m, "Max of no entries")
	case e.concave:
		return failed(1, 1, e.m, "Max of %v, which is %v, is not convex by the rules", e, e.Curvature())
	}
	return entries(newAffine(affine.Expr{}, e.m), &compile.Atom{Kind: compile.MaxAtom, N: 1, Of: e.f()})
}

// Min returns the scalar least entry of a concave expression.
func Min(a Operand) Expr { return Neg(Max(Neg(a))) }

// Maximum returns the largest of entries at the same place, convex if all are.
func Maximum(a, b Operand, more ...Operand) Expr {
	all, n := []Operand{a, b}, 1
	var shape *expression
	for i, x := range append(all, more...) {
		e := argument("Maximum", x, increasing)
		if all = append(all[:i], e); shape == nil || e.Len() > n {
			shape, n = e, e.Len()
		}
	}
	for i, e := range all {
		all[i] = Reshape(add("Maximum", e.(*expression), newAffine(affine.Expr{N: n}, nil).like(shape)), n, 1)
	}
	return graph(Stack(all...).of(), n, compile.Graph{
		Name: "Maximum",
		Value: func(x []float64) []float64 {
			for k := n; k < len(x); k++ {
				x[k%n] = max(x[k%n], x[k])
			}
			return x[:n]
		},
		Below: func(b compile.Rows, a, u affine.Expr) {
			all := a.Index()
			for k := 0; k < a.N; k += n {
				b.Nonnegative(u.Minus(all.Pick(affine.Consecutive(k, n))))
			}
		},
	}).like(shape)
}

// Minimum returns the least of entries at the same place, concave if all are.
func Minimum(a, b Operand, more ...Operand) Expr {
	var rest []Operand
	for _, x := range more {
		rest = append(rest, Neg(x))
	}
	return Neg(Maximum(Neg(a), Neg(b), rest...))
}

// Huber returns Huber's functions of a[i], entry by entry, with threshold delta > 0,
//
//	a^2/2 for |a| <= delta,  delta |a| - delta^2/2 elsewhere.
func Huber(a Operand, delta float64) Expr {
	e := argument("Huber", a, byMagnitude)
	if e.err == nil && (!(delta > 0) || math.IsInf(delta, 1)) {
		return failed(e.rows, e.cols, e.m, "Huber of %v with threshold %v, expected a positive number", e, delta)
	}
	return entries(e, &compile.Atom{Kind: compile.HuberAtom, N: e.Len(), Delta: delta})
}
