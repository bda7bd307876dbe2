package tune

import (
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// Errors are validation and test error of one vector of coefficients.
type Errors = problems.Errors

// Fit is a predictor in the user's units.
type Fit = problems.Fit

// Model is a bilevel model with its data.
type Model = problems.Model

// Differentiable is a [Model] whose fit can be differentiated, see [lower.Traits], for the methods along a hypergradient.
type Differentiable interface {
	Model
	// Modes are the ways to do that, whatever the data: a nil pointer is asked, too, see [Able].
	Modes() []lower.Mode
}
