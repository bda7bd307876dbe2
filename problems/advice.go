package problems

import (
	"context"

	"github.com/conetune/conetune/lower"
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
	// Modes are the ways in which the fit can be differentiated, for methods along a hypergradient.
	Modes []lower.Mode
	// Score is what solutions of the lower level are compared by where that is nearer to their use than the validation
	// error, not negative, the less the better; but for gradients, iterations of VF-iDCA and the paper's preset.
	Score func(x [][]float64) float64
	// StandardError is that of the validation error of values of the lower-level variables, in its unit.
	StandardError func(x [][]float64) float64
	// Columns are the features over the training rows, for models that select some of them.
	Columns func() *Columns
	// Ladder are the rungs from few weights to many, none where the data have none. The models of a rung have a Rung.
	Ladder func() []Rung
	Rung   *OnRung
	// Open is how a model with upper variables is tuned by the weights of its penalties alone; it may return nil.
	Open func() *Open
	// Retrain trains the predictor once more, on all rows, with the radii and upper variables h = (r, u), RetrainWeighted
	// with the weights and upper variables h = (lambda, u): as losses are means over rows, they are the same for more
	// rows.
	Retrain, RetrainWeighted Training
	// RetrainPath is RetrainWeighted with one after the other of several weights, without scoring them. The list ends
	// where the context does, whose error may come with an empty one; a fit without coefficients stands for weights that
	// have none.
	RetrainPath func(ctx context.Context, s Solver, lambda [][]float64) ([]Fit, error)
	// TestError is that of a predictor, nil where there are no test rows.
	TestError func(f Fit) *float64
}

// Training is a final training: its predictor, and the test error of that, nil where there are no test rows. A
// [*TrainingError] says that it ended without a model, by a cancellation for example.
type Training func(ctx context.Context, s Solver, h []float64) (Fit, *float64, error)

// Paper are the settings of searches and of descents along the gradient of the validation error in the experiments of
// the paper (Gao, Ye, Yin, Zeng, Zhang, ICML 2022, Supplement C). What is zero or nil is the method's own.
type Paper struct {
	// Weights bounds the weights of the penalties in searches, Upper the upper variables. Parzen is in the place of
	// Weights for trees of Parzen estimators.
	Weights, Upper, Parzen Span
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
	IGJO *Backtracking
	IFDM *Normalised
}

// Backtracking are the steps of Feng and Simon's program for IGJO: lambda' = max(lambda - t g, Floor) with the
// gradient g in lambda itself. While
//
//	f(lambda') > f(lambda) - Share t |g|^2   (or f(lambda), where the right side is negative)
//
// t shrinks, by its factor's third power where the lower level could not be solved, and it never grows again. The
// search ends at the first point that is no better, at a decrease of less than Enough, or than the tolerance times
// f(lambda) if one is set, and at a step below Least. t, Share and Floor have the units of the hyperparameters.
type Backtracking struct {
	// Start is the value of all hyperparameters that it begins with, MaxIter bounds the steps.
	Start   float64
	MaxIter int
	// First is the first step, Shrink what a refused one is multiplied by, Least the smallest.
	First, Shrink, Least float64
	// Share is the decrease asked for, Enough the one to go on for.
	Share, Enough float64
	// Floor is the least value of a hyperparameter.
	Floor float64
}

// Normalised are the steps for IFDM of its authors' program, sparse-ho: with the gradient g in the logarithms of
// lambda,
//
//	log lambda' = log lambda - t g,   t = Length / |g|   for the first Free steps, or until f goes up for the first time.
//
// From then on t stays, but after a point that is worse than the one before the next step is taken and then t shrinks.
// Nothing is taken back, and nothing but the number of points or a step that moves nothing ends the search.
type Normalised struct {
	// Length is that of the first steps, Shrink what t is multiplied by.
	Length, Shrink float64
	// Free is the number of steps of that length at most.
	Free int
}

// Span is a range of positive values.
type Span struct{ Low, High float64 }

// Rung is a step of a ladder from a model of few weights to one with a weight for each coefficient or group, see
// package tune.
type Rung struct {
	Name string
	// Models are the models of the rung, with a weight or two each, given that of the rung below with its weights and
	// its solution at these: the pilots. The first rung has none. Of several models that of least validation error
	// stands for the rung.
	Models func(below Model, lambda []float64, x [][]float64) []Model
}

// OnRung is what a model of a rung knows beyond others.
type OnRung struct {
	// Losses are those of the validation rows at values x of the variables, and Compare is by how much the mean of losses
	// a is larger than that of b, and its standard error.
	Losses  func(x [][]float64) []float64
	Compare func(a, b []float64) (mean, se float64)
	// Spread are the weights of the model that the rung belongs to, at those of the rung.
	Spread func(lambda []float64) []float64
	// Used is the number of features that values of the variables use, the mean over the folds.
	Used func(x [][]float64) float64
	// Deviations are three fits of the training rows of a split whose hyperparameters multiply the weights of the rung at
	// lambda. Their validation loss is that of all rows, of the first, third, .. and of the others. Times is the rung with
	// such factors. Nil where weights have no such fit; Deviations returns none for too few rows.
	Deviations func(lambda []float64) ([]lower.Fit, error)
	Times      func(factors []float64) Model
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
