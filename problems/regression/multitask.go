package regression

import (
	"context"
	"errors"
	"slices"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/problems/dataset"
)

// MultiTask is a regression of several targets on the same features, in which a feature is used for all targets or for
// none. The targets are the [dataset.Data].Targets of the rows, which are dense, without weights and offset.
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
	return checked("multi-task", s, func() (*Model, error) { return multiTask(s, o) })
}

func multiTask(s dataset.Division, o Options) (*Model, error) {
	for _, part := range append(s.Parts(), &dataset.Split{Train: s.Table(), Val: s.Tests()}) {
		for _, d := range []*dataset.Data{part.Train, part.Val} {
			switch {
			case d == nil:
			case d.Targets == nil:
				return nil, errors.New("no Data.Targets")
			case d.Weights != nil || d.Offset != nil || d.Sparse():
				return nil, errors.New("rows with weights, an offset or sparse features")
			}
		}
	}
	_, p := s.Table().Dims()
	names, features := s.Table().NamesOfTargets(), make([][]int, p)
	q := len(names)
	for j := range features {
		features[j] = indices.Range(j*q, (j+1)*q)
	}
	n := Net{
		Name: "multi-task", outputs: names, several: true, Loss: Loss{
			Sum: func(f convex.Expr, y, _ []float64, sd float64) convex.Expr {
				return convex.Scale(0.5/float64(q), convex.SumSquares(differences(f, y, sd)))
			},
			Value: func(f, y []float64, _ float64) (sum float64) {
				for k, v := range y {
					sum += (f[k] - v) * (f[k] - v) / float64(2*q)
				}
				return sum
			},
			Residuals: differences,
		},
		spec: func(data *data) (spec, error) {
			top, err := largestRow(context.Background(), data)
			if err != nil {
				return spec{}, err
			}
			data.SetLambdaMax(top)
			return spec{
				Names: []string{"lambda1", "lambda2"}, R0: []float64{10, 5},
				Penalties: func(b, r convex.Expr) []convex.Expr {
					return []convex.Expr{
						convex.Sub(convex.Sum(convex.GroupNorms(b, features)), convex.At(r, 0)),
						convex.Sub(convex.Scale(0.5, convex.SumSquares(b)), convex.At(r, 1)),
					}
				},
				Weights: func(lambda []float64) *glm.Weights {
					return &glm.Weights{Norm: slices.Repeat(lambda[:1], p), L2: slices.Repeat(lambda[1:2], p)}
				},
			}, nil
		},
	}
	return n.model(s, o)
}

// largestRow is the weight of the norms at which B is 0; with folds the largest of theirs.
func largestRow(ctx context.Context, d *data) (most float64, err error) {
	for _, part := range d.parts {
		rows, err := glm.New(ctx, d.table(part().train, nil))
		if err != nil {
			return 0, err
		}
		_, p := part().train.Dims()
		top, _ := rows.Path(ctx).LambdaMax(&glm.Weights{Norm: slices.Repeat([]float64{1}, p)})
		most = max(most, top)
	}
	return most, nil
}
