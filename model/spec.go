package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems/adaptive"
	"github.com/conetune/conetune/problems/bounded"
	"github.com/conetune/conetune/problems/cox"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/problems/fused"
	"github.com/conetune/conetune/problems/grouplasso"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/huber"
	"github.com/conetune/conetune/problems/lasso"
	"github.com/conetune/conetune/problems/logistic"
	"github.com/conetune/conetune/problems/multinomial"
	"github.com/conetune/conetune/problems/multitask"
	"github.com/conetune/conetune/problems/poisson"
	"github.com/conetune/conetune/problems/quantile"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/ridge"
	"github.com/conetune/conetune/problems/sgl"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/problems/wlasso"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// Spec says what a model of that name is, and builds it.
type Spec struct {
	Name, Summary string
	// Labels says that the target is one of two labels, Classes that there may be more, with a value for each. LogLink:
	// it is not negative, and predicted by an exponential. Survival: it is a time until an event, negative where it was
	// censored. Several: there are several targets. Matrix: the model is one of the entries of a matrix, see
	// package matcomp. Folds: it is always chosen by folds.
	Labels, Classes, LogLink, Survival, Several, Matrix, Folds bool
	// Loss is the kind of the loss, see [Loss], empty for squares, and for counts.
	Loss string
	// Score says by what a model is chosen that has a score.
	Score string

	modes   []lower.Mode // those of [problems.Advice]
	unit    string       // of the errors; empty for half the mean squared error
	options []string     // the fields of Options, and Weights and Offset of [table.Wanted], that it takes beside those of all
	build   func(dataset.Division, Options) (tune.Model, error)
}

// Options are what models are built with. Which a model takes says [Spec.Takes], but for the first three.
type Options struct {
	// Standardize brings features to one unit, that of Scaling, and undoes it in the result. Intercept adds a constant.
	Standardize, Intercept bool
	Scaling                dataset.Scaling
	// Terms are penalty factors and bounds of the features of these names, nil for none.
	Terms func(features []string) (regression.Terms, error)
	// Groups are those of the features of these names.
	Groups func(features []string, overlap bool) (*groups.Groups, error)
	// Gamma is the exponent of the weights of adaptive-lasso, 0 for 1, and Pilot the model that they come from.
	Gamma float64
	Pilot adaptive.Pilot
	// Order is that of the differences of fused-lasso, 0 for 1.
	Order int
	// Threshold is the residual from which on the loss of huber grows linearly, 0 for one by the spread of the target.
	Threshold float64
	// Level is the share of targets below the predictions of quantile, 0 for 1/2.
	Level float64
	// Ties is the rule of cox for events at one time.
	Ties survival.Ties
	// ClassWeights weigh the losses of the two labels of svm; Balanced does so by the numbers of their rows.
	ClassWeights []float64
	Balanced     bool

	terms regression.Terms // of the features of the rows
	label func(v float64) string
}

// common are those that all regressions have.
func (o *Options) common() regression.Options {
	return regression.Options{Standardize: o.Standardize, Scaling: o.Scaling, Intercept: o.Intercept, Terms: o.terms}
}

// common builds a model that takes these alone.
func common[M tune.Model](build func(dataset.Division, regression.Options) (M, error)) func(dataset.Division, Options) (tune.Model, error) {
	return func(s dataset.Division, o Options) (tune.Model, error) {
		m, err := build(s, o.common())
		if err != nil {
			return nil, err
		}
		return m, nil
	}
}

// regressions are the options of most models.
var regressions = []string{"Weights", "Offset"}

