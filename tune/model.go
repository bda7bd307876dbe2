package tune

import (
	"context"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// Errors are validation and test error of one vector of coefficients.
type Errors = problems.Errors

// Fit is a predictor in the user's units.
type Fit = problems.Fit

// Model is a bilevel model with its data, for example an [elasticnet.Model].
//
// [elasticnet.Model]: https://pkg.go.dev/github.com/conetune/conetune/problems/elasticnet#Model
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
}

// Penalised is a model that brings a fast fit of its lower level in penalty form, which the native backend takes in the place of conic programs. Models
// without some rows, see [Holder], are asked for theirs, too. A type that embeds a model and changes its program has to change its fit.
type Penalised interface {
	// Penalised returns the fit at h = (lambda, u), whose points have the values of the variables of the program, with folds the mean over theirs, see
	// [lower.OverFolds]; nil where there is none.
	Penalised() (lower.Fit, error)
}

// Together is a [Penalised] model chosen by folds that has one fit of all of them, at most as exact and far quicker than the folds one by one, for searches. It is nil where
// there is none for the data.
type Together interface {
	Penalised
	Together(ctx context.Context) (lower.Fit, error)
}

// Differentiable is a [Penalised] model whose fit can be differentiated, see [lower.Traits], for the methods along a hypergradient. They take it whatever
// its size.
type Differentiable interface {
	Model
	Penalised
	// Modes are the ways to do that, whatever the data: a nil pointer is asked, too, see [Able].
	Modes() []lower.Mode
}

// Advised is a model that says how to look for its hyperparameters, by default and with [PresetPaper].
type Advised interface {
	Model
	Advice() problems.Advice
}

// advice is the model's.
func (t *Task) advice() problems.Advice {
	if m, ok := t.Model.(Advised); ok {
		return m.Advice()
	}
	return problems.Advice{}
}

// Retrainer is a model whose predictor is none of the lower level's solutions: after a
// cross-validation it is trained once more, on all rows, with the selected hyperparameters. Its test error then
// is that of both results, and its Evaluate gives none.
type Retrainer interface {
	Model
	// Retrain trains with the radii and upper variables h = (r, u) of the program. The test error is nil where there
	// are no test rows. A [*problems.TrainingError] says that the training ended without a model, by a cancellation for example.
	Retrain(ctx context.Context, backend backends.ConicBackend, o backends.Options, h []float64) (Fit, *float64, error)
}

// Tester is a [Retrainer] that can score a predictor on its test rows; nil where there are none.
type Tester interface {
	Retrainer
	TestError(f Fit) *float64
}

// Refitter is a [Retrainer] whose lower-level solutions are predictors themselves, so that there is a choice, see
// [Config]. Its Retrain has training and validation rows together in the lower level, at the same radii.
type Refitter interface {
	Retrainer
	Refits()
}

// Reweighter is a [Retrainer] that can do the final training with the weights of the penalties, for methods that choose these and not
// radii. As the losses are means over rows, they are the same for the larger number of rows. Upper variables follow the weights.
type Reweighter interface {
	Retrainer
	RetrainWeighted(ctx context.Context, backend backends.ConicBackend, o backends.Options, lambda []float64) (Fit, *float64, error)
}

// Opened is a [Reweighter] chosen by folds with upper variables that VF-iDCA leaves wide open where Open is not nil, unless iterations are asked for: the weights that the folds share
// are searched for alone. Its RetrainWeighted takes h = (lambda, u).
type Opened interface {
	Reweighter
	Open() *problems.Open
}

// CrossValidated is a [Refitter] that may be chosen by cross-validation. Where it is, each fold has a solution of its own and
// none is the predictor, so that it is retrained whatever the configuration.
type CrossValidated interface {
	Refitter
	CrossValidated() bool
}

// Holder is a model that can hold back validation rows, to see when hyperparameters begin to follow the noise of the others.
type Holder interface {
	Model
	// HoldBack returns folds models with validation rows of which one part is held back each, in turn, or nil where there
	// are too few.
	HoldBack(folds int) []HeldBack
	// StopFolds is how many folds the recommended settings stop by; 0 means that they do not.
	StopFolds() int
}

// HeldBack is a model without some of its validation rows, and the error on these.
type HeldBack = problems.HeldBack

// Measured is a [Reweighter] that knows how exact its validation errors are, for [Config.OneSE].
type Measured interface {
	Reweighter
	// StandardError is that of the validation error of values of the lower-level variables, in its unit.
	StandardError(x [][]float64) float64
}

// Separable is a [Model] of labels whose losses fall towards zero with the weights where features tell the labels apart, so that no weights are best by the validation rows
// of folds though further rows will have errors. VF-iDCA by folds searches for weights as far down as the error of the folds falls, without iterations unless they are asked for.
type Separable interface {
	Model
	Separable()
}

// Counted is a model that knows the sizes of its tables, for searches on paths.
type Counted interface {
	Model
	// Training are the numbers of training rows, the least of those of several parts, and of features.
	Training() (rows, features int)
}
