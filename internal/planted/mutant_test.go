package planted

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/must"
)

// mutant is a backend that changes what another one answers, behind the checks of Open.
type mutant struct {
	backends.ConicBackend
	edit   func(p *backends.Problem, sol *backends.Solution)
	update func(backends.Solver, backends.Update) error
}

type mutantSolver struct {
	backends.Solver
	mutant
	p *backends.Problem
}

func (m mutant) Name() string { return "mutant" }

func (m mutant) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	s, err := m.ConicBackend.Setup(p, o)
	if err != nil {
		return nil, err
	}
	return mutantSolver{s, m, p}, nil
}

func (s mutantSolver) Solve(ctx context.Context) (*backends.Solution, error) {
	sol, err := s.Solver.Solve(ctx)
	if err == nil && s.edit != nil {
		s.edit(s.p, sol)
	}
	return sol, err
}

func (s mutantSolver) Update(u backends.Update) error {
	if s.update == nil {
		return s.Solver.Update(u)
	}
	return s.update(s.Solver, u)
}

func native(t *testing.T) backends.ConicBackend {
	return must.Of(backends.Open("native"))(t)
}

// TestNotices has a defect for each outcome that is wrong, and the mode that must see it.
func TestNotices(t *testing.T) {
	claim := func(status backends.Status) func(*backends.Problem, *backends.Solution) {
		return func(p *backends.Problem, sol *backends.Solution) {
			n, m := p.Dims()
			if sol.Status == status {
				return
			}
			*sol = backends.Solution{Status: status, X: make([]float64, n), S: make([]float64, m), Z: make([]float64, m)}
			switch status {
			case backends.PrimalInfeasible:
				sol.X, sol.S, sol.Objective = nil, nil, math.Inf(1)
			case backends.DualInfeasible:
				sol.Z, sol.Objective = nil, math.Inf(-1)
			}
		}
	}
	optimal := func(f func(sol *backends.Solution)) func(*backends.Problem, *backends.Solution) {
		return func(_ *backends.Problem, sol *backends.Solution) {
			if sol.Status == backends.Optimal {
				f(sol)
			}
		}
	}
	for name, c := range map[string]struct {
		mode string
		want Outcome
		mutant
	}{
		"infeasible always": {Verdicts, FalseInfeasible, mutant{edit: claim(backends.PrimalInfeasible)}},
		"unbounded always":  {Verdicts, FalseUnbounded, mutant{edit: claim(backends.DualInfeasible)}},
		"optimal always":    {Verdicts, FalseOptimal, mutant{edit: claim(backends.Optimal)}},
		"another point": {Verdicts, Off, mutant{edit: func(p *backends.Problem, sol *backends.Solution) {
			if sol.Status != backends.Optimal {
				return
			}
			for j := range sol.X {
				sol.X[j] += 1e-3
			}
			sol.Objective = objectiveOf(p, sol.X)
		}}},
		"another objective": {Verdicts, Malformed, mutant{edit: optimal(func(sol *backends.Solution) {
			sol.Objective += 1e-3 *
				max(1, math.Abs(sol.Objective))
		})}},
		"too sure":     {Verdicts, TooFar, mutant{edit: optimal(func(sol *backends.Solution) { sol.Distance = 0 })}},
		"not a number": {Verdicts, Malformed, mutant{edit: optimal(func(sol *backends.Solution) { sol.Z = nil })}},
		"panics":       {Verdicts, Panicked, mutant{edit: optimal(func(*backends.Solution) { panic("as planned") })}},
		"forgets b": {Updates, Off, mutant{update: func(s backends.Solver, u backends.Update) error {
			u.B = nil
			return s.Update(u)
		}}},
		"forgets A": {Updates, FalseOptimal, mutant{update: func(s backends.Solver, u backends.Update) error {
			u.A = nil
			return s.Update(u)
		}}},
		"the dual as it is": {Verdicts, Off, mutant{edit: optimal(func(sol *backends.Solution) {
			if len(sol.Z) > 0 && len(sol.X) > 0 {
				sol.Objective = -sol.Objective
				for j := range sol.X {
					sol.X[j] = -sol.X[j]
				}
			}
		})}},
	} {
		t.Run(name, func(t *testing.T) {
			c.ConicBackend = native(t)
			tally := Run{Backends: []backends.ConicBackend{c.mutant}, Mode: c.mode, N: 300}.Do(context.Background())
			n := 0
			for _, count := range tally.Counts {
				n += count.Outcomes[c.want]
			}
			if n == 0 {
				t.Errorf("no answer was %v", c.want)
			}
		})
	}
}

func objectiveOf(p *backends.Problem, x []float64) float64 {
	_, m := p.Dims()
	_, value, _ := backends.Recheck(p, x, make([]float64, m), make([]float64, m))
	return value
}

// TestShrink shrinks what a backend with a known defect gets wrong, which three goroutines find in the same order.
func TestShrink(t *testing.T) {
	b := mutant{ConicBackend: native(t), edit: func(p *backends.Problem, sol *backends.Solution) {
		for _, k := range p.Cones {
			if k.Kind == backends.SecondOrderCone && k.Dim > 1 && sol.Status == backends.Optimal {
				sol.Z = nil
			}
		}
	}}
	run := Run{Backends: []backends.ConicBackend{b}, N: 300, Mix: Conic, Scales: []int{6}}
	tally := run.Do(context.Background())
	run.Workers = 3
	three := run.Do(context.Background())
	if len(tally.Findings) == 0 || !slices.EqualFunc(tally.Findings, three.Findings, func(a, b Finding) bool {
		return a.ID == b.ID && a.Verdict == b.Verdict
	}) {
		t.Fatalf("%d findings, %d by three goroutines", len(tally.Findings), len(three.Findings))
	}
	for _, f := range tally.Findings[:min(3, len(tally.Findings))] {
		small := run.Shrink(f, 3000)
		n, m := small.Case.Dims()
		if err := small.Case.Verify(); err != nil || small.Outcome != f.Outcome || n > 2 || m > 4 {
			t.Errorf("%v became %s with error %v", f.ID, small.Case, err)
		}
	}
}
