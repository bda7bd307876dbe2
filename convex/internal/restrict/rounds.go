// Package restrict solves small programs in the place of a large one. A working set is what the small one keeps:
// entries of variables (columns), or pairs of singular vectors (singular). All go in rounds: restrict, solve, price,
// extend, until the point completed to the large program meets the tolerance there.
package restrict

import (
	"context"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/solve"
)

// Set is what of a program, its columns or pairs of singular vectors, a smaller one has that is solved in its place.
type Set interface {
	// Begin prepares the set for a solve at new numbers.
	Begin()
	// Solve restricts the program to the set, and solves that.
	Solve(ctx context.Context) (*backends.Solution, error)
	// Price completes the solution of a round, which are counted from 1, to the full program. It returns the result if
	// the rounds are over; otherwise extend says that the set is to be extended, and else only the full program can tell.
	Price(sol *backends.Solution, round int) (r *solve.Outcome, extend bool, err error)
	// Extend takes in what Price has found missing.
	Extend(round int)
	// Fill takes everything in, or says that the next engine has to solve the full program.
	Fill() bool
}

// Solve solves programs restricted to a set until the completed point is optimal for the full one. It returns nil where
// the rounds do not settle.
func Solve(ctx context.Context, s *solve.Session, set Set) (*solve.Outcome, error) {
	set.Begin()
	for round := 1; ; round++ {
		s.Stats.Rounds++
		sol, err := set.Solve(ctx)
		if err != nil {
			return nil, err
		}
		r, extend, err := set.Price(sol, round)
		switch {
		case r != nil || err != nil:
			return r, err
		case extend:
			set.Extend(round)
		case !set.Fill():
			return nil, nil
		}
	}
}

// Ended says that a limit or the context ended the solve.
func Ended(sol *backends.Solution) bool {
	return sol.Status == backends.Cancelled || sol.Status == backends.TimeLimit || sol.Status == backends.IterationLimit
}
