package problems

import (
	"context"

	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems/dataset"
)

// Advice is what a model says of itself to the methods that choose its hyperparameters. The zero value says nothing,
// and a function is nil where the model has none.
type Advice struct {
	// Each says that searches give each hyperparameter a value of its own by default; else those of a kind have one in
	// common. Axes are where they look, by kind or with an axis for each; nil for the kinds of the program.
	Each bool
	Axes func(each bool) []Axis
	// Paper is what they do with the paper's preset.
	Paper Paper
	// Rows are the numbers of training rows, the least of those of several folds, and Features that of features; 0 where
	// these mean nothing.
	Rows, Features int
	// Folds says that folds share the hyperparameters, and Predicts that the lower level's solutions are predictors.
	Folds, Predicts bool
	// Separable says that losses fall towards zero with the weights where features tell labels apart, so that no weights
	// are best by the validation rows of folds though further rows will have errors.
	Separable bool
	// Fit is the fast fit of the lower level at h = (lambda, u), which the native backend takes in the place of conic
	// programs: its points have the values of the variables of the program, with folds the mean over theirs, see
	// [lower.OverFolds]. Together is one of all folds, at most as exact and far quicker than these one by one. Either may
	// return nil.
	Fit      func() (lower.Fit, error)
	Together func(ctx context.Context) (lower.Fit, error)
	// Exact times validation losses of folds as the fits know them are errors as [Model.Evaluate] has them; 0 says that
	// they are not.
	Exact float64
	// Modes are the ways in which the fit can be differentiated, for methods along a hypergradient.
	Modes []lower.Mode
	// Score is what solutions of the lower level are compared by where that is nearer to their use than the validation
	// error, not negative, the less the better; but for gradients, iterations of VF-iDCA and the paper's preset.
	Score func(x [][]float64) float64
	// StandardError is that of the validation error of values of the lower-level variables, in its unit.
	StandardError func(x [][]float64) float64
	// Columns are the training rows, or those of all folds, for models that select some features, and whether these have
	// an intercept.
	Columns func() (rows *dataset.Data, intercept bool)
	// Ladder are the rungs from few weights to many, none where the data have none.
	Ladder func() []Rung
	// The models of a rung know more. Losses are those of the validation rows at values x of the variables, and Compare
	// is by how much the mean of losses a is larger than that of b, and its standard error; Spread are the weights and
	// upper variables of the model that the rung belongs to, at the weights of the rung; Used is the number of features
	// that values of the variables use, the mean over the folds.
	Losses  func(x [][]float64) []float64
	Compare func(a, b []float64) (mean, se float64)
	Spread  func(lambda []float64) (weights, upper []float64)
	Used    func(x [][]float64) float64
	// Loss is the name of that of training, where a model has several. Instead is a model that takes the place of a rung,
	// and of those above, where values of the variables are beaten by others of it beside the best weights.
	Loss    string
	Instead func() (m Model, beaten func(own, other [][]float64) bool)
	// Deviations are three fits of the training rows of a split whose hyperparameters multiply the weights of the rung at
	// lambda. Their validation loss is that of all rows, of the first, third, .. and of the others. Times is the rung with
	// such factors. Nil where weights have no such fit; Deviations returns none for too few rows.
	Deviations func(lambda []float64) ([]lower.Fit, error)
	Times      func(factors []float64) Model
	// Open are the weights that are tried where a model has one and a list of its own.
	Open func() *Open
	// Retrain trains the predictor once more, on all rows, with the radii and upper variables h = (r, u), RetrainWeighted
	// with the weights and upper variables h = (lambda, u): as losses are means over rows, they are the same for more
	// rows. With the predictor comes its test error, nil where there are no test rows. A [*TrainingError] says that the
	// training ended without a model, by a cancellation for example.
	Retrain, RetrainWeighted Training
	// RetrainPath is RetrainWeighted with one after the other of several weights, without scoring them. The list ends
	// where the context does, whose error may come with an empty one; a fit without coefficients stands for weights that
	// have none.
	RetrainPath func(ctx context.Context, s Solver, lambda [][]float64) ([]Fit, error)
	// TestError is that of a predictor, nil where there are no test rows.
	TestError func(f Fit) *float64
}

// Paper are the settings of searches and of descents along the gradient of the validation error in the experiments of
// the paper (Gao, Ye, Yin, Zeng, Zhang, ICML 2022, Supplement C). What is zero or nil is the method's own.
type Paper struct {
	// Weights bounds the weights of the penalties in searches, Upper the upper variables. Parzen is in the place of
	// Weights for trees of Parzen estimators. Each is a least and a largest value.
	Weights, Upper, Parzen [2]float64
	// Common says that the hyperparameters of a kind have one value in searches; else each has its own.
	Common bool
	// ParzenEach, if positive, is the number of evaluations of a tree of Parzen estimators, which then gives each
	// hyperparameter its own value in spite of Common.
	ParzenEach int
	// Untried says that the paper has no descents on the model. They are then those without the preset.
	Untried bool
	// Start is the value of all weights from which descents start.
	Start float64
	// IGJO are the steps of that method, nil for its own from the paper's start, and IFDM those of the other.
	IGJO *hypergradient.Backtracking
	IFDM *hypergradient.Normalised
}

// Axis is one direction of a search over hyperparameters, on a logarithmic scale.
type Axis struct {
	// Name is that of the hyperparameter, or of the kind where it stands for several.
	Name string
	// Members are the indices of the hyperparameters that all take the value: in h = (lambda, u), with one
	// weight lambda for each radius of the program, followed by its upper variables.
	Members []int
	// Low and High bound the values, 0 < Low <= High.
	Low, High float64
}
