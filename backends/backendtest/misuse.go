package backendtest

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
)

// example is a small problem that every backend supports in one form or another:
// min x + y with x + y >= 1 as rows of a nonnegative cone, a box or equations.
func (s suite) example() *backends.Problem {
	p := &backends.Problem{
		P: matrices.Identity(2, 1), Q: []float64{1, 1}, A: matrix(2, []float64{-1, -1}, []float64{1, 0}, []float64{0, 1}),
		B:     []float64{-1, 4, 4},
		Cones: []backends.Cone{backends.Nonnegative(3)},
	}
	if s.backend.Capabilities().Quadratic {
		return p
	}
	p.P = nil
	return p
}

// errors gives Setup something wrong of each part of a problem; [backends.Problem.Validate], which looks at it, has
// tests of its own.
func (s suite) errors(t *testing.T) {
	if !s.supports(s.example()) {
		t.Skip("no nonnegative cone")
	}
	nan := math.NaN()
	for field, spoil := range map[string]func(p *backends.Problem){
		"P":        func(p *backends.Problem) { p.P = matrices.Identity(2, nan) },
		"Q":        func(p *backends.Problem) { p.Q[1] = inf },
		"A":        func(p *backends.Problem) { p.A.RawMatrix().Ind[1] = 7 },
		"B":        func(p *backends.Problem) { p.B[0] = -inf },
		"Cones":    func(p *backends.Problem) { p.Cones[0].Dim = 4 },
		"Cones[0]": func(p *backends.Problem) { p.Cones[0] = backends.Box([]float64{0, 2, 0}, []float64{1, 1, 1}) },
	} {
		p := s.example()
		spoil(p)
		solver, err := s.backend.Setup(p, s.options.backend())
		var wrong *backends.ProblemError
		if !errors.As(err, &wrong) || wrong.Field != field || solver != nil {
			t.Errorf("solver %v, error %v, expected a ProblemError about %s", solver, err, field)
		}
	}
	if _, err := s.backend.Setup(nil, s.options.backend()); err == nil {
		t.Error("no problem, but no error")
	}
	for name, o := range map[string]backends.Options{"negative eps": {Eps: -1}, "negative iterations": {MaxIterations: -1},
		"negative time": {TimeLimit: -1}} {
		if _, err := s.backend.Setup(s.example(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	t.Run("cones not supported", s.unsupported)
}

// unsupported sets up all cases that the backend does not declare.
func (s suite) unsupported(t *testing.T) {
	for _, c := range Cases() {
		if s.supports(c.Problem) {
			continue
		}
		_, err := s.backend.Setup(c.Problem, s.options.backend())
		var wrong *backends.UnsupportedError
		if !errors.As(err, &wrong) || wrong.Backend != s.backend.Name() || wrong.Feature == "" {
			t.Errorf("%s: error %v, expected an UnsupportedError", c.Name, err)
		}
	}
}

// updateErrors gives a solver bad updates and points, none of which may leave a trace.
func (s suite) updateErrors(t *testing.T) {
	p := s.example()
	if !s.supports(p) {
		t.Skip("no nonnegative cone")
	}
	solver := s.open(t, p, s.options.backend())
	want := Answer(t, solver)
	if want.Status != backends.Optimal {
		t.Fatalf("status %v, expected optimal", want.Status)
	}
	nan := math.NaN()
	for name, u := range map[string]backends.Update{
		"NaN in q":         {Q: []float64{nan, 1}},
		"good q, bad b":    {Q: []float64{5, 5}, B: []float64{nan, 0, 0}},
		"good b, NaN in A": {B: []float64{-9, 9, 9}, A: matrix(2, []float64{-1, -1}, []float64{nan, 0}, []float64{0, 1})},
		"other pattern":    {A: matrix(2, []float64{-1, -1}, []float64{1, 1}, []float64{0, 1})},
		"A of other size":  {A: matrix(3, []float64{-1, -1, 1}, []float64{1, 0, 0}, []float64{0, 1, 0})},
		"P of new pattern": {P: upper([]float64{1, 1}, []float64{1, 2})},
	} {
		var wrong *backends.ProblemError
		if err := solver.Update(u); !errors.As(err, &wrong) {
			t.Errorf("Update with %s: error %v, expected a ProblemError", name, err)
		}
	}
	for name, start := range map[string]backends.Point{
		"short x": {X: []float64{1}}, "long z": {Z: make([]float64, 4)}, "NaN in s": {S: []float64{nan, 0, 0}},
		"Inf in x": {X: []float64{inf, 0}},
	} {
		var wrong *backends.ProblemError
		if err := solver.WarmStart(start); !errors.As(err, &wrong) {
			t.Errorf("WarmStart with %s: error %v, expected a ProblemError", name, err)
		}
	}
	got := Answer(t, solver)
	if got.Status != backends.Optimal || s.off(got.Objective, want.Objective) {
		t.Errorf("%v with %.12g after the errors, %.12g before", got.Status, got.Objective, want.Objective)
	}
	if err := solver.Update(backends.Update{}); err != nil {
		t.Errorf("an empty update: %v", err)
	}
}

func (s suite) closed(t *testing.T) {
	for _, p := range []*backends.Problem{s.example(), {}} {
		if !s.supports(p) {
			continue
		}
		solver := Setup(t, s.backend, p, s.options.backend())
		for range 3 {
			if err := solver.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		if sol, err := solver.Solve(context.Background()); !errors.Is(err, backends.ErrClosed) || sol != nil {
			t.Errorf("Solve after Close: %v, %v", sol, err)
		}
		if err := solver.Update(backends.Update{}); !errors.Is(err, backends.ErrClosed) {
			t.Errorf("Update after Close: %v", err)
		}
		if err := solver.WarmStart(backends.Point{}); !errors.Is(err, backends.ErrClosed) {
			t.Errorf("WarmStart after Close: %v", err)
		}
	}
}

// busy calls every method while a solve runs, from inside its log.
func (s suite) busy(t *testing.T) {
	c, ok := s.long()
	if !ok || s.options.NoIterationLog {
		t.Skip("no linear rows, or no log while it runs")
	}
	var solver backends.Solver
	var got []error
	o := s.logging(s.options.backend(), func() {
		if got == nil {
			_, err := solver.Solve(context.Background())
			got = append(got, err, solver.Update(backends.Update{}), solver.WarmStart(backends.Point{}), solver.Close())
		}
	})
	solver = s.open(t, c.Problem, o)
	s.check(t, c, Answer(t, solver))
	if len(got) != 4 {
		t.Fatal("nothing was logged")
	}
	for i, err := range got {
		if !errors.Is(err, backends.ErrBusy) {
			t.Errorf("call %d during a solve: %v, expected ErrBusy", i, err)
		}
	}
}
