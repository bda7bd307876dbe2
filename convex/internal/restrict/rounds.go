// Package restrict solves small programs in the place of a large one. A working set is what the small one keeps:
// entries of variables (columns), or pairs of singular vectors (singular). All go in rounds: restrict, solve, price,
// extend, until the point completed to the large program meets the tolerance there.
package restrict

import (
	"context"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/solve"
)

// looseEps is the accuracy of rounds that find a working set.
const looseEps = 1e-3

// Nonzero is the share of the largest entry from which on one is not zero.
const Nonzero = 1e-7

// FullShare is the share of the entries or rows above which a set is all of them: a restricted program saves little
// there.
const FullShare = 0.6

// Set is what of a program, its columns, rows or pairs of singular vectors, a smaller one has that is solved in its
// place.
type Set interface {
	// Begin prepares the set for a solve at new numbers, and returns the accuracy of the first round.
	Begin() (eps float64)
	// Solve restricts the program to the set, and solves that to the accuracy eps.
	Solve(ctx context.Context, eps float64) (*backends.Solution, error)
	// Price completes the solution to the full program. It returns the result if the rounds are over, and otherwise what
	// is next.
	Price(sol *backends.Solution, at *Round) (*solve.Outcome, Step, error)
	// Extend takes in what Price has found missing.
	Extend(at *Round)
	// Fill takes everything in, or says that the next engine has to solve the full program.
	Fill() bool
}

// Round is where the rounds are: a number, from 1 on, and the accuracy, which Price may change.
type Round struct {
	Number int
	Eps    float64
}

// Step is what comes after a round.
type Step int

const (
	StepRepeat Step = iota // the same program, at round.eps
	StepExtend             // the program with more in the set
	StepFill               // only the full program can tell
)

// Rounds is the engine of a working set: it solves restricted programs until the completed point is optimal for the
// full one.
type Rounds struct {
	s   *solve.Session
	set Set
}

func New(s *solve.Session, set Set) *Rounds { return &Rounds{s, set} }

// Solve returns nil where the rounds do not settle.
func (e *Rounds) Solve(ctx context.Context) (*solve.Outcome, error) {
	at := Round{Number: 1, Eps: e.set.Begin()}
	e.s.Stats.Rounds++
	for {
		sol, err := e.set.Solve(ctx, at.Eps)
		if err != nil {
			return nil, err
		}
		r, next, err := e.set.Price(sol, &at)
		switch {
		case r != nil || err != nil:
			return r, err
		case next == StepRepeat:
			continue
		case next == StepExtend:
			e.set.Extend(&at)
		case !e.set.Fill():
			return nil, nil
		}
		at.Number++
		e.s.Stats.Rounds++
	}
}

// LooseStart is the accuracy of the first round: a loose one, which is enough to see what is missing, if the
// program can be solved on from there once nothing is.
func LooseStart(s *solve.Session, ready bool) float64 {
	if !ready {
		return s.Eps
	}
	return max(s.Eps, looseEps)
}

// Ended says that a limit or the context ended the solve.
func Ended(sol *backends.Solution) bool {
	return sol.Status == backends.Cancelled || sol.Status == backends.TimeLimit || sol.Status == backends.IterationLimit
}

// Verify takes back the status optimal where the completed point has residuals above the tolerance.
func Verify(r *solve.Outcome, eps float64) {
	if r.Status == backends.Optimal && !(r.Residuals.Max() <= eps) {
		r.Status = backends.Inaccurate
	}
}
