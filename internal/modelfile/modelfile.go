// Package modelfile keeps a tuned linear model in a file: JSON with a format name
// and a version, which says where the model came from and holds all that a
// prediction needs. The same model gives the same bytes: there is no date in it.
package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Format and Version are written into every file. Version grows when an older
// program would misread a newer file.
const (
	Format  = "conetune-model"
	Version = 1
)

// Model is a linear predictor in the units of the user's table,
//
//	prediction = Intercept + sum_j Coefficients[j] * feature j,
//
// with the hyperparameters and the errors that belong to it.
type Model struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Model is the name of the model on the command line, such as elastic-net.
	Model  string `json:"model"`
	Target string `json:"target"`
	// Features name the Coefficients; a file without names has x1, x2, .. by index.
	Features     []string  `json:"features"`
	Coefficients []float64 `json:"coefficients"`
	Intercept    float64   `json:"intercept"`
	// Labels are those of a classifier, which predicts the second one where the value
	// above is positive and the first one elsewhere; a regression has none.
	Labels []float64 `json:"labels,omitempty"`
	// Targets are the names of the targets of a model of several, whose Coefficients have a row of as many for each
	// feature, and Intercepts an entry for each target.
	Targets    []string  `json:"targets,omitempty"`
	Intercepts []float64 `json:"intercepts,omitempty"`
	// Matrix is there for a model of the entries of a matrix, and predicts in the place of the features; the
	// coefficients are those of the row and column features, whose effects are in it.
	Matrix *Matrix `json:"matrix,omitempty"`
	// Hyperparameters are the multipliers of the radii and the other hyperparameters by
	// name, Radii the bounds in their order.
	Hyperparameters map[string]float64 `json:"hyperparameters"`
	Radii           []float64          `json:"radii"`
	// ValidationError and TestError are those of this predictor, half the mean
	// squared error; TestError is nil where there were no test rows. For a classifier the validation
	// error is the mean hinge loss of the cross-validation, and the test error the error rate.
	ValidationError float64    `json:"validation_error"`
	TestError       *float64   `json:"test_error"`
	Provenance      Provenance `json:"provenance"`
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

// Entry returns the prediction for an entry, which must be inside the matrix.
func (m *Model) Entry(i, j int) float64 {
	x := m.Matrix
	return m.Intercept + x.RowEffects[i] + x.ColEffects[j] + floats.Dot(x.Left[i], x.Right[j])
}

func (m *Matrix) validate() error {
	if len(m.RowEffects) == 0 || len(m.ColEffects) == 0 {
		return fmt.Errorf("a matrix without rows or columns")
	}
	rank := -1
	for _, side := range []struct {
		name    string
		effects []float64
		factors [][]float64
	}{{"row", m.RowEffects, m.Left}, {"column", m.ColEffects, m.Right}} {
		if len(side.factors) != len(side.effects) {
			return fmt.Errorf("factors of %d %ss, expected %d", len(side.factors), side.name, len(side.effects))
		}
		for i, f := range side.factors {
			if rank < 0 {
				rank = len(f)
			}
			if len(f) != rank {
				return fmt.Errorf("%d factors of %s %d, expected %d", len(f), side.name, i, rank)
			}
		}
	}
	return nil
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
	// Files are the data files as given, Split the rule by which rows were divided, if any.
	Files          []string `json:"files"`
	Split          string   `json:"split,omitempty"`
	Folds          int      `json:"folds,omitempty"`
	TrainingRows   int      `json:"training_rows"`
	ValidationRows int      `json:"validation_rows"`
	TestRows       int      `json:"test_rows"`
	Standardize    bool     `json:"standardize"`
	Intercept      bool     `json:"intercept"`
}

// Write writes the model as indented JSON.
func (m Model) Write(w io.Writer) error {
	m.Format, m.Version = Format, Version
	if err := m.validate(); err != nil {
		return fmt.Errorf("modelfile: %w", err)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("modelfile: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Read reads a model from a file.
func Read(path string) (*Model, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, openError(path, err)
	}
	if len(text) == 0 {
		return nil, fmt.Errorf("%s: the file is empty, expected a model that conetune saved", path)
	}
	var m Model
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s%s: %s, expected a model that conetune saved", path, position(text, err), jsonReason(err))
	}
	if err := m.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &m, nil
}

// Predict returns the prediction for one row of features, in the order of Features: a number, or
// the label of a classifier.
func (m *Model) Predict(row []float64) float64 {
	value := m.Intercept + floats.Dot(m.Coefficients, row)
	switch {
	case m.Labels == nil:
		return value
	case value > 0:
		return m.Labels[1]
	}
	return m.Labels[0]
}

// PredictTargets returns the predictions of all targets for one row of features.
func (m *Model) PredictTargets(row []float64) []float64 {
	out := slices.Clone(m.Intercepts)
	for j, x := range row {
		floats.AddScaled(out, x, m.Coefficients[j*len(out):(j+1)*len(out)])
	}
	return out
}

// Error returns the error of predictions: half the mean squared error, or the error rate of a classifier.
func (m *Model) Error(predictions, targets []float64) float64 {
	sum := 0.0
	for i, y := range targets {
		d := predictions[i] - y
		switch {
		case m.Labels == nil:
			sum += d * d / 2
		case d != 0:
			sum++
		}
	}
	return sum / float64(len(targets))
}

func (m *Model) validate() error {
	switch {
	case m.Format != Format:
		return fmt.Errorf("not a model that conetune saved: its format is %q, expected %q", m.Format, Format)
	case m.Version < 1 || m.Version > Version:
		return fmt.Errorf("version %d of the format, this program reads 1 to %d", m.Version, Version)
	case len(m.Features) == 0 && m.Matrix == nil:
		return fmt.Errorf("a model without features")
	case len(m.Coefficients) != len(m.Features)*max(1, len(m.Targets)):
		return fmt.Errorf("%d coefficients for %d features and %d targets", len(m.Coefficients), len(m.Features), max(1, len(m.Targets)))
	case len(m.Intercepts) != len(m.Targets):
		return fmt.Errorf("%d intercepts for %d targets", len(m.Intercepts), len(m.Targets))
	case m.Labels != nil && len(m.Labels) != 2:
		return fmt.Errorf("%d labels, expected two or none", len(m.Labels))
	}
	if m.Matrix != nil {
		if err := m.Matrix.validate(); err != nil {
			return err
		}
	}
	sorted := slices.Clone(m.Features)
	slices.Sort(sorted)
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return fmt.Errorf("two features of the name %q", sorted[i])
		}
	}
	return nil
}

func openError(path string, err error) error {
	var cause *fs.PathError
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return fmt.Errorf("%s: is a directory, expected a model that conetune saved", path)
	}
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return fmt.Errorf("%s: cannot be read: %w", path, err)
}

// position returns ":line" of a JSON error, or nothing.
func position(text []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var offset int64
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	default:
		return ""
	}
	line := 1
	for _, c := range text[:min(offset, int64(len(text)))] {
		if c == '\n' {
			line++
		}
	}
	return fmt.Sprintf(":%d", line)
}

func jsonReason(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Sprintf("field %q holds a JSON %s", kind.Field, kind.Value)
	}
	return err.Error()
}
