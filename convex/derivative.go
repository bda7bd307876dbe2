package convex

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/convex/internal/solve"
	"github.com/conetune/conetune/internal/finite"
)

// Change has a number for each entry of parameters: a direction, in which a parameter that is missing does not change,
// or a gradient.
type Change map[*Parameter][]float64

// ErrDegenerate says that the solution has no derivative in the parameters, or several: it is not unique, slack and
// multiplier of a constraint are both zero, as far as the accuracy of the solve can tell, or multipliers of a change do
// not exist. What comes with it is the answer of least squares and least norm to the linearised conditions.
var ErrDegenerate = backends.ErrDegenerate

// differential is the derivative of a result, made at the first use.
type differential struct {
	numbers *compile.Assembled
	conic   *backends.Derivative
}

// Derivative returns the derivative of the values of all variables along a direction of the parameters, a vector of all
// entries for each variable. It differentiates the conditions of optimality, see [backends.Derivative], in the conic
// program that was solved: entries outside a working set stay zero. The first of these calls factors a matrix, which
// takes about as long as the solve.
//
// The error is for a result without a point, for a parameter that is not in the program or has another length than its
// direction, for numbers that are not finite, that of the context and, with the answer, [ErrDegenerate].
func (r *Result) Derivative(ctx context.Context, direction Change) (Point, error) {
	d, err := r.differential(ctx)
	if err != nil {
		return nil, fmt.Errorf("convex: Derivative: %w", err)
	}
	changes, known := make([][]float64, len(r.params)), 0
	for k, p := range r.params {
		if v, ok := direction[p]; ok {
			if err := fits("Derivative", "direction of parameter "+p.Name(), p.Len(), v); err != nil {
				return nil, err
			}
			changes[k] = v
			known++
		}
	}
	if known < len(direction) {
		return nil, errors.New("convex: Derivative: a parameter of the direction is not in the program solved")
	}
	u, v := d.numbers.Forward(r.out.X, r.out.Z, r.out.Values, func(p *affine.Parameter) []float64 { return changes[p.ID] })
	floats.Scale(-1, u)
	floats.Scale(-1, v)
	x, _, err := d.conic.Solve(ctx, u, v)
	if x == nil {
		return nil, fmt.Errorf("convex: Derivative: %w", err)
	}
	if !finite.All(x...) {
		return nil, errors.New("convex: Derivative: the derivative is not finite")
	}
	out := Point{}
	for _, of := range r.vars {
		out[of] = of.at(nil, func(a *affine.Variable) []float64 {
			own := make([]float64, a.N)
			d.numbers.Expand(own, a, x)
			return own
		})
	}
	users := d.numbers.N // columns of the model's variables
	if n := len(r.vars); n < len(d.numbers.Start) {
		users = d.numbers.Start[n]
	}
	if slices.Contains(d.conic.Loose[:users], true) {
		err = ErrDegenerate
	}
	return out, d.degenerate("Derivative", err)
}

// Gradient returns the gradients in all parameters of a function of the variables and the parameters at the solution: a
// scalar, convex or concave, as the loss on other data, or Dot(g, x) of a gradient g in a variable x, from elsewhere.
// It is the adjoint of [Result.Derivative], and has its errors, and one for what is no scalar or has no finite value. A
// function that is not affine is differentiated by the multipliers of x = x* in its minimization, to a relative 1e-10:
// where it is not smooth, it has a subgradient.
func (r *Result) Gradient(ctx context.Context, f Operand) (Change, error) {
	d, err := r.differential(ctx)
	if err != nil {
		return nil, fmt.Errorf("convex: Gradient: %w", err)
	}
	e := operand("Gradient", f)
	switch {
	case e.err != nil:
		return nil, e.err
	case e.Len() != 1:
		return nil, fmt.Errorf("convex: Gradient: %v has length %d, expected a scalar", e, e.Len())
	}
	inX, inP, err := r.slope(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("convex: Gradient: %w", err)
	}
	g := make([]float64, d.numbers.N)
	for k, v := range r.vars {
		for column, j := range d.numbers.Entries(v.v) {
			g[column] = inX[k][j]
		}
	}
	floats.Scale(-1, g)
	x, z, err := d.conic.Solve(ctx, g, make([]float64, d.numbers.M))
	if x == nil {
		return nil, fmt.Errorf("convex: Gradient: %w", err)
	}
	d.numbers.Adjoint(r.out.X, r.out.Z, x, z, r.out.Values, func(p *affine.Parameter) []float64 { return inP[p.ID] })
	out := Change{}
	for k, p := range r.params {
		if out[p] = inP[k]; !finite.All(inP[k]...) {
			return nil, errors.New("convex: Gradient: the gradient is not finite")
		}
	}
	return out, d.degenerate("Gradient", err)
}

