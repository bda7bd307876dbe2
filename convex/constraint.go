package convex

import (
	"fmt"

	"github.com/conetune/conetune/convex/internal/compile"
)

// Constraint is a vector of constraints, and the handle for their multipliers,
// see [Result.Dual].
type Constraint struct {
	c   compile.Constraint
	m   *Model // nil for constants
	err error
}

// LessEqual returns the constraint f <= a, entry by entry; a side of length 1 is
// broadcast.
func LessEqual(f Convex, a Affine) *Constraint {
	c := &Constraint{c: compile.Constraint{N: max(f.f.N, a.e.N)}, m: f.m}
	switch w := f.f.Weighted(); {
	case f.err != nil:
		c.err = f.err
	case a.err != nil:
		c.err = a.err
	case w != nil:
		c.err = fmt.Errorf("convex: constraint on %v with the weight %s: Weight is for objectives only", f, w.Name)
	case unlike(f.f.N, a.e.N):
		c.err = fmt.Errorf("convex: constraint %v <= %v: the lengths differ", f, a)
	case f.f.N == 1 && a.e.N > 1 && len(f.f.Atoms) > 0:
		c.c.F, c.c.Sides = f.f, &a.e
		_, c.err = common("constraint", f.linear(), a)
	default:
		f = f.MinusAffine(a)
		c.c.F, c.m, c.err = f.f, f.m, f.err
	}
	return c
}

// GreaterEqual returns the constraint a >= b, entry by entry; a side of length 1
// is broadcast. A convex expression cannot be bounded from below.
func GreaterEqual(a, b Affine) *Constraint { return LessEqual(Linear(b), a) }

// Equal returns the constraint a = b, entry by entry; a side of length 1 is
// broadcast.
func Equal(a, b Affine) *Constraint {
	d := a.Minus(b)
	return &Constraint{c: compile.Constraint{N: d.e.N, Equal: true, F: Linear(d).f}, m: d.m, err: d.err}
}
