package backends

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// scripted is a backend whose answers the test writes, and which records what
// it was asked.
type scripted struct {
	capabilities Capabilities
	answer       func(p *Problem) *Solution // for the data as of the last Setup and Updates
	solveErr     error
	setupErr     error
	log          []string
	problems     []*Problem // as given to Setup
	options      Options
	warm         []Point
	during       func() // called inside Solve
}

type scriptedSolver struct {
	*scripted
	data Problem
}

func (b *scripted) Name() string               { return "scripted" }
func (b *scripted) Capabilities() Capabilities { return b.capabilities }
func (b *scripted) Setup(p *Problem, o Options) (Solver, error) {
	b.log = append(b.log, "setup")
	b.problems, b.options = append(b.problems, p), o
	if b.setupErr != nil {
		return nil, b.setupErr
	}
	return &scriptedSolver{b, *p}, nil
}

func (s *scriptedSolver) Solve(context.Context) (*Solution, error) {
	s.log = append(s.log, "solve")
	if s.during != nil {
		s.during()
	}
	if s.solveErr != nil {
		return nil, s.solveErr
	}
	return s.answer(&s.data), nil
}

func (s *scriptedSolver) Update(u Update) error {
	s.log = append(s.log, "update")
	if u.Q != nil {
		s.data.Q = slices.Clone(u.Q)
	}
	if u.B != nil {
		s.data.B = slices.Clone(u.B)
	}
	if u.A != nil {
		s.data.A = u.A
	}
	if u.P != nil {
		s.data.P = u.P
	}
	return nil
}

func (s *scriptedSolver) WarmStart(p Point) error {
	s.log = append(s.log, "warm")
	s.warm = append(s.warm, p)
	return nil
}

func (s *scriptedSolver) Close() error { s.log = append(s.log, "close"); return nil }

var allCones = []ConeKind{ZeroCone, NonnegativeCone, BoxCone, SecondOrderCone, PSDCone, ExponentialCone,
	DualExponentialCone, PowerCone, DualPowerCone, GeneralizedPowerCone, DualGeneralizedPowerCone}

func able() Capabilities {
	return Capabilities{Cones: allCones, Quadratic: true, UpdateVectors: true, UpdateMatrices: true, WarmStart: true,
		Certificates: true}
}

func column(v ...float64) *sparse.CSC {
	ind := make([]int, len(v))
	for i := range ind {
		ind[i] = i
	}
	return sparse.NewCSC(len(v), 1, []int{0, len(v)}, ind, v)
}

// bounded is min q x with x >= -b0 and x <= b1.
func bounded() *Problem {
	return &Problem{Q: []float64{1}, A: column(-1, 1), B: []float64{2, 5}, Cones: []Cone{Nonnegative(2)}}
}

// exact solves bounded for its current data.
func exact(p *Problem) *Solution {
	x, z := -p.B[0], []float64{p.Q[0], 0}
	if p.Q[0] < 0 {
		x, z = p.B[1], []float64{0, -p.Q[0]}
	}
	return &Solution{Status: Optimal, X: []float64{x}, Z: z}
}

func setup(t *testing.T, b *scripted, p *Problem, o Options) Solver {
	t.Helper()
	return must.Of(Checked(b).Setup(p, o))(t)
}

func mustSolve(t *testing.T, s Solver) *Solution {
	t.Helper()
	return must.Of(s.Solve(t.Context()))(t)
}

func TestCheckedCompletesTheSolution(t *testing.T) {
	b := &scripted{capabilities: able(), answer: exact}
	sol := mustSolve(t, setup(t, b, bounded(), Options{}))
	assert.Equal(t, Optimal, sol.Status)
	assert.Equal(t, []float64{0, 7}, sol.S) // b - Ax
	assert.Equal(t, -2.0, sol.Objective)
	assert.Equal(t, -2.0, sol.DualObjective)
	assert.Equal(t, Residuals{}, sol.Residuals)
	assert.Positive(t, sol.SetupTime)
	assert.Positive(t, sol.SolveTime)
	assert.Equal(t, 1e-8, b.options.Eps, "defaults are filled in")
	assert.Equal(t, 1, b.options.Threads)
}

