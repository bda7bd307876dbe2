package main

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// Of two features, effects are coefficients times standard deviations, the larger one at the choice first, and a feature that is nowhere in use is left out.
func TestPathsOf(t *testing.T) {
	x := mat.NewDense(4, 3, []float64{1, 10, 1, -1, -10, 0, 1, -10, 1, -1, 10, 0}) // standard deviations 1, 10 and 1/2
	split := &dataset.Split{Train: &dataset.Data{X: x, Y: make([]float64, 4), Features: []string{"a", "b", "c"}}}
	fit := func(b ...float64) tune.Fit { return tune.Fit{Coefficients: b, Features: split.Train.Features} }
	r := &tune.Result{Model: "lasso", Refit: &tune.Errors{}, RefitFit: fit(1, -0.3, 0)}
	r.Lambda = []float64{0.5}
	for k, f := range []tune.Fit{fit(0, 0, 0), fit(1, -0.3, 0), {}, fit(4, -0.35, 0)} {
		r.Curve = append(r.Curve, tune.CurvePoint{Factor: math.Pow(10, float64(1-k)), Validation: 1, Fit: f})
	}
	p := pathsOf(split, r)
	require.Equal(t, []string{"b", "a"}, p.feature)
	require.InDeltaSlice(t, []float64{5, 0.5, 0.005}, p.x, 1e-12)
	require.InDeltaSlice(t, []float64{0, -3, -3.5}, p.effect[0], 1e-12)
	require.InDeltaSlice(t, []float64{0, 1, 4}, p.effect[1], 1e-12)
	lines := p.panel().Lines
	require.Len(t, lines, 3)
	require.Equal(t, []float64{0.5, 0.5}, lines[2].X)
	require.Equal(t, []float64{-3.5, 4}, lines[2].Y)
	figures, err := onPage(pathDrawing(split, r))
	require.NoError(t, err)
	require.Contains(t, string(figures[0].SVG), "In use: 0 features at 5, 2 features at 0.005.")
	r.Curve = r.Curve[:1]
	require.Nil(t, pathsOf(split, r))
	require.Equal(t, strings.Repeat("x", 18)+"..", shortened(strings.Repeat("x", 30)))
}

// Rows of weight 2 count twice in the ROC curve: (0,0), (0,1/2), (1/3,1/2), (1/3,1), (1,1).
func TestWeightedROC(t *testing.T) {
	x, y, area := roc([]float64{4, 3, 2, 1}, []float64{1, 0, 1, 0}, []float64{2, 1, 2, 2})
	require.InDeltaSlice(t, []float64{0, 0, 1. / 3, 1. / 3, 1}, x, 1e-15)
	require.InDeltaSlice(t, []float64{0, 0.5, 0.5, 1, 1}, y, 1e-15)
	require.InDelta(t, 1./6+2./3, area, 1e-15)
}
