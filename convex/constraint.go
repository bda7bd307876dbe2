package convex

import (
	"fmt"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Constraint is a matrix of constraints of a model, and the handle for their multipliers, see [Result.Dual].
type Constraint struct {
	name string
	c    compile.Constraint
	n    int // order of a semidefinite matrix, 0 for others
	m    *Model
	err  error
}

// Name returns the name given to it.
func (c *Constraint) Name() string { return c.name }

// constrain adds a constraint that e is at most zero, is zero or, with a cone, in that.
func (m *Model) constrain(name string, e *expression, equal bool, cone *backends.Cone) *Constraint {
	c := &Constraint{name: name, m: e.m, err: e.err,
		c: compile.Constraint{N: e.Len(), Equal: equal, Cone: cone, F: e.f()}}
	if c.err == nil && (e.concave || (equal || cone != nil) && !e.affine()) {
		c.err = fmt.Errorf("convex: %v is %v, which a constraint of this kind cannot have", e, e.Curvature())
	}
	m.constraints = append(m.constraints, c)
	return c
}

// Le adds the constraint a <= b, entry by entry, of a convex a and a concave b; a scalar goes with every entry. The
// name appears in messages.
func (m *Model) Le(name string, a, b Operand) *Constraint {
	return m.constrain(name, add("Le", operand("Le", a), operand("Le", b).negative()), false, nil)
}

// Ge adds the constraint a >= b, see [Model.Le].
func (m *Model) Ge(name string, a, b Operand) *Constraint { return m.Le(name, b, a) }

// Eq adds the constraint a = b of affine expressions, entry by entry.
func (m *Model) Eq(name string, a, b Operand) *Constraint {
	return m.constrain(name, add("Eq", operand("Eq", a), operand("Eq", b).negative()), true, nil)
}

// In adds the constraint that vectors, one after the other, are in a cone. Its multiplier is in the dual cone, and
// -Dual the derivative of the optimal value in what is added to them.
func (m *Model) In(name string, cone backends.Cone, as ...Operand) *Constraint {
	e := Stack(as...).of()
	c := m.constrain(name, e, false, &cone)
	if c.err == nil && cone.Dim != e.Len() {
		c.err = fmt.Errorf("convex: In: %v and a cone of dimension %d", e, cone.Dim)
	}
	return c
}

// PSD adds the constraint that the symmetric part of a matrix is positive semidefinite. Its multiplier is a matrix, row
// by row, of whose product with what is added to the matrix -trace is the derivative of the optimal value.
func (m *Model) PSD(name string, a Operand) *Constraint {
	e := square("PSD", operand("PSD", a))
	if e.err != nil || !e.affine() {
		return m.constrain(name, e, false, new(backends.Cone))
	}
	cone := backends.PSD(e.rows)
	c := m.constrain(name, newAffine(triangle(e.f().Aff, e.rows), e.m), false, &cone)
	c.n = e.rows
	return c
}