func TestCheckedStatus(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		said Solution
		want Status
		word string // in the message
	}{
		{"optimal that is not", Solution{Status: Optimal, X: []float64{-1.9}, Z: []float64{1, 0}}, Inaccurate, "miss"},
		{"dual that is not", Solution{Status: Optimal, X: []float64{-2}, Z: []float64{1.5, 0.5}}, Inaccurate, "miss"},
		{"negative multiplier", Solution{Status: Optimal, X: []float64{-2}, Z: []float64{0, -1}}, Inaccurate, "miss"},
		{"infeasible slack", Solution{Status: Optimal, X: []float64{-2}, S: []float64{1, 7}, Z: []float64{1, 0}}, Inaccurate,
			"miss"},
		{"inaccurate that is not", Solution{Status: Inaccurate, X: []float64{-2}, Z: []float64{1, 0}}, Optimal, ""},
		{"unsolved with a good point", Solution{X: []float64{-2}, Z: []float64{1, 0}}, Optimal, ""},
		{"unsolved with a bad point", Solution{X: []float64{3}, Z: []float64{1, 0}}, Inaccurate, "unsolved"},
		{"limit stays a limit", Solution{Status: IterationLimit, X: []float64{-1.9}, Z: []float64{1, 0}}, IterationLimit, ""},
		{"limit with an optimal point", Solution{Status: TimeLimit, X: []float64{-2}, Z: []float64{1, 0}}, Optimal, ""},
		{"cancelled stays cancelled", Solution{Status: Cancelled, X: []float64{-2}, Z: []float64{1, 0}}, Cancelled, ""},
		{"limit without a point", Solution{Status: TimeLimit}, TimeLimit, ""},
		{"NaN point", Solution{Status: Optimal, X: []float64{nan}, Z: []float64{1, 0}}, NumericalError,
			"without a finite point"},
		{"a limit near the solution", Solution{Status: IterationLimit, X: []float64{-2 + 1e-6}, Z: []float64{1, 0}},
			IterationLimit, ""},
		{"no z", Solution{Status: Optimal, X: []float64{-2}}, NumericalError, "without a finite point"},
		{"cancelled with NaN", Solution{Status: Cancelled, X: []float64{nan}, Z: []float64{1, 0}}, Cancelled, ""},
		{"no certificate", Solution{Status: PrimalInfeasible}, NumericalError, "without a finite certificate"},
		{"bad certificate", Solution{Status: PrimalInfeasible, Z: []float64{1, 1}}, NumericalError, "not negative"},
		{"no direction", Solution{Status: DualInfeasible}, NumericalError, "without a finite certificate"},
		{"blocked direction", Solution{Status: DualInfeasible, X: []float64{-1}}, NumericalError, "misses"},
		{"rising direction", Solution{Status: DualInfeasible, X: []float64{1}}, NumericalError, "not negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &scripted{capabilities: able(), answer: func(*Problem) *Solution { s := c.said; return &s }}
			sol := mustSolve(t, setup(t, b, bounded(), Options{}))
			assert.Equal(t, c.want, sol.Status)
			assert.Contains(t, sol.Message, c.word)
			if sol.X == nil {
				assert.Nil(t, sol.Z)
				assert.True(t, math.IsNaN(sol.Objective))
				assert.True(t, math.IsNaN(sol.Residuals.Max()))
			}
		})
	}
}

