package regression

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/problems/dataset"
)

// MultiTask is a regression of several targets on the same features, in which a feature is used for all targets or for
// none. The targets are the [dataset.Data].Targets of the rows, which have no weights and no offset.
//
// With n rows of p features X, q targets Y and coefficients B (p x q, B_j the row of feature j), a loss is half the
// mean squared error over rows and targets, 1/(2nq) |Y - X B|_F^2, and the bilevel program
//
//	minimize   L(B)   over B and r >= 0
//	subject to B solves  min { l(B) : sum_j |B_j|_2 <= r1, 1/2 |B|_F^2 <= r2 }
//
// is the decoupled form of choosing lambda in min l(B) + lambda1 sum_j |B_j|_2 + lambda2/2 |B|_F^2 (G. Obozinski, B.
// Taskar, M. I. Jordan, Joint covariate selection and joint subspace selection for multiple classification problems,
// Statistics and Computing 20, 2010, with the squared norm of the elastic net). The multipliers of the two radii are
// lambda1 and lambda2.
//
// Standardised, all targets are divided by one number, the root of the mean of their variances, so that errors of
// different targets count as they do in the user's units.
func MultiTask(s dataset.Division, o Options) (*Model, error) {
	var t severalTargets
	s, err := t.number(s)
	if err != nil {
		return nil, fmt.Errorf("multi-task: %w", err)
	}
	n := Net{Name: "multi-task", Loss: t.loss(), outputs: t.names, KeepTarget: true, unit: 1}
	if o.Standardize {
		n.unit = t.unit()
	}
	n.spec = func(data *data) (spec, error) {
		t.largest(data, n.unit, o.Intercept)
		return spec{
			Names: []string{"lambda1", "lambda2"}, R0: []float64{10, 5},
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
	}
	return NewNet(s, o, n)
}

// severalTargets are those of all rows; the target of a row of the model is its number among them.
type severalTargets struct {
	p, q  int
	names []string
	rows  [][]float64
	n     int   // rows of the first table, which gives the units
	wrong error // why the model cannot have the rows
}

// number is the same division with the numbers of the rows in the place of their targets.
func (t *severalTargets) number(s dataset.Division) (dataset.Division, error) {
	if err := dataset.Check(s); err != nil {
		return nil, err
	}
	first := s.Table()
	if first.Targets == nil {
		return nil, fmt.Errorf("no Data.Targets")
	}
	t.n, t.p = first.Dims()
	_, t.q = first.Targets.Dims()
	if t.names = first.TargetNames; t.names == nil {
		for k := range t.q {
			t.names = append(t.names, fmt.Sprintf("y%d", k+1))
		}
	}
	switch s := s.(type) {
	case *dataset.Split:
		s = &dataset.Split{Train: t.add(s.Train), Val: t.add(s.Val), Test: t.add(s.Test)}
		return s, t.wrong
	case *dataset.CrossValidation:
		s = &dataset.CrossValidation{Data: t.add(s.Data), Folds: s.Folds, Test: t.add(s.Test), Gaps: s.Gaps}
		return s, t.wrong
	}
	return nil, fmt.Errorf("rows in a %T, expected a split or folds", s)
}

// add has the numbers of rows in the place of their targets; it takes and returns nil too.
func (t *severalTargets) add(d *dataset.Data) *dataset.Data {
	if d == nil {
		return nil
	}
	if d.Weights != nil || d.Offset != nil {
		t.wrong = fmt.Errorf("rows with weights or an offset")
	}
	out := &dataset.Data{X: d.Dense(), Y: make([]float64, len(d.Y)), Features: d.Features}
	for i := range out.Y {
		out.Y[i] = float64(len(t.rows))
		t.rows = append(t.rows, d.Targets.RawRowView(i))
	}
	return out
}

// features are the indices of the coefficients of each feature.
func (t *severalTargets) features() [][]int {
	list := make([][]int, t.p)
	for j := range list {
		list[j] = indices.Range(j*t.q, (j+1)*t.q)
	}
	return list
}

// column is target k of the rows with these numbers, divided by sd.
func (t *severalTargets) column(k int, numbers []float64, sd float64) []float64 {
	out := make([]float64, len(numbers))
	for i, at := range numbers {
		out[i] = t.rows[int(at)][k] / sd
	}
	return out
}

// of are all targets of rows.
func (t *severalTargets) of(numbers []float64, sd float64) (list [][]float64) {
	for k := range t.q {
		list = append(list, t.column(k, numbers, sd))
	}
	return list
}

// unit is the root of the mean variance of the targets of the first table; 1 where they do not vary.
func (t *severalTargets) unit() float64 {
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
func (t *severalTargets) loss() Loss {
	residuals := func(f convex.Affine, y []float64, sd float64) convex.Affine {
		return f.Minus(convex.Const(slices.Concat(t.of(y, sd)...)...))
	}
	return Loss{
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
func (t *severalTargets) largest(data *data, sd float64, centre bool) {
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