// specs are in the order in which they are listed.
var specs = []Spec{
	{
		Name: "elastic-net", modes: regression.NormModes, options: append(regressions, "Terms"),
		Summary: "linear regression, bounds on the 1-norm and the squared 2-norm of the coefficients",
		build:   common(elasticnet.New),
	},
	{
		Name: "lasso", modes: regression.NormModes, options: append(regressions, "Terms"),
		Summary: "linear regression, a bound on the 1-norm of the coefficients",
		build:   common(lasso.New),
	},
	{
		Name: "ridge", modes: regression.NormModes, options: append(regressions, "Terms"),
		Summary: "linear regression, a bound on the squared 2-norm of the coefficients",
		build:   common(ridge.New),
	},
	{
		Name: "adaptive-lasso", modes: regression.NormModes, options: append(regressions, "Gamma", "Pilot"),
		Summary: "the lasso with a penalty that is the smaller the larger a coefficient is in a pilot, ridge regression or the lasso",
		build: func(s dataset.Division, o Options) (tune.Model, error) {
			return adaptive.New(s, o.Pilot, o.Gamma, o.common())
		},
	},
	{
		Name: "weighted-lasso", modes: regression.NormModes, options: regressions,
		Summary: "linear regression, a bound of its own on each coefficient",
		build:   common(wlasso.New),
	},
	{
		Name: "sparse-group-lasso", modes: []lower.Mode{lower.Adjoint, lower.Truncated}, options: append(regressions, "Groups"),
		Summary: "linear regression, bounds on the 2-norm of each group of coefficients and on the 1-norm of all",
		build: func(s dataset.Division, o Options) (tune.Model, error) {
			g, err := o.Groups(s.Table().Features, false)
			if err != nil {
				return nil, err
			}
			return sgl.New(s, g, o.common())
		},
	},
	{
		Name: "group-lasso", options: append(regressions, "Groups"),
		Summary: "linear regression, bounds on the 2-norm of each group of coefficients; groups may overlap",
		build: func(s dataset.Division, o Options) (tune.Model, error) {
			g, err := o.Groups(s.Table().Features, true)
			if err != nil {
				return nil, err
			}
			return grouplasso.New(s, g, o.common())
		},
	},
	{
		Name: "fused-lasso", options: append(regressions, "Order"),
		Summary: "linear regression, bounds on the 1-norms of the coefficients and of their differences in the order of the features",
		build: func(s dataset.Division, o Options) (tune.Model, error) {
			return fused.New(s, o.Order, o.common())
		},
	},
	{
		Name: "bounded-elastic-net", modes: regression.NormModes, options: append(regressions, "Terms"),
		Summary: "the elastic net with coefficients that are not negative, or within bounds",
		build:   common(bounded.New),
	},
	{
		Name: "huber", options: append(regressions, "Threshold"),
		Loss: Huber, unit: "mean Huber loss",
		Summary: "the elastic net with a loss that grows linearly beyond a threshold, for targets with outliers",
		build: func(s dataset.Division, o Options) (tune.Model, error) {
			return huber.New(s, o.Threshold, o.common())
		},
	},
	{
		Name: "quantile", options: append(regressions, "Level"),
		Loss: Pinball, unit: "mean pinball loss",
		Summary: "the elastic net for a quantile of the target instead of its mean, by default the median",
		build: func(s dataset.Division, o Options) (tune.Model, error) {
			return quantile.New(s, o.Level, o.common())
		},
	},
	{
		Name: "logistic", modes: regression.NormModes, options: append(regressions, "Terms"),
		Labels: true, Loss: Logistic, unit: "mean logistic loss",
		Summary: "classifier of two labels, the elastic net with the logistic loss",
		build:   common(logistic.New),
	},
	{
		Name: "multinomial", options: []string{"Weights", "Terms"},
		Labels: true, Classes: true, Loss: Multinomial, unit: "mean multinomial loss",
		Summary: "classifier of several labels, the elastic net with the multinomial logistic loss",
		build: func(s dataset.Division, o Options) (tune.Model, error) {
			return multinomial.New(s, multinomial.Options{
				Standardize: o.Standardize, Scaling: o.Scaling, Intercept: o.Intercept, Terms: o.terms, Name: o.label,
			})
		},
	},
	{
		Name: "poisson", modes: regression.NormModes, options: append(regressions, "Terms"),
		LogLink: true, unit: "half the mean Poisson deviance",
		Summary: "counts, whose mean is the exponential of the value: the elastic net with the Poisson deviance",
		build:   common(poisson.New),
	},
	{
		Name: "cox", modes: []lower.Mode{lower.Adjoint, lower.Forward}, options: append(regressions, "Terms", "Ties"),
		Survival: true, Loss: Cox, unit: "partial-likelihood deviance for each event",
		Summary: "times until an event, some censored: proportional hazards with the penalties of the elastic net",
		build: func(s dataset.Division, o Options) (tune.Model, error) {
			return cox.New(s, cox.Options{Standardize: o.Standardize, Scaling: o.Scaling, Ties: o.Ties, Terms: o.terms})
		},
	},
	{
		Name: "multi-task", Several: true,
		Summary: "linear regression of several targets, which use the same features",
	},
	{
		Name: "matrix-completion", modes: []lower.Mode{lower.Adjoint}, Matrix: true, options: []string{"Groups"},
		Summary: "entries of a matrix, bounds on the nuclear norm and on the 2-norms of groups of row and column features",
	},
	{
		Name: "svm", modes: []lower.Mode{lower.Adjoint, lower.Forward}, options: []string{"Weights", "ClassWeights"},
		Labels: true, Folds: true, Loss: Hinge, unit: "mean hinge loss (validation), error rate (test)",
		Score:   "smoothed error rate of the folds",
		Summary: "classifier of two labels by cross-validation, bounds on the squared 2-norm and on each coefficient",
		build: func(s dataset.Division, o Options) (tune.Model, error) {
			cv, ok := s.(*dataset.CrossValidation)
			if !ok {
				return nil, fmt.Errorf("svm is chosen by folds; the rows have none")
			}
			return svm.New(cv, svm.Options{
				Standardize: o.Standardize, Scaling: o.Scaling, Balanced: o.Balanced, ClassWeights: o.ClassWeights,
			})
		},
	},
}

