package backendtest

import (
	"math"
	"testing"

	"github.com/conetune/conetune/backends"
)

// TestCases verifies each known answer by its primal-dual solution or its certificate, without a solver.
func TestCases(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases() {
		if seen[c.Name] || c.Name == "" || c.Reason == "" {
			t.Errorf("%q: name is taken or missing, or reason is missing", c.Name)
		}
		seen[c.Name] = true
		if err := c.Problem.Validate(); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if c.Status == backends.Optimal {
			verify(t, c)
		} else if err := c.known().Verify(); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

// verify measures the solution of an optimal problem.
func verify(t *testing.T, c Case) {
	t.Helper()
	r, primal, dual := backends.Recheck(c.Problem, c.X, c.Problem.Slack(c.X), c.Z)
	if off := max(math.Abs(primal-c.Objective), math.Abs(dual-c.Objective)); !(max(r.Max(), off/max(1,
		math.Abs(primal))) <= 1e-13) {
		t.Errorf("%s: residuals %.2e, objectives %.15g and %.15g, stored %.15g", c.Name, r, primal, dual, c.Objective)
	}
}

// TestRandom verifies that random problems have the solution they were built from.
func TestRandom(t *testing.T) {
	for _, shape := range Shapes() {
		for seed := range uint64(20) {
			verify(t, NewCase(shape, seed))
		}
	}
}
