package planted

import (
	"context"
	"math"
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

// TestLiar checks that a lie that is passed on is noticed: the claim here is behind no
// checks.
func TestLiar(t *testing.T) {
	c := Generate(ID{Lies, 0, Linear, 1})
	for seed := uint64(2); c.Class != Optimal || len(c.B) == 0; seed++ {
		c = Generate(ID{Lies, 0, Linear, seed})
	}
	_, m := c.Dims()
	lie := &backends.Solution{Status: backends.PrimalInfeasible, Z: make([]float64, m), Objective: math.Inf(1)}
	if v := c.Judge(lie); v.Outcome != FalseInfeasible {
		t.Errorf("%v, expected %v", v.Outcome, FalseInfeasible)
	}
}

// TestSameForWorkers runs with one and with three goroutines.
func TestSameForWorkers(t *testing.T) {
	run := Run{Backends: []backends.ConicBackend{mutant{ConicBackend: native(t), edit: func(_ *backends.Problem,
		sol *backends.Solution) {
		if sol.Status == backends.Optimal {
			sol.Objective++
		}
	}}}, N: 500, Scales: []int{0, 6}}
	one := run.Do(context.Background())
	run.Workers = 3
	three := run.Do(context.Background())
	if len(one.Counts) != len(three.Counts) || len(one.Findings) != len(three.Findings) || len(one.Findings) == 0 {
		t.Fatalf("%d and %d rows, %d and %d findings", len(one.Counts), len(three.Counts), len(one.Findings),
			len(three.Findings))
	}
	for row, c := range one.Counts {
		if *three.Counts[row] != *c {
			t.Errorf("%v: %v and %v", row, *c, *three.Counts[row])
		}
	}
	for k, f := range one.Findings {
		if three.Findings[k].ID != f.ID {
			t.Errorf("finding %d: %v and %v", k, f.ID, three.Findings[k].ID)
		}
	}
}

// TestShrink shrinks what a backend with a known defect gets wrong.
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
	if len(tally.Findings) == 0 {
		t.Fatal("nothing was found")
	}
	for _, f := range tally.Findings[:min(3, len(tally.Findings))] {
		small := run.Shrink(f, 3000)
		n, m := small.Case.Dims()
		if err := small.Case.Verify(); err != nil || small.Outcome != f.Outcome || n > 2 || m > 4 {
			t.Errorf("%v became %s with error %v", f.ID, small.Case, err)
		}
	}
}

func FuzzPlanted(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(4))
	f.Add(uint64(2), uint8(6), uint8(0))
	b := must.Of(backends.Open("native"))(f)
	f.Fuzz(func(t *testing.T, seed uint64, scale, mix uint8) {
		id := ID{Verdicts, int(scale % 9), Mixes()[int(mix)%len(Mixes())], seed}
		c := Generate(id)
		if err := c.Verify(); err != nil {
			t.Fatalf("%v: %v", id, err)
		}
		if !c.supported(b) {
			return
		}
		if v := c.Run(b, backends.Options{}); v.Outcome.Wrong() {
			t.Errorf("%v, %v: %v: %s\n%s", id, c.Class, v.Outcome, v.Detail, c)
		}
	})
}
