package adapter

import (
	"context"
	"errors"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counting is a library that minimizes Px^2/2 + qx for one x, by -q/P.
type counting struct {
	Solver
	data          *backends.Problem
	makes, pushes int
	refuse        error // of Push, and of Make where q is beyond
}

func (l *counting) Make(data *backends.Problem) error {
	l.makes++
	if l.data = data; data.Q[0] > 10 {
		return &backends.ProblemError{Field: "Q", Reason: "is too large"}
	}
	return nil
}

func (l *counting) Push(data *backends.Problem, _ backends.Update) error {
	l.pushes++
	l.data = data
	return l.refuse
}

func (l *counting) Run(_ context.Context, r *Run) (*backends.Solution, error) {
	r.Iterations++
	x := -l.data.Q[0] / l.data.P.At(0, 0)
	r.Keep([]float64{x + 1}, []float64{}, []float64{})
	if _, best := r.Keep([]float64{x}, []float64{}, []float64{}); best && r.Excess <= 1 {
		return r.At(backends.Optimal), nil
	}
	return r.At(backends.Inaccurate), nil
}

func (l *counting) Free() { l.data = nil }

type countingBackend struct{ backends.ConicBackend }

func (countingBackend) Name() string                        { return "counting" }
func (countingBackend) Capabilities() backends.Capabilities { return backends.Capabilities{} }

func set(t *testing.T) *counting {
	l, p := &counting{}, &backends.Problem{P: matrices.Identity(1, 1), Q: []float64{1}}
	must.Of(Setup(countingBackend{}, p, backends.Options{}, func(struct{}) []Check { return nil },
		func(struct{}, backends.Options) Library { return l }))(t)
	return l
}

// TestUpdate has numbers that a library takes in place, that it takes anew, and that it does not take, which changes
// nothing.
func TestUpdate(t *testing.T) {
	l := set(t)
	x := func() float64 {
		out := must.Of(l.Solve(t.Context()))(t)
		require.Equal(t, backends.Optimal, out.Status)
		return out.X[0]
	}
	assert.Equal(t, -1., x())
	require.NoError(t, l.Update(backends.Update{Q: []float64{2}}))
	assert.Equal(t, -2., x())
	assert.Equal(t, []int{1, 1}, []int{l.makes, l.pushes})
	l.refuse = errors.New("not in place")
	require.NoError(t, l.Update(backends.Update{Q: []float64{3}}))
	assert.Equal(t, -3., x())
	assert.Equal(t, []int{2, 2}, []int{l.makes, l.pushes})
	var refused *backends.ProblemError
	require.ErrorAs(t, l.Update(backends.Update{Q: []float64{11}}), &refused)
	assert.Equal(t, -3., x())
	require.NoError(t, l.Update(backends.Update{P: matrices.Identity(1, 1e9), Q: []float64{1e9}})) // scaled to 1 and 1
	assert.Equal(t, []int{4, 3}, []int{l.makes, l.pushes})
	assert.Equal(t, -1., x())
}

// TestGoesOn: only a new tolerance lets the next Run go on.
func TestGoesOn(t *testing.T) {
	l := set(t)
	after := func(f func() error) bool {
		must.Of(l.Solve(t.Context()))(t)
		require.NoError(t, f())
		require.NoError(t, l.SetEps(1e-9))
		return l.GoOn
	}
	assert.True(t, after(func() error { return nil }))
	assert.False(t, after(func() error { return l.Update(backends.Update{Q: []float64{2}}) }))
	assert.False(t, after(func() error { return l.WarmStart(backends.Point{X: []float64{1}}) }))
}

// TestFar: zero has the residual q = 1, and a start at x that of x + 1.
func TestFar(t *testing.T) {
	l := set(t)
	for x, far := range map[float64]bool{0: false, -1: false, 100: false, 1e4: true, 1e300: true} {
		assert.Equal(t, far, l.Far(backends.Point{X: []float64{x}, Z: []float64{}}), x)
	}
}
