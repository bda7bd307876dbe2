package portfolio_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/native"
	_ "github.com/conetune/conetune/backends/pdhg"
	"github.com/conetune/conetune/backends/portfolio"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
)

// scripted is a backend that answers what it is told to, under a name of its own.
type scripted struct {
	backends.ConicBackend
	name  string
	setup error
	// answer is the solution, waited for until the context ends where it is nil.
	answer *backends.Solution
}

func (b scripted) Name() string { return b.name }

func (b scripted) Capabilities() backends.Capabilities {
	return backends.Capabilities{Version: "1", Cones: []backends.ConeKind{backends.ZeroCone, backends.NonnegativeCone},
		Quadratic: true}
}

func (b scripted) Setup(*backends.Problem, backends.Options) (backends.Solver, error) {
	if b.setup != nil {
		return nil, b.setup
	}
	return script{b.answer}, nil
}

type script struct{ answer *backends.Solution }

func (s script) Solve(ctx context.Context) (*backends.Solution, error) {
	if s.answer == nil {
		<-ctx.Done()
		return &backends.Solution{Status: backends.EndedBy(ctx)}, nil
	}
	out := *s.answer
	return &out, nil
}
func (script) Update(backends.Update) error   { return nil }
func (script) WarmStart(backends.Point) error { return nil }
func (script) Close() error                   { return nil }

// other is the native solver under another name.
type other struct{ backends.ConicBackend }

func (other) Name() string { return "other" }

// rows makes {x : a_i x <= b_i} in one variable with the objective x.
func rows(a, b []float64) *backends.Problem {
	index := make([]int, len(a))
	for i := range index {
		index[i] = i
	}
	return &backends.Problem{Q: []float64{1}, A: sparse.NewCSC(len(a), 1, []int{0, len(a)}, index, a), B: b,
		Cones: []backends.Cone{backends.Nonnegative(len(a))}}
}

func solve(t *testing.T, b backends.ConicBackend, p *backends.Problem, o backends.Options) (*backends.Solution, string,
	string) {
	t.Helper()
	s := backendtest.Setup(t, b, p, o)
	out := backendtest.Answer(t, s)
	name, reason := portfolio.Chosen(s)
	return out, name, reason
}

// made is a portfolio of what make takes.
func made(
	t *testing.T, make func(...backends.ConicBackend) (backends.ConicBackend, error), members ...backends.ConicBackend,
) backends.ConicBackend {
	t.Helper()
	return must.Of(make(members...))(t)
}

// least has x >= 2 and the objective x.
func least() *backends.Problem { return rows([]float64{-1}, []float64{-2}) }

// requireTimeLimit has b, one of whose members never answers, end by the time of the context.
func requireTimeLimit(t *testing.T, b backends.ConicBackend) {
	t.Helper()
	s := backendtest.Setup(t, b, least(), backends.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	out := must.Of(s.Solve(ctx))(t)
	assert.Equal(t, backends.TimeLimit, out.Status)
	require.NoError(t, s.Close())
	_, err := s.Solve(context.Background())
	assert.ErrorIs(t, err, backends.ErrClosed)
}

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite of native is that of the solvers behind these")
	}
	check := made(t, portfolio.CrossCheck, native.Backend{}, other{native.Backend{}})
	for _, b := range []backends.ConicBackend{portfolio.Auto(nil), check} {
		t.Run(b.Name(), func(t *testing.T) { backendtest.Run(t, b, backendtest.Options{}) })
	}
}

func TestOpen(t *testing.T) {
	for names, want := range map[string]string{"auto": "auto", "native": "native"} {
		b := must.Of(portfolio.Open(names))(t)
		assert.Equal(t, want, b.Name())
	}
	for names, want := range map[string]string{"": "unknown backend", "native,": "unknown backend",
		"native,native": "named twice"} {
		_, err := portfolio.Open(names)
		assert.ErrorContains(t, err, want)
	}
	for names, want := range map[string]string{"auto": "names of two", "native": "two backends or more",
		"native,nobody": "unknown backend"} {
		_, err := portfolio.OpenCrossCheck(names)
		assert.ErrorContains(t, err, want)
	}
}

