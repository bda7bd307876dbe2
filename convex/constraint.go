package convex

import (
	"fmt"

	"github.com/conetune/conetune/backends"
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

// In returns the constraint that a is in a cone. Its multiplier is in the dual cone, and -Dual the derivative of the
// optimal value in what is added to a.
func In(cone backends.Cone, a Affine) *Constraint {
	c := &Constraint{c: compile.Constraint{N: a.e.N, Cone: &cone, F: Linear(a).f}, m: a.m, err: a.err}
	if c.err == nil && cone.Dim != a.e.N {
		c.err = fmt.Errorf("convex: In: %v and a cone of dimension %d", a, cone.Dim)
	}
	return c
}

// PSD returns the constraint that the symmetric part of a matrix, of which a has the rows one after the other, is
// positive semidefinite. Its multiplier is that of [backends.PSDCone].
func PSD(a Affine) *Constraint {
	n, err := order("PSD", a)
	if err != nil {
		return &Constraint{m: a.m, err: err}
	}
	return In(backends.PSD(n), Affine{e: triangle(a.e, n), m: a.m})
}

// Equal returns the constraint a = b, entry by entry; a side of length 1 is
// broadcast.
func Equal(a, b Affine) *Constraint {
	d := a.Minus(b)
	return &Constraint{c: compile.Constraint{N: d.e.N, Equal: true, F: Linear(d).f}, m: d.m, err: d.err}
}
