package convex

import (
	"fmt"
	"time"

	"github.com/conetune/conetune/backends"
)

// Result is the outcome of one Solve. It stays valid when the solver goes on.
type Result struct {
	Status backends.Status
	// Engine is what found the result; empty where the context had ended before.
	Engine Engine
	// Objective and DualObjective are those of the model, constants included.
	Objective, DualObjective float64
	// Residuals are those of the full conic program: with working sets, of the
	// point completed to it.
	Residuals backends.Residuals
	// Iterations counts the backend's iterations in all rounds; Rounds is 1
	// without working sets.
	Iterations, Rounds int
	// Active is the number of entries of sparse variables, or of rows of hinges and inequalities with a
	// working set, in the last program solved, and of all entries of all variables when working sets are not used.
	Active int
	// SetupTime and SolveTime are those of the last round in the backend.
	SetupTime, SolveTime time.Duration
	// Message is what the backend has to say beyond the status; often empty.
	Message string

	as      *assembled
	offset  float64 // the constant of the objective
	x, s, z []float64
	dual    []float64 // Px + q + A'z in the columns of as
	squares [][]float64
	weights []float64
	done    *completion
	rows    *rowsState
}

// result reads what a result needs from the solution of the current instance.
func (s *Solver) result(sol *backends.Solution) *Result {
	as := s.current.as
	offset := as.prog.offset()
	r := &Result{
		Status: sol.Status, Objective: sol.Objective + offset, DualObjective: sol.DualObjective + offset,
		Residuals: sol.Residuals, SetupTime: sol.SetupTime, SolveTime: sol.SolveTime, Message: sol.Message,
		as: as, offset: offset, x: sol.X, s: sol.S, z: sol.Z,
	}
	for _, v := range s.prog.vars[:s.prog.users] {
		r.Active += as.width(v)
	}
	if hasPoint(sol) {
		r.keepSquares(as.prog)
		r.separate(as.prog, s.current.b.val)
	}
	return r
}

// keepSquares keeps the arguments and weights of squares that depend on
// parameters, for Sensitivity after the parameters have moved on.
func (r *Result) keepSquares(p *Program) {
	r.squares, r.weights = make([][]float64, len(p.squares)), make([]float64, len(p.squares))
	for i := range p.squares {
		q := &p.squares[i]
		r.weights[i] = q.weight()
		if q.w == nil && q.arg.fixed() {
			continue
		}
		value := q.arg.constant()
		r.as.eachSquare(i, func(row, col int, factor float64) {
			if col >= 0 {
				value[row] += factor * r.x[col]
			}
		})
		r.squares[i] = value
	}
}

// completed makes the residuals those of the completed point, given the residual
// of stationarity of the restricted one and the denominator of Residuals.Dual.
func (r *Result) completed(done *completion, dual []float64, scale float64) {
	r.done, r.dual = done, dual
	r.Residuals.Dual = max(r.Residuals.Dual, done.worst/scale)
}

// own panics unless the variable was in the model when it was compiled.
func (r *Result) own(v *Variable) {
	if p := r.as.prog; v.id >= p.users || p.vars[v.id] != v {
		panic(fmt.Sprintf("convex: variable %s is not in the program solved", v.name))
	}
}

// Value returns the value of a variable, or nil when the solve ended without
// a point. After DualInfeasible it is a direction along which the objective
// falls without bound.
func (r *Result) Value(v *Variable) []float64 {
	r.own(v)
	if r.x == nil {
		return nil
	}
	out := make([]float64, v.n)
	r.as.expand(out, v, r.x)
	return out
}

// Point returns the values of all variables, or nil when there is no point.
func (r *Result) Point() Point {
	if r.x == nil {
		return nil
	}
	pt := Point{}
	for _, v := range r.as.prog.vars[:r.as.prog.users] {
		pt[v] = r.Value(v)
	}
	return pt
}