// The least x >= 2, by hand: the class decides, and a problem that no backend takes names what is missing.
func TestAuto(t *testing.T) {
	out, name, reason := solve(t, portfolio.Auto(nil), least(), backends.Options{})
	assert.Equal(t, backends.Optimal, out.Status)
	assert.InDelta(t, 2, out.X[0], 1e-7)
	assert.Equal(t, "native", name)
	assert.Equal(t, "a linear program: interior points", reason)
	p := rows([]float64{-1, 0, 0}, []float64{0, 0, 1})
	p.Cones = []backends.Cone{backends.Exponential()}
	choices := portfolio.Choose(p)
	require.NotEmpty(t, choices)
	assert.Contains(t, choices[0].Reason, "a program with exponential or power cones")
	p.P = sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{1})
	p.Cones = []backends.Cone{backends.SecondOrder(3)}
	assert.Contains(t, portfolio.Choose(p)[0].Reason, "a second-order cone program")
	choices = portfolio.Choose(p)
	for i, c := range choices { // those that take the cone by a sequence are behind all others
		late := c.Backend.Name() == "osqp" || c.Backend.Name() == "highs"
		assert.Equal(t, late, strings.HasSuffix(c.Reason, "a sequence of quadratic programs"), c.Backend.Name())
		assert.False(t, !late && i > 0 && strings.HasSuffix(choices[i-1].Reason, "programs"), c.Backend.Name())
	}
	p.Cones = []backends.Cone{backends.Nonnegative(3)}
	assert.Contains(t, portfolio.Choose(p)[0].Reason, "a quadratic program")
}

// TestOrder has a linear program of 1000 coefficients, which HiGHS takes first, and what is smaller or not linear.
func TestOrder(t *testing.T) {
	const n = 1000
	p := &backends.Problem{Q: make([]float64, n), A: matrices.Identity(n, -1), B: make([]float64, n),
		Cones: []backends.Cone{backends.Nonnegative(n)}}
	assert.Equal(t, []string{"highs", "native", "clarabel", "pdhg", "osqp", "scs"}, portfolio.Order(p)[:6])
	p.P = matrices.Identity(n, 1)
	assert.Equal(t, []string{"native", "clarabel", "highs", "pdhg", "osqp", "scs"}, portfolio.Order(p)[:6])
	p.P, p.Cones = nil, []backends.Cone{backends.SecondOrder(n)}
	assert.Equal(t, "native", portfolio.Order(p)[0])
	p = &backends.Problem{Q: make([]float64, 2), A: matrices.Identity(2, -1), B: make([]float64, 2),
		Cones: []backends.Cone{backends.Nonnegative(2)}}
	assert.Equal(t, "native", portfolio.Order(p)[0])
}

// Who has no room, or no verdict, is followed by the next; an update is not lost on the way.
func TestAutoGoesOn(t *testing.T) {
	backends.Register(scripted{name: "full", setup: &backends.MemoryError{Need: 2, Limit: 1, What: "a test"}})
	backends.Register(scripted{name: "lost", answer: &backends.Solution{Status: backends.NumericalError}})
	p := least()
	s := backendtest.Setup(t, portfolio.NewAuto("full", "lost", "native"), p, backends.Options{})
	name, reason := portfolio.Chosen(s)
	assert.Equal(t, "lost", name)
	assert.Contains(t, reason, "has no room")
	require.NoError(t, s.Update(backends.Update{B: []float64{-3}}))
	out := backendtest.Answer(t, s)
	assert.Equal(t, backends.Optimal, out.Status)
	assert.InDelta(t, 3, out.X[0], 1e-7)
	name, reason = portfolio.Chosen(s)
	assert.Equal(t, "native", name)
	assert.Contains(t, reason, "lost before it ended with the status numerical_error")
	require.NoError(t, s.Update(backends.Update{B: []float64{-4}}))
	out = backendtest.Answer(t, s)
	assert.InDelta(t, 4, out.X[0], 1e-7)

	// For lack of room those are asked first that need none for factors.
	s = backendtest.Setup(t, portfolio.NewAuto("full", "lost", "pdhg"), p, backends.Options{})
	name, _ = portfolio.Chosen(s)
	assert.Equal(t, "pdhg", name)
	assert.InDelta(t, 2, backendtest.Answer(t, s).X[0], 1e-7)

	_, err := portfolio.NewAuto("full").Setup(p, backends.Options{})
	var room *backends.MemoryError
	assert.ErrorAs(t, err, &room)
}

