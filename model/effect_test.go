package model

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// A coefficient is chosen by the fits in which it counts, whatever the unit of its feature.
func TestStability(t *testing.T) {
	rows := &dataset.Data{X: mat.NewDense(3, 2, []float64{1, 1000, 2, 3000, 4, 2000}), Y: []float64{1, 2, 3}}
	fit := func(a, b float64) problems.Fit {
		return problems.Fit{Features: []string{"a", "b"}, Coefficients: []float64{a, b}}
	}
	fits := []problems.Fit{fit(1, 1e-5), fit(1e-12, 1), fit(0, 0)}
	require.InDeltaSlice(t, []float64{1. / 3, 2. / 3}, Stability(fits, rows.Deviations()), 1e-15)
}

// Effects compare coefficients by the units of their features, with several targets by the norm over these.
func TestEffects(t *testing.T) {
	f := problems.Fit{Features: []string{"a", "b", "c"}, Coefficients: []float64{2, -3, 0}}
	require.Equal(t, []Effect{{"a", 0, 2, 20}, {"b", 1, -3, 3}}, Effects(f, Sizes(f, []float64{10, 1, 5})))
	require.Equal(t, []Effect{{"b", 1, -3, 3}, {"a", 0, 2, 2}}, Effects(f, Sizes(f, nil)))
	f.Targets, f.Coefficients = []string{"y", "z"}, []float64{3, 4, 0, 0, 1, 0}
	require.Equal(t, []Effect{{"c", 2, 1, 10}, {"a", 0, 3, 5}}, Effects(f, Sizes(f, []float64{1, 1, 10})))
}
