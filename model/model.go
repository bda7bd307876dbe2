// Package model keeps a tuned linear model in a file: JSON with a format name
// and a version, which says where the model came from and holds all that a
// prediction needs. The same model gives the same bytes: there is no date in it.
//
// A file is read strictly, see [Decode], and carries a checksum of its content, so that a model that was changed by
// hand, cut off or damaged is refused and does not predict something else.
package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/table"
)

// Format and a version are written into every file. The version grows when an older program would misread a newer file.
const (
	Format  = "conetune-model"
	version = 4
)

// Model is a linear predictor in the units of the user's table,
//
//	prediction = Intercept + sum_j Coefficients[j] * feature j,
//
// plus the offset of the row where there is one,
// with the hyperparameters and the errors that belong to it.
type Model struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Model is the name of the model on the command line, such as elastic-net.
	Model  string `json:"model"`
	Target string `json:"target"`
	// Features name the Coefficients; a file without names has x1, x2, .. by index.
	Features     []string  `json:"features,omitzero"`
	Coefficients []float64 `json:"coefficients,omitzero"`
	// Compact is nil but in a file.
	Compact   *Compact `json:"compact,omitempty"`
	Intercept float64  `json:"intercept"`
	// Labels are those of a classifier, which without a Threshold predicts the second one where the value
	// above is positive and the first one elsewhere; a regression has none.
	Labels []float64 `json:"labels,omitempty"`
	// Threshold of a classifier is that of the probability of the last label, of the hinge loss of the value, above which
	// this label is predicted; nil for the most probable label, and the sign of the value.
	Threshold *float64 `json:"threshold,omitempty"`
	// Loss is that of the model's errors, where they are no squares or deviances of counts; nil there.
	Loss *Loss `json:"loss,omitempty"`
	// Deviations are the standard deviations of the features over the training rows, by which effects of coefficients
	// compare; a file may lack them.
	Deviations []float64 `json:"deviations,omitempty"`
	// Encoding says how the columns of a table become the Features; nil where they are these features themselves.
	Encoding *table.Encoder `json:"encoding,omitempty"`
	// Weights is the column of the weights of rows by which the errors are means; empty without.
	Weights string `json:"weights,omitempty"`
	// Offset is the column of a known term that is added to the value of a row; empty without.
	Offset string `json:"offset,omitempty"`
	// LogLink says that the prediction is the exponential of the value above.
	LogLink bool `json:"log_link,omitempty"`
	// Baseline is the cumulative hazard of a row of value 0, of a model of times; nil for others.
	Baseline *survival.Baseline `json:"baseline,omitempty"`
	// Targets are the names of the targets of a model of several, whose Coefficients have a row of as many for each
	// feature, and Intercepts an entry for each target. With Labels of as many they are classes, of which that of the
	// largest value is predicted.
	Targets    []string  `json:"targets,omitempty"`
	Intercepts []float64 `json:"intercepts,omitempty"`
	// Matrix is there for a model of the entries of a matrix, and predicts in the place of the features; the
	// coefficients are those of the row and column features, whose effects are in it.
	Matrix *Matrix `json:"matrix,omitempty"`
	// Conformal is what prediction intervals take, see [Model.Intervals]; nil for models without, and of files saved
	// before there were any.
	Conformal *evaluate.Conformal `json:"intervals,omitempty"`
	// Hyperparameters are the multipliers of the radii and the other hyperparameters by
	// name, Radii the bounds in their order.
	Hyperparameters map[string]float64 `json:"hyperparameters"`
	Radii           []float64          `json:"radii"`
	// ValidationError and TestError are those of this predictor, the mean of its loss, half the
	// squared error without one; TestError is nil where there were no test rows. For the hinge loss the validation
	// error is the mean loss of the cross-validation, and the test error the error rate.
	ValidationError *float64   `json:"validation_error"`
	TestError       *float64   `json:"test_error"`
	Provenance      Provenance `json:"provenance"`
	// Checksum is that of all the other fields, set by Write.
	Checksum string `json:"checksum"`
}

// Matrix predicts entry (i, j), with indices from 0, of a matrix:
//
//	Intercept + RowEffects[i] + ColEffects[j] + sum_k Left[i][k] * Right[j][k].
type Matrix struct {
	RowEffects []float64   `json:"row_effects"`
	ColEffects []float64   `json:"col_effects"`
	Left       [][]float64 `json:"left"`
	Right      [][]float64 `json:"right"`
}

