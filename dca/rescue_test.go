package dca_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// hopeless is a fit that solves neither program of an iteration, nor penalty forms where that is set.
type hopeless struct {
	bilevel.Fit
	never bool
}

func (h hopeless) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, err := h.Fit.Solve(ctx, lambda, tol, start)
	if h.never && err == nil {
		pt.Solved = false
	}
	return pt, err
}

func (h hopeless) Traits() lower.Traits {
	t := h.Fit.Traits()
	t.Parts = []lower.Fit{h}
	return t
}

func (hopeless) Within() bilevel.WithinSolver { return unsolved{} }

func (hopeless) Subproblem([]bilevel.Fit, int) bilevel.Subproblem {
	return func(context.Context, *bilevel.Centre) (*bilevel.Subsolution, error) {
		return &bilevel.Subsolution{Gap: math.Inf(1)}, nil
	}
}

type unsolved struct{}

func (unsolved) Begin(context.Context, []float64, [][]float64) error { return nil }

func (unsolved) Solve(context.Context, []float64, float64) (*bilevel.Within, error) {
	return &bilevel.Within{Gap: math.Inf(1)}, nil
}

// What fits do not solve is left to conic programs, and where these would take too much memory, the status and the
// message say so.
func TestConicProgramsInThePlaceOfFits(t *testing.T) {
	preset := must.Of(dataset.Preset("100-20-250-p250"))(t)
	split := must.First(dataset.Generate(preset, 1))(t)
	m := must.Of(regression.ElasticNet(split, regression.Options{}))(t)
	fit := must.Of(m.Penalised())(t)
	p := m.Program()
	solve := func(never bool, memory int64) *dca.Result {
		p.Fit = hopeless{fit.(bilevel.Fit), never}
		s := m.DefaultSettings()
		s.Backend, s.Solver.Memory = ours(t), memory
		return must.Of(dca.Solve(context.Background(), p, s))(t)
	}
	require.Equal(t, outcome.Converged, solve(false, 0).Status)
	for _, never := range []bool{false, true} {
		out := solve(never, 100_000)
		require.Equal(t, outcome.NumericalError, out.Status)
		require.Contains(t, out.Message, "not solved by the fit, and the conic program in its place needs")
	}
	form := must.Of(dca.NewPenalized(p, dca.Settings{Backend: ours(t), Solver: backends.Options{Memory: 100_000}}))(t)
	defer form.Close()
	s := must.Of(form.Solve(context.Background(), []float64{0.1, 0.1}, nil))(t)
	require.Equal(t, backends.NumericalError, s.Status)
	require.Nil(t, s.X)
}

// ours is our own backend.
func ours(t *testing.T) backends.ConicBackend {
	return must.Of(backends.Open(backends.Default))(t)
}
