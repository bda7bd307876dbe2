// Package multinomial selects the hyperparameters of a multinomial logistic regression: the elastic net for a target of several classes.
//
// # Formulation
//
// With K classes, coefficients B (p x K, entry (j, k) at j K + k) and intercepts c, a row a of class y costs minus the logarithm of its estimated probability,
//
//	log(sum_k exp(f_k)) - f_y,   f_k = a'B_k + c_k,
//
// and the losses L on validation and l on training rows are means of that. The bilevel program is that of package elasticnet,
//
//	minimize   L(B)   over B and r >= 0
//	subject to B solves  min { l(B) : sum_jk |b_jk| <= r1, 1/2 sum_jk b_jk^2 <= r2 }
//
// (J. Friedman, T. Hastie, R. Tibshirani, Regularization paths for generalized linear models via coordinate descent, JSS 33, 2010, for the penalty
// form). All classes have coefficients, none is the reference; intercepts are not penalised and add up to 0. The class with the largest f_k is predicted. Errors are mean
// losses. A backend needs exponential cones. Features may have penalty factors and bounds, see [regression.Terms]; the coefficients of one without a penalty and bounds add up to 0 over the classes.
package multinomial

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options of the model.
type Options struct {
	// Intercept adds a free constant for each class.
	Intercept bool
	// Standardize works on features in the unit of Scaling, and undoes it in the result.
	Standardize bool
	// Scaling is the unit of the features; the zero value is that of the table.
	Scaling dataset.Scaling
	// Terms are penalty factors and bounds of single features, the same for all classes.
	Terms regression.Terms
	// R0 are the start values of the two radii, in the unit of the model. Nil means (10, 5).
	R0 []float64
	// Name is the name of the class of a value of the target; nil writes the value.
	Name func(y float64) string
}

// Model is a multinomial regression with its data. It has the methods of [tune.Model].
//
// [tune.Model]: https://pkg.go.dev/github.com/conetune/conetune/tune#Model
type Model struct {
	data    *regression.Data // whose targets are the classes, from 0 on
	user    dataset.Division // with targets as given
	classes []float64
	names   []string
	options Options
	r0      []float64
	path    [][]float64
}

// New checks the rows, split or in folds, and the options. Each class needs a training row, in each fold, and the others may have no other one. New keeps a
// reference to the features, which must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	if err := dataset.Check(s); err != nil {
		return nil, fmt.Errorf("multinomial: %w", err)
	}
	classes, err := dataset.CheckClasses(s)
	if err != nil {
		return nil, fmt.Errorf("multinomial: %w", err)
	}
	if dataset.WithoutOffset(s) != s {
		return nil, fmt.Errorf("multinomial: rows with an offset, which does not say to which class it belongs")
	}
	m := &Model{user: s, classes: classes, options: o}
	for _, v := range classes {
		if o.Name != nil {
			m.names = append(m.names, o.Name(v))
		} else {
			m.names = append(m.names, fmt.Sprint(v))
		}
	}
	coded := s.Map(func(y float64) float64 { return float64(m.class(y)) })
	if m.data, err = regression.New(coded, regression.Options{Intercept: o.Intercept, Standardize: o.Standardize, Scaling: o.Scaling, Terms: o.Terms}, regression.Kind{KeepTarget: true, Terms: true}); err != nil {
		return nil, fmt.Errorf("multinomial: %w", err)
	}
	if m.r0, err = regression.Radii(o.R0, m.Names(), 10, 5); err != nil {
		return nil, fmt.Errorf("multinomial: %w", err)
	}
	fit, err := m.Penalised()
	if err != nil {
		return nil, fmt.Errorf("multinomial: %w", err)
	}
	m.path = regression.TwoPaths(fit.LambdaMax())
	return m, nil
}

// class is the number of a label.
func (m *Model) class(y float64) int {
	k, _ := slices.BinarySearch(m.classes, y)
	return k
}

// Classes are the values of the target, in rising order.
func (m *Model) Classes() []float64 { return m.classes }

// Name is the name on the command line.
func (m *Model) Name() string { return "multinomial" }

// Advice is what methods ask of the model.
func (m *Model) Advice() problems.Advice {
	folds := m.data.Folds() > 1
	all := problems.Trainer{Whole: m.whole, Test: m.test}
	return problems.Advice{
		Folds: folds, Predicts: !folds, Separable: true, Fit: m.Penalised, StandardError: m.StandardError,
		Columns: m.data.Columns, Retrain: all.Radii, RetrainWeighted: all.Weights, RetrainPath: all.Path,
		TestError: all.Test,
	}
}

// Names are the names of the two hyperparameters.
func (m *Model) Names() []string { return []string{"lambda1", "lambda2"} }

// Penalised is the fast fit of the lower level.
func (m *Model) Penalised() (lower.Fit, error) { return m.fits(m.data) }

// fits are those of the parts of some data.
func (m *Model) fits(data *regression.Data) (lower.Fit, error) {
	return lower.OverFolds(data.Folds(), func(t int) (lower.Fit, error) {
		train, val, intercept := data.Fold(t).Rows()
		return fits.NewMultinomial(classRows(train), classRows(val), len(m.classes), intercept, data.Terms())
	})
}

// classRows are rows whose targets are numbers of classes.
func classRows(d *dataset.Data) fits.Rows {
	out := fits.NewRows(d.X, d.Y)
	out.Weights = d.Weights
	return out
}

// each is the number of variables of a fold.
func (m *Model) each() int {
	if m.options.Intercept {
		return 2
	}
	return 1
}

// Fit turns values of the variables into a predictor in the user's units, with folds the mean of theirs. Its targets are the classes.
func (m *Model) Fit(x [][]float64) problems.Fit { return m.fit(m.data, x) }

func (m *Model) fit(data *regression.Data, x [][]float64) problems.Fit {
	p, k, folds := len(data.Features()), len(m.classes), len(x)/m.each()
	out := problems.Fit{
		Features: data.Features(), Targets: m.names, Labels: m.classes, Coefficients: make([]float64, p*k), Intercepts: make([]float64, k),
	}
	for c := range k {
		var part [][]float64
		for t := range folds {
			b := make([]float64, p)
			for j := range b {
				b[j] = x[t*m.each()][j*k+c]
			}
			if part = append(part, b); m.options.Intercept {
				part = append(part, []float64{x[t*m.each()+1][c]})
			}
		}
		one := data.Fit(part)
		for j, v := range one.Coefficients {
			out.Coefficients[j*k+c] = v
		}
		out.Intercepts[c] = one.Intercept
	}
	return out
}

// fold is the predictor of a fold.
func (m *Model) fold(x [][]float64, t int) problems.Fit {
	return m.fit(m.data.Fold(t), x[t*m.each():(t+1)*m.each()])
}

// FoldFits are the predictors of the folds in the user's units, in their order; that of a split is its only one.
func (m *Model) FoldFits(x [][]float64) (list []problems.Fit) {
	for t := range m.data.Folds() {
		list = append(list, m.fold(x, t))
	}
	return list
}

// losses are those of the rows of a predictor.
func (m *Model) losses(rows *dataset.Data, f problems.Fit) []float64 {
	out := make([]float64, len(rows.Y))
	row := make([]float64, len(f.Features))
	for i, y := range rows.Y {
		rows.Fill(row, i)
		values := f.Values(row)
		out[i] = floats.LogSumExp(values) - values[m.class(y)]
	}
	return out
}
