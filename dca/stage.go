package dca

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/conetune/conetune/backends"
)

// Stage is one of the convex programs that the method and its competitors solve over and over.
type Stage string

// The stages.
const (
	// StagePenalty is the lower level with weighted penalties, see [Penalized].
	StagePenalty Stage = "penalty form"
	// StageConstrained is the lower level with radii.
	StageConstrained Stage = "constrained form"
	// StageSubproblem is the second program of an iteration.
	StageSubproblem Stage = "subproblem"
)

// Stages returns the stages, in the order in which they build on each other.
func Stages() []Stage { return []Stage{StagePenalty, StageConstrained, StageSubproblem} }

// Snapshot is a point of a program at which backends can be compared on equal terms: the lower-level
// solution x at fixed weights of the penalties, the radii P_i(x), and the value v there with its subgradient. All of it
// comes from one reference backend, so that every backend gets the same numbers.
type Snapshot struct {
	program Program
	weights []float64
	kinds   [][]int
	low     *lowerSolution
}

// NewSnapshot solves the lower level for the weights, one for each kind of penalties. Of the
// settings, those of the conic solver count.
func NewSnapshot(ctx context.Context, p Program, kinds [][]int, weights []float64, s Settings) (*Snapshot, error) {
	s = s.withDefaults()
	penalized, err := NewPenalized(p, kinds, s)
	if err != nil {
		return nil, err
	}
	defer penalized.Close()
	at, err := penalized.Solve(ctx, weights, nil)
	if err != nil {
		return nil, err
	}
	if at.X == nil {
		return nil, p.errorf("the penalty form at weights %v ended with %s", weights, at.Status)
	}
	low, err := newLower(&p, &s)
	if err != nil {
		return nil, err
	}
	defer low.close()
	solution, err := low.solve(ctx, p.StartAt(at.Radii, nil))
	if err != nil {
		return nil, err
	}
	if solution.x == nil {
		return nil, p.errorf("the lower level at radii %v ended with %s", at.Radii, solution.conic.status)
	}
	return &Snapshot{program: p, weights: weights, kinds: kinds, low: solution}, nil
}

// StageResult is the outcome of solving a stage once, from nothing.
type StageResult struct {
	Status     backends.Status
	Iterations int
	// Setups and Updates count what the backend did.
	Setups, Updates int
	// Time is that of everything from the compiled program on: assembly, set-up, solve, the check.
	Time time.Duration
	// Objective is the value of the stage's objective at the point found, computed by the functions of the model
	// and not by the conic program, NaN without a point.
	Objective float64
	// Violation is the largest violation of the stage's constraints there, of the model's, too.
	Violation float64
	// Residual is the largest of the conic program's relative residuals, NaN where there was none.
	Residual float64
}

// Solve solves a stage. The error is an [backends.UnsupportedError] where the backend cannot take it.
func (n *Snapshot) Solve(ctx context.Context, stage Stage, s Settings) (*StageResult, error) {
	s = s.withDefaults()
	switch stage {
	case StagePenalty:
		return n.penalty(ctx, s)
	case StageConstrained:
		return n.constrained(ctx, s)
	case StageSubproblem:
		return n.subproblem(ctx, s)
	}
	return nil, fmt.Errorf("dca: unknown stage %q", stage)
}

func (n *Snapshot) penalty(ctx context.Context, s Settings) (*StageResult, error) {
	q, err := NewPenalized(n.program, n.kinds, s)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	start := time.Now()
	sol, err := q.Solve(ctx, n.weights, nil)
	if err != nil {
		return nil, err
	}
	out := stageResult(sol.conic, q.Stats(), time.Since(start))
	if sol.X != nil {
		out.Objective = q.objective(sol.X)
	}
	return out, nil
}

func (n *Snapshot) constrained(ctx context.Context, s Settings) (*StageResult, error) {
	low, err := newLower(&n.program, &s)
	if err != nil {
		return nil, err
	}
	defer low.close()
	start := time.Now()
	sol, err := low.solve(ctx, n.low.h)
	if err != nil {
		return nil, err
	}
	out := stageResult(sol.conic, low.stats(), time.Since(start))
	if sol.x != nil {
		out.Objective = 0
		x := sol.x
		for _, b := range low.blocks {
			pt := point(b.level.X, x[:len(b.level.X)])
			x = x[len(b.level.X):]
			out.Objective += b.level.Train.Eval(pt)[0]
			for _, c := range b.level.Constraints {
				for _, v := range c.Eval(pt) {
					out.Violation = math.Max(out.Violation, v)
				}
			}
		}
	}
	return out, nil
}

// subproblem solves the first one after a start at the lower level's solution.
func (n *Snapshot) subproblem(ctx context.Context, s Settings) (*StageResult, error) {
	lo, hi := n.program.bounds()
	b, err := newSubproblem(&n.program, &s, lo, hi, nil)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := b.set(iterate{n.low.x, n.low.h}, n.low, s.Alpha0); err != nil {
		return nil, err
	}
	defer b.solver.Close()
	res, z, err := b.solve(ctx)
	if err != nil {
		return nil, err
	}
	var stats Stats
	stats.add(b.solver.Stats())
	out := stageResult(res.conic(), stats, time.Since(start))
	if z.h != nil {
		out.Objective = b.evaluate(z).objective // with t computed: nothing is left to violate but x in X
	}
	return out, nil
}

func stageResult(c conic, s Stats, taken time.Duration) *StageResult {
	return &StageResult{Status: c.status, Iterations: c.iterations, Setups: s.Setups, Updates: s.Updates, Time: taken,
		Objective: math.NaN(), Residual: c.residual}
}
