package svm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/machine"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// The default is the lambda with the least score of the folds' machines without bounds, as conic programs have it, and
// its machine the one of all rows at this lambda.
func TestOpen(t *testing.T) {
	cv := folded(t, 11, 60, 4, 3, 1)
	m := must.Of(New(cv, Options{ClassWeights: []float64{1, 2}}))(t)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{Rung: "common"}))(t)
	require.True(t, r.Selection.Weighted)
	at := func(lambda float64) (hinge, score float64) {
		for _, f := range cv.Folds {
			w, c := boxed(t, m, f.Train, lambda, nil)
			hinge += meanHinge(cv.Data, f.Val, m.weights, w, c) / 3
			score += meanScore(cv.Data, f.Val, m.weights, w, c) / 3
		}
		return hinge, score
	}
	hinge, least := at(r.Lambda[0])
	require.InEpsilon(t, hinge, r.Refit.Validation, 1e-4)
	require.InEpsilon(t, least, *r.Score, 1e-4)
	for e := -5.0; e <= 1; e += 0.5 {
		_, score := at(math.Pow(10, e))
		require.Greater(t, score, *r.Score*(1-1e-2), "lambda 1e%g", e)
	}
	w, c := boxed(t, m, indices.Range(0, len(m.rows.y)), r.Lambda[0], nil)
	require.InDeltaSlice(t, w, r.RefitFit.Coefficients, 1e-4)
	require.InDelta(t, -c, r.RefitFit.Intercept, 1e-4)
	conic, d := must.Both(m.train(context.Background(), problems.Solver{Backend: native(t)},
		weighted(slices.Concat(r.Lambda, r.Selection.Upper))))(t)
	require.InDeltaSlice(t, w, conic, 1e-4)
	require.InDelta(t, c, d, 1e-4)

	for _, other := range []tune.Config{{GapTol: 1e-4}, {Preset: tune.PresetPaper}, {MaxIter: 4}} {
		r := must.Of(tune.Run(context.Background(), m, other))(t)
		require.Nil(t, r.Ladder)
	}
	for _, o := range []Options{{R0: 3}, {WBar0: 0.1}} {
		m := must.Of(New(cv, o))(t)
		require.Nil(t, m.ladder())
	}
}

// On a large table the search is to a gap, and what it ends with is solved for to the end: no lambda of the list has a
// score that is smaller by more than a share that the rows cannot tell.
func TestOpenLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand rows")
	}
	cv := folded(t, 5, 10_000, 100, 2, 1)
	m := must.Of(New(cv, Options{Loss: Hinge}))(t)
	open := m.open()
	require.Positive(t, open.Gap)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{Rung: "common"}))(t)
	at := func(lambda float64) (hinge, score float64) {
		for _, f := range cv.Folds {
			part := m.rows.part(f.Train, m.weights)
			g := must.Of(machine.New(part.X, part.Y, part.Weights))(t)
			s := must.Of(g.Solve(context.Background(), lambda, []float64{openBound}, machine.Options{Tol: 1e-9}))(t)
			require.Equal(t, outcome.Converged, s.Status)
			hinge += meanHinge(cv.Data, f.Val, m.weights, s.W, s.C) / 2
			score += meanScore(cv.Data, f.Val, m.weights, s.W, s.C) / 2
		}
		return hinge, score
	}
	hinge, least := at(r.Lambda[0])
	require.InEpsilon(t, hinge, r.Refit.Validation, 1e-5)
	require.InEpsilon(t, least, *r.Score, 1e-5)
	for _, w := range open.Weights {
		if share := w[0] / r.Lambda[0]; share > 0.09 && share < 11 {
			_, score := at(w[0])
			require.Greater(t, score, *r.Score*(1-2e-3), "lambda %g", w[0])
		}
	}
}

// Where the small difference of two features tells the labels apart, weights are as large as that needs: far beyond the
// bounds of the paper.
func TestOpenSeparable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func(n int) *dataset.Data {
		d := &dataset.Data{X: mat.NewDense(n, 3, nil), Y: make([]float64, n), Features: []string{"a", "b", "c"}, Target: "y"}
		for i := range n {
			a, gap := rng.NormFloat64(), 0.05*rng.NormFloat64()
			d.Dense().SetRow(i, []float64{a, a + gap, rng.NormFloat64()})
			if gap > 0 {
				d.Y[i] = 1
			}
		}
		return d
	}
	d := draw(90)
	classes := must.Of(Classes(d))(t)
	cv := must.Of(dataset.CrossValidate(d, 5, 1, classes))(t)
	cv.Test = draw(400)
	m := must.Of(New(cv, Options{Standardize: true}))(t)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{}))(t)
	require.Greater(t, math.Abs(r.RefitFit.Coefficients[0]), 3.0*highest)
	require.Less(t, *r.Refit.Test, 0.05) // the grid has 0.2: its bounds are those of the paper
}
