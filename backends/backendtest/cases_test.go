package backendtest

import (
	"context"
	"math"
	"os"
	"os/exec"
	"testing"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
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

// mutant is the native backend with one defect. Package planted has more, of answers that are wrong.
type mutant struct {
	backends.ConicBackend
	part   string // of the suite, which has to notice
	setup  func(p *backends.Problem, o *backends.Options)
	update func(backends.Solver, backends.Update) error
	solve  func(backends.Solver, context.Context) (*backends.Solution, error)
}

type mutantSolver struct {
	backends.Solver
	*mutant
}

func (m *mutant) Name() string { return "mutant" }

func (m *mutant) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	if m.setup != nil {
		m.setup(p, &o)
	}
	s, err := m.ConicBackend.Setup(p, o)
	return mutantSolver{s, m}, err
}

func (s mutantSolver) Update(u backends.Update) error {
	if s.update == nil {
		return s.Solver.Update(u)
	}
	return s.update(s.Solver, u)
}

func (s mutantSolver) Solve(ctx context.Context) (*backends.Solution, error) {
	if s.solve == nil {
		return s.Solver.Solve(ctx)
	}
	return s.solve(s.Solver, ctx)
}

func mutants() map[string]*mutant {
	count := 0
	var kept backends.Update
	edit := func(f func(*backends.Solution)) func(backends.Solver, context.Context) (*backends.Solution, error) {
		return func(s backends.Solver, ctx context.Context) (*backends.Solution, error) {
			sol, err := s.Solve(ctx)
			if err == nil {
				f(sol)
			}
			return sol, err
		}
	}
	return map[string]*mutant{
		"other dual sign": {part: "Known", solve: edit(func(sol *backends.Solution) {
			for i := range sol.Z {
				sol.Z[i] = -sol.Z[i]
			}
		})},
		"writes on b": {part: "Known", setup: func(p *backends.Problem, _ *backends.Options) {
			if len(p.B) > 0 {
				p.B[0] = math.Nextafter(p.B[0], 9)
			}
		}},
		"loose": {part: "Planted", setup: func(_ *backends.Problem, o *backends.Options) { o.Eps = 1e-2 }},
		"forgets b": {part: "Updates", update: func(s backends.Solver, u backends.Update) error {
			u.B = nil
			return s.Update(u)
		}},
		"keeps the caller's arrays": {part: "Updates", update: func(_ backends.Solver, u backends.Update) error {
			kept = u
			return nil
		}, solve: func(s backends.Solver, ctx context.Context) (*backends.Solution, error) {
			if err := s.Update(kept); err != nil {
				return nil, err
			}
			return s.Solve(ctx)
		}},
		"deaf to the context": {part: "Cancellation", solve: func(s backends.Solver, _ context.Context) (*backends.Solution,
			error) {
			return s.Solve(context.Background())
		}},
		"ignores limits": {part: "Limits", setup: func(_ *backends.Problem, o *backends.Options) {
			o.MaxIterations,
				o.TimeLimit = 0, 0
		}},
		"not the same twice": {part: "Determinism", solve: edit(func(sol *backends.Solution) {
			count++
			if len(sol.X) > 0 {
				sol.X[0] += 1e-15 * float64(count)
			}
		})},
		"gives up": {part: "Planted", solve: edit(func(sol *backends.Solution) {
			if sol.Iterations > 4 { // also of the questions that are asked then
				sol.Status = backends.NumericalError
			}
		})},
		"slow from a warm start": {part: "WarmStart",
			solve: edit(func(sol *backends.Solution) { count++; sol.Iterations += count })},
	}
}

const mutantVariable = "CONETUNE_BACKENDTEST_MUTANT"

// TestMutant runs the suite on the mutant that the environment names.
func TestMutant(t *testing.T) {
	m := mutants()[os.Getenv(mutantVariable)]
	if m == nil {
		t.Skip("run by TestSuiteNotices")
	}
	native, err := backends.Open("native")
	if err != nil {
		t.Fatal(err)
	}
	m.ConicBackend = native
	Run(t, m, Options{})
}

// TestSuiteNotices runs the suite in other processes, where it has to fail.
func TestSuiteNotices(t *testing.T) {
	for name, m := range mutants() {
		t.Run(name, func(t *testing.T) {
			run := exec.Command(os.Args[0], "-test.run=^TestMutant$/^"+m.part+"$")
			run.Env = append(os.Environ(), mutantVariable+"="+name)
			out, err := run.CombinedOutput()
			if err == nil {
				t.Errorf("the suite did not notice:\n%s", out)
			}
		})
	}
}