// Provenance says how the model was made.
type Provenance struct {
	Program    string `json:"program"`
	Method     string `json:"method"`
	Backend    string `json:"backend"`
	Preset     string `json:"preset,omitempty"`
	Status     string `json:"status"`
	Iterations int    `json:"iterations"`
	Seed       int64  `json:"seed"`
	// Files are the data files as given, Split the rule by which rows were divided, if any; Folds are those of each of
	// so many Repeats, and Division is the column by which rows were divided, "group ward" for example.
	Files          []string `json:"files"`
	Split          string   `json:"split,omitempty"`
	Folds          int      `json:"folds,omitempty"`
	Repeats        int      `json:"repeats,omitempty"`
	Division       string   `json:"division,omitempty"`
	TrainingRows   int      `json:"training_rows"`
	ValidationRows int      `json:"validation_rows"`
	TestRows       int      `json:"test_rows"`
	Standardize    bool     `json:"standardize"`
	Intercept      bool     `json:"intercept"`
}

// Write writes the model as indented JSON, with its checksum. A model that Read would refuse is an error.
func (m Model) Write(w io.Writer) error {
	m.Format, m.Version = Format, version
	m.complete()
	if err := m.validate(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	m = m.compacted()
	var err error
	if m.Checksum, err = m.checksum(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// complete puts empty lists where there are none, since null is not a list.
func (m *Model) complete() {
	m.Features, m.Coefficients, m.Radii = listed(m.Features), listed(m.Coefficients), listed(m.Radii)
	m.Provenance.Files = listed(m.Provenance.Files)
	if m.Hyperparameters == nil {
		m.Hyperparameters = map[string]float64{}
	}
}

func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// ErrOverflow says that a prediction is too large for a number.
var ErrOverflow = errors.New("the prediction is not a finite number: the values are too large for the model")

// finite returns a prediction that is one.
func finite(v float64) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, ErrOverflow
	}
	return v, nil
}

// Entry returns the prediction for an entry, which must be inside the matrix, or [ErrOverflow].
func (m *Model) Entry(i, j int) (float64, error) {
	x := m.Matrix
	return finite(m.Intercept + x.RowEffects[i] + x.ColEffects[j] + floats.Dot(x.Left[i], x.Right[j]))
}

// Predict returns the prediction for one row of features, in the order of Features: a number, or
// the label of a classifier. The error is [ErrOverflow].
func (m *Model) Predict(row []float64) (float64, error) {
	value, err := m.Value(nil, row, 0)
	if err != nil {
		return value, err
	}
	return m.Prediction(value)
}

// Value is the intercept, the coefficients times the features of a row, those of index or where that is nil all, and an
// offset. The error is [ErrOverflow].
func (m *Model) Value(index []int, row []float64, offset float64) (float64, error) {
	return finite(sum(m.Intercept, m.Coefficients, index, row, offset))
}

// sum is that of a constant, weights times a row, and an offset, in twice the digits, as large terms may cancel.
func sum(constant float64, weights []float64, index []int, row []float64, offset float64) float64 {
	var sum dense.Sum
	sum.Add(constant)
	for k, x := range row {
		j := k
		if index != nil {
			j = index[k]
		}
		sum.AddProduct(weights[j], x)
	}
	sum.Add(offset)
	return sum.Value()
}

// Prediction is what the model predicts at a [Model.Value]: the value, its exponential, or a label.
func (m *Model) Prediction(value float64) (float64, error) {
	switch {
	case m.LogLink:
		return finite(math.Exp(value))
	case m.Labels == nil:
		return value, nil
	}
	return m.label(value), nil
}

// label is that of a classifier of two at a value.
func (m *Model) label(value float64) float64 {
	called := value > 0
	if m.Threshold != nil && m.Loss.Kind != Hinge {
		called = evaluate.Probability(value) > *m.Threshold
	} else if m.Threshold != nil {
		called = value > *m.Threshold
	}
	if called {
		return m.Labels[1]
	}
	return m.Labels[0]
}

// PredictTargets returns the predictions of all targets for one row of features. The error is [ErrOverflow].
func (m *Model) PredictTargets(row []float64) ([]float64, error) {
	out, weights, err := slices.Clone(m.Intercepts), make([]float64, len(row)), error(nil)
	for k, constant := range m.Intercepts {
		for j := range weights {
			weights[j] = m.Coefficients[j*len(out)+k]
		}
		if out[k], err = finite(sum(constant, weights, nil, row, 0)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
