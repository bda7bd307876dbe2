// Package exchange solves a program with hinges again after its numbers have changed a little, from the constraints that held with
// equality in the last solution.
package exchange

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/compile"
	"github.com/conetune/conetune/convex/internal/solve"
	"github.com/conetune/conetune/internal/activeset"
)

// Engine solves a program with hinges again after its numbers have changed a little, from the constraints that held with
// equality in the last solution. It works on the full conic program: rows of inequalities are limits, the pairs of rows
// u >= 0, u >= a hinges, and cones that stand for sums of squares balls. Its answer is a point of the conic
// program like that of a backend, with residuals measured in the same way, and counts only if they are within the tolerance.
type Engine struct {
	s            *solve.Session
	p            *compile.Program
	Users, kinks int // numbers of the user's variables and of hinges
	built, fits  bool
	waited       bool             // a point of the backend has been seen
	in           *compile.Numbers // of the full program, without a solver
	problem      activeset.Problem
	solver       *activeset.Solver
	ready        bool
	// skip is the number of solves that are left to the backend, pause that after the next failure, most the largest number
	// of exchanges in one solve.
	skip, pause, most int

	val    compile.Parametric // problem.Val
	right  []source           // of problem.Right
	limits []int              // rows of the limits
	hinges []hingePlace
	balls  []ballPlace
}

// source is scale times an entry of b, plus shift.
type source struct {
	at           int
	scale, shift float64
}

// hingePlace is where one entry of a hinge stands.
type hingePlace struct{ column, zero, slope int }

// ballPlace is where a sum of squares stands: its cone, from row first on, stands for sum <= h by |((h - c)/2, ..)| <= (h + c)/2.
type ballPlace struct {
	first, rows int
	c           float64
	a           compile.Parametric // of its other rows, each a times an entry of x
}

const (
	// MostVariables bounds the size of the programs, because of the factors, which are dense.
	MostVariables = 3000
	// Up to smallProgram variables at most smallExchanges are made in one solve, up to mediumProgram mediumExchanges, above
	// that largeExchanges; where more are needed, interior points take less time.
	smallProgram, smallExchanges   = 64, 300
	mediumProgram, mediumExchanges = 300, 1000
	largeExchanges                 = 400
	// perIteration is the number of exchanges for each fold that take as long as an iteration of a backend; with several folds, as many
	// are made as take as long as the backend took.
	perIteration = 3
	// perChange is about the number of exchanges on the way for each constraint that is another one in the end, perChangeApart
	// the one from which on they are not tried where folds are taken apart.
	perChange, perChangeApart = 5, 2
	// mostSkipped bounds the solves that are left to the backend after a failure: 1, 2, 4, .. from one failure to the next.
	mostSkipped = 16
	// fewHinges is the number of hinges for each variable up to which exchanges from nothing take less than the set-up of a
	// backend for a small program.
	fewHinges = 8
)

// New does little before the first use.
func New(s *solve.Session) *Engine {
	p := s.Program
	e := &Engine{s: s, p: p, pause: 1}
	for _, v := range p.Vars[:p.Users] {
		e.Users += v.N
	}
	for _, h := range p.Kinks {
		e.kinks += h.U.N
	}
	switch {
	case e.Users <= smallProgram:
		e.most = smallExchanges
	case e.Users <= mediumProgram:
		e.most = mediumExchanges
	default:
		e.most = largeExchanges
	}
	return e
}

// load computes the numbers of the problem at the parameters' current values.
func (e *Engine) load() {
	in := e.in
	in.Refresh()
	b, q, p := in.B.Val, in.Q.Val, in.P.Val
	pr := &e.problem
	e.val.Value(pr.Val)
	for k, s := range e.right {
		pr.Right[k] = s.scale*b[s.at] + s.shift
	}
	copy(pr.Q, q[:len(pr.Q)])
	for j := range pr.D {
		pr.D[j] = 0
		if k := in.Assembled.PPtr[j]; k < in.Assembled.PPtr[j+1] {
			pr.D[j] = p[k]
		}
	}
	for k, h := range e.hinges {
		pr.Hinges[k].Cost = q[h.column]
	}
	for i, ball := range e.balls {
		kappa := pr.Balls[i].Kappa
		ball.a.Value(kappa)
		for k, a := range kappa {
			kappa[k] = 2 * a * a / ball.c
		}
	}
}

// zero begins at the point zero with no multipliers but those of the hinges' own weights, where the program is small and
// the backend has no point yet.
func (e *Engine) zero() {
	if e.ready || e.Users > smallProgram || e.kinks > fewHinges*e.Users || !e.build() {
		return
	}
	e.load()
	pr := &e.problem
	pt := activeset.Point{X: make([]float64, len(pr.Q)), Limit: make([]float64, len(pr.Limits)),
		Hinge: make([]float64, len(pr.Hinges)), Ball: make([]float64, len(pr.Balls))}
	for k, h := range pr.Hinges {
		if pr.Right[h.Row] < 0 {
			pt.Hinge[k] = h.Cost
		}
	}
	e.solver.Start(pt)
	e.ready = true
}

