package regression_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
)

// offset gives the rows of a cross-validation an offset.
func offset(t *testing.T) *dataset.CrossValidation {
	cv, _ := counted(t)
	for _, d := range []*dataset.Data{cv.Data, cv.Test} {
		d.Offset = make([]float64, len(d.Y))
		for i := range d.Offset {
			d.Offset[i] = float64(i%7) - 2.5
		}
	}
	return cv
}

// An offset of a logistic regression is what a feature without a penalty, with this coefficient, is, which bounds hold:
// here the offset is -0.3 times feature 2, and the coefficients of fits without a penalty differ by that.
func TestOffsetOfLogOdds(t *testing.T) {
	cv := classified(offset(t), 2).(*dataset.CrossValidation)
	with := &dataset.CrossValidation{Data: cv.Data.Rows(indices.Range(0, len(cv.Data.Y))), Folds: cv.Folds}
	without := &dataset.CrossValidation{Data: cv.Data.Rows(indices.Range(0, len(cv.Data.Y))), Folds: cv.Folds}
	without.Data.Offset = nil
	for i := range with.Data.Offset {
		with.Data.Offset[i] = -0.3 * with.Data.X.At(i, 2)
	}
	var x [][][]float64
	for _, d := range []*dataset.CrossValidation{with, without} {
		m := must.Of(regression.Logistic(d, options{Intercept: true}))(t)
		fit := must.Of(m.Penalised())(t)
		pt := must.Of(fit.Solve(context.Background(), []float64{0, 1e-7}, 1e-13, nil))(t)
		require.InEpsilon(t, m.Evaluate(pt.X).Validation, pt.Validation, 1e-9)
		x = append(x, pt.X)
	}
	got := slices.Clone(x[0][0])
	got[2] -= 0.3
	require.InDeltaSlice(t, x[1][0], got, 1e-3*floats.Norm(x[1][0], 2))
}

func TestOffsetRefused(t *testing.T) {
	cv := offset(t)
	_, err := regression.Multinomial(classified(cv, 3), options{})
	require.ErrorContains(t, err, "rows with an offset")
	_, err = svm.New(classified(cv, 2).(*dataset.CrossValidation), svm.Options{})
	require.ErrorContains(t, err, "rows with an offset")
	cv.Data.Offset = cv.Data.Offset[1:]
	_, err = regression.ElasticNet(cv, options{})
	require.ErrorContains(t, err, "entries of the offset")
}
