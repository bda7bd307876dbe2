package planted

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/finite"
)

// Outcome says what an answer is worth.
type Outcome int

// The outcomes. Those from FalseInfeasible on are wrong.
const (
	Right Outcome = iota
	Undecided
	FalseInfeasible // "primal_infeasible", but there is a feasible point
	FalseUnbounded  // "dual_infeasible", but the objective is bounded
	FalseOptimal    // "optimal", but there is no solution
	Off             // "optimal" with another objective
	TooFar          // the objective is farther from the value than Solution.Distance says
	Malformed       // not a solution
	Failed          // an error where none is due
	Accepted        // a nonconvex program was not refused
	Panicked
)

var outcomeNames = [...]string{"right", "undecided", "false infeasible", "false unbounded", "false optimal",
	"objective off", "beyond its distance", "malformed", "error", "nonconvex accepted", "panic"}

// String returns the name of the outcome.
func (o Outcome) String() string { return outcomeNames[o] }

// Wrong says whether no answer may be like this.
func (o Outcome) Wrong() bool { return o >= FalseInfeasible }

// Tolerance is the error of an optimal value that is not wrong yet, relative to the
// size of what the value is added up from.
const Tolerance = 1e-4

// Verdict is an answer with what it is worth.
type Verdict struct {
	Outcome Outcome
	Status  backends.Status // of the answer, if there is one
	Detail  string
}

// Judge says what an answer to the case is worth.
func (c *Case) Judge(sol *backends.Solution) Verdict {
	verdict := func(o Outcome, format string, args ...any) Verdict {
		return Verdict{o, sol.Status, fmt.Sprintf(format, args...)}
	}
	if reason := c.malformed(sol); reason != "" {
		return verdict(Malformed, "%s", reason)
	}
	if c.Class == Nonconvex {
		return verdict(Accepted, "%v, objective %g", sol.Status, sol.Objective)
	}
	right := verdict(Right, "")
	switch sol.Status {
	case backends.PrimalInfeasible:
		if c.X != nil {
			return verdict(FalseInfeasible, "x = %.6g is feasible, the radius is %g", c.X, sol.Radius)
		}
		right.Outcome, right.Detail = c.minusOne(c.B, sol.Z, c.beta(sol.Z))
		return right
	case backends.DualInfeasible:
		switch {
		case c.DualX == nil:
			right.Outcome, right.Detail = c.minusOne(c.Q, sol.X, 0)
			return right
		case c.rounded(sol.X):
			return verdict(Undecided, "x = %.6g is a ray beyond the rounding of the planted z", sol.X)
		}
		return verdict(FalseUnbounded, "z = %.6g is dual feasible, the radius is %g", c.Z, sol.Radius)
	case backends.Optimal:
		unit := c.Unit
		if c.Class == Weak { // solutions may be far from the planted points
			_, size := c.objective(sol.X)
			unit = max(unit, size)
		}
		unit = max(1, unit)
		switch off := math.Abs(sol.Objective - c.Value); {
		case c.Farkas != nil || c.Ray != nil:
			return verdict(FalseOptimal, "objective %g, but the program is %v", sol.Objective, c.Class)
		case c.Wild:
		case !(sol.Objective <= c.Value+Tolerance*unit && sol.Objective >= c.Least-Tolerance*unit):
			return verdict(Off, "objective %.12g, expected %.12g to %.12g from terms of size %.3g", sol.Objective, c.Least,
				c.Value, unit)
		case c.Class == Optimal && c.within(sol) && !(off <= sol.Distance+c.Value-c.Least+1e-11*unit):
			return verdict(TooFar, "objective %.15g is %g from %.15g, which is said to be at most %g", sol.Objective, off,
				c.Value, sol.Distance)
		}
		return right
	}
	return verdict(Undecided, "%v: %s, residuals %.1e, %d iterations", sol.Status, sol.Message, sol.Residuals,
		sol.Iterations)
}

// rounded says whether what rounding leaves of r = Pu + A'z + q at the planted (u, z) makes up for half of a ray x with
// q'x = -1: such a point is none that contradicts the ray, as -1 = r'x - u'Px - z'Ax.
func (c *Case) rounded(x []float64) bool {
	most := 0.0
	for j, q := range c.Q {
		off, _ := residual(q, 0, append(column(c.A, j), c.rowOfP(j)...), slices.Concat(c.Z, c.DualX))
		most += math.Abs(off * x[j])
	}
	return 2*most >= 1 // the rest is rounding of x
}

