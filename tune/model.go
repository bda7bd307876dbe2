package tune

import "github.com/conetune/conetune/problems"

// Errors are validation and test error of one vector of coefficients.
type Errors = problems.Errors

// Fit is a predictor in the user's units.
type Fit = problems.Fit

// Model is a bilevel model with its data.
type Model = problems.Model
