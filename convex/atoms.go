package convex

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// atomKind names a convex function.
type atomKind int

const (
	squaresAtom  atomKind = iota // scalar, sum of squares
	absAtom                      // vector, |a_i|
	posAtom                      // vector, max(0, a_i)
	normsAtom                    // vector, one norm for each group
	nuclearAtom                  // scalar, the sum of the singular values
	maxAtom                      // scalar, the largest entry of a Convex
	huberAtom                    // vector, see Huber
	logisticAtom                 // vector, log(1 + exp(a_i))
	expAtom                      // vector, exp(a_i)
)

// atom is a vector-valued convex function of an affine argument, or the
// maximum of a Convex. Identity of the pointer lets a program share one
// epigraph among all uses.
type atom struct {
	kind   atomKind
	n      int
	arg    Affine
	groups [][]int // normsAtom; nil: one group of all entries
	rows   int     // nuclearAtom; the matrix has n(arg)/rows columns
	of     Convex  // maxAtom
	delta  float64 // huberAtom
}

// String names the atom in messages.
func (a *atom) String() string {
	switch a.kind {
	case squaresAtom:
		return "SumSquares of " + a.arg.String()
	case absAtom:
		return "Abs of " + a.arg.String()
	case posAtom:
		return "Pos of " + a.arg.String()
	case normsAtom:
		return "a norm of " + a.arg.String()
	case huberAtom:
		return "Huber of " + a.arg.String()
	case logisticAtom:
		return "Logistic of " + a.arg.String()
	case expAtom:
		return "Exp of " + a.arg.String()
	case nuclearAtom:
		return "NuclearNorm of " + a.arg.String()
	}
	return "Max of " + a.of.String()
}

// expression returns all entries of the atom.
func (a *atom) expression() Convex {
	arg, err := a.arg, a.arg.err
	if a.kind == maxAtom {
		arg, err = a.of.aff, a.of.err
	}
	return Convex{n: a.n, aff: Affine{n: a.n, m: arg.m, err: err}, atoms: []atomTerm{{atom: a, scale: 1}}, err: err}
}

// SumSquares returns the scalar sum of a[i]^2.
func SumSquares(a Affine) Convex { return (&atom{kind: squaresAtom, n: 1, arg: a}).expression() }

// Norm1 returns the scalar sum of |a[i]|. Applied to a whole variable it makes
// the variable a candidate for working sets, see [SolverOptions].
func Norm1(a Affine) Convex { return Abs(a).Sum() }

// Norm2 returns the scalar Euclidean norm of a.
func Norm2(a Affine) Convex { return (&atom{kind: normsAtom, n: 1, arg: a}).expression() }

// NormInf returns the scalar largest |a[i]|, zero for no entries.
func NormInf(a Affine) Convex {
	if a.n == 0 {
		return Linear(Affine{n: 1, m: a.m, err: a.err})
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
				if i < 0 || i >= a.n {
					return failed(len(groups), a.m, "GroupNorms: entry %d in group %d of %v", i, g, a)
				}
			}
		}
	}
	if groups == nil {
		groups = [][]int{}
	}
	return (&atom{kind: normsAtom, n: len(groups), arg: a, groups: groups}).expression()
}

// NuclearNorm returns the scalar sum of the singular values of a matrix of
// rows x cols, whose entries a holds row by row, as mat.NewDense takes them.
// Applied to a whole variable it makes the variable a candidate for working
// sets, see [SolverOptions].
func NuclearNorm(a Affine, rows, cols int) Convex {
	switch {
	case a.err != nil:
		return Convex{n: 1, aff: Affine{n: 1, m: a.m, err: a.err}, err: a.err}
	case rows < 0 || cols < 0 || rows*cols != a.n:
		return failed(1, a.m, "NuclearNorm: %v is not a matrix of %d x %d", a, rows, cols)
	case a.n == 0:
		return Linear(Affine{n: 1, m: a.m})
	case rows == 1 || cols == 1:
		return Norm2(a)
	}
	return (&atom{kind: nuclearAtom, n: 1, arg: a, rows: rows}).expression()
}

// Abs returns the vector of |a[i]|.
func Abs(a Affine) Convex { return (&atom{kind: absAtom, n: a.n, arg: a}).expression() }

// Pos returns the vector of max(0, a[i]).
func Pos(a Affine) Convex { return (&atom{kind: posAtom, n: a.n, arg: a}).expression() }

// Max returns the scalar largest entry of f, which must have at least one.
func Max(f Convex) Convex {
	switch {
	case f.err != nil:
		return Convex{n: 1, aff: Affine{n: 1, m: f.model(), err: f.err}, err: f.err}
	case f.n == 0:
		return failed(1, f.model(), "Max of no entries")
	case f.weighted() != nil:
		return failed(1, f.model(), "Max of %v with the weight %s: Weight is for objectives only, outside of other atoms", f, f.weighted().name)
	}
	return (&atom{kind: maxAtom, n: 1, of: f}).expression()
}

// eval returns the entries at a point.
func (a *atom) eval(pt Point) []float64 {
	if a.kind == maxAtom {
		return []float64{floats.Max(a.of.Eval(pt))}
	}
	x := a.arg.Eval(pt)
	switch a.kind {
	case squaresAtom:
		return []float64{floats.Dot(x, x)}
	case absAtom:
		for i, v := range x {
			x[i] = math.Abs(v)
		}
	case posAtom:
		for i, v := range x {
			x[i] = max(0, v)
		}
	case huberAtom:
		for i, v := range x {
			x[i] = huber(v, a.delta)
		}
	case logisticAtom:
		for i, v := range x {
			x[i] = softplus(v)
		}
	case expAtom:
		for i, v := range x {
			x[i] = math.Exp(v)
		}
	case nuclearAtom:
		return []float64{nuclearNorm(x, a.rows)}
	case normsAtom:
		if a.groups == nil {
			return []float64{floats.Norm(x, 2)}
		}
		norms := make([]float64, len(a.groups))
		for g, group := range a.groups {
			for _, i := range group {
				norms[g] = math.Hypot(norms[g], x[i])
			}
		}
		return norms
	}
	return x
}
