package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower/survival"
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
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/problems/multinomial"
	"github.com/conetune/conetune/problems/multitask"
	"github.com/conetune/conetune/problems/poisson"
	"github.com/conetune/conetune/problems/quantile"
	"github.com/conetune/conetune/problems/ridge"
	"github.com/conetune/conetune/problems/sgl"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/problems/wlasso"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// scaling says what is done to the table before the model sees it.
type scaling struct {
	standardize, intercept bool
	unit                   dataset.Scaling // of standardised features
}

// modelOptions is all that a model is built with, apart from the rows.
type modelOptions struct {
	scaling
	modelFlags
	groups, dir string                 // values of --groups and --dir
	label       func(v float64) string // the text of a label
}

// modelSpec is a model of the command line.
type modelSpec struct {
	name     string
	kind     tune.Model // a nil pointer of the model's type, see [tune.Able]
	summary  string
	build    func(dataset.Division, modelOptions) (tune.Model, error)
	grouped  bool // the model takes --groups
	labels   bool // the target is one of two labels
	classes  bool // the labels may be more than two, with a value for each
	logLink  bool // the target is not negative, and predicted by an exponential
	survival bool // the target is a time until an event, negative where it was censored
	// weights says that rows may have weights, and offset that they may have a known term of their predictions.
	weights, offset bool
	flags           []string // of those in modelFlags, the ones that the model takes
	// folds is there, in the place of build, for models that are always chosen by cross-validation.
	folds *foldsSpec
	// several is there, in the place of build, for models of several targets.
	several func(*input.Rows, scaling) (tune.Model, error)
	// matrix is there, in the place of build, for models of the entries of a matrix.
	matrix func(*matcomp.Data, scaling) (tune.Model, error)
	// unit says what the errors are; empty means half the mean squared error.
	unit string
	// score says by what a model is chosen that is [tune.Scored].
	score string
}

// foldsSpec is what a model that is always chosen by cross-validation has of its own.
type foldsSpec struct {
	build func(*dataset.CrossValidation, scaling, classWeights) (tune.Model, error)
}

// classWeights are the values of --class-weights.
type classWeights struct {
	balanced bool
	weights  []float64
}

// errorUnit says what the errors are.
func (m modelSpec) errorUnit() string {
	if m.unit == "" {
		return "half the mean squared error"
	}
	return m.unit
}

