package convex

import (
	"fmt"
	"slices"
)

// Model collects variables, parameters, an objective and constraints. It is for
// one goroutine at a time.
type Model struct {
	vars        []*Variable
	params      []*Parameter
	objective   Convex
	minimized   bool
	constraints []*Constraint
}

// NewModel returns a model without variables, with the objective zero.
func NewModel() *Model { return &Model{} }

// Variable is a vector to be chosen. It is free; bounds are constraints.
type Variable struct {
	m    *Model
	id   int
	name string
	n    int
	err  error
}

// Variable adds a free vector of length n. The name appears in messages.
func (m *Model) Variable(name string, n int) *Variable {
	v := &Variable{m: m, id: len(m.vars), name: name, n: n}
	if n < 0 {
		v.n, v.err = 0, fmt.Errorf("convex: variable %s has length %d", name, n)
	}
	m.vars = append(m.vars, v)
	return v
}

// Len returns the number of entries.
func (v *Variable) Len() int { return v.n }

// Name returns the name given to it.
func (v *Variable) Name() string { return v.name }

// Expr returns the variable as an expression.
func (v *Variable) Expr() Affine {
	return Affine{n: v.n, m: v.m, err: v.err, vars: []term{{v: v, rows: v.n, scale: 1}}}
}

// Parameter is a vector of numbers that may change between solves. It is zero
// until [Parameter.Set].
type Parameter struct {
	m       *Model
	id      int
	name    string
	n       int
	values  []float64
	version int // counts the changes
	err     error
}

// Parameter adds a parameter of length n, zero until Set. The name appears in messages.
func (m *Model) Parameter(name string, n int) *Parameter {
	p := &Parameter{m: m, id: len(m.params), name: name, n: n}
	if n < 0 {
		p.n, p.err = 0, fmt.Errorf("convex: parameter %s has length %d", name, n)
	}
	p.values = make([]float64, p.n)
	m.params = append(m.params, p)
	return p
}

// Len returns the number of entries.
func (p *Parameter) Len() int { return p.n }

// Name returns the name given to it.
func (p *Parameter) Name() string { return p.name }

// Set gives the parameter new values, which are copied. It must not run while
// a solver of the model solves. The error says that the length is wrong or that
// a value is not finite; nothing has changed then.
func (p *Parameter) Set(values []float64) error {
	if len(values) != p.n {
		return fmt.Errorf("convex: parameter %s has length %d, got %d values", p.name, p.n, len(values))
	}
	for i, v := range values {
		if notFinite(v) {
			return fmt.Errorf("convex: parameter %s: value %d is %v, expected a finite number", p.name, i, v)
		}
	}
	// The first Set counts as a change, which tells a parameter set to zero
	// from one never set.
	if p.version == 0 || !slices.Equal(values, p.values) {
		copy(p.values, values)
		p.version++
	}
	return nil
}

// Values returns a copy of the current values.
func (p *Parameter) Values() []float64 { return slices.Clone(p.values) }

// Expr returns the parameter as a constant expression.
func (p *Parameter) Expr() Affine {
	return Affine{n: p.n, m: p.m, err: p.err, pars: []term{{p: p, rows: p.n, scale: 1}}}
}

// Times returns the entrywise product p[i] a[i]; a parameter or an expression of
// length 1 is broadcast. The expression must be free of parameters.
func (p *Parameter) Times(a Affine) Affine {
	n := max(a.n, p.n)
	if _, err := common("product", p.Expr(), a); err != nil {
		return Affine{n: n, m: p.m, err: err}
	}
	if a.n != p.n && p.n != 1 && a.n != 1 {
		return a.fail(n, "product of parameter %s of length %d and %v: the lengths differ", p.name, p.n, a)
	}
	if !a.fixed() || slices.ContainsFunc(a.vars, func(t term) bool { return t.w != nil }) {
		return a.fail(n, "product of parameter %s and %v, which has a parameter already", p.name, a)
	}
	a = a.broadcast(n)
	out := Affine{n: n, m: p.m}
	for _, t := range a.vars {
		out.vars = append(out.vars, t.weighted(p, p.n == 1))
	}
	if a.c != nil {
		t := term{p: p, rows: n, scale: 1, coef: a.c}
		if p.n == 1 {
			t.idx = make([]int, n)
		}
		out.pars = []term{t}
	}
	return out
}

// Dot returns the sum of p[i] a[i], a scalar. The expression must have the
// parameter's length and be free of parameters.
func (p *Parameter) Dot(a Affine) Affine {
	if a.err == nil && p.err == nil && a.n != p.n {
		return a.fail(1, "Dot of parameter %s of length %d and %v: the lengths differ", p.name, p.n, a)
	}
	return p.Times(a).Sum()
}

// Minimize sets the objective, a scalar. A later call replaces it.
func (m *Model) Minimize(f Convex) { m.objective, m.minimized = f, true }

// Objective returns the objective, of length 0 before Minimize.
func (m *Model) Objective() Convex { return m.objective }

// Constrain adds constraints. One that the model has already is not added again.
func (m *Model) Constrain(cs ...*Constraint) {
	for _, c := range cs {
		if !slices.Contains(m.constraints, c) {
			m.constraints = append(m.constraints, c)
		}
	}
}

// Remove takes constraints out again. Programs compiled before keep them.
func (m *Model) Remove(cs ...*Constraint) {
	m.constraints = slices.DeleteFunc(slices.Clone(m.constraints), func(c *Constraint) bool { return slices.Contains(cs, c) })
}
