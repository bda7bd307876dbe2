package exact

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/conetune/conetune/backends"
)

// Kind is what an answer is beside the truth.
type Kind struct {
	// Word is "right", "undecided", "wrong" or "error". An objective is wrong that is off by
	// Tolerance, or by more than its backends.Solution.Distance says.
	Word string
	// Truth says what is true: "optimal", "infeasible", "unbounded", or "infeasible on
	// both sides".
	Truth string
	// Said is the status of the backend.
	Said backends.Status
}

// String joins the parts.
func (k Kind) String() string { return fmt.Sprintf("%s: %s, said %v", k.Word, k.Truth, k.Said) }

// Tolerance is how far the objective of a right answer may be from the optimal value,
// relative to the larger of one and that.
const Tolerance = 1e-4

// Compare asks the backend for the answer to a program and compares it with the truth.
// The text says more where the answer is not right.
func Compare(b backends.ConicBackend, o backends.Options, t *Tiny) (kind Kind, text string) {
	truth, err := Solve(t.Problem())
	if err != nil {
		return Kind{Word: "error", Truth: "unknown"}, err.Error()
	}
	kind.Truth = truth.word()
	sol, err := ask(b, o, t.Problem())
	if err != nil {
		kind.Word = "error"
		return kind, err.Error()
	}
	kind.Said, kind.Word = sol.Status, "wrong"
	switch sol.Status {
	case backends.Optimal:
		if truth.Optimal() {
			value, _ := truth.Value.Float64()
			off := math.Abs(sol.Objective - value)
			if truth.within(sol) && off > sol.Distance*(1+1e-6)+1e-12*max(1, math.Abs(value)) {
				return kind, fmt.Sprintf("objective %g, the optimal value is %s, said to be within %g", sol.Objective, truth.Value.RatString(), sol.Distance)
			}
			if off <= Tolerance*max(1, math.Abs(value)) {
				kind.Word = "right"
				return kind, ""
			}
			return kind, fmt.Sprintf("objective %g, the optimal value is %s", sol.Objective, truth.Value.RatString())
		}
		return kind, fmt.Sprintf("objective %g", sol.Objective)
	case backends.PrimalInfeasible:
		if truth.Farkas != nil {
			kind.Word = "right"
		}
	case backends.DualInfeasible:
		if truth.Ray != nil {
			kind.Word = "right"
		}
	default:
		kind.Word = "undecided"
	}
	return kind, fmt.Sprintf("residuals %.1e, %d iterations: %s", sol.Residuals, sol.Iterations, sol.Message)
}

// within says whether the solution of the truth is of the size for which
// backends.Solution.Distance is a bound.
func (a *Answer) within(sol *backends.Solution) bool {
	return largest(a.X) <= 2*largestOf(sol.X) && largest(a.Z) <= 2*largestOf(sol.Z)
}

func largest(v []*big.Rat) float64 {
	var out float64
	for _, x := range v {
		f, _ := x.Float64()
		out = max(out, math.Abs(f))
	}
	return out
}

func largestOf(v []float64) float64 {
	var out float64
	for _, x := range v {
		out = max(out, math.Abs(x))
	}
	return out
}

func ask(b backends.ConicBackend, o backends.Options, p *backends.Problem) (*backends.Solution, error) {
	s, err := b.Setup(p, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Solve(context.Background())
}

// word names the truth.
func (a *Answer) word() string {
	switch {
	case a.Optimal():
		return "optimal"
	case a.Farkas != nil && a.Ray != nil:
		return "infeasible on both sides"
	case a.Farkas != nil:
		return "infeasible"
	}
	return "unbounded"
}

// Shrink returns a smaller program with an answer of the same kind.
func Shrink(b backends.ConicBackend, o backends.Options, t *Tiny) *Tiny {
	kind, _ := Compare(b, o, t)
	for {
		var next *Tiny
		t.smaller(func(c *Tiny) bool {
			if got, _ := Compare(b, o, c); got == kind {
				next = c
			}
			return next != nil
		})
		if next == nil {
			return t
		}
		t = next
	}
}
