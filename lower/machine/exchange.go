package machine

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/activeset"
	"github.com/conetune/conetune/lower"
)

// exchange solves a small subproblem from the constraints that held with equality in the one before, see [activeset]. Its variables are w and c of fold after fold, h and t. Rows of the folds
// are hinges with their weight in the validation loss; that in the training loss is in the limit V <= t.
type exchange struct {
	s       *Subproblem
	problem activeset.Problem
	solver  *activeset.Solver
	point   activeset.Point // where the next solve begins, of the last answer of Newton steps
	ready   bool
	// skip is the number of solves that are left to Newton steps, pause that after the next failure.
	skip, pause int
	// gammas is where gamma stands in the values of the rows, and high the first of the limits h <= high.
	gammas, high int
}

const (
	// mostExchangeVariables bounds the variables of the subproblems solved so: those of 30 features in 6 folds, 218, take less time than conic programs, those of 60 features in 3 and 6
	// folds, 245 and 428, 1.2 times and twice as long.
	mostExchangeVariables = 240
	// mostExchanges bounds the exchanges of a solve: more take longer than Newton steps from the last solution.
	mostExchanges = 1000
	// exchangeTol is the accuracy of the optimality conditions. What it leaves in the objective is seen by the gap.
	exchangeTol = 1e-9
	// startGap times the tolerance is the gap from which exchanges begin.
	startGap = 1e4
	// mostSkipped bounds the solves that are left to Newton steps after a failure: 1, 2, 4, .. from one failure to the next.
	mostSkipped = 16
)

// The numbers of the first limits; after them, for each fold, come w_j - wbar_j <= t and -w_j - wbar_j <= t, and then -h <= -low and h <= high.
const (
	valueLimit = iota // V <= t
	signLimit         // -t <= 0
	boxLimits
)

// variables is the number of variables of a subproblem.
func variables(folds, p int) int { return folds*(p+1) + p + 2 }

// newExchange returns nil where the subproblem is too large for it, and where the rows are many: each exchange looks at all of them.
func newExchange(s *Subproblem) *exchange {
	if s.many || variables(len(s.folds), s.p) > mostExchangeVariables {
		return nil
	}
	return &exchange{s: s, pause: 1}
}

// radius and top are the columns of r and t.
func (e *exchange) radius() int { return len(e.s.folds) * (e.s.p + 1) }
func (e *exchange) top() int    { return e.radius() + e.s.p + 1 }

// limit adds a limit.
func (e *exchange) limit(right float64, columns []int, values ...float64) {
	e.problem.Limits = append(e.problem.Limits, activeset.Limit{Row: putRow(&e.problem, right, columns, values...)})
}

// build writes the problem but for the numbers of the centre.
func (e *exchange) build() {
	s, q := e.s, &e.problem
	p, r, top := s.p, e.radius(), e.top()
	q.Ptr, q.Whole = []int{0}, true
	columns := make([]int, p+2)
	for j := range columns {
		columns[j] = r + j
	}
	e.gammas = len(q.Val)
	e.limit(0, columns, append(make([]float64, p+1), -1)...)
	e.limit(0, []int{top}, -1)
	for t := range s.folds {
		for j := range p {
			at := []int{t*(p+1) + j, r + 1 + j, top}
			e.limit(0, at, 1, -1, -1)
			e.limit(0, at, -1, -1, -1)
		}
	}
	for j := range p + 1 {
		e.limit(0, []int{r + j}, -1)
	}
	e.high = len(q.Limits)
	for j := range p + 1 {
		e.limit(0, []int{r + j}, 1)
	}
	for t, f := range s.folds {
		e.hinges(t, f)
		ball := activeset.Ball{Row: putRow(q, 0, []int{r, top}, -1, -1)}
		for j := range p {
			ball.Index, ball.Kappa = append(ball.Index, t*(p+1)+j), append(ball.Kappa, 1)
		}
		q.Balls = append(q.Balls, ball)
	}
	q.D, q.Q = make([]float64, top+1), make([]float64, top+1)
	e.solver = activeset.NewSolver(q)
	e.point = activeset.Point{X: make([]float64, top+1), Limit: make([]float64, len(q.Limits)), Hinge: make([]float64, len(q.Hinges)), Ball: make([]float64, len(q.Balls))}
}

// hinges adds those of fold t.
func (e *exchange) hinges(t int, f *fold) {
	q, p := &e.problem, e.s.p
	for i := range f.rows.n {
		row := putHinge(q, f.rows, i, t*(p+1))
		if f.part[1][i] > 0 {
			v := &q.Limits[valueLimit]
			v.Uses = append(v.Uses, activeset.Use{Hinge: len(q.Hinges), Weight: f.part[1][i]})
		}
		q.Hinges = append(q.Hinges, activeset.Hinge{Row: row, Cost: f.part[0][i]})
	}
}

// putRow adds a row, with entries in increasing columns, and returns its number.
func putRow(q *activeset.Problem, right float64, columns []int, values ...float64) int {
	q.Ind, q.Val = append(q.Ind, columns...), append(q.Val, values...)
	q.Ptr, q.Right = append(q.Ptr, len(q.Ind)), append(q.Right, right)
	return len(q.Right) - 1
}

// putHinge adds row i as the margin 1 - a_i'w + y_i c, with w from a column on, and c behind it.
func putHinge(q *activeset.Problem, rows *signedRows, i, first int) int {
	index, value := rows.stored(i)
	columns := make([]int, 0, len(value)+1)
	for k := range value {
		if index != nil {
			k = index[k]
		}
		columns = append(columns, first+k)
	}
	values := append(floats.ScaleTo(make([]float64, len(value)), -1, value), rows.y[i])
	return putRow(q, -1, append(columns, first+rows.p), values...)
}

