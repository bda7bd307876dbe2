package convex

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native" // the default
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Model collects variables, parameters, an objective and constraints. It is for
// one goroutine at a time.
type Model struct {
	vars        []*Variable
	params      []*Parameter
	objective   *expression // to be minimized, nil for zero
	maximize    bool        // minus the objective
	constraints []*Constraint
}

// NewModel returns a model without variables, with the objective zero.
func NewModel() *Model { return &Model{} }

// Variable is an expression to be chosen.
type Variable struct {
	expression
	v    *affine.Variable
	free []int // the entries that v has, of those of the matrix; nil for all
}

// Attribute restricts a variable.
type Attribute struct {
	free   func(rows, cols int) (free, index []int)
	sign   int
	impose func(m *Model, v *Variable)
}

// Symmetric is a matrix with x_ij = x_ji.
func Symmetric() Attribute { return Attribute{free: lowerTriangle} }

// Diagonal is a matrix with zeros off its diagonal.
func Diagonal() Attribute {
	return Attribute{free: func(n, _ int) (free, index []int) { return diagonal(n), nil }}
}

// PSD is a symmetric matrix that is positive semidefinite.
func PSD() Attribute {
	return Attribute{free: lowerTriangle, impose: func(m *Model, v *Variable) { m.PSD(v.Name(), v) }}
}

// Nonneg has no entries below zero.
func Nonneg() Attribute { return Bounds(0, math.Inf(1)) }

// Bounds has entries from lo to hi, each a number, which may be infinite, or, for variables that have no other
// attributes, as many as the variable.
func Bounds(lo, hi Operand) Attribute {
	sign := 0
	if low := operand("Bounds", lo); low.err == nil && low.Sign()&Nonnegative != 0 {
		sign = 1
	} else if high := operand("Bounds", hi); high.err == nil && high.Sign()&Nonpositive != 0 {
		sign = -1
	}
	return Attribute{sign: sign, impose: func(m *Model, v *Variable) {
		free := Expr(v)
		if v.free != nil {
			free = Pick(v, v.free)
		}
		if lo != Operand(math.Inf(-1)) {
			m.Ge(v.Name(), free, lo)
		}
		if hi != Operand(math.Inf(1)) {
			m.Le(v.Name(), free, hi)
		}
	}}
}

// Vector adds a vector of length n, free but for its attributes. The name appears in messages.
func (m *Model) Vector(name string, n int, with ...Attribute) *Variable {
	return m.Matrix(name, n, 1, with...)
}

// Matrix adds a matrix, see [Model.Vector].
func (m *Model) Matrix(name string, rows, cols int, with ...Attribute) *Variable {
	n := max(0, rows) * max(0, cols)
	v := &Variable{v: &affine.Variable{ID: len(m.vars), Name: name, N: n}}
	m.vars = append(m.vars, v)
	var index []int
	for _, a := range with {
		if a.free != nil {
			if rows != cols || rows < 1 {
				v.expression = *failed(rows, cols, m, "variable %s is %d x %d, and has an attribute of square matrices", name, rows,
					cols)
				return v
			}
			v.free, index = a.free(rows, cols)
			v.v.N = len(v.free)
		}
		if a.sign != 0 {
			v.v.Sign = a.sign
		}
	}
	v.expression = *newAffine(v.v.Expr(), m)
	switch {
	case index != nil:
		v.expression = *Pick(&v.expression, index).of()
	case v.free != nil:
		v.expression = *Diag(&v.expression).of()
	}
	v.expression = *v.shaped(max(0, rows), max(0, cols))
	if rows < 0 || cols < 0 {
		v.err = fmt.Errorf("convex: variable %s is %d x %d", name, rows, cols)
		return v
	}
	for _, a := range with {
		if a.impose != nil {
			a.impose(m, v)
		}
	}
	return v
}

// of returns the expression. It panics if the variable is nil or zero.
func (v *Variable) of() *expression {
	v.variable()
	return &v.expression
}

// variable returns the variable itself. It panics if that is nil or zero.
func (v *Variable) variable() *affine.Variable {
	if v == nil || v.v == nil {
		panic("convex: a Variable is nil or zero; Model.Vector makes one")
	}
	return v.v
}

// Name returns the name given to it.
func (v *Variable) Name() string { return v.variable().Name }

// Parameter is a vector of numbers that may change between solves, in each [Solver] on its own, see [Solver.Set].
type Parameter struct {
	expression
	p *affine.Parameter
}

