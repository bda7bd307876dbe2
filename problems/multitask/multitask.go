// Package multitask selects the hyperparameters of a regression of several targets on the same features, in which a
// feature is used for all targets or for none.
//
// # Formulation
//
// With n rows of p features X, q targets Y and coefficients B (p x q, B_j the row of feature j), a loss is half the
// mean squared error over rows and targets, 1/(2nq) |Y - X B|_F^2, and the bilevel program, with losses L on validation
// and l on training rows,
//
//	minimize   L(B)   over B and r >= 0
//	subject to B solves  min { l(B) : sum_j |B_j|_2 <= r1, 1/2 |B|_F^2 <= r2 }
//
// is the decoupled form of choosing lambda in min l(B) + lambda1 sum_j |B_j|_2 + lambda2/2 |B|_F^2 (G. Obozinski, B.
// Taskar, M. I. Jordan, Joint covariate selection and joint subspace selection for multiple classification problems,
// Statistics and Computing 20, 2010, with the squared norm of the elastic net). The multipliers of the two radii are
// lambda1 and lambda2.
//
// Folds, intercepts and units are those of package regression, but that all targets are divided by one number, the root
// of the mean of their variances, so that errors of different targets count as they do in the user's units.
package multitask

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/split"
)

// Data are n rows of p features, a row of X each, and of q targets, a row of Y each.
type Data struct{ X, Y *mat.Dense }

// Options of the model.
type Options struct {
	// R0 are the start values of the two radii. Nil means (10, 5).
	R0 []float64
	// Intercept adds a constant for each target, Standardize works on features of standard deviation 1, and on targets as
	// the package comment says.
	Intercept, Standardize bool
	// Scaling is the unit of standardised features; the zero value is [dataset.ByDeviation], as tables are dense.
	Scaling dataset.Scaling
	// Features and Targets are names. Nil means x1, x2, .. and y1, y2, ..
	Features, Targets []string
	// Gaps are entries with values of their own in each fold, for [NewFolds]; nil for none.
	Gaps *dataset.Gaps
}

// Model is a multi-task regression with its data.
type Model struct{ *regression.Model }

// New checks the data, of which test may be nil, and the options. It keeps references to the data, which must not
// change.
func New(train, val, test *Data, o Options) (*Model, error) {
	var t targets
	var s dataset.Split
	for _, set := range []struct {
		name string
		from *Data
		to   **dataset.Data
	}{{"training", train, &s.Train}, {"validation", val, &s.Val}, {"test", test, &s.Test}} {
		if set.from == nil && set.name == "test" {
			continue
		}
		var err error
		if *set.to, err = t.add(set.from, o); err != nil {
			return nil, fmt.Errorf("multitask: %s rows: %w", set.name, err)
		}
	}
	return t.model(&s, o)
}

// NewFolds is New for a cross-validation: each fold has coefficients of its own, and all share the radii; losses are
// means over the folds. The final fit is to all rows of d, whose units are those of the model.
func NewFolds(d *Data, folds []split.Fold, test *Data, o Options) (*Model, error) {
	var t targets
	rows, err := t.add(d, o)
	if err != nil {
		return nil, fmt.Errorf("multitask: cross-validation rows: %w", err)
	}
	cv := &dataset.CrossValidation{Data: rows, Folds: folds, Gaps: o.Gaps}
	if test != nil {
		if cv.Test, err = t.add(test, o); err != nil {
			return nil, fmt.Errorf("multitask: test rows: %w", err)
		}
	}
	return t.model(cv, o)
}

// targets are those of all rows; the target of a row, for package regression, is its number among them.
type targets struct {
	p, q int
	rows [][]float64
	n    int // rows of the first table, which gives the units
}

// add checks a table, whose shape is that of the first one, and returns it with the numbers of its rows.
func (t *targets) add(d *Data, o Options) (*dataset.Data, error) {
	if d == nil || d.X == nil || d.Y == nil || d.X.IsEmpty() || d.Y.IsEmpty() {
		return nil, fmt.Errorf("no data")
	}
	n, p := d.X.Dims()
	rows, q := d.Y.Dims()
	if t.rows == nil {
		t.p, t.q, t.n = p, q, n
	}
	switch {
	case rows != n:
		return nil, fmt.Errorf("%d rows of targets for %d rows of features", rows, n)
	case p != t.p:
		return nil, fmt.Errorf("%d features, expected %d", p, t.p)
	case q != t.q:
		return nil, fmt.Errorf("%d targets, expected %d", q, t.q)
	}
	out := &dataset.Data{X: d.X, Y: make([]float64, n)}
	for i := range n {
		for k, v := range d.Y.RawRowView(i) {
			if expected := dataset.Expected(v); expected != "" {
				return nil, fmt.Errorf("target %d of row %d is %v, expected %s", k, i, v, expected)
			}
		}
		out.Y[i] = float64(len(t.rows))
		t.rows = append(t.rows, d.Y.RawRowView(i))
	}
	var err error
	out.Features, err = named(o.Features, "x", p)
	return out, err
}

