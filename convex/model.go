package convex

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native" // of Model.Solve
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
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
	m   *Model
	v   *affine.Variable
	err error
}

// Variable adds a free vector of length n. The name appears in messages.
func (m *Model) Variable(name string, n int) *Variable {
	v := &Variable{m: m, v: &affine.Variable{ID: len(m.vars), Name: name, N: max(0, n)}}
	if n < 0 {
		v.err = fmt.Errorf("convex: variable %s has length %d", name, n)
	}
	m.vars = append(m.vars, v)
	return v
}

// of returns the variable itself. It panics if that is nil or zero.
func (v *Variable) of() *affine.Variable {
	if v == nil || v.v == nil {
		panic("convex: a Variable is nil or zero; Model.Variable makes one")
	}
	return v.v
}

// Len returns the number of entries.
func (v *Variable) Len() int { return v.of().N }

// Name returns the name given to it.
func (v *Variable) Name() string { return v.of().Name }

// Expr returns the variable as an expression.
func (v *Variable) Expr() Affine { return Affine{e: v.of().Expr(), m: v.m, err: v.err} }

// Parameter is a vector of numbers that may change between solves. It is zero
// until [Parameter.Set].
type Parameter struct {
	m   *Model
	p   *affine.Parameter
	err error
}

// Parameter adds a parameter of length n, zero until Set. The name appears in messages.
func (m *Model) Parameter(name string, n int) *Parameter {
	p := &Parameter{m: m, p: affine.NewParameter(len(m.params), name, max(0, n))}
	if n < 0 {
		p.err = fmt.Errorf("convex: parameter %s has length %d", name, n)
	}
	m.params = append(m.params, p)
	return p
}

// of returns the parameter itself. It panics if that is nil or zero.
func (p *Parameter) of() *affine.Parameter {
	if p == nil || p.p == nil {
		panic(noParameter)
	}
	return p.p
}

const noParameter = "convex: a Parameter is nil or zero; Model.Parameter makes one"

// Len returns the number of entries.
func (p *Parameter) Len() int { return p.of().N }

// Name returns the name given to it.
func (p *Parameter) Name() string { return p.of().Name }

// Set gives the parameter new values, which are copied. It must not run while
// a solver of the model solves. The error says that the length is wrong, that
// a value is not finite, or that the parameter is nil or zero; nothing has changed then.
func (p *Parameter) Set(values []float64) error {
	if p == nil || p.p == nil {
		return errors.New(noParameter)
	}
	if len(values) != p.p.N {
		return fmt.Errorf("convex: parameter %s has length %d, got %d values", p.p.Name, p.p.N, len(values))
	}
	for i, v := range values {
		if affine.NotFinite(v) {
			return fmt.Errorf("convex: parameter %s: value %d is %v, expected a finite number", p.p.Name, i, v)
		}
	}
	p.p.Set(values)
	return nil
}

// Values returns a copy of the current values.
func (p *Parameter) Values() []float64 { return slices.Clone(p.of().Values) }

// Expr returns the parameter as a constant expression.
func (p *Parameter) Expr() Affine { return Affine{e: p.of().Expr(), m: p.m, err: p.err} }

// Times returns the entrywise product p[i] a[i]; a parameter or an expression of
// length 1 is broadcast. The expression must be free of parameters.
func (p *Parameter) Times(a Affine) Affine {
	n := max(a.e.N, p.of().N)
	_, err := common("product", p.Expr(), a)
	switch {
	case err != nil:
		return Affine{e: affine.Expr{N: n}, m: p.m, err: err}
	case unlike(a.e.N, p.p.N):
		return a.fail(n, "product of parameter %s of length %d and %v: the lengths differ", p.p.Name, p.p.N, a)
	case !a.e.Fixed() || a.e.Weighted():
		return a.fail(n, "product of parameter %s and %v, which has a parameter already", p.p.Name, a)
	}
	return Affine{e: p.p.Times(a.e), m: p.m}
}

// Dot returns the sum of p[i] a[i], a scalar. The expression must have the
// parameter's length and be free of parameters.
func (p *Parameter) Dot(a Affine) Affine {
	if n := p.of().N; a.err == nil && p.err == nil && a.e.N != n {
		return a.fail(1, "Dot of parameter %s of length %d and %v: the lengths differ", p.p.Name, n, a)
	}
	return p.Times(a).Sum()
}

// Minimize sets the objective, a scalar. A later call replaces it.
func (m *Model) Minimize(f Convex) { m.objective, m.minimized = f, true }

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
	m.constraints = slices.DeleteFunc(slices.Clone(m.constraints), func(c *Constraint) bool {
		return slices.Contains(cs,
			c)
	})
}

// Program is a compiled model: the conic program with its dependence on the
// parameters. It does not change when the model does; the parameters are shared.
type Program struct {
	p    *compile.Program
	vars []*Variable
}

// Compile turns the model into a conic program. It reports the first error made
// in building the model: non-convex use, lengths that differ, variables of
// another model, entries that are not finite.
func (m *Model) Compile() (*Program, error) {
	constraints := make([]*compile.Constraint, len(m.constraints))
	for i, con := range m.constraints {
		switch {
		case con == nil:
			return nil, fmt.Errorf("convex: constraint %d is nil", i)
		case con.err != nil:
			return nil, fmt.Errorf("constraint %d: %w", i, con.err)
		case con.m != nil && con.m != m:
			return nil, fmt.Errorf("convex: constraint %d on %v belongs to another model", i, con.c.F)
		}
		constraints[i] = &con.c
	}
	var objective *compile.Function
	if m.minimized {
		switch f := m.objective; {
		case f.err != nil:
			return nil, fmt.Errorf("objective: %w", f.err)
		case f.f.N != 1:
			return nil, fmt.Errorf("convex: the objective has length %d, expected a scalar", f.f.N)
		case f.m != nil && f.m != m:
			return nil, fmt.Errorf("convex: the objective, %v, belongs to another model", f)
		}
		objective = &m.objective.f
	}
	vars, params := make([]*affine.Variable, len(m.vars)), make([]*affine.Parameter, len(m.params))
	for i, v := range m.vars {
		vars[i] = v.v
	}
	for i, p := range m.params {
		params[i] = p.p
	}
	p, err := compile.Compile(vars, params, objective, constraints)
	if err != nil {
		return nil, err
	}
	return &Program{p, slices.Clone(m.vars)}, nil
}

// Solve compiles the model, and solves it by the native backend. What it found is in the status of the result; the
// error is for a model that does not compile. [Program.Solver] has other backends, options, and solves again.
func (m *Model) Solve(ctx context.Context) (*Result, error) {
	p, err := m.Compile()
	if err != nil {
		return nil, err
	}
	backend, err := backends.Open("native")
	if err != nil {
		return nil, err
	}
	s, err := p.Solver(SolverOptions{Backend: backend, WorkingSets: true})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Solve(ctx)
}

// of returns the program itself. It panics if that is nil or zero.
func (p *Program) of() *compile.Program {
	if p == nil || p.p == nil {
		panic(noProgram)
	}
	return p.p
}

const noProgram = "convex: a Program is nil or zero; Model.Compile makes one"

// Has says whether the program has a cone of a kind.
func (p *Program) Has(kind backends.ConeKind) bool {
	return slices.ContainsFunc(p.of().Groups, func(g *compile.Group) bool { return g.Kind == kind })
}

// LowRank says that the program has nuclear norms of whole variables, so that working
// sets restrict these instead of the entries of vectors.
func (p *Program) LowRank() bool { return len(p.of().Matrices) > 0 }
