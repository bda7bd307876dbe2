package backendtest

import (
	"math"
	"testing"

	"github.com/conetune/conetune/backends"
)

// TestCases verifies each known answer by its primal-dual solution or its
// certificate, without a solver.
func TestCases(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if seen[c.Name] || c.Name == "" || c.Reason == "" {
				t.Error("name is taken or missing, or reason is missing")
			}
			seen[c.Name] = true
			verify(t, c)
		})
	}
}

func verify(t *testing.T, c Case) {
	t.Helper()
	p := c.Problem
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	n, m := p.Dims()
	switch c.Status {
	case backends.Optimal:
		r, primal, dual := backends.Recheck(p, c.X, p.Slack(c.X), c.Z)
		if !(r.Max() <= 1e-13) {
			t.Errorf("residuals %.2e of the stored solution", r)
		}
		if math.Abs(primal-c.Objective) > 1e-13*max(1, math.Abs(primal)) || math.Abs(dual-c.Objective) > 1e-13*max(1,
			math.Abs(dual)) {
			t.Errorf("objectives %.15g and %.15g, stored %.15g", primal, dual, c.Objective)
		}
	case backends.PrimalInfeasible:
		if r, err := backends.CheckPrimalInfeasible(p, c.Z); err != nil || !(r <= 1e-14) {
			t.Errorf("certificate: residual %g, error %v", r, err)
		}
		if _, _, v := backends.Recheck(p, make([]float64, n), make([]float64, m), c.Z); math.Abs(v-1) > 1e-12 {
			t.Errorf("certificate is scaled to %g", -v)
		}
	case backends.DualInfeasible:
		if r, err := backends.CheckDualInfeasible(p, c.X); err != nil || !(r <= 1e-14) {
			t.Errorf("certificate: residual %g, error %v", r, err)
		}
		if _, v, _ := backends.Recheck(p, c.X, make([]float64, m), make([]float64, m)); math.Abs(v+1) > 1e-12 {
			t.Errorf("certificate is scaled to %g", v)
		}
	default:
		t.Errorf("status %v", c.Status)
	}
}

// TestRandom verifies that random problems have the solution they were built from.
func TestRandom(t *testing.T) {
	for _, shape := range Shapes() {
		for seed := range uint64(20) {
			c := NewCase(shape, seed)
			t.Run(c.Name, func(t *testing.T) { verify(t, c) })
		}
	}
}
