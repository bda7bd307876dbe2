package backends

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/james-bowman/sparse"
)

// Problem is a conic program in the form of the package comment. [Triplets] make its matrices from entries in any
// order.
//
// Matrices are those of github.com/james-bowman/sparse, so that what a program already holds as one, or makes from
// gonum's, is handed over as it is, without a copy. That module has no versions yet: the contract needs its NewCSC,
// RawMatrix, Dims and NNZ, which any type of three slices could offer, and pins the commit in go.mod.
type Problem struct {
	// P is the upper triangle of the n x n quadratic term; nil means zero.
	P *sparse.CSC
	// Q is the linear term, of length n. Its length defines n.
	Q []float64
	// A is m x n; nil means no rows, or no columns.
	A *sparse.CSC
	// B is the right-hand side, of length m. Its length defines m.
	B []float64
	// Cones are the factors of K; their dimensions add up to m.
	Cones []Cone
}

// Dims returns the number n of variables and the number m of rows.
func (p *Problem) Dims() (n, m int) { return len(p.Q), len(p.B) }

// Quadratic says whether P has an entry other than zero.
func (p *Problem) Quadratic() bool {
	return p.P != nil && slices.ContainsFunc(p.P.RawMatrix().Data, func(v float64) bool { return v != 0 })
}

// mustFit returns the dimensions. It panics where p is nil or its parts have no shape in common; that of single
// entries is left to Validate.
func (p *Problem) mustFit() (n, m int) {
	if p == nil {
		panic("backends: the problem is nil")
	}
	n, m = p.Dims()
	fits := func(a *sparse.CSC, height int) bool {
		r, c := a.Dims()
		return r == height && c == n
	}
	if rowsOf(p.Cones) != m || p.P != nil && !fits(p.P, n) || p.A != nil && !fits(p.A, m) {
		panic("backends: the parts of the problem do not fit together; Problem.Validate says where")
	}
	return n, m
}

// Slack returns b - Ax. It panics unless p has a shape and x has length n.
func (p *Problem) Slack(x []float64) []float64 {
	p.mustFit()
	mustHave(len(x) == len(p.Q))
	out := slices.Clone(p.B)
	entries(p.A, func(i, j int, v float64) { out[i] -= v * x[j] })
	return out
}

// updated returns p with the parts that u has.
func (p Problem) updated(u Update) Problem {
	if u.P != nil {
		p.P = u.P
	}
	if u.A != nil {
		p.A = u.A
	}
	if u.Q != nil {
		p.Q = u.Q
	}
	if u.B != nil {
		p.B = u.B
	}
	return p
}

// Updated returns p with copies of the numbers that u has; the patterns are those of p. It panics where a part has
// another number of entries.
func (p Problem) Updated(u Update) Problem {
	for _, part := range [][2]*sparse.CSC{{p.P, u.P}, {p.A, u.A}} {
		if part[1] != nil {
			mustHave(part[0] != nil && len(part[0].RawMatrix().Data) == len(part[1].RawMatrix().Data))
		}
	}
	mustHave((u.Q == nil || len(u.Q) == len(p.Q)) && (u.B == nil || len(u.B) == len(p.B)))
	if u.P != nil {
		u.P = filled(nil, p.P, u.P)
	}
	if u.A != nil {
		u.A = filled(nil, p.A, u.A)
	}
	return p.updated(Update{P: u.P, A: u.A, Q: slices.Clone(u.Q), B: slices.Clone(u.B)})
}

// ProblemError says which part of a [Problem] or an [Update] is wrong.
type ProblemError struct {
	Field  string // for example "A" or "Cones[2]"
	Reason string
	// Direction proves that P is not positive semidefinite, where that is so, which Setup and Update find for every
	// backend: d of length n with d'Pd = Curvature < 0, its largest entry 1 in absolute value.
	Direction []float64
	Curvature float64
}

func (e *ProblemError) Error() string { return "backends: " + e.Field + ": " + e.Reason }

func bad(field, format string, args ...any) error {
	return &ProblemError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Validate checks shapes, index ranges, and that all numbers are finite (bounds
// of a box may be infinite). The error is a [*ProblemError].
func (p *Problem) Validate() error {
	if p == nil {
		return bad("Problem", "is nil")
	}
	n, m := p.Dims()
	err := cmp.Or(finite("Q", p.Q), finite("B", p.B), validCSC("P", p.P, n, n, true), validCSC("A", p.A, m, n, false))
	if err != nil {
		return err
	}
	if p.A == nil && m > 0 && n > 0 {
		return bad("A", "is nil, but B has %d rows", m)
	}
	for i, c := range p.Cones {
		if err := c.validate(fmt.Sprintf("Cones[%d]", i)); err != nil {
			return err
		}
	}
	if rows := rowsOf(p.Cones); rows != m {
		return bad("Cones", "take %d rows, but B has %d", rows, m)
	}
	return nil
}

func finite(field string, v []float64) error {
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return bad(field, "entry %d is %g", i, x)
		}
	}
	return nil
}

func validCSC(field string, a *sparse.CSC, rows, cols int, upper bool) error {
	if a == nil {
		return nil
	}
	r, c := a.Dims()
	if r != rows || c != cols {
		return bad(field, "is %d x %d, expected %d x %d", r, c, rows, cols)
	}
	raw := a.RawMatrix()
	if len(raw.Indptr) != cols+1 || raw.Indptr[0] != 0 || raw.Indptr[cols] != len(raw.Ind) ||
		len(raw.Ind) != len(raw.Data) {
		return bad(field, "column pointers, row indices and values do not fit together")
	}
	for j := range cols {
		if raw.Indptr[j] > raw.Indptr[j+1] {
			return bad(field, "column pointers decrease at column %d", j)
		}
	}
	for j := range cols {
		last := -1
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			i := raw.Ind[k]
			if i < 0 || i >= rows {
				return bad(field, "row index %d in column %d, expected 0 to %d", i, j, rows-1)
			}
			if i <= last {
				return bad(field, "row indices of column %d are not increasing", j)
			}
			if upper && i > j {
				return bad(field, "entry (%d, %d) is below the diagonal, give the upper triangle", i, j)
			}
			last = i
		}
	}
	return finite(field, raw.Data)
}