// Specs are all models, in the order in which they are listed.
func Specs() []Spec { return slices.Clone(specs) }

// Find looks a model up by name.
func Find(name string) (Spec, error) {
	if k := slices.IndexFunc(specs, func(s Spec) bool { return s.Name == name }); k >= 0 {
		return specs[k], nil
	}
	return Spec{}, fmt.Errorf("unknown model %q; known are: %s", name, strings.Join(Names(), ", "))
}

// Names are those of all models.
func Names() []string { return namesOf(func(Spec) bool { return true }) }

// Taking are the names of the models that take an option, see [Spec.Takes].
func Taking(option string) []string { return namesOf(func(s Spec) bool { return s.Takes(option) }) }

// Able are the names of the models that a method of package tune can do, sorted.
func Able(method string) []string {
	list := namesOf(func(s Spec) bool { return tune.Able(method, s.modes) })
	slices.Sort(list)
	return list
}

func namesOf(wanted func(Spec) bool) (names []string) {
	for _, s := range specs {
		if wanted(s) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Takes says whether the model takes an option: a field of [Options], or Weights or Offset of [table.Wanted].
func (s *Spec) Takes(option string) bool { return slices.Contains(s.options, option) }

// Unit says what the errors are.
func (s *Spec) Unit() string {
	if s.unit == "" {
		return "half the mean squared error"
	}
	return s.unit
}

// Prepare says of a source what kind of targets and folds the model needs.
func (s *Spec) Prepare(from *input.Source) {
	from.Several, from.Wanted.Survival, from.Wanted.Classes = s.Several, s.Survival, s.Labels
	if s.Classes {
		from.Wanted.MostClasses = dataset.MostClasses
	}
	if s.Folds {
		from.Always, from.Repeats = true, cmp.Or(from.Repeats, 1)
	}
}

// Build makes the model of rows.
func (s *Spec) Build(rows *input.Rows, o Options) (m tune.Model, err error) {
	train := rows.Split.Train
	switch {
	case s.Matrix:
		return nil, fmt.Errorf("%s takes entries of a matrix, see matcomp.New", s.Name)
	case s.Several:
		return newMultitask(rows, o)
	case train.Weights != nil && !s.Takes("Weights"), train.Offset != nil && !s.Takes("Offset"):
		return nil, fmt.Errorf("%s takes no weights or no offset of rows", s.Name)
	case s.Takes("Groups") && o.Groups == nil:
		return nil, fmt.Errorf("%s needs Options.Groups", s.Name)
	}
	if o.label = rows.Label; o.Terms != nil && s.Takes("Terms") {
		if o.terms, err = o.Terms(train.Features); err != nil {
			return nil, err
		}
	}
	return s.build(rows.ForModel(), o)
}

// newMultitask is the model of several targets.
func newMultitask(rows *input.Rows, o Options) (tune.Model, error) {
	data := func(d *dataset.Data, y *mat.Dense) *multitask.Data {
		if d == nil {
			return nil
		}
		return &multitask.Data{X: d.Dense(), Y: y}
	}
	split, t := rows.Split, rows.Targets
	if t == nil {
		return nil, fmt.Errorf("multi-task needs several targets: input.Source.Several")
	}
	train, val, test := data(split.Train, t.Train), data(split.Val, t.Val), data(split.Test, t.Test)
	options := multitask.Options{
		Standardize: o.Standardize, Scaling: o.Scaling, Intercept: o.Intercept, Features: split.Train.Features, Targets: t.Names,
	}
	if rows.CV != nil {
		options.Gaps = rows.CV.Gaps
		return multitask.NewFolds(train, rows.CV.Folds, test, options)
	}
	return multitask.New(train, val, test, options)
}
