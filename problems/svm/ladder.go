package svm

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// The ladder of machines with a bound for each feature.
//
// On the first rung all bounds are wide open. Those of the rungs above follow the sizes of the weights w of the rung
// below, the pilot, for the training rows of the same fold, at the lambda that all folds chose:
//
//	wbar_j = boundFactor w_j^2 / max |w|,   1e-6 at least,
//
// so that a feature of small weight is held near zero, and one of more than a third of the largest weight may grow. It
// is what the adaptive lasso (Zou 2006) does by its weights. The pilot of all rows is a machine of the rung below for
// them, at the same lambda.
//
// On 180 draws of 60 x 30, 100 x 100 and 400 x 100 normal features the test errors of the rule over those of the first
// rung are 0.67 where a twentieth of the features count, 1.006 where all do (over 1.02 on 9 of 60) and 1.000 where none
// does. On half of them powers of 1 and 3 in the place of 2 have 0.99 and 0.66 in the first case, factors of 1 and 10
// have 0.79 and 0.87.
const boundFactor = 3

// rung is the model of a rung: a machine with bounds, whose hyperparameter is lambda.
type rung struct {
	*Model
	machines func() ([]*fits.SVM, error) // of the folds, the same on all rungs
	other    *rung                       // with the squared hinge, where the folds choose the loss
	bounds   [][]float64                 // of each fold
	below    *rung                       // the pilots', nil for the first
	lambda   []float64                   // of below
	training sync.Mutex                  // of what follows
	all      []float64                   // the bounds for all rows, once they are known
}

// ladder are the rungs; nil where the features are all zero.
func (m *Model) ladder() []problems.Rung {
	if !(m.longest() > 0) {
		return nil
	}
	common := func(problems.Model, []float64, [][]float64) ([]problems.Model, error) {
		open := slices.Repeat([]float64{openBound}, len(m.h0)-1)
		bounds := slices.Repeat([][]float64{open}, len(m.cv.Folds))
		r := &rung{Model: m, bounds: bounds, all: open}
		r.machines = sync.OnceValues(func() (list []*fits.SVM, err error) {
			for t := 0; t < len(m.cv.Folds) && err == nil; t++ {
				var f *fits.SVM
				f, err = m.machine(t)
				list = append(list, f)
			}
			return list, err
		})
		if m.either {
			squared := *m
			squared.squared = true
			r.other = &rung{Model: &squared, bounds: bounds, all: open}
			r.other.machines = sync.OnceValues(func() (list []*fits.SVM, err error) {
				machines, err := r.machines()
				for _, f := range machines {
					list = append(list, f.Squared())
				}
				return list, err
			})
		}
		return []problems.Model{r}, nil
	}
	adaptive := func(below problems.Model, lambda []float64, x [][]float64) ([]problems.Model, error) {
		pilot := below.(*rung)
		r := &rung{Model: pilot.Model, machines: pilot.machines, below: pilot, lambda: lambda}
		for t := range m.cv.Folds {
			r.bounds = append(r.bounds, bounded(x[2*t]))
		}
		return []problems.Model{r}, nil
	}
	return []problems.Rung{
		{Name: "common", Models: common}, {Name: "adaptive", Models: adaptive}, {Name: "adaptive-twice", Models: adaptive},
	}
}

// bounded are the bounds after a pilot with the weights w; wide open where these are zero.
func bounded(w []float64) []float64 {
	out, top := make([]float64, len(w)), floats.Norm(w, math.Inf(1))
	for j, v := range w {
		if out[j] = openBound; top > 0 {
			out[j] = math.Max(lowest, boundFactor*v*(v/top))
		}
	}
	return out
}

// Names is the name of the hyperparameter.
func (r *rung) Names() []string { return []string{"lambda"} }

// Program has r alone, and the bounds of each fold.
func (r *rung) Program() dca.Program {
	return r.program(1, func(t int, h convex.Expr) convex.Expr {
		return convex.Stack(h, r.bounds[t])
	})
}