// slopeEps is the accuracy of the gradient of a function that is not affine.
const slopeEps = 1e-10

// slope is the gradient of a scalar expression at the solution in all variables and in all parameters, these fixed.
func (r *Result) slope(ctx context.Context, e *expression) (inX, inP [][]float64, err error) {
	known := true
	own := func(x *affine.Variable) []float64 {
		known = known && x.ID < len(r.vars) && r.vars[x.ID].v == x
		return make([]float64, x.N)
	}
	f := e.f()
	if f.Eval(r.out.Values, own); !known || e.m != nil && e.m != r.model {
		return nil, nil, fmt.Errorf("%v has variables or parameters that are not in the program solved", e)
	}
	if len(f.Atoms) == 0 && !f.Aff.Bounding() {
		one := []float64{1}
		for _, v := range r.vars {
			inX = append(inX, make([]float64, v.v.N))
		}
		f.Aff.Adjoint(1, one, r.out.Values, func(x *affine.Variable) []float64 { return inX[x.ID] })
		for _, p := range r.params {
			inP = append(inP, make([]float64, p.p.N))
			r.out.AddSensitivity(inP[p.p.ID], f.Aff, 1, p.p, func() []float64 { return one })
		}
		return inX, inP, nil
	}
	backend, err := backends.Open("native")
	if err != nil {
		return nil, nil, err
	}
	vars, params, fixed := make([]*affine.Variable, len(r.vars)), make([]*affine.Parameter, len(r.params)),
		make([]*compile.Constraint, len(r.vars))
	for k, v := range r.vars {
		vars[k] = v.v
		at := v.v.Expr().Minus(affine.Constant(r.out.Value(v.v)...))
		fixed[k] = &compile.Constraint{N: at.N, Equal: true, F: compile.Function{N: at.N, Aff: at}}
	}
	for k, p := range r.params {
		params[k] = p.p
	}
	p, err := compile.Compile(vars, params, &f, fixed)
	if err != nil {
		return nil, nil, err
	}
	s := solve.New(p, r.out.Values, backend, backends.Options{Eps: slopeEps})
	defer s.Close()
	s.Lift(false)
	out, err := s.Whole(ctx)
	switch {
	case err != nil:
		return nil, nil, err
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	}
	if out.Stationarity == nil || p.CheckWeights(r.out.Values) != nil {
		return nil, nil, fmt.Errorf("%v has no gradient at the solution: %s", e, out.Status)
	}
	sign := 1.0
	if e.concave {
		sign = -1
	}
	for _, c := range fixed {
		inX = append(inX, floats.ScaleTo(make([]float64, c.N), -sign, out.Dual(c)))
	}
	for _, p := range params {
		inP = append(inP, floats.ScaleTo(make([]float64, p.N), sign, out.Sensitivity(p)))
	}
	return inX, inP, nil
}

// differential linearises the program at the solution.
func (r *Result) differential(ctx context.Context) (*differential, error) {
	out, d := r.of(), &r.derivative
	if ctx == nil {
		return nil, errors.New("the context is nil")
	}
	if !solve.HasPoint(&out.Solution) {
		return nil, fmt.Errorf("the solve ended without a point: %s", out.Status)
	}
	if d.conic != nil {
		return d, nil
	}
	var err error
	d.numbers = out.Layout.Assemble()
	state := compile.NewState(out.Layout.Program.Params, out.Values)
	d.conic, err = backends.NewDerivative(ctx, compile.NewNumbers(d.numbers, state).Problem(),
		backends.Point{X: out.X, S: out.S, Z: out.Z})
	return d, err
}

// degenerate says why an answer is one of several.
func (d *differential) degenerate(of string, err error) error {
	switch {
	case len(d.conic.Kinks) > 0:
		return fmt.Errorf("convex: %s: %w: in %d places, as in row %d of the conic program, slack and multiplier are both "+
			"zero", of, ErrDegenerate, len(d.conic.Kinks), d.conic.Kinks[0])
	case err != nil:
		return fmt.Errorf("convex: %s: %w: it is not unique, or multipliers of the change do not exist", of, ErrDegenerate)
	}
	return nil
}

// fits says what is wrong with a vector.
func fits(of, what string, n int, v []float64) error {
	switch {
	case len(v) != n:
		return fmt.Errorf("convex: %s: the %s has %d entries, expected %d", of, what, len(v), n)
	case !finite.All(v...):
		return fmt.Errorf("convex: %s: the %s is not finite", of, what)
	}
	return nil
}
