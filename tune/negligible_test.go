package tune

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// selective has features of units a thousandfold apart.
var selective = problems.Advice{
	Columns: func() (*dataset.Data, bool) {
		return &dataset.Data{X: mat.NewDense(2, 3, []float64{-1, -1000, 3, 1, 1000, 5}), Y: make([]float64, 2)}, true
	},
	TestError: func(f problems.Fit) *float64 { return &f.Intercept },
}

// A coefficient is negligible by what it does when its feature moves by one standard deviation; its mean goes into the
// intercept, and the predictor that is left is scored.
func TestDropNegligible(t *testing.T) {
	test := 3.25
	made := func() *Result {
		fit := problems.Fit{Features: []string{"small", "large", "zero"}, Coefficients: []float64{2, 0.001, 1e-7},
			Intercept: 7}
		return &Result{Refit: &problems.Errors{Test: &test}, RefitFit: fit, Errors: problems.Errors{Test: &test}}
	}
	task := &task{Advice: selective}
	r := made()
	r.dropNegligible(task)
	require.Equal(t, []float64{2, 0.001, 0}, r.RefitFit.Coefficients)
	require.Equal(t, 7+4*1e-7, r.RefitFit.Intercept)
	require.Equal(t, 7+4*1e-7, *r.Refit.Test)
	require.Equal(t, r.RefitFit, r.Iterate, "with folds they are the same predictor")

	task.Config.Eps = 1e-3
	r = made()
	r.dropNegligible(task)
	require.Equal(t, []float64{2, 0.001, 0}, r.RefitFit.Coefficients, "0.001 moves by 1, half of the largest")

	task.Advice.Columns = nil // it keeps them all
	r = made()
	r.dropNegligible(task)
	require.Equal(t, made(), r)
}