func TestCheckedCertificates(t *testing.T) {
	p := bounded()
	p.B = []float64{-3, 1} // x >= 3 and x <= 1: z = (1, 1) has b'z = -2
	b := &scripted{capabilities: able(), answer: func(*Problem) *Solution {
		return &Solution{Status: PrimalInfeasible, X: []float64{9}, Z: []float64{4, 4}}
	}}
	sol := mustSolve(t, setup(t, b, p, Options{}))
	assert.Equal(t, PrimalInfeasible, sol.Status)
	assert.Equal(t, []float64{0.5, 0.5}, sol.Z)
	assert.Nil(t, sol.X)
	assert.Equal(t, math.Inf(1), sol.Objective)

	p = &Problem{Q: []float64{-2}, A: column(-1), B: []float64{0},
		Cones: []Cone{Box([]float64{1}, []float64{math.Inf(1)})}}
	b.answer = func(*Problem) *Solution { return &Solution{Status: DualInfeasible, X: []float64{10}, Z: []float64{1}} }
	sol = mustSolve(t, setup(t, b, p, Options{}))
	assert.Equal(t, DualInfeasible, sol.Status)
	assert.Equal(t, []float64{0.5}, sol.X)
	assert.Equal(t, []float64{0.5}, sol.S)
	assert.Nil(t, sol.Z)
	assert.Equal(t, math.Inf(-1), sol.DualObjective)
}

func TestCheckedUpdates(t *testing.T) {
	steps := func(t *testing.T, s Solver) {
		t.Helper()
		for range 2 {
			q, bb := []float64{-1}, []float64{2, 4}
			require.NoError(t, s.Update(Update{Q: q, B: bb}))
			q[0], bb[0], bb[1] = math.NaN(), math.NaN(), math.NaN() // the caller may reuse its arrays
			sol := mustSolve(t, s)
			assert.Equal(t, Optimal, sol.Status)
			assert.Equal(t, -4.0, sol.Objective)
			require.NoError(t, s.Update(Update{Q: []float64{3}}))
			require.NoError(t, s.Update(Update{B: []float64{1, 4}}))
			require.NoError(t, s.WarmStart(Point{X: []float64{7}}))
			sol = mustSolve(t, s)
			assert.Equal(t, -3.0, sol.Objective)
		}
	}
	t.Run("in place", func(t *testing.T) {
		p := bounded()
		b := &scripted{capabilities: able(), answer: exact}
		steps(t, setup(t, b, p, Options{}))
		assert.Equal(t, "setup update solve update update warm solve update solve update update warm solve",
			strings.Join(b.log, " "))
		assert.Equal(t, bounded(), p, "the caller's problem is as it was")
	})
	t.Run("set up again", func(t *testing.T) {
		p := bounded()
		b := &scripted{capabilities: Capabilities{Cones: allCones}, answer: exact}
		steps(t, setup(t, b, p, Options{}))
		again := "close setup solve close setup warm solve"
		assert.Equal(t, "setup "+again+" "+again, strings.Join(b.log, " "),
			"lazily, once for two updates, and the warm start survives")
		assert.Equal(t, bounded(), p)
		// What an inner solver was given is not changed under its feet.
		assert.Equal(t, []float64{2, 5}, b.problems[0].B)
		assert.Equal(t, []float64{2, 4}, b.problems[1].B)
		assert.Equal(t, []float64{1, 4}, b.problems[2].B)
	})
	t.Run("matrices set up again, vectors in place", func(t *testing.T) {
		c := able()
		c.UpdateMatrices = false
		b := &scripted{capabilities: c, answer: exact}
		s := setup(t, b, bounded(), Options{})
		require.NoError(t, s.Update(Update{A: column(-1, 1), B: []float64{0, 1}}))
		mustSolve(t, s)
		require.NoError(t, s.Update(Update{B: []float64{0.5, 1}}))
		sol := mustSolve(t, s)
		assert.Equal(t, "setup close setup solve update solve", strings.Join(b.log, " "))
		assert.Equal(t, []float64{0, 1}, b.problems[1].B)
		assert.Equal(t, -0.5, sol.Objective)
	})
	t.Run("a matrix is copied once", func(t *testing.T) {
		var seen *Problem
		b := &scripted{capabilities: able(), answer: func(p *Problem) *Solution { seen = p; return exact(p) }}
		s := setup(t, b, bounded(), Options{NoPresolve: true})
		var before []float64 // the inner solver's, of the update before
		for k := range 5 {
			a := column(-1, float64(1+k))
			require.NoError(t, s.Update(Update{A: a}))
			a.RawMatrix().Data[1] = math.NaN() // the caller may reuse it
			if k > 0 {
				assert.Equal(t, []float64{-1, float64(k)}, before, "left alone until the update is through")
			}
			mustSolve(t, s)
			before = seen.A.RawMatrix().Data
			assert.Equal(t, []float64{-1, float64(1 + k)}, before)
			assert.Same(t, &s.(*checkedSolver).data.A.RawMatrix().Data[0], &before[0])
		}
	})
	t.Run("a failed setup is tried again", func(t *testing.T) {
		b := &scripted{capabilities: Capabilities{Cones: allCones}, answer: exact}
		s := setup(t, b, bounded(), Options{})
		require.NoError(t, s.Update(Update{Q: []float64{2}}))
		b.setupErr = errors.New("out of paper")
		for range 2 {
			_, err := s.Solve(t.Context())
			assert.EqualError(t, err, "backends: scripted: out of paper")
		}
		b.setupErr = nil
		assert.Equal(t, -4.0, mustSolve(t, s).Objective)
	})
}