func (e *Engine) Forget() { e.ready = false }

// Learn takes what holds with equality from an optimal point at the current numbers. Where that is very
// different from what it was at the point before, the backend goes on.
func (e *Engine) Learn(r *solve.Outcome) {
	if r.Status != backends.Optimal {
		return
	}
	if e.skip > 0 {
		e.skip--
		return
	}
	from := r.Conic()
	if e.ready = e.build() && from.X != nil && from.Z != nil; !e.ready {
		return
	}
	e.load()
	apart := e.solver.Blocks() > 1
	if !e.waited && !apart && e.Users > mediumProgram { // early solutions are far from each other
		e.waited, e.ready = true, false
		return
	}
	pt := activeset.Point{X: from.X[:len(e.problem.Q)]}
	for _, r := range e.limits {
		pt.Limit = append(pt.Limit, math.Max(0, from.Z[r]))
	}
	for _, h := range e.hinges {
		pt.Hinge = append(pt.Hinge, math.Max(0, from.Z[h.slope]))
	}
	for _, b := range e.balls {
		pt.Ball = append(pt.Ball, math.Max(0, (from.Z[b.first]+from.Z[b.first+1])/2))
	}
	per := perChange
	if apart {
		per, e.most = perChangeApart, max(smallExchanges, perIteration*e.solver.Blocks()*r.Iterations)
	}
	e.ready = per*e.solver.Start(pt) <= e.most
}

// Solve leaves the program to the next engine where the exchanges do not lead to a solution of the accuracy asked for.
func (e *Engine) Solve(ctx context.Context) (*solve.Outcome, string, error) {
	if e.s.Current == nil {
		e.zero()
	}
	if !e.ready {
		return nil, "no solution near by is known", nil
	}
	r := e.attempt(ctx, e.s.Eps)
	if r == nil {
		e.ready, e.skip, e.pause = false, e.pause-1, min(2*e.pause, mostSkipped)
		return nil, "too many constraints hold that did not before", nil
	}
	e.pause = 1
	st := &e.s.Stats
	st.Rounds++
	st.Iterations += e.solver.Exchanges()
	st.SolveTime += r.SolveTime
	return r, "", nil
}

func (e *Engine) attempt(ctx context.Context, eps float64) *solve.Outcome {
	e.load()
	begin := time.Now()
	if !e.solver.Solve(e.most, eps/10, func() bool { return ctx.Err() != nil }) {
		return nil
	}
	x, s, z := e.conic()
	in := e.in
	residuals, _, _ := backends.Recheck(in.Problem(), x, s, z)
	if !(residuals.Max() <= eps) {
		return nil
	}
	r := &solve.Outcome{
		Status: backends.Optimal, Residuals: residuals, Distance: backends.Distance(in.Problem(), x, s, z),
		Active: e.solver.Held(), SolveTime: time.Since(begin),
		Assembled: in.Assembled, X: x, S: s, Z: z,
	}
	if r.Measure(in, eps); r.Status != backends.Optimal {
		return nil
	}
	r.KeepSquares(e.p)
	return r
}

// conic is the solution as a point of the conic program.
func (e *Engine) conic() (x, s, z []float64) {
	in, pt := e.in, e.solver.Point()
	as := in.Assembled
	x, s, z = make([]float64, as.N), slices.Clone(in.B.Val), make([]float64, as.M)
	copy(x, pt.X)
	for k, h := range e.hinges {
		x[h.column] = e.solver.HingeValue(k)
		z[h.slope] = pt.Hinge[k]
		z[h.zero] = math.Max(0, e.solver.Bound(k)-pt.Hinge[k])
	}
	a := in.A.Val
	for j, v := range x {
		if v != 0 {
			for k := as.Ptr[j]; k < as.Ptr[j+1]; k++ {
				s[as.Ind[k]] -= a[k] * v
			}
		}
	}
	for i, r := range e.limits {
		s[r], z[r] = math.Max(0, s[r]), pt.Limit[i]
	}
	for _, h := range e.hinges {
		s[h.zero], s[h.slope] = math.Max(0, s[h.zero]), math.Max(0, s[h.slope])
	}
	for i, b := range e.balls {
		// nu = (z0 + z1)/2 with z = y (s0, -s1, ..), s0 - s1 = c: y = 2 nu / c
		y := 2 * pt.Ball[i] / b.c
		z[b.first] = y * s[b.first]
		for r := b.first + 1; r < b.first+b.rows; r++ {
			z[r] = -y * s[r]
		}
	}
	return x, s, z
}