// models are in the order in which they are listed.
var models = []modelSpec{
	{
		name:    "elastic-net",
		weights: true,
		offset:  true,
		kind:    (*elasticnet.Model)(nil),
		summary: "linear regression, bounds on the 1-norm and the squared 2-norm of the coefficients",
		flags:   termNames,
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			terms, err := o.terms.terms(s.Table().Features)
			if err != nil {
				return nil, err
			}
			return elasticnet.New(s, elasticnet.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept, Terms: terms})
		},
	},
	{
		name:    "lasso",
		weights: true,
		offset:  true,
		kind:    (*lasso.Model)(nil),
		summary: "linear regression, a bound on the 1-norm of the coefficients",
		flags:   termNames,
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			terms, err := o.terms.terms(s.Table().Features)
			if err != nil {
				return nil, err
			}
			return lasso.New(s, lasso.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept, Terms: terms})
		},
	},
	{
		name:    "ridge",
		weights: true,
		offset:  true,
		kind:    (*ridge.Model)(nil),
		summary: "linear regression, a bound on the squared 2-norm of the coefficients",
		flags:   termNames,
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			terms, err := o.terms.terms(s.Table().Features)
			if err != nil {
				return nil, err
			}
			return ridge.New(s, ridge.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept, Terms: terms})
		},
	},
	{
		name:    "adaptive-lasso",
		weights: true,
		offset:  true,
		kind:    (*adaptive.Model)(nil),
		summary: "the lasso with a penalty that is the smaller the larger a coefficient is in a pilot, ridge regression or the lasso",
		flags:   adaptiveNames,
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			return adaptive.New(s, adaptive.Options{
				Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept, Gamma: o.adaptive.gamma, Pilot: adaptive.Pilot(o.adaptive.pilot),
			})
		},
	},
	{
		name:    "weighted-lasso",
		weights: true,
		offset:  true,
		kind:    (*wlasso.Model)(nil),
		summary: "linear regression, a bound of its own on each coefficient",
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			return wlasso.New(s, wlasso.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept})
		},
	},
	{
		name:    "sparse-group-lasso",
		weights: true,
		offset:  true,
		kind:    (*sgl.Model)(nil),
		summary: "linear regression, bounds on the 2-norm of each group of coefficients and on the 1-norm of all",
		grouped: true,
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			g, err := o.readGroups(s, false)
			if err != nil {
				return nil, err
			}
			return sgl.New(s, g, sgl.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept})
		},
	},
	{
		name:    "group-lasso",
		weights: true,
		offset:  true,
		kind:    (*grouplasso.Model)(nil),
		summary: "linear regression, bounds on the 2-norm of each group of coefficients; groups may overlap",
		grouped: true,
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			g, err := o.readGroups(s, true)
			if err != nil {
				return nil, err
			}
			return grouplasso.New(s, g, grouplasso.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept})
		},
	},
	{
		name:    "fused-lasso",
		weights: true,
		offset:  true,
		kind:    (*fused.Model)(nil),
		summary: "linear regression, bounds on the 1-norms of the coefficients and of their differences in the order of the features",
		flags:   []string{"order"},
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			return fused.New(s, fused.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept, Order: o.order})
		},
	},
	{
		name:    "bounded-elastic-net",
		weights: true,
		offset:  true,
		kind:    (*bounded.Model)(nil),
		summary: "the elastic net with coefficients that are not negative, or within --lower and --upper",
		flags:   termNames,
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			terms, err := o.terms.terms(s.Table().Features)
			if err != nil {
				return nil, err
			}
			return bounded.New(s, bounded.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept, Lower: terms.Lower, Upper: terms.Upper, Factors: terms.Factors})
		},
	},
	{
		name:    "huber",
		weights: true,
		offset:  true,
		kind:    (*huber.Model)(nil),
		summary: "the elastic net with a loss that grows linearly beyond a threshold, for targets with outliers",
		unit:    "mean Huber loss",
		flags:   []string{"threshold"},
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			return huber.New(s, huber.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept, Threshold: o.threshold})
		},
	},
	{
		name:    "quantile",
		weights: true,
		offset:  true,
		kind:    (*quantile.Model)(nil),
		summary: "the elastic net for a quantile of the target instead of its mean, by default the median",
		unit:    "mean pinball loss",
		flags:   []string{"level"},
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			return quantile.New(s, quantile.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept, Level: o.level})
		},
	},
	{
		name:    "logistic",
		weights: true,
		offset:  true,
		kind:    (*logistic.Model)(nil),
		summary: "classifier of two labels, the elastic net with the logistic loss",
		unit:    "mean logistic loss",
		labels:  true,
		flags:   termNames,
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			terms, err := o.terms.terms(s.Table().Features)
			if err != nil {
				return nil, err
			}
			return logistic.New(s, logistic.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept, Terms: terms})
		},
	},
	{
		name:    "multinomial",
		weights: true,
		kind:    (*multinomial.Model)(nil),
		summary: "classifier of several labels, the elastic net with the multinomial logistic loss",
		unit:    "mean multinomial loss",
		labels:  true,
		classes: true,
		flags:   termNames,
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			terms, err := o.terms.terms(s.Table().Features)
			if err != nil {
				return nil, err
			}
			return multinomial.New(s, multinomial.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept, Terms: terms, Name: o.label})
		},
	},
	{
		name:    "poisson",
		weights: true,
		offset:  true,
		kind:    (*poisson.Model)(nil),
		summary: "counts, whose mean is the exponential of the value: the elastic net with the Poisson deviance",
		unit:    "half the mean Poisson deviance",
		logLink: true,
		flags:   termNames,
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			terms, err := o.terms.terms(s.Table().Features)
			if err != nil {
				return nil, err
			}
			return poisson.New(s, poisson.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept, Terms: terms})
		},
	},
	{
		name:     "cox",
		weights:  true,
		offset:   true,
		kind:     (*cox.Model)(nil),
		summary:  "times until an event, some censored: proportional hazards with the penalties of the elastic net",
		unit:     "partial-likelihood deviance for each event",
		survival: true,
		flags:    append([]string{"ties"}, termNames...),
		build: func(s dataset.Division, o modelOptions) (tune.Model, error) {
			ties, err := survival.ParseTies(o.ties)
			if err != nil {
				return nil, err
			}
			terms, err := o.terms.terms(s.Table().Features)
			if err != nil {
				return nil, err
			}
			return cox.New(s, cox.Options{Standardize: o.standardize, Scaling: o.unit, Ties: ties, Terms: terms})
		},
	},
	{
		name:    "multi-task",
		kind:    (*multitask.Model)(nil),
		summary: "linear regression of several targets, which use the same features: --target a,b,c",
		several: func(r *input.Rows, o scaling) (tune.Model, error) {
			data := func(rows *dataset.Data, y *mat.Dense) *multitask.Data {
				if rows == nil {
					return nil
				}
				return &multitask.Data{X: rows.Dense(), Y: y}
			}
			t := r.Targets
			train, val, test := data(r.Split.Train, t.Train), data(r.Split.Val, t.Val), data(r.Split.Test, t.Test)
			options := multitask.Options{Standardize: o.standardize, Scaling: o.unit, Intercept: o.intercept, Features: r.Split.Train.Features, Targets: t.Names}
			if r.CV != nil {
				options.Gaps = r.CV.Gaps
				return multitask.NewFolds(train, r.CV.Folds, test, options)
			}
			return multitask.New(train, val, test, options)
		},
	},
	{
		name:    "matrix-completion",
		kind:    (*matcomp.Model)(nil),
		summary: "entries of a matrix, bounds on the nuclear norm and on the 2-norms of groups of row and column features",
		matrix: func(d *matcomp.Data, o scaling) (tune.Model, error) {
			return matcomp.New(d, matcomp.Options{Standardize: o.standardize, Intercept: o.intercept})
		},
	},
	{
		name:    "svm",
		weights: true,
		kind:    (*svm.Model)(nil),
		summary: "classifier of two labels by cross-validation, bounds on the squared 2-norm and on each coefficient",
		unit:    "mean hinge loss (validation), error rate (test)",
		score:   "smoothed error rate of the folds",
		labels:  true,
		folds: &foldsSpec{
			build: func(cv *dataset.CrossValidation, o scaling, w classWeights) (tune.Model, error) {
				return svm.New(cv, svm.Options{Standardize: o.standardize, Scaling: o.unit, Balanced: w.balanced, ClassWeights: w.weights})
			},
		},
	},
}

