package model

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/table"
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

	modes []lower.Mode // those of [problems.Advice]
	unit  string       // of the errors; empty for half the mean squared error
	// the fields of Options, and Weights and Offset of [table.Wanted], that it takes beside those of all
	options []string
	overlap bool // groups may overlap
	build   func(dataset.Division, regression.Options) (*regression.Model, error)
}

// Options are what models are built with. Which a model takes says [Spec.Takes], but for the first three.
type Options struct {
	// Standardize brings features to one unit, that of Scaling, and undoes it in the result. Intercept adds a constant.
	Standardize, Intercept bool
	Scaling                dataset.Scaling
	// Terms are penalty factors and bounds of the features of these names, made of these columns or interactions, nil for
	// none.
	Terms func(features, columns []string) (regression.Terms, error)
	// Groups are those of the features of these names; nil for a group for each column and interaction, of all features
	// made of it.
	Groups func(features []string, overlap bool) (*groups.Groups, error)
	// Gamma, Pilot, Order, Threshold, Level and Ties are those of [regression.Options].
	Gamma            float64
	Pilot            string
	Order            int
	Threshold, Level float64
	Ties             string
	// Loss is that of [svm.Options].
	Loss string
	// ClassWeights weigh the losses of the labels of classifiers; Balanced does so by the weights of their rows.
	ClassWeights []ClassWeight
	Balanced     bool
}

// ClassWeight is the weight of a label; without its text it is one of all labels in their order.
type ClassWeight struct {
	Label  string
	Weight float64
}

// Weighed are the rows of a classifier by the weights of its labels, and these in their order, nil for none.
func (o Options) Weighed(rows *input.Rows) (dataset.Division, []float64, error) {
	v := rows.ForModel()
	if !o.Balanced && o.ClassWeights == nil {
		return v, nil, nil
	}
	labels, err := dataset.FindClasses(v.Table(), dataset.MostClasses)
	if err != nil {
		return nil, nil, err
	}
	weights := slices.Repeat([]float64{1}, len(labels))
	if o.Balanced {
		weights = v.Table().Balanced(labels)
	}
	for k, w := range o.ClassWeights {
		if w.Label != "" {
			k = slices.IndexFunc(labels, func(y float64) bool { return rows.Label(y) == w.Label })
		} else if len(o.ClassWeights) != len(labels) {
			return nil, nil, fmt.Errorf("Options.ClassWeights: %d weights of %d labels", len(o.ClassWeights), len(labels))
		}
		if k < 0 {
			return nil, nil, fmt.Errorf("Options.ClassWeights: no row has the label %q", w.Label)
		}
		weights[k] = w.Weight
	}
	return dataset.Weighed(v, labels, weights), weights, nil
}

// normModes are the modes of fits of nets, and of norms of single features.
var normModes = []lower.Mode{lower.Adjoint, lower.Forward, lower.Truncated}

// groupModes are those of fits of norms of groups that do not overlap.
var groupModes = []lower.Mode{lower.Adjoint, lower.Truncated}

// regressions are the options of most models.
var regressions = []string{"Weights", "Offset"}

