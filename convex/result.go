package convex

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/solve"
)

// Result is the outcome of one solve. It stays valid when the solver goes on, until it is given to [Solver.SolveInto].
type Result struct {
	Status backends.Status
	// Engine is what found the result; empty where the context had ended before.
	Engine string
	// Objective and DualObjective are those of the model, constants included.
	Objective, DualObjective float64
	// Residuals are those of the full conic program: with working sets, of the
	// point completed to it.
	// The gap is that of the objectives here, whose constants the conic program lacks.
	Residuals backends.Residuals
	// Distance bounds how far Objective is from the optimal value, and Radius how far a proof of infeasibility holds, as
	// in [backends.Solution]; the distance counts what the rounding of the point and its numbers may change. It is NaN for
	// [EngineSingularVectors].
	Distance, Radius float64
	// Iterations counts the backend's iterations in all rounds; Rounds is 1
	// without working sets.
	Iterations, Rounds int
	// Active is the number of entries of sparse variables with a working set, in the last program solved, and of all
	// entries of all variables when working sets are not used.
	Active int
	// Message is what the backend has to say beyond the status; often empty.
	Message string
	// History has the iterations of the last program solved, with the option History of the backend.
	History []backends.Iteration

	out      *solve.Outcome
	vars     []*Variable
	params   []*Parameter
	model    *Model
	maximize bool

	derivative differential
}

func (out *Result) set(engine string, r *solve.Outcome, p *Program) {
	*out = Result{
		Status: r.Status, Engine: engine, Objective: r.Objective, DualObjective: r.DualObjective, Residuals: r.Residuals,
		Distance: r.Distance, Radius: r.Radius, Iterations: r.Iterations, Rounds: r.Rounds, Active: r.Active,
		Message: r.Message, History: r.History,
		out: r, vars: p.vars, params: p.params, model: p.model, maximize: p.maximize,
	}
	if p.maximize {
		out.Objective, out.DualObjective = -r.Objective, -r.DualObjective
	}
}

// of returns the outcome. It panics if the result is nil or zero.
func (r *Result) of() *solve.Outcome {
	if r == nil || r.out == nil {
		panic("convex: a Result is nil or zero; Solver.Solve makes one")
	}
	return r.out
}

// own panics unless the variable was in the model when it was compiled.
func (r *Result) own(x *affine.Variable) *affine.Variable {
	if p := r.of().Layout.Program; x.ID >= p.Users || p.Vars[x.ID] != x {
		panic(fmt.Sprintf("convex: variable %s is not in the program solved", x.Name))
	}
	return x
}

// Value returns the values of an expression, a variable for example, with the parameters' values of the solve, or nil
// when that ended without a point. After DualInfeasible those of a variable are a direction along which the objective
// falls without bound. It panics if a variable was not in the model when that was compiled.
func (r *Result) Value(a Expr) []float64 {
	e := operand("Value", a)
	if r.of().X == nil || e.err != nil {
		return nil
	}
	if e.m != nil && e.m != r.model {
		panic(fmt.Sprintf("convex: %v is not of the model solved", e))
	}
	return e.at(r.out.Values, func(x *affine.Variable) []float64 { return r.out.Value(r.own(x)) })
}

// Point returns the values of all variables and, in the solve, of all parameters, or nil when there is no point.
func (r *Result) Point() Point {
	if r.of().X == nil {
		return nil
	}
	pt := Point{}
	for _, v := range r.vars {
		pt[v] = r.Value(v)
	}
	for i, p := range r.params {
		pt[p] = slices.Clone(r.out.Values[i])
	}
	return pt
}

// Dual returns the multipliers of a constraint, one for each of its entries, or
// nil when the solve ended without them. Those of Le and Ge are
// not negative. The derivative of the optimal value in the right side is -Dual
// for Le and Eq, and +Dual for Ge; of a maximum it is the negative of that. After PrimalInfeasible
// they are the weights with which the constraints contradict each other. It panics if the constraint was not in the
// model when that was compiled.
func (r *Result) Dual(c *Constraint) []float64 {
	out := r.of()
	if c == nil {
		panic("convex: Dual of a constraint that is nil")
	}
	if _, ok := out.Layout.Program.Refs[&c.c]; !ok {
		panic("convex: Dual of a constraint that is not in the program solved")
	}
	return c.entries(r.out.Dual(&c.c))
}

// Slack returns what a constraint leaves: b - a of a <= b and of a = b, the vectors of [Model.In], and the matrix of
// [Model.PSD], row by row. It is nil when the solve ended without a point, and panics as Value does.
func (r *Result) Slack(c *Constraint) []float64 {
	if r.of().X == nil || c == nil || c.err != nil {
		return nil
	}
	out := c.c.F.Eval(r.out.Values, func(x *affine.Variable) []float64 { return r.out.Value(r.own(x)) })
	if c.c.Cone == nil {
		for i, v := range out {
			out[i] = 0 - v // not -0
		}
	}
	return c.entries(out)
}

// entries are those of the constraint, of a semidefinite matrix all in the place of the scaled triangle.
func (c *Constraint) entries(v []float64) []float64 {
	if c.n == 0 || v == nil {
		return v
	}
	_, index := lowerTriangle(c.n, c.n)
	full := make([]float64, len(index))
	for k, i := range index {
		if full[k] = v[i]; k%(c.n+1) != 0 {
			full[k] /= math.Sqrt2
		}
	}
	return full
}

// Sensitivity returns the derivative of the optimal value in a parameter,
//
//	-(db/dp)'z + (dq/dp)'x + z'(dA/dp)x + 1/2 x'(dP/dp)x + d(constant)/dp
//
// where the multipliers are unique, and a subgradient where the optimal value
// is convex in the parameter. It is nil when the solve ended without a point. It panics if the parameter was not in
// the model when that was compiled.
func (r *Result) Sensitivity(p *Parameter) []float64 {
	x := p.parameter()
	if prog := r.of().Layout.Program; x.ID >= len(prog.Params) || prog.Params[x.ID] != x {
		panic(fmt.Sprintf("convex: parameter %s is not in the program solved", x.Name))
	}
	out := r.out.Sensitivity(x)
	if r.maximize {
		floats.Scale(-1, out)
	}
	return out
}

// DualResidual returns Px + q + A'z in the entries of a variable, the residual
// of stationarity; outside a working set it is what the best choice of the
// multipliers there leaves. It is nil when the solve ended without a point, and panics as Value does.
func (r *Result) DualResidual(v *Variable) []float64 { return r.out.DualResidual(r.own(v.variable())) }

// Conic returns the primal-dual point of the full conic program, in the rows and
// columns of [Program.Problem], for a check that does not rely on this package.
// Parts that the solve did not give are nil.
func (r *Result) Conic() backends.Point { return r.of().Conic() }
