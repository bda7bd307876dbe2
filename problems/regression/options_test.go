package regression_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// Rows, radii and options of each model that make no sense are errors, which begin with the model.
func TestBadOptions(t *testing.T) {
	type options = regression.Options
	type terms = regression.Terms
	s := modeltest.Split(1, 12, 5, 5, []float64{1, 2, 3}, 1)
	six := modeltest.Split(1, 12, 5, 5, []float64{1, 2, 3, 0, 0, 0}, 1)
	few, err := groups.Equal(2, 1)
	require.NoError(t, err)
	as := func(_ tune.Model, err error) error { return err }
	for name, build := range models(t) {
		of := func(s dataset.Division, o options) error { return as(build(s, o)) }
		require.NoError(t, of(six, options{}), name)
		require.ErrorContains(t, of(nil, options{}), "no data", name)
		require.ErrorContains(t, of(&dataset.Split{}, options{}), name)
		for want, r0 := range map[string][]float64{
			"0 radii to start from": {}, "9 radii to start from": make([]float64, 9), `radius of "`: {-1},
			"is NaN, expected a finite number": {math.NaN()}, "is +Inf, expected a finite number": {math.Inf(1)},
		} {
			err := of(six, options{R0: r0})
			require.ErrorContains(t, err, name)
			require.ErrorContains(t, err, want, name)
		}
	}
	for want, err := range map[string]error{
		"gamma is -1":                       as(regression.AdaptiveLasso(s, options{Gamma: -1})),
		"gamma is +Inf":                     as(regression.AdaptiveLasso(s, options{Gamma: math.Inf(1)})),
		`unknown pilot "tree"`:              as(regression.AdaptiveLasso(s, options{Pilot: "tree"})),
		"2 lower bounds, expected one or 3": as(regression.BoundedElasticNet(s, options{Terms: terms{Lower: []float64{0, 0}}})),
		`upper bound of "x2" is -1, which leaves no room for 0`:  as(regression.BoundedElasticNet(s, options{Terms: terms{Upper: []float64{1, -1, 1}}})),
		`lower bound of "x1" is 0.5, which leaves no room for 0`: as(regression.BoundedElasticNet(s, options{Terms: terms{Lower: []float64{0.5}}})),
		`lower bound of "x1" is NaN, which leaves no room for 0`: as(regression.BoundedElasticNet(s, options{Terms: terms{Lower: []float64{math.NaN()}}})),
		"order -1 of 3 coefficients, expected an order from":     as(regression.FusedLasso(s, options{Order: -1})),
		"order 3 of 3 coefficients, expected an order from":      as(regression.FusedLasso(s, options{Order: 3})),
		"group-lasso: feature 2 is in no group":                  as(regression.GroupLasso(s, options{Groups: few})),
		"sparse-group-lasso: feature 2 is in no group":           as(regression.SparseGroupLasso(s, options{Groups: few})),
		"sparse-group-lasso: no groups":                          as(regression.SparseGroupLasso(s, options{})),
		"huber: threshold -1, expected a positive number":        as(regression.Huber(s, options{Threshold: -1})),
		"huber: threshold NaN, expected a positive number":       as(regression.Huber(s, options{Threshold: math.NaN()})),
		"huber: threshold +Inf, expected a positive number":      as(regression.Huber(s, options{Threshold: math.Inf(1)})),
		"level -0.1, expected a number between 0 and 1":          as(regression.Quantile(s, options{Level: -0.1})),
		"level 1, expected a number between 0 and 1":             as(regression.Quantile(s, options{Level: 1})),
		"level NaN, expected a number between 0 and 1":           as(regression.Quantile(s, options{Level: math.NaN()})),
		"expected numbers that are not negative, such as counts": as(regression.Poisson(s, options{})),
	} {
		require.ErrorContains(t, err, want)
	}
}
