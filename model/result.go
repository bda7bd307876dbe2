package model

import (
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"

	"gonum.org/v1/gonum/mat"
)

// New is the refit of a result, and how it came about: from the rows of a source, by the model m that was built of them
// with these options. The result must have a refit.
func New(source *input.Source, rows *input.Rows, m problems.Model, o Options, r *tune.Result) Model {
	count := func(d *dataset.Data) int { n, _ := d.Dims(); return n }
	split, fit := rows.Split, r.RefitFit
	out := Model{
		Model: r.Model, Target: split.Train.Target, Matrix: newMatrix(fit.Matrix),
		Features: fit.Features, Coefficients: fit.Coefficients, Intercept: fit.Intercept,
		Targets: fit.Targets, Intercepts: fit.Intercepts, Labels: fit.Labels, LogLink: fit.LogLink,
		Loss:     lossOf(r, m, rows, o),
		Encoding: rows.Encoder, Weights: source.Wanted.Weights, Offset: source.Wanted.Offset,
		Hyperparameters: r.Hyperparameters, Radii: r.Radii,
		ValidationError: words.FiniteOrNull(r.Refit.Validation),
		Provenance: Provenance{
			Program: "conetune " + r.Version, Method: r.Method, Backend: r.Backend,
			Status: string(r.Status), Iterations: r.Iterations, Seed: r.Seed, Files: source.Files(), Split: source.Rule(),
			TrainingRows: count(split.Train), ValidationRows: count(split.Val), TestRows: count(split.Test),
			Folds: rows.FoldCount(), Repeats: rows.Repeats, Division: rows.Division.String(), Standardize: o.Standardize,
			Intercept: o.Intercept,
		},
	}
	if test := r.Refit.Test; test != nil {
		out.TestError = words.FiniteOrNull(*test)
	}
	if fit.Matrix == nil {
		out.Deviations = split.Train.Deviations()
	}
	if m, ok := m.(*regression.Model); ok {
		out.Baseline = m.Baseline(fit)
	}
	out.Conformal = evaluate.NewJudge(rows, m, o.Intercept).Conformal(r)
	return out
}

// lossOf is the loss of a result, with what it takes to work it out anew; nil for squares and deviances of counts.
func lossOf(r *tune.Result, m problems.Model, rows *input.Rows, o Options) *Loss {
	spec, err := Find(r.Model)
	if err != nil || spec.Loss == "" {
		return nil
	}
	l := &Loss{Kind: spec.Loss}
	if m, ok := m.(*regression.Model); ok {
		o := m.Options()
		l.Threshold, l.Level, l.Ties = o.Threshold, o.Level, o.Ties
	}
	l.Squared = l.Kind == Hinge && r.Loss == svm.SquaredHinge
	if spec.Labels {
		_, l.ClassWeights, _ = o.Weighed(rows)
	}
	return l
}

// newMatrix is the form of a completed matrix in a file, nil for other models.
func newMatrix(m *problems.Matrix) *Matrix {
	if m == nil {
		return nil
	}
	lines := func(a *mat.Dense, n int) [][]float64 {
		out := make([][]float64, n)
		for i := range out {
			out[i] = []float64{}
			if a != nil {
				out[i] = a.RawRowView(i)
			}
		}
		return out
	}
	rows, cols := m.Dims()
	return &Matrix{RowEffects: m.RowEffects, ColEffects: m.ColEffects, Left: lines(m.Left, rows),
		Right: lines(m.Right, cols)}
}