// readGroups returns the groups that --groups names or counts, by default those of the folder.
func (o modelOptions) readGroups(s dataset.Division, overlap bool) (*groups.Groups, error) {
	features := s.Table().Features
	if o.groups == "" {
		return groups.ReadDir(o.dir, features, overlap)
	}
	m, err := strconv.Atoi(o.groups)
	if err != nil {
		return groups.Read(o.groups, features, overlap)
	}
	g, err := groups.Equal(len(features), m)
	if err != nil {
		return nil, fmt.Errorf("--groups: %w", err)
	}
	return g, nil
}

// findModel looks a model up by name.
func findModel(name string) (modelSpec, error) {
	for _, m := range models {
		if m.name == name {
			return m, nil
		}
	}
	return modelSpec{}, badInputf("unknown model %q%s; known are: %s", name, didYouMean(name, modelNames()), strings.Join(modelNames(), ", "))
}

func modelNames() []string {
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.name
	}
	return names
}

// ableModels are the names of the models that a method can do, sorted.
func ableModels(method string) []string {
	var names []string
	for _, m := range models {
		if tune.Able(method, m.kind) {
			names = append(names, m.name)
		}
	}
	slices.Sort(names)
	return names
}

// sayWhich adds to the error of a method that cannot do a model which ones it can.
func sayWhich(err error) error {
	var unable *tune.UnableError
	if errors.As(err, &unable) {
		return fmt.Errorf("%w, which there is for %s", err, joined(ableModels(unable.Method)))
	}
	return err
}

// modelList describes the models, for help texts.
func modelList() string {
	var b strings.Builder
	for _, m := range models {
		fmt.Fprintf(&b, "  %-19s %s\n", m.name, m.summary)
	}
	return b.String()
}
