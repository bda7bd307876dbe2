package svm

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/tune"
)

// boxed trains a machine on some rows within bounds by a conic program.
func boxed(t *testing.T, m *Model, rows []int, lambda float64, bound []float64) (w []float64, c float64) {
	model := convex.NewModel()
	x, shift := model.Vector("w", len(bound)), model.Vector("c", 1)
	model.Minimize(convex.Add(m.rows.design(rows, m.weights).hinge(x, shift, false),
		convex.Scale(lambda/2, convex.SumSquares(x))))
	model.Le("", convex.Abs(x), bound)
	prog := must.Of(model.Compile())(t)
	solver := must.Of(prog.Solver(convex.SolverOptions{Backend: native(t)}))(t)
	defer solver.Close()
	res := must.Of(solver.Solve(context.Background()))(t)
	return res.Value(x), res.Value(shift)[0]
}

// The bounds of the second rung are those of the formula at the machines of the first, of each fold and of all rows, and
// its machines those of conic programs within them.
func TestLadder(t *testing.T) {
	ctx := context.Background()
	cv := folded(t, 11, 60, 5, 3, 1)
	m := must.Of(New(cv, Options{ClassWeights: []float64{1, 2}}))(t)
	first := must.Of(tune.Run(ctx, m, tune.Config{Rung: "common"}))(t)
	r := must.Of(tune.Run(ctx, m, tune.Config{Rung: "adaptive"}))(t)
	require.Equal(t, m.Names(), r.Names)
	bounds := func(rows []int) []float64 {
		w, _ := free(t, m, rows, first.Lambda[0])
		out := make([]float64, len(w))
		for j, v := range w {
			out[j] = 3 * v * v / floats.Norm(w, math.Inf(1))
		}
		return out
	}
	hinge := 0.0
	for _, f := range cv.Folds {
		w, c := boxed(t, m, f.Train, r.Lambda[0], bounds(f.Train))
		hinge += meanHinge(cv.Data, f.Val, m.weights, w, c) / 3
	}
	require.InEpsilon(t, hinge, r.Refit.Validation, 1e-3)
	every := indices.Range(0, len(m.rows.y))
	all := bounds(every)
	require.InDeltaSlice(t, all, r.Selection.Upper, 1e-3)
	w, c := boxed(t, m, every, r.Lambda[0], all)
	require.InDeltaSlice(t, w, r.RefitFit.Coefficients, 1e-3)
	require.InDelta(t, -c, r.RefitFit.Intercept, 1e-3)

	again := must.Of(tune.Run(ctx, m, tune.Config{Rung: "adaptive", Workers: 3}))(t)
	require.Equal(t, r.RefitFit, again.RefitFit)
}

// Rungs are compared by the differences of the score, row by row: the mean is that of the score, and the standard error
// that of rows of one weight in folds of one size.
func TestCompare(t *testing.T) {
	cv := folded(t, 4, 60, 4, 3, 1)
	m := must.Of(New(cv, Options{}))(t)
	rungs := m.ladder()
	r := must.Of(rungs[0].Models(nil, nil, nil))(t)[0].Advice()
	var x, y [][]float64
	for _, k := range []float64{0, 1, 2} {
		x = append(x, []float64{1, -k, 0.5, 0}, []float64{0.2})
		y = append(y, []float64{0.3, k, 0.5, -1}, []float64{0})
	}
	a, b := r.Losses(x), r.Losses(y)
	require.Len(t, a, 60)
	mean, se := r.Compare(a, b)
	require.InDelta(t, m.Score(x)-m.Score(y), mean, 1e-12)
	floats.Sub(a, b)
	require.InEpsilon(t, stat.StdDev(a, nil)/math.Sqrt(60), se, 0.02)
	require.InDelta(t, 10./3, r.Used(slices.Concat(y[:4], x[4:])), 1e-12) // a weight of 0 in the first and the last fold
}
