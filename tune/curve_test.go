package tune_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/tune"
)

// The curve has the error of the selection in its middle. At a hundred times the weights nothing but the intercept is left, whose error and
// standard error are those of the mean of the training rows.
func TestCurve(t *testing.T) {
	config, err := dataset.Preset("100-20-250-p250")
	require.NoError(t, err)
	s, _, err := dataset.Generate(config, 1)
	require.NoError(t, err)
	m, err := elasticnet.New(s, elasticnet.Options{Standardize: true, Intercept: true})
	require.NoError(t, err)
	for _, method := range []string{"grid", "hoag"} {
		r, err := tune.Run(context.Background(), m, tune.Config{Method: method, Evaluations: 25, Curve: 4})
		require.NoError(t, err)
		require.Len(t, r.Curve, 9)
		require.Equal(t, 1.0, r.Curve[4].Factor)
		require.InEpsilon(t, r.Refit.Validation, r.Curve[4].Validation, 1e-6)
		for k, at := range r.Curve {
			require.InEpsilon(t, math.Pow(10, 2-float64(k)/2), at.Factor, 1e-12)
			require.InEpsilon(t, at.Factor*r.Lambda[0], at.Lambda[0], 1e-12)
			require.GreaterOrEqual(t, at.Validation, r.Curve[4].Validation*(1-0.05))
		}
		mean := 0.0
		for _, y := range s.Train.Y {
			mean += y / float64(len(s.Train.Y))
		}
		n, sum, squares := float64(len(s.Val.Y)), 0.0, 0.0
		for _, y := range s.Val.Y {
			loss := (y - mean) * (y - mean) / 2
			sum, squares = sum+loss, squares+loss*loss
		}
		require.InEpsilon(t, sum/n, r.Curve[0].Validation, 1e-6)
		require.InEpsilon(t, math.Sqrt((squares-sum*sum/n)/(n-1)/n), r.Curve[0].StandardError, 1e-6)
	}
	r, err := tune.Run(context.Background(), m, tune.Config{Method: "hoag"})
	require.NoError(t, err)
	require.Nil(t, r.Curve)
	_, err = tune.Run(context.Background(), m, tune.Config{Curve: -1})
	require.ErrorContains(t, err, "curve is -1")
}