func TestRace(t *testing.T) {
	b := made(t, portfolio.Race, scripted{name: "never"}, native.Backend{})
	assert.Equal(t, "never,native", b.Name())
	out, name, reason := solve(t, b, least(), backends.Options{})
	assert.Equal(t, backends.Optimal, out.Status)
	assert.Equal(t, "native", name)
	assert.Equal(t, "the first of never, native", reason)

	// A cone that one of them lacks leaves the other.
	p := rows([]float64{-1, 0}, []float64{0, 1})
	p.Cones = []backends.Cone{backends.SecondOrder(2)} // x >= 1 in absolute value of 1: x >= 1
	out, _, reason = solve(t, b, p, backends.Options{})
	assert.InDelta(t, 1, out.X[0], 1e-6)
	assert.Contains(t, reason, "not asked")

	requireTimeLimit(t, made(t, portfolio.Race, scripted{name: "never"}, scripted{name: "neither"}))
}

// The least x >= 2 where one backend says 2 and the other 3, which the judge takes from it; and x + y <= 0, x + y >= 1
// where only one sees the contradiction.
func TestCrossCheck(t *testing.T) {
	wrong := scripted{name: "wrong", answer: &backends.Solution{Status: backends.Optimal, X: []float64{3}, S: []float64{1},
		Z: []float64{1}}}
	b := made(t, portfolio.CrossCheck, native.Backend{}, wrong)
	out, name, reason := solve(t, b, least(), backends.Options{})
	assert.Equal(t, backends.Inaccurate, out.Status)
	assert.Contains(t, out.Message, "native: optimal with objective 2")
	assert.Contains(t, out.Message, "wrong: inaccurate with objective 3")
	assert.Equal(t, "native", name)
	assert.Equal(t, "native and wrong do not agree", reason)

	lost := scripted{name: "lost", answer: &backends.Solution{Status: backends.NumericalError}}
	proof := scripted{name: "proof", answer: &backends.Solution{Status: backends.PrimalInfeasible, Z: []float64{1, 1}}}
	for _, order := range [][]backends.ConicBackend{{lost, proof}, {proof, lost}} {
		p := rows([]float64{1, -1}, []float64{0, -1})
		p.Q, p.A = []float64{0, 0}, sparse.NewCSC(2, 2, []int{0, 2, 4}, []int{0, 1, 0, 1}, []float64{1, -1, 1, -1})
		out, _, _ = solve(t, made(t, portfolio.CrossCheck, order...), p, backends.Options{})
		assert.Equal(t, backends.Inaccurate, out.Status)
		assert.Contains(t, out.Message, "proof: primal_infeasible")
		assert.Nil(t, out.Z)
	}
	requireTimeLimit(t, made(t, portfolio.CrossCheck, native.Backend{}, scripted{name: "never"}))

	b = made(t, portfolio.CrossCheck, native.Backend{}, other{native.Backend{}})
	out, name, reason = solve(t, b, least(), backends.Options{})
	assert.Equal(t, backends.Optimal, out.Status)
	assert.Equal(t, "native", name)
	assert.Equal(t, "native and other agree", reason)

	// Two are needed for each cone.
	b = made(t, portfolio.CrossCheck, native.Backend{}, wrong)
	q := rows([]float64{-1, 0}, []float64{0, 1})
	q.Cones = []backends.Cone{backends.SecondOrder(2)}
	_, err := b.Setup(q, backends.Options{})
	var no *backends.UnsupportedError
	assert.True(t, errors.As(err, &no), "%v", err)
}

func TestTolerance(t *testing.T) {
	a, b := &backends.Solution{Objective: 2000, Distance: 0.5}, &backends.Solution{Objective: -3, Distance: 0.25}
	assert.InDelta(t, 0.75+10*1e-8*2000, portfolio.Tolerance(a, b, 1e-8), 1e-12)
}