// Parameter adds a parameter with the values, copied, that it has until a solver is given others. The name appears in
// messages.
func (m *Model) Parameter(name string, values []float64) *Parameter {
	p := &Parameter{p: &affine.Parameter{ID: len(m.params), Name: name, N: len(values), First: slices.Clone(values)}}
	p.expression = *newAffine(p.p.Expr(), m)
	p.err = p.check(values)
	m.params = append(m.params, p)
	return p
}

// of returns the expression. It panics if the parameter is nil or zero.
func (p *Parameter) of() *expression {
	p.parameter()
	return &p.expression
}

// parameter returns the parameter itself. It panics if that is nil or zero.
func (p *Parameter) parameter() *affine.Parameter {
	if p == nil || p.p == nil {
		panic(noParameter)
	}
	return p.p
}

const noParameter = "convex: a Parameter is nil or zero; Model.Parameter makes one"

// Name returns the name given to it.
func (p *Parameter) Name() string { return p.parameter().Name }

// check says what is wrong with values.
func (p *Parameter) check(values []float64) error {
	if len(values) != p.p.N {
		return fmt.Errorf("convex: parameter %s has length %d, got %d values", p.p.Name, p.p.N, len(values))
	}
	for i, v := range values {
		if affine.NotFinite(v) {
			return fmt.Errorf("convex: parameter %s: value %d is %v, expected a finite number", p.p.Name, i, v)
		}
	}
	return nil
}

// Values returns a copy of the values that it begins with.
func (p *Parameter) Values() []float64 { return slices.Clone(p.parameter().First) }

// Minimize sets the objective, a convex scalar. A later call replaces it, as does Maximize.
func (m *Model) Minimize(f Operand) { m.objective, m.maximize = operand("Minimize", f), false }

// Maximize sets the objective, a concave scalar.
func (m *Model) Maximize(f Operand) {
	m.objective, m.maximize = operand("Maximize", f).negative(), true
}

// Program is a compiled model: the conic program with its dependence on the
// parameters. It does not change, so that any number of goroutines may share it, each with a solver of its own.
type Program struct {
	p        *compile.Program
	values   affine.Values // of the parameters, nil for those that they begin with
	vars     []*Variable
	params   []*Parameter
	model    *Model // of which it is what it was when it was compiled
	maximize bool
}

// Compile turns the model into a conic program. It reports the first error made
// in building the model: non-convex use, lengths that differ, variables of
// another model, entries that are not finite.
func (m *Model) Compile() (*Program, error) { return m.compile(m.objective, m.constraints) }

// compile is Compile of an objective, nil for zero, and of constraints.
func (m *Model) compile(f *expression, all []*Constraint) (*Program, error) {
	constraints := make([]*compile.Constraint, len(all))
	for i, con := range all {
		name := con.name
		if name == "" {
			name = strconv.Itoa(i)
		}
		switch {
		case con.err != nil:
			return nil, fmt.Errorf("constraint %s: %w", name, con.err)
		case con.m != nil && con.m != m:
			return nil, fmt.Errorf("convex: constraint %s on %v belongs to another model", name, con.c.F)
		}
		constraints[i] = &con.c
	}
	var objective *compile.Function
	if f != nil {
		switch {
		case f.err != nil:
			return nil, fmt.Errorf("objective: %w", f.err)
		case f.Len() != 1:
			return nil, fmt.Errorf("convex: the objective has length %d, expected a scalar", f.Len())
		case f.concave:
			return nil, fmt.Errorf("convex: the objective, %v, is %v", f, f.Curvature())
		case f.m != nil && f.m != m:
			return nil, fmt.Errorf("convex: the objective, %v, belongs to another model", f)
		}
		whole := f.f()
		objective = &whole
	}
	vars, params := make([]*affine.Variable, len(m.vars)), make([]*affine.Parameter, len(m.params))
	for i, v := range m.vars {
		if v.err != nil {
			return nil, v.err
		}
		vars[i] = v.v
	}
	for i, p := range m.params {
		if p.err != nil {
			return nil, p.err
		}
		params[i] = p.p
	}
	p, err := compile.Compile(vars, params, objective, constraints)
	if err != nil {
		return nil, err
	}
	return &Program{p, nil, slices.Clone(m.vars), slices.Clone(m.params), m, m.maximize}, nil
}

// Solve compiles the model, and solves it by the native backend. What it found is in the status of the result; the
// error is for a model that does not compile. [Program.Solver] has other backends, options, and solves again.
func (m *Model) Solve(ctx context.Context) (*Result, error) {
	p, err := m.Compile()
	if err != nil {
		return nil, err
	}
	return p.solve(ctx)
}

// solve solves by the native backend.
func (p *Program) solve(ctx context.Context) (*Result, error) {
	s, err := p.Solver(SolverOptions{WorkingSets: true})
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
