package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// statisticsFigure is what --plot draws, about the choice of the best method: the validation error and the coefficients over lambda, and below them the predictions: targets and
// residuals, or the ROC curve and the confusion table of a classifier, or the matrix. Where the weights have no curve, as those of a support vector
// machine and of a matrix, what the run had reached stands above.
func statisticsFigure(job *tuneJob, split *dataset.Split, results []*tune.Result) figure.Figure {
	r := evaluate.Best(results)
	var f figure.Figure
	if c := curveOf(r); c != nil {
		f = c.figure()
		f.Panels[0].YLabel = "validation: " + errorAxis(r)
		f.Title = fmt.Sprintf("%s for %s: error over lambda, with bars of one standard error", r.Model, split.Train.Target)
		if p := pathsOf(split, r); p != nil {
			f.Panels = append(f.Panels, p.panel())
		}
	} else {
		label, steps := overSteps(results)
		f = progressFigure(job, steps)
		if len(results) == 1 && !searches(r.Method) {
			f.Panels = f.Panels[:1] // the others are about the method
		}
		f.XLabel = strings.Replace(f.XLabel, "seconds", label, 1)
	}
	switch {
	case r.Refit == nil:
	case r.RefitFit.Matrix != nil:
		f.Map = heatMap(r.RefitFit.Matrix)
	case r.RefitFit.Labels != nil:
		f.Tiles = classifierTiles(job, split, r)
	case job.judge.Of(r) == nil: // no rows to judge by
	default:
		j := job.judge.Of(r)
		where := whereJudged[j.On]
		titles := []string{"targets, " + where, "residuals"}
		if r.RefitFit.Hazard {
			titles = []string{"without an event, by thirds of the hazard (orange: highest), " + where}
		}
		for _, d := range predictionDrawings(job, j, r.RefitFit) {
			f.Tiles = append(f.Tiles, d.tiles(true, titles...)...)
		}
	}
	return f
}

// traceOfRun is what --plot-trace draws: a single run over its iterations, several methods over time.
func traceOfRun(job *tuneJob, split *dataset.Split, results []*tune.Result) figure.Figure {
	label, steps := overSteps(results)
	f := resultFigure(job, split, steps)
	f.XLabel = strings.Replace(f.XLabel, "seconds", label, 1)
	return f
}

// What a run is drawn over.
const (
	stepSecond     = "seconds"
	stepIteration  = "iteration"
	stepEvaluation = "evaluation"
)

// overSteps puts the events of a single run at the numbers of its steps, which tell more than the clock, and leaves several methods over the seconds.
func overSteps(results []*tune.Result) (label string, over []*tune.Result) {
	if len(results) != 1 {
		return stepSecond, results
	}
	r := *results[0]
	r.Trace = slices.Clone(r.Trace)
	for k := range r.Trace {
		r.Trace[k].Elapsed = time.Duration(k+1) * time.Second
	}
	r.TimeSeconds = float64(len(r.Trace))
	label = stepIteration
	if searches(r.Method) {
		label = stepEvaluation
	}
	return label, []*tune.Result{&r}
}
