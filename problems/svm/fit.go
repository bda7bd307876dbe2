package svm

import (
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// Penalised is the mean of the folds' machines, with the hyperparameters lambda and wbar.
func (m *Model) Penalised() (lower.Fit, error) {
	return lower.OverFolds(len(m.cv.Folds), func(t int) (lower.Fit, error) { return m.machine(t) })
}

// machine is that of a fold.
func (m *Model) machine(t int) (*fits.SVM, error) {
	f, rows := m.cv.Folds[t], m.folds[t]
	s, err := fits.NewSVM(part(rows, f.Training(len(rows.Y))), part(rows, f.Val), lowest, highest)
	if err == nil && m.squared {
		s = s.Squared()
	}
	return s, err
}

// Advice is what methods ask of the model, with the ranges of the paper, which has no descents on it. Its searches have
// one bound for all features, but for a tree of Parzen estimators, which has few evaluations as it is slow with many
// axes.
func (m *Model) Advice() problems.Advice {
	loss := Hinge
	if m.squared {
		loss = SquaredHinge
	}
	return problems.Advice{
		Fit: m.Penalised, Modes: []lower.Mode{lower.Adjoint, lower.Forward}, Score: m.Score, Columns: m.Columns,
		Ladder: m.ladder, Retrain: m.training(within), RetrainWeighted: m.training(weighted), TestError: m.TestError,
		Loss: loss,
		Paper: problems.Paper{
			Weights: [2]float64{1e-4, 1e4}, Upper: [2]float64{1e-6, 1e2}, Common: true,
			ParzenEach: 10, Untried: true,
		},
	}
}
