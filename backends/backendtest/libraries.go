package backendtest

import (
	"context"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/matrices"
)

// This file has what backends on C libraries share beside [Run]: tests of 32-bit integers, of builds without the library, and of
// what a library keeps between two solves.

// fromEnvironment returns the number in an environment variable, or another.
func fromEnvironment(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// Solve sets p up, solves it and closes the solver.
func Solve(t testing.TB, b backends.ConicBackend, p *backends.Problem, o backends.Options) *backends.Solution {
	t.Helper()
	s, err := b.Setup(p, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sol, err := s.Solve(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return sol
}

// ManyIterations has limits beyond 32-bit integers.
func ManyIterations(t *testing.T, b backends.ConicBackend) {
	b = backends.Checked(b)
	for _, bits := range []int{31, 32, 62} {
		limit := 1 << bits
		if limit <= math.MaxInt32 {
			continue // the integers of Go have 32 bits, too
		}
		p := &backends.Problem{P: matrices.Identity(1, 2), Q: []float64{2}}
		if !b.Capabilities().Quadratic { // min x for x >= -1
			p = &backends.Problem{Q: []float64{2}, A: matrices.Identity(1, -1), B: []float64{1}, Cones: []backends.Cone{backends.Nonnegative(1)}}
		}
		sol := Solve(t, b, p, backends.Options{MaxIterations: limit})
		if sol.Status != backends.Optimal || math.Abs(sol.X[0]+1) > 1e-6 {
			t.Errorf("limit %d: %v, x = %v, expected -1", limit, sol.Status, sol.X)
		}
	}
}

// Missing is a build without the C library of a backend: the name is known, and asking for it says how to get it.
func Missing(t *testing.T, name string) {
	if slices.Contains(backends.Names(), name) || !slices.Contains(backends.Known(), name) {
		t.Errorf("the names are %v, known %v", backends.Names(), backends.Known())
	}
	_, err := backends.Open(name)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`this build lacks "` + name + `"`, "make deps", "-tags " + name} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, expected %q in it", err, want)
		}
	}
}

// GoesOn counts iterations: a tolerance reached in two steps by SetEps takes about as many as in one, with what kept
// returns of the solver, its factorisation, the same. It runs on the backend as it is, without the checks of backends.Open.
func GoesOn(t *testing.T, b backends.ConicBackend, kept func(backends.Solver) any) {
	shape := Shape{Name: "qp", N: 50, Cones: []backends.Cone{backends.Zero(10), backends.Nonnegative(100)}, Rank: 50, Density: 0.2}
	atOnce, inSteps, again := 0, 0, 0
	for seed := range uint64(5) {
		p := shape.NewCase(seed).Problem
		run := func(eps ...float64) (iterations, last int) {
			s, err := b.Setup(p, backends.Options{Eps: eps[0]})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			before := kept(s)
			for _, e := range eps {
				if err := s.(backends.Tightener).SetEps(e); err != nil {
					t.Fatal(err)
				}
				sol, err := s.Solve(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if sol.Status != backends.Optimal || !(sol.Residuals.Max() <= e) {
					t.Errorf("seed %d: %v with residuals %v at %g", seed, sol.Status, sol.Residuals, e)
				}
				iterations += sol.Iterations
				last = sol.Iterations
			}
			if kept(s) != before {
				t.Errorf("seed %d: set up again", seed)
			}
			return iterations, last
		}
		n, _ := run(1e-8)
		atOnce += n
		n, _ = run(1e-3, 1e-8)
		inSteps += n
		_, n = run(1e-8, 1e-8)
		again += n
	}
	t.Log(atOnce, inSteps, again)
	if float64(inSteps) >= 1.3*float64(atOnce) || 3*again >= atOnce {
		t.Errorf("%d iterations at once, %d in two steps, %d again", atOnce, inSteps, again)
	}
}
