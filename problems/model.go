package problems

import "github.com/conetune/conetune/dca"

// Model is a bilevel model with its data, for example a [regression.Model].
//
// [regression.Model]: https://pkg.go.dev/github.com/conetune/conetune/problems/regression#Model
type Model interface {
	// Name is the name on the command line, for example "elastic-net".
	Name() string
	// Program is the bilevel program: its first hyperparameters are the radii.
	Program() dca.Program
	// Names are the names of the hyperparameters: the multiplier of each radius, then the upper variables.
	Names() []string
	// Evaluate scores values of the lower-level variables, one slice for each
	// variable of the program in its order.
	Evaluate(x [][]float64) Errors
	// Fit turns values of the lower-level variables into a predictor.
	Fit(x [][]float64) Fit
	// PaperSettings are the settings of the paper's experiments.
	PaperSettings() dca.Settings
	// DefaultSettings are the settings that this project recommends.
	DefaultSettings() dca.Settings
	// Advice is what else methods ask of a model.
	Advice() Advice
}
