package convex

import "fmt"

// Constraint is a vector of constraints, and the handle for their multipliers,
// see [Result.Dual].
type Constraint struct {
	n    int
	kind constraintKind
	f    Convex // f <= 0, or its affine part = 0
	// scalar is set when one convex expression has several right sides:
	// f has length 1, and the right sides are here.
	sides *Affine
	err   error
}

type constraintKind int

const (
	inequality constraintKind = iota
	equality
)

// Len returns the number of its entries.
func (c *Constraint) Len() int { return c.n }

// LessEqual returns the constraint f <= a, entry by entry; a side of length 1 is
// broadcast.
func LessEqual(f Convex, a Affine) *Constraint {
	n := max(f.n, a.n)
	switch {
	case f.err != nil:
		return &Constraint{n: n, err: f.err}
	case a.err != nil:
		return &Constraint{n: n, err: a.err}
	case f.weighted() != nil:
		return &Constraint{n: n, err: fmt.Errorf("convex: constraint on %v with the weight %s: Weight is for objectives only", f, f.weighted().name)}
	case f.n != a.n && f.n != 1 && a.n != 1:
		return &Constraint{n: n, err: fmt.Errorf("convex: constraint %v <= %v: the lengths differ", f, a)}
	case f.n == 1 && a.n > 1 && len(f.atoms) > 0:
		_, err := common("constraint", f.aff, a)
		return &Constraint{n: n, f: f, sides: &a, err: err}
	}
	f = f.MinusAffine(a)
	return &Constraint{n: n, f: f, err: f.err}
}

// GreaterEqual returns the constraint a >= b, entry by entry; a side of length 1
// is broadcast. A convex expression cannot be bounded from below.
func GreaterEqual(a, b Affine) *Constraint { return LessEqual(Linear(b), a) }

// Equal returns the constraint a = b, entry by entry; a side of length 1 is
// broadcast.
func Equal(a, b Affine) *Constraint {
	d := a.Minus(b)
	return &Constraint{n: d.n, kind: equality, f: Linear(d), err: d.err}
}
