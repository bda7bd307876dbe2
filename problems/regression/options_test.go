package regression_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/problems/adaptive"
	"github.com/conetune/conetune/problems/bounded"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/fused"
	"github.com/conetune/conetune/problems/grouplasso"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/huber"
	"github.com/conetune/conetune/problems/poisson"
	"github.com/conetune/conetune/problems/quantile"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/sgl"
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
		"gamma is -1":                       as(adaptive.New(s, "", -1, options{})),
		"gamma is +Inf":                     as(adaptive.New(s, "", math.Inf(1), options{})),
		`unknown pilot "tree"`:              as(adaptive.New(s, "tree", 0, options{})),
		"2 lower bounds, expected one or 3": as(bounded.New(s, options{Terms: terms{Lower: []float64{0, 0}}})),
		`upper bound of "x2" is -1, which leaves no room for 0`:  as(bounded.New(s, options{Terms: terms{Upper: []float64{1, -1, 1}}})),
		`lower bound of "x1" is 0.5, which leaves no room for 0`: as(bounded.New(s, options{Terms: terms{Lower: []float64{0.5}}})),
		`lower bound of "x1" is NaN, which leaves no room for 0`: as(bounded.New(s, options{Terms: terms{Lower: []float64{math.NaN()}}})),
		"order -1 of 3 coefficients, expected an order from":     as(fused.New(s, -1, options{})),
		"order 3 of 3 coefficients, expected an order from":      as(fused.New(s, 3, options{})),
		"grouplasso: feature 2 is in no group":                   as(grouplasso.New(s, few, options{})),
		"sgl: feature 2 is in no group":                          as(sgl.New(s, few, options{})),
		"sgl: no groups":                                         as(sgl.New(s, nil, options{})),
		"huber: threshold -1, expected a positive number":        as(huber.New(s, -1, options{})),
		"huber: threshold NaN, expected a positive number":       as(huber.New(s, math.NaN(), options{})),
		"huber: threshold +Inf, expected a positive number":      as(huber.New(s, math.Inf(1), options{})),
		"level -0.1, expected a number between 0 and 1":          as(quantile.New(s, -0.1, options{})),
		"level 1, expected a number between 0 and 1":             as(quantile.New(s, 1, options{})),
		"level NaN, expected a number between 0 and 1":           as(quantile.New(s, math.NaN(), options{})),
		"expected numbers that are not negative, such as counts": as(poisson.New(s, options{})),
	} {
		require.ErrorContains(t, err, want)
	}
}