// specs are in the order in which they are listed.
var specs = []Spec{
	{Name: "elastic-net", modes: normModes, options: append(regressions, "Terms"), build: regression.ElasticNet,
		Summary: "linear regression, bounds on the 1-norm and the squared 2-norm of the coefficients"},
	{Name: "lasso", modes: normModes, options: append(regressions, "Terms"), build: regression.Lasso,
		Summary: "linear regression, a bound on the 1-norm of the coefficients"},
	{Name: "ridge", modes: normModes, options: append(regressions, "Terms"), build: regression.Ridge,
		Summary: "linear regression, a bound on the squared 2-norm of the coefficients"},
	{Name: "adaptive-lasso", modes: normModes, options: append(regressions, "Gamma", "Pilot"),
		build: regression.AdaptiveLasso,
		Summary: "the lasso with a penalty that is the smaller the larger a coefficient is in a pilot, ridge " +
			"regression or the lasso"},
	{Name: "weighted-lasso", modes: normModes, options: regressions, build: regression.WeightedLasso,
		Summary: "linear regression, a bound of its own on each coefficient"},
	{Name: "sparse-group-lasso", modes: groupModes, options: append(regressions, "Groups"),
		build:   regression.SparseGroupLasso,
		Summary: "linear regression, bounds on the 2-norm of each group of coefficients and on the 1-norm of all"},
	{Name: "group-lasso", modes: groupModes, overlap: true, options: append(regressions, "Groups"),
		build:   regression.GroupLasso,
		Summary: "linear regression, bounds on the 2-norm of each group of coefficients; groups may overlap"},
	{Name: "fused-lasso", options: append(regressions, "Order"), build: regression.FusedLasso,
		Summary: "linear regression, bounds on the 1-norms of the coefficients and of their differences in the " +
			"order of the features"},
	{Name: "bounded-elastic-net", modes: normModes, options: append(regressions, "Terms"),
		build:   regression.BoundedElasticNet,
		Summary: "the elastic net with coefficients that are not negative, or within bounds"},
	{Name: "huber", options: append(regressions, "Threshold"), Loss: Huber, unit: "mean Huber loss",
		build:   regression.Huber,
		Summary: "the elastic net with a loss that grows linearly beyond a threshold, for targets with outliers"},
	{Name: "quantile", options: append(regressions, "Level"), Loss: Pinball, unit: "mean pinball loss",
		build:   regression.Quantile,
		Summary: "the elastic net for a quantile of the target instead of its mean, by default the median"},
	{Name: "logistic", modes: normModes, options: append(regressions, "Terms"), Labels: true, Loss: Logistic,
		unit: "mean logistic loss", build: regression.Logistic,
		Summary: "classifier of two labels, the elastic net with the logistic loss"},
	{Name: "weighted-logistic", modes: normModes, options: regressions, Labels: true, Loss: Logistic,
		unit: "mean logistic loss", build: regression.WeightedLogistic,
		Summary: "classifier of two labels, the logistic loss with a bound of its own on each coefficient"},
	{Name: "multinomial", options: []string{"Weights", "Terms"}, Labels: true, Classes: true, Loss: Multinomial,
		unit: "mean multinomial loss", build: regression.Multinomial,
		Summary: "classifier of several labels, the elastic net with the multinomial logistic loss"},
	{Name: "poisson", modes: normModes, options: append(regressions, "Terms"), LogLink: true,
		unit: "half the mean Poisson deviance", build: regression.Poisson,
		Summary: "counts, whose mean is the exponential of the value: the elastic net with the Poisson deviance"},
	{Name: "weighted-poisson", modes: normModes, options: regressions, LogLink: true,
		unit: "half the mean Poisson deviance", build: regression.WeightedPoisson,
		Summary: "counts, whose mean is the exponential of the value, with a bound of its own on each coefficient"},
	{Name: "cox", modes: []lower.Mode{lower.Adjoint, lower.Forward}, options: append(regressions, "Terms", "Ties"),
		Survival: true, Loss: Cox, unit: "partial-likelihood deviance for each event", build: regression.Cox,
		Summary: "times until an event, some censored: proportional hazards with the penalties of the elastic net"},
	{Name: "multi-task", Several: true, build: regression.MultiTask,
		Summary: "linear regression of several targets, which use the same features"},
	{Name: "matrix-completion", modes: []lower.Mode{lower.Adjoint}, Matrix: true, options: []string{"Groups"},
		Summary: "entries of a matrix, bounds on the nuclear norm and on the 2-norms of groups of row and column " +
			"features"},
	{Name: "svm", modes: []lower.Mode{lower.Adjoint, lower.Forward}, options: []string{"Weights", "Loss"},
		Labels: true, Folds: true, Loss: Hinge, unit: "mean hinge loss (validation), error rate (test)",
		Score: "smoothed error rate of the folds",
		Summary: "classifier of two labels by cross-validation, bounds on the squared 2-norm and on each " +
			"coefficient"},
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

// Takes says whether the model takes an option: a field of [Options], Weights or Offset of [table.Wanted], or
// Decisions, see [evaluate.Decisions].
func (s *Spec) Takes(option string) bool {
	return slices.Contains(s.options, option) || s.Labels && (option == "ClassWeights" || option == "Decisions")
}

// Unit says what the errors are.
func (s *Spec) Unit() string {
	return cmp.Or(s.unit, "half the mean squared error")
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
func (s *Spec) Build(rows *input.Rows, o Options) (problems.Model, error) {
	train := rows.Split.Train
	switch {
	case s.Matrix:
		return nil, fmt.Errorf("%s takes entries of a matrix, see matcomp.New", s.Name)
	case train.Weights != nil && !s.Takes("Weights"), train.Offset != nil && !s.Takes("Offset"):
		return nil, fmt.Errorf("%s takes no weights or no offset of rows", s.Name)
	case s.Several && train.Targets == nil:
		return nil, fmt.Errorf("multi-task needs several targets: input.Source.Several")
	case s.Folds:
		return newMachine(rows, o)
	}
	options, err := s.regression(rows, o)
	if err != nil {
		return nil, err
	}
	v := rows.ForModel()
	if s.Labels {
		if v, _, err = o.Weighed(rows); err != nil {
			return nil, err
		}
	}
	m, err := s.build(v, options)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// regression are the options that the model takes of the rows.
func (s *Spec) regression(rows *input.Rows, o Options) (out regression.Options, err error) {
	out = regression.Options{Standardize: o.Standardize, Scaling: o.Scaling, Intercept: o.Intercept}
	features := rows.Split.Train.Features
	for _, name := range s.options {
		switch name {
		case "Weights", "Offset": // of rows
		case "Terms":
			if o.Terms != nil {
				out.Terms, err = o.Terms(features, columnsOf(rows.Encoder, features))
			}
		case "Groups":
			if o.Groups == nil {
				out.Groups = groupsOfColumns(columnsOf(rows.Encoder, features))
			} else {
				out.Groups, err = o.Groups(features, s.overlap)
			}
		default:
			reflect.ValueOf(&out).Elem().FieldByName(name).Set(reflect.ValueOf(o).FieldByName(name))
		}
		if err != nil {
			return out, err
		}
	}
	if s.Classes {
		out.Label = rows.Label
	}
	return out, nil
}

// columnsOf are the columns or interactions, A:B, that features are made of.
func columnsOf(e *table.Encoder, features []string) (columns []string) {
	if e == nil {
		return features
	}
	for _, t := range e.Terms() {
		var names []string
		for _, k := range t.Columns {
			names = append(names, e.Columns[k].Column)
		}
		columns = append(columns, slices.Repeat([]string{strings.Join(names, ":")}, len(t.Features))...)
	}
	return columns
}

// groupsOfColumns has a group for each column and interaction.
func groupsOfColumns(columns []string) *groups.Groups {
	g := &groups.Groups{}
	for j, name := range columns {
		if j == 0 || name != columns[j-1] {
			g.Names, g.Members = append(g.Names, "group("+name+")"), append(g.Members, nil)
		}
		last := len(g.Members) - 1
		g.Members[last] = append(g.Members[last], j)
	}
	return g
}

// newMachine is the support vector machine of folds.
func newMachine(rows *input.Rows, o Options) (problems.Model, error) {
	cv, ok := rows.ForModel().(*dataset.CrossValidation)
	if !ok {
		return nil, fmt.Errorf("svm is chosen by folds; the rows have none")
	}
	_, weights, err := o.Weighed(rows)
	if err != nil {
		return nil, err
	}
	return svm.New(cv, svm.Options{Loss: o.Loss, Standardize: o.Standardize, Scaling: o.Scaling, ClassWeights: weights})
}
