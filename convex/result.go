package convex

import (
	"fmt"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/solve"
)

// Result is the outcome of one Solve. It stays valid when the solver goes on.
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

	out  *solve.Outcome
	vars []*Variable
}

func newResult(engine string, r *solve.Outcome, vars []*Variable) *Result {
	return &Result{
		Status: r.Status, Engine: engine, Objective: r.Objective, DualObjective: r.DualObjective, Residuals: r.Residuals,
		Distance: r.Distance, Radius: r.Radius, Iterations: r.Iterations, Rounds: r.Rounds, Active: r.Active,
		Message: r.Message,
		out:     r, vars: vars,
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
func (r *Result) own(v *Variable) *affine.Variable {
	x := v.of()
	if p := r.of().Assembled.Program; x.ID >= p.Users || p.Vars[x.ID] != x {
		panic(fmt.Sprintf("convex: variable %s is not in the program solved", x.Name))
	}
	return x
}

// Value returns the value of a variable, or nil when the solve ended without
// a point. After DualInfeasible it is a direction along which the objective
// falls without bound. It panics if the variable was not in the model when that was compiled.
func (r *Result) Value(v *Variable) []float64 { return r.out.Value(r.own(v)) }

// Point returns the values of all variables, or nil when there is no point.
func (r *Result) Point() Point {
	if r.of().X == nil {
		return nil
	}
	pt := Point{}
	for _, v := range r.vars {
		pt[v] = r.Value(v)
	}
	return pt
}

// Dual returns the multipliers of a constraint, one for each of its entries, or
// nil when the solve ended without them. Those of LessEqual and GreaterEqual are
// not negative. The derivative of the optimal value in the right side is -Dual
// for LessEqual and Equal, and +Dual for GreaterEqual. After PrimalInfeasible
// they are the weights with which the constraints contradict each other. It panics if the constraint was not in the
// model when that was compiled.
func (r *Result) Dual(c *Constraint) []float64 {
	out := r.of()
	if c == nil {
		panic("convex: Dual of a constraint that is nil")
	}
	if _, ok := out.Assembled.Program.Refs[&c.c]; !ok {
		panic("convex: Dual of a constraint that is not in the program solved")
	}
	return r.out.Dual(&c.c)
}

// Sensitivity returns the derivative of the optimal value in a parameter,
//
//	-(db/dp)'z + (dq/dp)'x + z'(dA/dp)x + 1/2 x'(dP/dp)x + d(constant)/dp
//
// where the multipliers are unique, and a subgradient where the optimal value
// is convex in the parameter. It is nil when the solve ended without a point. It panics if the parameter was not in
// the model when that was compiled.
func (r *Result) Sensitivity(p *Parameter) []float64 {
	x := p.of()
	if prog := r.of().Assembled.Program; x.ID >= len(prog.Params) || prog.Params[x.ID] != x {
		panic(fmt.Sprintf("convex: parameter %s is not in the program solved", x.Name))
	}
	return r.out.Sensitivity(x)
}

// DualResidual returns Px + q + A'z in the entries of a variable, the residual
// of stationarity; outside a working set it is what the best choice of the
// multipliers there leaves. It is nil when the solve ended without a point, and panics as Value does.
func (r *Result) DualResidual(v *Variable) []float64 { return r.out.DualResidual(r.own(v)) }

// Conic returns the primal-dual point of the full conic program, in the rows and
// columns of [Program.Problem], for a check that does not rely on this package.
// Parts that the solve did not give are nil.
func (r *Result) Conic() backends.Point { return r.of().Conic() }
