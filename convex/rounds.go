package convex

import (
	"context"

	"github.com/conetune/conetune/backends"
)

// looseEps is the accuracy of rounds that find a working set.
const looseEps = 1e-3

// workingSet is what of a program, its columns, rows or pairs of singular vectors, a smaller one has that is solved in its place.
type workingSet interface {
	// begin prepares the set for a solve at new numbers, and returns the accuracy of the first round.
	begin() (eps float64)
	// solve restricts the program to the set, and solves that to the accuracy eps.
	solve(ctx context.Context, eps float64) (*backends.Solution, error)
	// price completes the solution to the full program. It returns the result if the rounds are over, and otherwise what is next.
	price(sol *backends.Solution, at *round) (*Result, step, error)
	// extend takes in what price has found missing.
	extend(at *round)
	// fill takes everything in, or says that the next engine has to solve the full program.
	fill() bool
}

// round is where the rounds are: a number, from 1 on, and the accuracy, which price may change.
type round struct {
	number int
	eps    float64
}

// step is what comes after a round.
type step int

const (
	stepRepeat step = iota // the same program, at round.eps
	stepExtend             // the program with more in the set
	stepFill               // only the full program can tell
)

// rounds is the engine of a working set: it solves restricted programs until the completed point is optimal for the full one.
type rounds struct {
	s   *Solver
	set workingSet // nil once it has passed the program on
}

func (e *rounds) solve(ctx context.Context) (*Result, string, error) {
	if e.set == nil {
		return nil, "the rounds have not settled before", nil
	}
	at := round{number: 1, eps: e.set.begin()}
	e.s.stats.Rounds++
	for {
		sol, err := e.set.solve(ctx, at.eps)
		if err != nil {
			return nil, "", err
		}
		r, next, err := e.set.price(sol, &at)
		switch {
		case r != nil || err != nil:
			return r, "", err
		case next == stepRepeat:
			continue
		case next == stepExtend:
			e.set.extend(&at)
		case !e.set.fill():
			e.set = nil
			return nil, "the rounds do not settle", nil
		}
		at.number++
		e.s.stats.Rounds++
	}
}

// looseStart is the accuracy of the first round: a loose one, which is enough to see what is missing, if the
// program can be solved on from there once nothing is.
func (s *Solver) looseStart(ready bool) float64 {
	if !ready {
		return s.eps
	}
	return max(s.eps, looseEps)
}

// ended says that a limit or the context ended the solve.
func ended(sol *backends.Solution) bool {
	return sol.Status == backends.Cancelled || sol.Status == backends.TimeLimit || sol.Status == backends.IterationLimit
}

// verify takes back the status optimal where the completed point has residuals above the tolerance.
func (r *Result) verify(eps float64) {
	if r.Status == backends.Optimal && !(r.Residuals.Max() <= eps) {
		r.Status = backends.Inaccurate
	}
}
