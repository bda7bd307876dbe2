// Package backendtest is the conformance suite that every backend must pass.
//
//	func TestConformance(t *testing.T) {
//		b, err := backends.Open("native")
//		...
//		backendtest.Run(t, b, backendtest.Options{})
//	}
//
// The notation is that of package backends: minimise 1/2 x'Px + q'x subject to
// Ax + s = b, s in K, with the multiplier z of the rows.
//
// Programs of all cones, degenerate and badly scaled, sequences of updates and programs that no one means seriously
// are those of package planted, which knows their answers. The others
// have what such a program does not: multipliers by hand, shapes without rows or entries,
// limits, ends in the middle, starts from points. Answers by hand carry a
// primal-dual solution or a certificate, which the tests of this package verify with
// [backends.Recheck] without any solver. Cases with a cone or a quadratic objective that the
// backend does not declare in its Capabilities are left out. What [backends.Open] refuses
// or answers itself, misuse of all kinds and programs without variables, never comes to a backend, and is tested there.
package backendtest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/planted"
)

const (
	// eps is the tolerance that is asked of the backend, also for certificates.
	eps = 1e-8
	// objectiveTol bounds |objective - known| / max(1, |known|).
	objectiveTol = 1e-6
	// pointTol bounds the error of an entry of a unique x or z, relative to
	// max(1, |x|): where the objective is curved, a gap of eps leaves sqrt(eps) in the point.
	pointTol = 3e-4
)

// Options say what the backend promises.
type Options struct {
	// NoIterationLog says that the backend cannot log while it runs, and so
	// cannot be cancelled in the middle by a logger.
	NoIterationLog bool
	// SingleRun says that the first iteration may already reach the tolerance, as
	// by a factorisation, so that MaxIterations = 1 need not be a limit.
	SingleRun bool
	// Answers is the least share of planted programs that are answered, not left undecided. Default 0.9.
	Answers float64
	// MaxIterations are those after which a planted program is left undecided. Default 500, too few for methods of first
	// order.
	MaxIterations int
	// Settings are passed on in backends.Options.
	Settings any
}

func (o Options) backend() backends.Options {
	return backends.Options{Eps: eps, EpsInfeasible: eps, Settings: o.Settings}
}

// Run runs the suite on b, behind the checks of backends.Open.
func Run(t *testing.T, b backends.ConicBackend, o Options) {
	s := suite{backend: backends.Checked(b), options: o}
	s.cases = slices.DeleteFunc(Cases(), func(c Case) bool { return !s.supports(c.Problem) })
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"Known", s.known}, {"Planted", s.planted(planted.Run{Mode: planted.Verdicts, N: 150, Scales: []int{0, 3}})},
		{"Updates", s.planted(planted.Run{Mode: planted.Updates, N: 120})}, {"Hostile", s.hostile},
		{"WarmStart", s.warmStart}, {"Cancellation", s.cancellation}, {"Limits", s.limits},
		{"Determinism", s.determinism}, {"Concurrency", s.concurrency},
	} {
		t.Run(part.name, part.run)
	}
}

type suite struct {
	backend backends.ConicBackend
	options Options
	cases   []Case // those that the backend supports
}

func (s suite) supports(p *backends.Problem) bool {
	return s.backend.Capabilities().Unsupported(s.backend.Name(), p) == nil
}

// open sets up a solver that is closed with the test.
func (s suite) open(t *testing.T, p *backends.Problem, o backends.Options) backends.Solver {
	t.Helper()
	return Setup(t, s.backend, p, o)
}

// once sets up and solves p, and checks that nothing of p has changed.
func (s suite) once(t *testing.T, p *backends.Problem) *backends.Solution {
	t.Helper()
	before := bits(p)
	sol := Answer(t, s.open(t, p, s.options.backend()))
	if bits(p) != before {
		t.Error("the caller's problem was modified")
	}
	return sol
}

// check compares a solution with what is known about the case.
func (s suite) check(t *testing.T, c Case, sol *backends.Solution) {
	t.Helper()
	if sol.Status != c.Status {
		t.Errorf("status %v, expected %v because %s; residuals %.1e after %d iterations; %s",
			sol.Status, c.Status, c.Reason, sol.Residuals, sol.Iterations, sol.Message)
		return
	}
	if sol.Iterations < 0 || sol.SolveTime < 0 || sol.SetupTime < 0 {
		t.Errorf("negative count or time: %d iterations, setup %v, solve %v", sol.Iterations, sol.SetupTime, sol.SolveTime)
	}
	if v := c.known().Judge(sol); v.Outcome != planted.Right {
		t.Errorf("%v: %s", v.Outcome, v.Detail)
		return
	}
	if sol.Status != backends.Optimal {
		return
	}
	if r, _, _ := backends.Recheck(c.Problem, sol.X, sol.S, sol.Z); !(r.Max() <= eps) {
		t.Errorf("rechecked residuals %.2e miss %.1e", r, eps)
	}
	if s.off(sol.Objective, c.Objective) {
		t.Errorf("objective %.12g, expected %.12g because %s", sol.Objective, c.Objective, c.Reason)
	}
	if c.UniqueX {
		s.near(t, "x", sol.X, c.X)
	}
	if c.UniqueZ {
		s.near(t, "z", sol.Z, c.Z)
	}
}

// off says whether an optimal value is not the expected one.
func (s suite) off(got, want float64) bool {
	return got != want && !(math.Abs(got-want) <= objectiveTol*max(1, math.Abs(want)))
}

func (s suite) near(t *testing.T, name string, got, want []float64) {
	t.Helper()
	size := 1.0
	for _, v := range want {
		size = max(size, math.Abs(v))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= pointTol*size) {
			t.Errorf("%s[%d] = %.10g, expected %.10g", name, i, got[i], want[i])
			return
		}
	}
}

// bits writes all that p refers to, floating-point numbers to the last bit.
func bits(p *backends.Problem) string {
	out := fmt.Sprintf("%x %x %+v", p.Q, p.B, p.Cones)
	for _, a := range []*sparse.CSC{p.P, p.A} {
		if a != nil {
			raw := a.RawMatrix()
			out += fmt.Sprintf(" %d %d %x", raw.Indptr, raw.Ind, raw.Data)
		}
	}
	return out
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// sameAnswer says whether two solutions agree to the last bit, times aside.
func sameAnswer(a, b *backends.Solution) bool {
	return a.Status == b.Status && a.Iterations == b.Iterations && sameBits(a.X, b.X) && sameBits(a.S, b.S) &&
		sameBits(a.Z, b.Z)
}