// load writes the numbers of the centre.
func (e *exchange) load(c *lower.Centre) {
	q, p, r := &e.problem, e.s.p, e.radius()
	for j := range q.D {
		q.D[j] = c.Rho
	}
	q.D[e.top()], q.Q[e.top()] = 0, c.Alpha
	for t, x := range c.X {
		floats.ScaleTo(q.Q[t*(p+1):t*(p+1)+p], -c.Rho, x[0])
		q.Q[t*(p+1)+p] = -c.Rho * x[1][0]
	}
	floats.ScaleTo(q.Q[r:r+p+1], -c.Rho, c.R)
	copy(q.Val[e.gammas:], c.Gamma)
	q.Right[q.Limits[valueLimit].Row] = c.Value + c.Epsilon + floats.Dot(c.Gamma, c.R)
	for j := range p + 1 {
		q.Right[q.Limits[e.high-p-1+j].Row] = -c.Low[j]
		q.Right[q.Limits[e.high+j].Row] = c.High[j]
	}
}

// solve is a solve by exchanges; false where they do not lead to a solution, and all is as before, or at the first Newton step.
func (e *exchange) solve(ctx context.Context, q *solving) bool {
	if e == nil || !e.ready {
		return false
	}
	e.load(q.c)
	if e.solver.Solve(mostExchanges, exchangeTol, func() bool { return ctx.Err() != nil }) {
		out, least := *q.out, q.least
		*q.out, q.least = lower.Subsolution{Gap: math.Inf(1), Objective: math.Inf(1)}, math.Inf(-1)
		if e.take(q) {
			q.out.Fits, q.out.Solved = len(e.s.folds)*q.steps+e.solver.Exchanges(), true
			e.pause = 1
			return true
		}
		*q.out, q.least = out, least
		q.begin()
	}
	e.ready, e.skip, e.pause = false, e.pause-1, min(2*e.pause, mostSkipped)
	return false
}

// enough is the gap at which Newton steps leave the rest to exchanges.
func (e *exchange) enough(q *solving) float64 {
	if e == nil || e.skip > 0 {
		return q.tol
	}
	return math.Max(q.tol, startGap*q.c.Tol)
}

// take puts the solution into the folds, from where Newton steps would begin the next time, and says whether its gap is small enough.
func (e *exchange) take(q *solving) bool {
	s, pt, p := e.s, e.solver.Point(), e.s.p
	r := e.radius()
	copy(q.h, pt.X[r:r+p+1])
	for j := range q.h {
		q.h[j] = math.Max(q.c.Low[j], math.Min(q.c.High[j], q.h[j]))
	}
	q.t = math.Max(0, pt.X[e.top()])
	q.m0Now = pt.Limit[valueLimit]
	q.slopeT = q.c.Alpha - q.m0Now
	hinge := 0
	for t, f := range s.folds {
		copy(f.z, pt.X[t*(p+1):])
		if !f.measure() {
			return false
		}
		f.half = floats.Dot(f.z[:p], f.z[:p]) / 2
		for j := range p {
			at := boxLimits + 2*(t*p+j)
			f.overNow[j], f.underNow[j] = pt.Limit[at], pt.Limit[at+1]
			q.slopeT -= f.overNow[j] + f.underNow[j]
		}
		f.ballNow = pt.Ball[t]
		q.slopeT -= f.ballNow
		f.loss = [2]float64{}
		for i, margin := range f.margins {
			f.loss[0] += f.part[0][i] * math.Max(0, margin)
			f.loss[1] += f.part[1][i] * math.Max(0, margin)
			top := f.part[0][i] + q.m0Now*f.part[1][i]
			switch {
			case top > 0:
				f.shares[i] = math.Max(0, math.Min(1, pt.Hinge[hinge]/top))
			case margin > 0:
				f.shares[i] = 1
			default:
				f.shares[i] = 0
			}
			hinge++
		}
		if !f.sum() {
			return false
		}
	}
	if q.certify(true); !(q.out.Gap <= q.tol) {
		return false
	}
	s.scale, s.m0 = q.c.Alpha, q.m0Now
	for _, f := range s.folds {
		copy(f.over, f.overNow)
		copy(f.under, f.underNow)
		f.ball = f.ballNow
	}
	return true
}

// learn takes what holds with equality from the point and the multipliers of the Newton steps now; false where it is left to them.
func (e *exchange) learn(q *solving) bool {
	if e == nil {
		return false
	}
	if e.skip > 0 {
		e.skip--
		return false
	}
	if e.solver == nil {
		e.build()
	}
	e.load(q.c)
	pt, p, r := e.point, e.s.p, e.radius()
	hinge := 0
	pt.Limit[valueLimit], pt.Limit[signLimit] = q.m0Now, math.Max(0, q.slopeT)
	copy(pt.X[r:], q.h)
	pt.X[e.top()] = q.t
	for t, f := range e.s.folds {
		copy(pt.X[t*(p+1):], f.z)
		for j := range p {
			at := boxLimits + 2*(t*p+j)
			pt.Limit[at], pt.Limit[at+1] = f.overNow[j], f.underNow[j]
		}
		pt.Ball[t] = f.ballNow
		for i, share := range f.shares {
			pt.Hinge[hinge] = share * (f.part[0][i] + q.m0Now*f.part[1][i])
			hinge++
		}
	}
	for j, v := range q.slope { // what the bounds of h balance
		pt.Limit[e.high-p-1+j], pt.Limit[e.high+j] = math.Max(0, v), math.Max(0, -v)
	}
	e.solver.Start(pt)
	e.ready = true
	return true
}
