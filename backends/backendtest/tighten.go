package backendtest

import (
	"errors"
	"math"
	"testing"

	"github.com/conetune/conetune/backends"
)

// tightening solves to a loose tolerance, and then on to that of the options.
func (s suite) tightening(t *testing.T) {
	for _, c := range s.cases {
		t.Run(c.Name, func(t *testing.T) {
			o := s.options.backend()
			o.Eps = 1e-3
			solver := s.open(t, c.Problem, o)
			loose := solve(t, solver)
			if loose.Status == backends.Optimal && !(loose.Residuals.Max() <= o.Eps) {
				t.Errorf("residuals %.1e at the tolerance %.1e", loose.Residuals, o.Eps)
			}
			s.setEps(t, solver, s.options.Eps)
			s.check(t, c, solve(t, solver))
			s.setEps(t, solver, 1e-3) // looser again: the answer may be as good as it was
			if again := solve(t, solver); again.Status != c.Status {
				t.Errorf("status %v at 1e-3, expected %v", again.Status, c.Status)
			}
		})
	}
	c, ok := s.long()
	if !ok {
		return
	}
	t.Run("with an update between", func(t *testing.T) {
		o := s.options.backend()
		o.Eps = 1e-3
		other := clone(c.Problem)
		for j := range other.Q {
			other.Q[j] *= 1.5
		}
		solver := s.open(t, other, o)
		solve(t, solver)
		if err := solver.Update(backends.Update{Q: c.Problem.Q}); err != nil {
			t.Fatalf("Update: %v", err)
		}
		s.setEps(t, solver, s.options.Eps)
		s.check(t, c, solve(t, solver))
	})
	t.Run("to no number", func(t *testing.T) {
		solver := s.open(t, c.Problem, s.options.backend())
		for _, eps := range []float64{0, -1, math.NaN()} {
			var wrong *backends.ProblemError
			if err := solver.(backends.Tightener).SetEps(eps); !errors.As(err, &wrong) {
				t.Errorf("SetEps(%v): error %v, expected a ProblemError", eps, err)
			}
		}
		s.check(t, c, solve(t, solver))
	})
}

func (s suite) setEps(t *testing.T, solver backends.Solver, eps float64) {
	t.Helper()
	if err := solver.(backends.Tightener).SetEps(eps); err != nil {
		t.Fatalf("SetEps: %v", err)
	}
}