func TestCheckedLinearBackend(t *testing.T) {
	// A backend without quadratic objectives gets stored zeros as no P at all.
	c := able()
	c.Quadratic = false
	b := &scripted{capabilities: c, answer: exact}
	p := bounded()
	p.P = column(0)
	s := setup(t, b, p, Options{})
	assert.Nil(t, b.problems[0].P)
	require.NoError(t, s.Update(Update{P: column(0), Q: []float64{2}}))
	var unsupported *UnsupportedError
	require.ErrorAs(t, s.Update(Update{P: column(1), Q: []float64{99}}), &unsupported)
	assert.Equal(t, -4.0, mustSolve(t, s).Objective)
	p.P = column(1)
	_, err := Checked(b).Setup(p, Options{})
	assert.ErrorAs(t, err, &unsupported)
	assert.ErrorContains(t, err, "a quadratic objective")
}

func TestCheckedErrors(t *testing.T) {
	b := &scripted{capabilities: able(), answer: func(*Problem) *Solution { return nil }}
	s := setup(t, b, bounded(), Options{})
	_, err := s.Solve(t.Context())
	assert.ErrorContains(t, err, "neither a solution nor an error")
	b.solveErr = errors.New("melted")
	_, err = s.Solve(t.Context())
	assert.ErrorIs(t, err, b.solveErr)
	assert.ErrorContains(t, err, "scripted")
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err = s.Solve(t.Context())
	assert.ErrorIs(t, err, ErrClosed)

	b.capabilities.Cones = nil
	_, err = Checked(b).Setup(bounded(), Options{})
	assert.ErrorContains(t, err, "backends: scripted does not support the nonnegative cone")
}

// TestCheckedRefusals gives a solver bad updates and points, none of which comes to the backend or leaves a trace.
func TestCheckedRefusals(t *testing.T) {
	b := &scripted{capabilities: able(), answer: exact}
	s := setup(t, b, bounded(), Options{})
	nan := math.NaN()
	for name, u := range map[string]Update{
		"NaN in q": {Q: []float64{nan}}, "good q, bad b": {Q: []float64{5}, B: []float64{nan, 0}},
		"good b, NaN in A": {B: []float64{-9, 9}, A: column(nan, 1)},
		"other pattern":    {A: sparse.NewCSC(2, 1, []int{0, 1}, []int{0}, []float64{-1})},
		"A of other size":  {A: column(-1, 1, 1)}, "P of new pattern": {P: column(1)},
	} {
		var wrong *ProblemError
		assert.ErrorAs(t, s.Update(u), &wrong, name)
	}
	for name, start := range map[string]Point{
		"long x": {X: []float64{1, 2}}, "long z": {Z: make([]float64, 4)}, "NaN in s": {S: []float64{nan, 0}},
		"Inf in x": {X: []float64{math.Inf(1)}},
	} {
		var wrong *ProblemError
		assert.ErrorAs(t, s.WarmStart(start), &wrong, name)
	}
	for _, eps := range []float64{0, -1, nan} {
		var wrong *ProblemError
		assert.ErrorAs(t, s.(Tightener).SetEps(eps), &wrong)
	}
	require.NoError(t, s.Update(Update{}))
	assert.Equal(t, -2.0, mustSolve(t, s).Objective)
	assert.Equal(t, []string{"setup", "solve"}, b.log)
	require.NoError(t, s.Close())
	assert.ErrorIs(t, s.Update(Update{}), ErrClosed)
	assert.ErrorIs(t, s.WarmStart(Point{}), ErrClosed)
}

