package model

import (
	"errors"
	"fmt"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/problems"
)

// Intervals are the prediction intervals of a model at a level.
type Intervals struct {
	model       *Model
	fits        []problems.Fit
	bounds      *evaluate.Bounds
	predictions []float64 // of the fits for a row
}

// Intervals are those of a level, the share of new rows whose target is to be inside, see [evaluate.Conformal]. The
// error says why there are none: the model does not predict numbers, its file has no residuals, or too few for the
// level.
func (m *Model) Intervals(level float64) (*Intervals, error) {
	if err := m.oneNumber(); err != nil {
		return nil, err
	}
	if m.Conformal == nil {
		return nil, errors.New("the file has no residuals of rows left out, which an earlier version did not save: make it " +
			"once more by conetune tune --save")
	}
	bounds, err := m.Conformal.At(level)
	if err != nil {
		return nil, err
	}
	fits := m.Conformal.Fits(m.Fit())
	return &Intervals{m, fits, bounds, make([]float64, len(fits))}, nil
}

// oneNumber says why a model does not predict a number for a row; nil where it does.
func (m *Model) oneNumber() error {
	switch {
	case m.Labels != nil:
		return fmt.Errorf("%s predicts labels, and intervals are of numbers", m.Model)
	case m.Times():
		return fmt.Errorf("%s predicts hazards, and intervals are of targets", m.Model)
	case m.Targets != nil:
		return fmt.Errorf("%s predicts several targets, and intervals are of one", m.Model)
	case m.Matrix != nil:
		return fmt.Errorf("%s predicts entries of a matrix, and intervals are of rows", m.Model)
	}
	return nil
}

// Of are the bounds for a row: dot are coefficients times its features, to which its offset, 0 without, is added. The
// error is [ErrOverflow]. One goroutine at a time.
func (i *Intervals) Of(dot func(coefficients []float64) float64, offset float64) (low, high float64, err error) {
	for k, f := range i.fits {
		if i.predictions[k], err = i.model.Prediction(f.Intercept + dot(f.Coefficients) + offset); err != nil {
			return 0, 0, err
		}
	}
	if low, high = i.bounds.Of(i.predictions); i.model.LogLink {
		low = max(0, low) // of counts
	}
	if _, err = finite(low); err == nil {
		_, err = finite(high)
	}
	return low, high, err
}
