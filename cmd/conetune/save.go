package main

import (
	"github.com/conetune/conetune/lower/survival"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/cox"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/huber"
	"github.com/conetune/conetune/problems/logistic"
	"github.com/conetune/conetune/problems/multinomial"
	"github.com/conetune/conetune/problems/quantile"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/tune"
)

// savedModel is what --save writes: the refit, and how it came about.
func savedModel(job *tuneJob, split *dataset.Split, r *tune.Result) model.Model {
	rows := func(d *dataset.Data) int { n, _ := d.Dims(); return n }
	var deviations []float64
	if r.RefitFit.Matrix == nil {
		deviations = split.Train.Deviations()
	}
	repeats := 0
	if job.rows.Dealt != nil {
		repeats = job.rows.Dealt.Repeats
	}
	return model.Model{
		Model: r.Model, Target: split.Train.Target,
		Matrix: savedMatrix(r.RefitFit.Matrix), Features: r.RefitFit.Features, Coefficients: r.RefitFit.Coefficients, Intercept: r.RefitFit.Intercept, Targets: r.RefitFit.Targets, Intercepts: r.RefitFit.Intercepts, Labels: r.RefitFit.Labels, LogLink: r.RefitFit.LogLink,
		Baseline: job.baselineOf(r.RefitFit),
		Loss:     job.loss, Deviations: deviations,
		Encoding: job.rows.Encoder, Weights: job.data.Wanted.Weights, Offset: job.data.Wanted.Offset,
		Hyperparameters: r.Hyperparameters, Radii: r.Radii,
		ValidationError: finiteOrNull(r.Refit.Validation), TestError: finite(r.Refit.Test),
		Provenance: model.Provenance{
			Program: "conetune " + r.Version, Method: r.Method, Backend: r.Backend, Preset: job.preset,
			Status: string(r.Status), Iterations: r.Iterations, Seed: r.Seed,
			Files: job.data.files(), Split: job.data.Rule(),
			TrainingRows: rows(split.Train), ValidationRows: rows(split.Val), TestRows: rows(split.Test),
			Folds: job.rows.Dealt.Count(), Repeats: repeats, Division: job.rows.Division.String(),
			Standardize: job.scaling.standardize, Intercept: job.scaling.intercept,
		},
	}
}

// baselineOf is that of a fit of hazards, nil for others.
func (job *tuneJob) baselineOf(f tune.Fit) *survival.Baseline {
	if job.judge == nil {
		return nil
	}
	if m, ok := job.judge.model.(*cox.Model); ok {
		b := m.Baseline(f)
		return &b
	}
	return nil
}

// lossOf is the loss of a model, with what it takes to work it out anew; nil for squares and deviances of counts.
func (job *tuneJob) lossOf(bilevel tune.Model) *model.Loss {
	switch m := bilevel.(type) {
	case *huber.Model:
		return &model.Loss{Kind: model.Huber, Threshold: m.Threshold()}
	case *quantile.Model:
		return &model.Loss{Kind: model.Pinball, Level: m.Level()}
	case *logistic.Model:
		return &model.Loss{Kind: model.Logistic}
	case *multinomial.Model:
		return &model.Loss{Kind: model.Multinomial}
	case *cox.Model:
		return &model.Loss{Kind: model.Cox, Ties: job.model.ties}
	case *svm.Model:
		l := &model.Loss{Kind: model.Hinge}
		if w := m.ClassWeights(); w != [2]float64{1, 1} {
			l.ClassWeights = w[:]
		}
		return l
	}
	return nil
}

// finite is a number that may be missing, and is where it is not finite: JSON has no other way to write it.
func finite(v *float64) *float64 {
	if v == nil {
		return nil
	}
	return finiteOrNull(*v)
}
