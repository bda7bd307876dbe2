package planted

import (
	"context"
	"testing"

	"github.com/conetune/conetune/backends"
)

// TestExact has the truth of rational arithmetic beside the answers of the native backend, in short numbers and scaled.
func TestExact(t *testing.T) {
	tally := Run{Backends: []backends.ConicBackend{native(t)}, Mode: Exact, Scales: []int{0, 6},
		N: 1000}.Do(context.Background())
	undecided, classes := 0, map[Class]int{}
	for row, c := range tally.Counts {
		undecided += c.Outcomes[Undecided]
		classes[row.Class] += c.Total()
	}
	if tally.All().Wrong() > 0 || undecided > 10 {
		t.Errorf("%d wrong, %d undecided", tally.All().Wrong(), undecided)
	}
	for _, class := range []Class{Optimal, Infeasible, Unbounded, Both} {
		if classes[class] < 50 {
			t.Errorf("%v: %d programs", class, classes[class])
		}
	}
}

// TestShrinkExact shrinks a false answer to the smallest program that has it: 0 = 1 or 0 <= -1, in a variable without
// cost.
func TestShrinkExact(t *testing.T) {
	b := mutant{ConicBackend: native(t), edit: func(p *backends.Problem, sol *backends.Solution) {
		n, m := p.Dims()
		if sol.Status == backends.PrimalInfeasible {
			*sol = backends.Solution{Status: backends.Optimal, X: make([]float64, n), S: make([]float64, m),
				Z: make([]float64, m)}
		}
	}}
	tally := Run{Backends: []backends.ConicBackend{b}, Mode: Exact, N: 100}.Do(context.Background())
	if len(tally.Findings) == 0 {
		t.Fatal("nothing was found")
	}
	for _, f := range tally.Findings[:min(5, len(tally.Findings))] {
		c, alone := f.Shrink(b, backends.Options{}, 3000)
		if n, m := c.Dims(); !alone || f.Outcome != FalseOptimal || n != 1 || m != 1 || c.A[0][0] != 0 || c.Q[0] != 0 {
			t.Errorf("%v became %s", f.ID, c.GoLiteral())
		}
	}
}