// named returns names, made up where there are none.
func named(given []string, letter string, n int) ([]string, error) {
	if given != nil && len(given) != n {
		return nil, fmt.Errorf("%d names of %s, expected %d", len(given), letter, n)
	}
	given = slices.Clone(given)
	for j := len(given); j < n; j++ {
		given = append(given, fmt.Sprintf("%s%d", letter, j+1))
	}
	return given, nil
}

// model is that of rows.
func (t *targets) model(s dataset.Division, o Options) (*Model, error) {
	names, err := named(o.Targets, "y", t.q)
	if err != nil {
		return nil, fmt.Errorf("multitask: %w", err)
	}
	kind := regression.Kind{Loss: t.loss(), Outputs: names, KeepTarget: true, Unit: 1}
	if o.Standardize {
		kind.Unit = t.unit()
	}
	options := regression.Options{Intercept: o.Intercept, Standardize: o.Standardize, Scaling: o.Scaling, R0: o.R0}
	m, err := regression.Make("multitask", s, options, kind, func(data *regression.Data) (regression.Spec, error) {
		t.largest(data, kind.Unit, o.Intercept)
		return regression.Spec{
			Name: "multi-task", Names: []string{"lambda1", "lambda2"}, R0: []float64{10, 5},
			Penalties: func(b, r convex.Affine) []convex.Convex {
				return []convex.Convex{
					convex.GroupNorms(b, t.features()).Sum().MinusAffine(r.At(0)),
					convex.SumSquares(b).Scale(0.5).MinusAffine(r.At(1)),
				}
			},
			Weights: func(lambda []float64) *glm.Weights {
				return &glm.Weights{Norm: slices.Repeat(lambda[:1], t.p), L2: slices.Repeat(lambda[1:2], t.p)}
			},
		}, nil
	})
	if err != nil {
		return nil, err
	}
	return &Model{m}, nil
}

// features are the indices of the coefficients of each feature.
func (t *targets) features() [][]int {
	list := make([][]int, t.p)
	for j := range list {
		list[j] = indices.Range(j*t.q, (j+1)*t.q)
	}
	return list
}

// column is target k of the rows with these numbers, divided by sd.
func (t *targets) column(k int, numbers []float64, sd float64) []float64 {
	out := make([]float64, len(numbers))
	for i, at := range numbers {
		out[i] = t.rows[int(at)][k] / sd
	}
	return out
}

// of are all targets of rows.
func (t *targets) of(numbers []float64, sd float64) (list [][]float64) {
	for k := range t.q {
		list = append(list, t.column(k, numbers, sd))
	}
	return list
}

// unit is the root of the mean variance of the targets of the first table; 1 where they do not vary.
func (t *targets) unit() float64 {
	variance, column := 0.0, make([]float64, t.n)
	for k := range t.q {
		for i := range column {
			column[i] = t.rows[i][k]
		}
		variance += stat.PopVariance(column, nil) / float64(t.q)
	}
	if variance > 0 && t.n > 1 {
		return math.Sqrt(variance)
	}
	return 1
}

// loss is half the mean square of the residuals of a row.
func (t *targets) loss() regression.Loss {
	residuals := func(f convex.Affine, y []float64, sd float64) convex.Affine {
		return f.Minus(convex.Const(slices.Concat(t.of(y, sd)...)...))
	}
	return regression.Loss{
		Sum: func(f convex.Affine, y, _ []float64, sd float64) convex.Convex {
			return convex.SumSquares(residuals(f, y, sd)).Scale(0.5 / float64(t.q))
		},
		Value: func(f []float64, y, sd float64) (sum float64) {
			for k, v := range t.rows[int(y)] {
				sum += (f[k] - v/sd) * (f[k] - v/sd) / float64(2*t.q)
			}
			return sum
		},
		Residuals: residuals,
		Targets:   t.of,
	}
}

// largest sets LambdaMax to the weight of the norms at which B is 0, the largest norm of a row of X'Y/(nq), centred
// with an intercept; with folds the largest of theirs.
func (t *targets) largest(data *regression.Data, sd float64, centre bool) {
	most := 0.0
	for k := range data.Folds() {
		train, _ := data.Fold(k).Rows()
		squares := make([]float64, t.p)
		for _, y := range t.of(train.Y, sd) {
			if centre {
				floats.AddConst(-stat.Mean(y, nil), y)
			}
			for j, v := range train.MulTrans(y) {
				squares[j] += v * v
			}
		}
		most = math.Max(most, math.Sqrt(floats.Max(squares))/float64(len(train.Y)*t.q))
	}
	data.SetLambdaMax(most)
}