// Advice is that of the model, as far as it is about one lambda, and what rungs are compared by.
func (r *rung) Advice() problems.Advice {
	all := r.Model.Advice()
	out := problems.Advice{
		Fit: r.penalised, Score: r.Score, Columns: r.Columns, Open: r.open, TestError: r.TestError, Paper: all.Paper,
		Retrain: r.bounding(all.Retrain), RetrainWeighted: r.bounding(all.RetrainWeighted), Loss: all.Loss,
		Losses: r.losses, Compare: r.compare, Spread: r.spread, Used: r.used,
	}
	if r.other != nil {
		out.Instead = func() (problems.Model, func(own, other [][]float64) bool) { return r.other, r.beaten }
	}
	return out
}

func (r *rung) penalised() (lower.Fit, error) {
	list, err := r.machines()
	if err != nil {
		return nil, err
	}
	return lower.OverFolds(len(list), func(t int) (lower.Fit, error) { return list[t].Bounded(r.bounds[t]), nil })
}

// whole are the bounds for all rows.
func (r *rung) whole(ctx context.Context, s problems.Solver) ([]float64, error) {
	r.training.Lock()
	defer r.training.Unlock()
	if r.all != nil {
		return r.all, nil
	}
	bounds, err := r.below.whole(ctx, s)
	if err != nil {
		return nil, err
	}
	w, _, err := r.train(ctx, s, weighted(slices.Concat(r.lambda, bounds)))
	if err == nil {
		r.all = bounded(w)
	}
	return r.all, err
}

// bounding is a training of the model with h = r or h = lambda alone.
func (r *rung) bounding(of problems.Training) problems.Training {
	return func(ctx context.Context, s problems.Solver, h []float64) (problems.Fit, *float64, error) {
		bounds, err := r.whole(ctx, s)
		if err != nil {
			return problems.Fit{}, nil, err
		}
		return of(ctx, s, slices.Concat(h, bounds))
	}
}

// losses are the scores of the validation rows, fold by fold, and compare is by how much their mean over the rows and
// folds, as in [Model.Score], is larger than that of others, and its standard error.
func (r *rung) losses(x [][]float64) []float64 { return r.each(x, score) }

// each is a function of the decision values times the labels.
func (r *rung) each(x [][]float64, of func(z float64) float64) (list []float64) {
	for t, f := range r.cv.Folds {
		rows := r.folds[t]
		for _, i := range f.Val {
			list = append(list, of(rows.Y[i]*(rows.Dot(i, x[2*t])-x[2*t+1][0])))
		}
	}
	return list
}

// beaten says that other machines have fewer wrong labels of validation rows, by more than one standard error of the
// difference. Scores do not compare losses, as decision values of the squared hinge are smaller.
func (r *rung) beaten(own, other [][]float64) bool {
	wrong := func(z float64) float64 {
		if z > 0 {
			return 0
		}
		return 1
	}
	mean, se := r.compare(r.each(own, wrong), r.each(other, wrong))
	return mean > se
}

func (r *rung) compare(a, b []float64) (mean, se float64) {
	weights := make([]float64, 0, len(a))
	for t, f := range r.cv.Folds {
		from := len(weights)
		weights = append(weights, indices.Pick(r.folds[t].Weights, f.Val)...)
		floats.Scale(1/floats.Sum(weights[from:]), weights[from:])
	}
	return problems.Compare(a, b, weights, min(len(a), len(r.cv.Data.Y)))
}

// spread are the hyperparameters of the model at the lambda of the rung: the bounds for all rows once they are known,
// else the means of the folds'.
func (r *rung) spread(lambda []float64) (weights, upper []float64) {
	r.training.Lock()
	defer r.training.Unlock()
	if r.all != nil {
		return lambda, r.all
	}
	upper = make([]float64, len(r.bounds[0]))
	for _, b := range r.bounds {
		floats.AddScaled(upper, 1/float64(len(r.bounds)), b)
	}
	return lambda, upper
}

// used is the mean number over the folds of features with more than a hundredth of the largest weight.
func (r *rung) used(x [][]float64) float64 {
	n := 0
	for t := range r.cv.Folds {
		top := floats.Norm(x[2*t], math.Inf(1))
		n += floats.Count(func(v float64) bool { return math.Abs(v) > top/100 }, x[2*t])
	}
	return float64(n) / float64(len(r.cv.Folds))
}
