package main

import (
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
)

// predictClassOfRow predicts the label of row k of a block by a model with a value for each label, and scores it with its weight where it has a target.
func (p *predictions) predictClassOfRow(m *model.Model, block *dataset.Data, k int, actual []float64, at placed, score *model.Score) error {
	features := make([]float64, len(m.Features))
	block.Fill(features, k)
	values, err := m.PredictTargets(features)
	if err != nil {
		return err
	}
	p.Predictions = append(p.Predictions, m.Class(values))
	if p.form.prob {
		p.Labels = p.classes
		p.ClassProbabilities = append(p.ClassProbabilities, m.Probabilities(values))
	}
	if len(actual) > 0 {
		score.AddClass(values, actual[0], at.weight)
	}
	return nil
}

// probabilities are those of row i that are written with --prob: of all labels, or of the second one; with --survival those of the times.
func (p *predictions) probabilities(i int) []float64 {
	switch {
	case p.form.times != nil:
		return p.Survival[i]
	case !p.form.prob:
		return nil
	case p.classes != nil:
		return p.ClassProbabilities[i]
	}
	return p.Probabilities[i : i+1]
}