func TestCheckedBusy(t *testing.T) {
	b := &scripted{capabilities: able(), answer: exact}
	s := setup(t, b, bounded(), Options{})
	var got []error
	b.during = func() {
		_, err := s.Solve(t.Context())
		got = []error{err, s.Update(Update{}), s.WarmStart(Point{}), s.Close()}
	}
	mustSolve(t, s)
	assert.Equal(t, []error{ErrBusy, ErrBusy, ErrBusy, ErrBusy}, got)
}

func TestCheckedCancelled(t *testing.T) {
	b := &scripted{capabilities: able(), answer: exact}
	s := setup(t, b, bounded(), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sol := must.Of(s.Solve(ctx))(t)
	assert.Equal(t, Cancelled, sol.Status)
	assert.Equal(t, []string{"setup"}, b.log)
}

func TestCheckedDropsEmptyCones(t *testing.T) {
	b := &scripted{capabilities: Capabilities{Cones: []ConeKind{NonnegativeCone}}, answer: exact}
	p := bounded()
	p.Cones = []Cone{PSD(0), Nonnegative(2), Zero(0)}
	setup(t, b, p, Options{})
	assert.Equal(t, []Cone{Nonnegative(2)}, b.problems[0].Cones)
	assert.Len(t, p.Cones, 3)
	assert.Equal(t, Checked(b), Checked(Checked(b)))
}

// TestWithoutVariables separates points from every cone. The certificates are
// judged by CheckPrimalInfeasible, which knows nothing of how they were made.
func TestWithoutVariables(t *testing.T) {
	inf := math.Inf(1)
	psd := func(a, b, c float64) []float64 { return []float64{a, math.Sqrt2 * b, c} }
	for _, c := range []struct {
		cone Cone
		in   [][]float64
		out  [][]float64
	}{
		{Zero(2), [][]float64{{0, 0}}, [][]float64{{1, 0}, {0, -3}, {1e-3, 5}}},
		{Nonnegative(2), [][]float64{{0, 0}, {1, 2}}, [][]float64{{-1, 5}, {3, -1e-6}}},
		{Box([]float64{0, -inf, 2}, []float64{1, 1, inf}), [][]float64{{0, -5, 2}, {1, 1, 9}},
			[][]float64{{-1, 0, 2}, {2, 0, 2}, {0, 2, 2}, {0, 0, 1}, {-1, 3, 1}}},
		{SecondOrder(3), [][]float64{{5, 3, 4}, {1, 0, 0}, {0, 0, 0}}, [][]float64{{4, 3, 4}, {-1, 0, 0}, {-5, 1, 1}}},
		{SecondOrder(1), [][]float64{{0}, {3}}, [][]float64{{-2}}},
		{PSD(2), [][]float64{psd(1, 1, 1), psd(0, 0, 0), psd(2, 1, 2)}, [][]float64{psd(1, 2, 1), psd(-1, 0, 3),
			psd(0, 1, 0)}},
		{Exponential(), [][]float64{{0, 1, 1}, {-1, 0, 0}, {1, 1, 3}, {-5, 1, 0.01}},
			[][]float64{{1, 1, 2}, {1, 0, 5}, {1, 0, 0}, {0, -1, 5}, {0, 1, -1}, {-1, 1, 0.1}, {3, 0.1, 1e3}}},
		{DualExponential(), [][]float64{{-1, 0, 0.4}, {0, 1, 1}, {0, 0, 0}},
			[][]float64{{-1, 0, 0.3}, {1, 0, 1}, {0, -1, 3}, {0, -1, 0}, {-1, 0, -1}, {-2, -3, 1}}},
		{Power(0.3), [][]float64{{1, 1, -1}, {2, 2, 1}, {0, 5, 0}},
			[][]float64{{1, 1, 2}, {1, 1, -2}, {0, 5, 1}, {5, 0, 1}, {0, 0, -1}, {-1, 4, 0}, {4, -1, 0}}},
		{DualPower(0.3), [][]float64{{0.3, 0.7, 1}, {1, 1, -1}, {5, 0, 0}},
			[][]float64{{0.3, 0.7, 2}, {0, 5, -1}, {5, 0, 1}, {0, 0, 1}, {-1, 4, 0}, {4, -1, 0}}},
		{GeneralizedPower([]float64{0.3, 0.7}, 2), [][]float64{{1, 1, 0.6, -0.8}, {2, 2, 1, 1}, {0, 5, 0, 0}},
			[][]float64{{1, 1, 2, 0}, {1, 1, -0.6, 1}, {0, 5, 1, 0}, {5, 0, 0, 1}, {0, 0, -1, 2}, {-1, 4, 0, 0}, {4, -1, 0, 0}}},
		{DualGeneralizedPower([]float64{0.2, 0.5, 0.3}, 1), [][]float64{{0.2, 0.5, 0.3, 1}, {1, 1, 1, -1}, {5, 0, 0, 0}},
			[][]float64{{0.2, 0.5, 0.3, 2}, {0, 5, 5, -1}, {5, 0, 0, 1}, {0, 0, 0, 1}, {-1, 4, 1, 0}, {4, 1, -1, 0}}},
	} {
		b := &scripted{capabilities: able()}
		row := func(v []float64) *Problem {
			// a cone that is satisfied comes first
			return &Problem{B: append([]float64{1}, v...), Cones: []Cone{Nonnegative(1), c.cone}}
		}
		for _, v := range c.in {
			sol := mustSolve(t, setup(t, b, row(v), Options{}))
			assert.Equal(t, Optimal, sol.Status, "%v in %v", v, c.cone)
			assert.Zero(t, c.cone.Distance(v), "%v in %v", v, c.cone)
			assert.Len(t, sol.S, len(v)+1)
		}
		for _, v := range c.out {
			p := row(v)
			sol := mustSolve(t, setup(t, b, p, Options{}))
			assert.Equal(t, PrimalInfeasible, sol.Status, "%v in %v: %s", v, c.cone, sol.Message)
			assert.Positive(t, c.cone.Distance(v), "%v in %v", v, c.cone)
			residual, err := CheckPrimalInfeasible(p, sol.Z)
			assert.NoError(t, err)
			assert.Less(t, residual, 1e-14, "%v in %v", v, c.cone)
		}
		assert.Empty(t, b.log, "the backend is not asked")
	}
}

// TestCertificateBeyondNumbers has certificates that are right, and infinite in the scale
// in which solutions give them.
func TestCertificateBeyondNumbers(t *testing.T) {
	b := &scripted{capabilities: able()}
	b.answer = func(*Problem) *Solution { return &Solution{Status: DualInfeasible, X: []float64{1e10}} }
	sol := mustSolve(t, setup(t, b, &Problem{Q: []float64{-1e-310}}, Options{}))
	assert.Equal(t, NumericalError, sol.Status)
	assert.Contains(t, sol.Message, "leaves the range of numbers")
	assert.Nil(t, sol.X)

	b.answer = func(*Problem) *Solution { return &Solution{Status: PrimalInfeasible, Z: []float64{1e10}} }
	sol = mustSolve(t, setup(t, b, &Problem{Q: []float64{1}, A: column(0), B: []float64{-1e-310}, Cones: []Cone{Zero(1)}},
		Options{}))
	assert.Equal(t, NumericalError, sol.Status)
	assert.Contains(t, sol.Message, "leaves the range of numbers")
	assert.Nil(t, sol.Z)
}
