package backendtest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/planted"
)

// This file has what backends on C libraries share beside [Run]: tests of 32-bit integers, of settings, and of what a
// library keeps between two solves.

// fromEnvironment returns the number in an environment variable, or another.
func fromEnvironment(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// Open returns a registered backend.
func Open(t testing.TB, name string) backends.ConicBackend {
	t.Helper()
	return must.Of(backends.Open(name))(t)
}

// Setup returns a solver that is closed with the test.
func Setup(t testing.TB, b backends.ConicBackend, p *backends.Problem, o backends.Options) backends.Solver {
	t.Helper()
	s := must.Of(b.Setup(p, o))(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// Answer is what Solve says, without an error.
func Answer(t testing.TB, s backends.Solver) *backends.Solution {
	t.Helper()
	return must.Of(s.Solve(context.Background()))(t)
}

// Solve sets p up, solves it and closes the solver.
func Solve(t testing.TB, b backends.ConicBackend, p *backends.Problem, o backends.Options) *backends.Solution {
	t.Helper()
	s := must.Of(b.Setup(p, o))(t)
	defer s.Close()
	sol := Answer(t, s)
	require.NoError(t, s.Close())
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
			p = &backends.Problem{Q: []float64{2}, A: matrices.Identity(1, -1), B: []float64{1},
				Cones: []backends.Cone{backends.Nonnegative(1)}}
		}
		sol := Solve(t, b, p, backends.Options{MaxIterations: limit})
		if sol.Status != backends.Optimal || math.Abs(sol.X[0]+1) > 1e-6 {
			t.Errorf("limit %d: %v, x = %v, expected -1", limit, sol.Status, sol.X)
		}
	}
}

// Settings has each of the wrong settings refused under the name of its field, and p solved with each of the others.
func Settings(t *testing.T, b backends.ConicBackend, p *backends.Problem, wrong map[string]any, fine ...any) {
	for field, set := range wrong {
		var refused *backends.ProblemError
		if _, err := b.Setup(p, backends.Options{Settings: set}); !errors.As(err, &refused) || refused.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	want := Solve(t, b, p, backends.Options{})
	for _, set := range append(fine, nil) {
		sol := Solve(t, b, p, backends.Options{Settings: set})
		if sol.Status != backends.Optimal || math.Abs(sol.Objective-want.Objective) > 1e-7 {
			t.Errorf("%+v: %v with %g, expected %g", set, sol.Status, sol.Objective, want.Objective)
		}
	}
}

// Boxed has n variables in [0, 1] and as many inequalities.
func Boxed(n int) *backends.Problem {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	ptr, ind, val := []int{0}, []int{}, []float64{}
	q := make([]float64, n)
	lower, upper, b := make([]float64, n), make([]float64, n), make([]float64, 2*n)
	for j := range n {
		for i := range n {
			if rng.Float64() < 0.2 {
				ind, val = append(ind, i), append(val, rng.NormFloat64())
			}
		}
		ind, val = append(ind, n+j), append(val, -1)
		ptr = append(ptr, len(ind))
		q[j], upper[j], b[j] = rng.NormFloat64(), 1, rng.Float64()
	}
	return &backends.Problem{
		Q: q, A: sparse.NewCSC(2*n, n, ptr, ind, val), B: b, Cones: []backends.Cone{backends.Nonnegative(n),
			backends.Box(lower, upper)},
	}
}

// BoxedSquares is [Boxed] with |x|^2/2 added.
func BoxedSquares(n int) *backends.Problem {
	p := Boxed(n)
	p.P = matrices.Identity(n, 1)
	return p
}

// Projection is that of a matrix of sines on the positive semidefinite ones of order n.
func Projection(n int) *backends.Problem {
	c := backends.PSD(n)
	q := make([]float64, c.Dim)
	for i := range q {
		q[i] = math.Sin(float64(i))
	}
	return &backends.Problem{
		P: matrices.Identity(c.Dim, 1), Q: q, A: matrices.Identity(c.Dim, -1), B: make([]float64, c.Dim),
		Cones: []backends.Cone{c},
	}
}

// Suite are the problems of the suite, by their names, that a backend takes.
func Suite(b backends.ConicBackend) map[string]*backends.Problem {
	problems := map[string]*backends.Problem{}
	add := func(c Case) {
		if b.Capabilities().Unsupported(b.Name(), c.Problem) == nil {
			problems[c.Name] = c.Problem
		}
	}
	for _, c := range Cases() {
		add(c)
	}
	for _, shape := range Shapes() {
		for seed := range uint64(5) {
			add(NewCase(shape, seed))
		}
	}
	return problems
}

// GoesOn counts iterations: a tolerance reached in two steps by SetEps takes about as many as in one, with what kept
// returns of the solver, its factorisation, the same. It runs on the backend as it is, without the checks of
// backends.Open.
func GoesOn(t *testing.T, b backends.ConicBackend, kept func(backends.Solver) any) {
	shape := planted.Shape{Name: "qp", N: 50, Cones: []backends.Cone{backends.Zero(30), backends.Nonnegative(100)},
		Rank: 50, Density: 0.2}
	atOnce, inSteps, again := 0, 0, 0
	for seed := range uint64(5) {
		p := NewCase(shape, seed).Problem
		run := func(eps ...float64) (iterations, last int) {
			s := Setup(t, b, p, backends.Options{Eps: eps[0]})
			before := kept(s)
			for _, e := range eps {
				require.NoError(t, s.(backends.Tightener).SetEps(e))
				sol := Answer(t, s)
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