// Dual returns the multipliers of a constraint, one for each of its entries, or
// nil when the solve ended without them. Those of LessEqual and GreaterEqual are
// not negative. The derivative of the optimal value in the right side is -Dual
// for LessEqual and Equal, and +Dual for GreaterEqual. After PrimalInfeasible
// they are the weights with which the constraints contradict each other.
func (r *Result) Dual(c *Constraint) []float64 {
	refs, ok := r.as.prog.refs[c]
	if !ok {
		panic("convex: Dual of a constraint that is not in the program solved")
	}
	if r.z == nil {
		return nil
	}
	out := make([]float64, c.n)
	for _, ref := range refs {
		for k := range ref.rows {
			row := r.as.fullRow(ref.g.index, ref.row+k)
			value := 0.0
			if row >= 0 {
				value = r.z[row]
			} else if r.done != nil {
				value = r.done.multiplier(ref.g, ref.row+k)
			}
			out[ref.first+k*ref.step] += ref.coef * value
		}
	}
	return out
}

// Sensitivity returns the derivative of the optimal value in a parameter,
//
//	-(db/dp)'z + (dq/dp)'x + z'(dA/dp)x + 1/2 x'(dP/dp)x + d(constant)/dp
//
// where the multipliers are unique, and a subgradient where the optimal value
// is convex in the parameter. It is nil when the solve ended without a point.
func (r *Result) Sensitivity(p *Parameter) []float64 {
	prog := r.as.prog
	if p.id >= len(prog.params) || prog.params[p.id] != p {
		panic(fmt.Sprintf("convex: parameter %s is not in the program solved", p.name))
	}
	if r.dual == nil {
		return nil
	}
	out := make([]float64, p.n)
	one := []float64{1}
	r.addSensitivity(out, prog.objective, 1, p, func() []float64 { return one })
	for i, g := range prog.groups {
		// s = b - Ax = expr, so z'(dA x - db) = -z' d(expr).
		r.addSensitivity(out, g.expr, -1, p, func() []float64 {
			return r.as.groupRows(i, r.z, make([]float64, g.expr.n))
		})
	}
	for i := range prog.squares {
		q := &prog.squares[i]
		if q.w == p {
			for _, v := range r.squares[i] {
				out[0] += q.scale * v * v
			}
		}
		for k := range q.arg.pars {
			if t := &q.arg.pars[k]; t.p == p {
				t.adjoint(out, 2*r.weights[i], r.squares[i])
			}
		}
	}
	return out
}

// addSensitivity adds alpha z' d(expr)/dp.
func (r *Result) addSensitivity(out []float64, expr Affine, alpha float64, p *Parameter, z func() []float64) {
	for k := range expr.pars {
		if t := &expr.pars[k]; t.p == p {
			t.adjoint(out, alpha, z())
		}
	}
	for k := range expr.vars {
		t := &expr.vars[k]
		if t.w != p {
			continue
		}
		x := make([]float64, t.v.n)
		r.as.expand(x, t.v, r.x)
		t.weightGradient(out, alpha, z(), x)
	}
}

// DualResidual returns Px + q + A'z in the entries of a variable, the residual
// of stationarity; outside a working set it is what the best choice of the
// multipliers there leaves. It is nil when the solve ended without a point.
func (r *Result) DualResidual(v *Variable) []float64 {
	r.own(v)
	if r.dual == nil {
		return nil
	}
	out := make([]float64, v.n)
	if k := r.as.prog.sparseOf[v.id]; k >= 0 && r.done != nil {
		copy(out, r.done.excess[k])
	}
	r.as.expand(out, v, r.dual)
	return out
}

// Conic returns the primal-dual point of the full conic program, in the rows and
// columns of [Program.Problem], for a check that does not rely on this package.
// Parts that the solve did not give are nil.
func (r *Result) Conic() backends.Point {
	prog := r.as.prog
	full := prog.newLayout(nil)
	var pt backends.Point
	if r.x != nil {
		pt.X = make([]float64, full.n)
		for _, v := range prog.vars {
			r.as.expand(pt.X[full.start[v.id]:full.start[v.id]+v.n], v, r.x)
		}
	}
	rows := func(from []float64, complete bool) []float64 {
		if from == nil {
			return nil
		}
		out := make([]float64, full.m)
		for i, g := range prog.groups {
			copy(out[full.first[i]:], r.as.groupRows(i, from, make([]float64, g.expr.n)))
			for k, row := range r.as.rowOf[i] {
				if row < 0 && complete && r.done != nil {
					out[full.first[i]+k] = r.done.multiplier(g, k)
				}
			}
		}
		return out
	}
	pt.S, pt.Z = rows(r.s, false), rows(r.z, true)
	if r.rows != nil && r.x != nil {
		return r.rows.complete(r.as, pt)
	}
	return pt
}
