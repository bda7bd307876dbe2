package tune

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/problems"
)

// Custom is a [problems.Model] made of a bilevel program that the user writes with the atoms of package convex. Only
// Bilevel is needed.
type Custom struct {
	// Bilevel is the program, see [dca.Program]; its Name is the model's.
	Bilevel dca.Program
	// Hyperparameters are the names of the entries of h; nil means h1, h2, ..
	Hyperparameters []string
	// Score returns the errors of values of the lower-level variables. Nil means the program's own
	// Validation at H0, and no test error.
	Score func(x [][]float64) problems.Errors
	// Predictor turns values of the lower-level variables into a linear predictor. Nil means that the first
	// variable holds its coefficients, without names.
	Predictor func(x [][]float64) problems.Fit
	// Settings are those of a run, with and without a preset. The zero value means those of package dca.
	Settings dca.Settings
	// Says is the advice of the model; the zero value says nothing.
	Says problems.Advice
}

var _ problems.Model = Custom{}

// Name is the program's.
func (c Custom) Name() string { return c.Bilevel.Name }

// Program is the bilevel program.
func (c Custom) Program() dca.Program { return c.Bilevel }

// Names are the names of the hyperparameters.
func (c Custom) Names() []string {
	if c.Hyperparameters != nil {
		return c.Hyperparameters
	}
	names := make([]string, len(c.Bilevel.H0))
	for j := range names {
		names[j] = fmt.Sprintf("h%d", j+1)
	}
	return names
}

// Evaluate is Score.
func (c Custom) Evaluate(x [][]float64) problems.Errors {
	if c.Score != nil {
		return c.Score(x)
	}
	v, err := c.Bilevel.ValidationAt(x)
	if err != nil {
		v = math.NaN() // which no run selects
	}
	return problems.Errors{Validation: v}
}

// Fit is Predictor.
func (c Custom) Fit(x [][]float64) problems.Fit {
	if c.Predictor != nil {
		return c.Predictor(x)
	}
	return problems.Fit{Coefficients: x[0]}
}

// Advice is Says.
func (c Custom) Advice() problems.Advice { return c.Says }

// PaperSettings are Settings.
func (c Custom) PaperSettings() dca.Settings { return c.Settings }

// DefaultSettings are Settings.
func (c Custom) DefaultSettings() dca.Settings { return c.Settings }