// within says whether the planted solution is one that Solution.Distance speaks about.
func (c *Case) within(sol *backends.Solution) bool {
	twice := func(x, y float64) bool { return math.Abs(x) <= 2*math.Abs(y) }
	return slices.EqualFunc(c.X, sol.X, twice) && slices.EqualFunc(c.Z, sol.Z, twice)
}

// malformed says what in sol is not what [backends.Solution] promises.
func (c *Case) malformed(sol *backends.Solution) string {
	n, m := c.Dims()
	point := func(name string, v []float64, length int) string {
		if len(v) != length {
			return fmt.Sprintf("%v with %s of length %d, expected %d", sol.Status, name, len(v), length)
		}
		if !finite.All(v...) {
			return fmt.Sprintf("%v with %s = %g", sol.Status, name, v)
		}
		return ""
	}
	switch sol.Status {
	case backends.Unsolved:
		return "unsolved"
	case backends.PrimalInfeasible:
		if sol.X != nil || sol.S != nil || !math.IsInf(sol.Objective, 1) {
			return fmt.Sprintf("primal_infeasible with x, s or the objective %g", sol.Objective)
		}
		return point("z", sol.Z, m)
	case backends.DualInfeasible:
		if sol.Z != nil || !math.IsInf(sol.Objective, -1) {
			return fmt.Sprintf("dual_infeasible with z or the objective %g", sol.Objective)
		}
		return cmp.Or(point("x", sol.X, n), point("s", sol.S, m))
	}
	if sol.X == nil && sol.S == nil && sol.Z == nil && sol.Status != backends.Optimal {
		return ""
	}
	r := cmp.Or(point("x", sol.X, n), point("s", sol.S, m), point("z", sol.Z, m))
	if r == "" && sol.Status == backends.Optimal && !c.Wild {
		value, size := c.objective(sol.X)
		if !(math.Abs(value-sol.Objective) <= 1e-9*max(1, size)) {
			return fmt.Sprintf("objective %.12g, but that of x is %.12g", sol.Objective, value)
		}
	}
	return r
}

// minusOne wants v'u - beta = -1 of a certificate u.
func (c *Case) minusOne(v, u []float64, beta float64) (Outcome, string) {
	if off, size := residual(1, -beta, v, u); !c.Wild && !(off <= 1e-9*size) {
		return Malformed, fmt.Sprintf("a certificate whose value is off -1 by %g", off)
	}
	return Right, ""
}

// Run sets up and solves the case and judges the answer.
func (c *Case) Run(b backends.ConicBackend, o backends.Options) Verdict {
	_, v := c.answer(b, o)
	return v
}

// answer is Run that returns the solution, too, if there is one.
func (c *Case) answer(b backends.ConicBackend, o backends.Options) (sol *backends.Solution, v Verdict) {
	defer recovered(&v)
	o.NoPresolve = o.NoPresolve || c.Whole
	solver, err := b.Setup(c.Problem(), o)
	if err != nil {
		return nil, c.refused("Setup", err)
	}
	sol, v = c.solve(solver)
	if err := solver.Close(); err != nil && !v.Outcome.Wrong() {
		v = Verdict{Outcome: Failed, Detail: "Close: " + err.Error()}
	}
	return sol, v
}

// solve asks a solver that holds the case.
func (c *Case) solve(solver backends.Solver) (sol *backends.Solution, v Verdict) {
	defer recovered(&v)
	sol, err := solver.Solve(context.Background())
	if err != nil {
		return nil, c.refused("Solve", err)
	}
	return sol, c.Judge(sol)
}

func recovered(v *Verdict) {
	if r := recover(); r != nil {
		*v = Verdict{Outcome: Panicked, Detail: fmt.Sprint(r)}
	}
}

// refused judges an error of a call that is given the case.
func (c *Case) refused(call string, err error) Verdict {
	var wrong *backends.ProblemError
	switch is := errors.As(err, &wrong); {
	case is && c.Wild:
		return Verdict{Outcome: Undecided, Detail: err.Error()}
	case !is || wrong.Direction == nil || c.Class != Nonconvex:
		return Verdict{Outcome: Failed, Detail: call + ": " + err.Error()}
	}
	if d := wrong.Direction; len(d) != len(c.Q) || !(dot(d, c.timesP(d)) < 0) {
		return Verdict{Outcome: Malformed, Detail: fmt.Sprintf("the direction %.6g does not prove that P is indefinite", d)}
	}
	return Verdict{Outcome: Right}
}
