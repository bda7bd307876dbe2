package glm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/survival"
)

// Hazards is the half deviance of the partial likelihood of times, minus those of censored rows, see package survival.
// Its second derivatives are diag(a) less those of the means of the rows at risk. As what varies within these varies by
// as much at least among all rows, those of weights a about one mean bound them: a constant, which changes nothing,
// makes the model that of rows alone.
type Hazards struct {
	Ties survival.Ties
	// Unit is what half deviances of validation rows are divided by, 0 for none of interest.
	Unit float64
}

// Rows implements [Loss].
func (h Hazards) Rows(y []float64) Sums {
	return func(w Counted) func() Coupled { return h.of(y, w.of(len(y))) }
}

// of is that of rows with weights.
func (h Hazards) of(y, weights []float64) func() Coupled {
	var list []int
	var times, weight []float64
	ones := true
	for i, w := range weights {
		if w > 0 {
			list, times, weight = append(list, i), append(times, y[i]), append(weight, w)
			ones = ones && w == 1
		}
	}
	if ones {
		weight = nil
	}
	likelihood := survival.New(times, weight, h.Ties)
	roots := likelihood.Weights()
	for k, m := range roots {
		roots[k] = math.Sqrt(m)
	}
	return func() Coupled { return sumOf(likelihood, list, roots) }
}

// sumOf is the half deviance of the rows of a list, with the roots of the weights of its terms.
func sumOf(likelihood *survival.Likelihood, list []int, roots []float64) Coupled {
	n := len(list)
	values, slopes, shares := make([]float64, n), make([]float64, n), make([]float64, n)
	var at *survival.Point
	var last []float64
	sum := func(eta, pull, curve []float64) float64 {
		last = curve
		for k, i := range list {
			values[k] = eta[i]
		}
		at = likelihood.At(values, at)
		at.Slopes(slopes, shares)
		clear(pull)
		clear(curve)
		for k, i := range list {
			pull[i], curve[i] = slopes[k], shares[k]
		}
		return at.HalfDeviance
	}
	return Coupled{Sum: sum, Second: func(ctx context.Context, x design.Classes, entries []int, threads int) []float64 {
		all := indices.Range(0, len(entries))
		out := x.X.Gram(ctx, x.Features(entries), last, threads)
		var means []float64 // of the rows at risk, times the roots
		column := make([]float64, x.X.Rows())
		for _, e := range entries {
			clear(column)
			x.Axpy(1, e, column)
			for k, i := range list {
				slopes[k] = column[i]
			}
			one := make([]float64, len(roots))
			at.Means(one, slopes)
			floats.Mul(one, roots)
			means = append(means, one...)
		}
		floats.Sub(out, design.FromColumns(len(roots), len(all), means).Gram(ctx, all, nil, threads))
		return out
	}}
}

// whole are the products of the working set with all second derivatives of a coupled loss, which are made anew where
// the curvatures have changed: those of all features where these are few and most in use, as others are the next to
// join.
type whole struct {
	curve []float64 // at which they were made
	place []int     // of each feature, -1 for none
	h     []float64
	order int
}

// begin implements products.
func (g *whole) begin(f *fold) {
	pt, features := f.point, f.features()
	if pt.slow || g.curve == nil || floats.Distance(g.curve, pt.curve, 1) > renew*floats.Sum(pt.curve) ||
		slices.ContainsFunc(features, func(j int) bool { return g.place[j] < 0 }) {
		list := features
		if 2*len(list) > f.d.p && f.d.p <= truncatedSize {
			list = indices.Range(0, f.d.p)
		}
		g.h, g.order = pt.coupled.Second(context.Background(), f.d.entries(), list, 1), len(list)
		floats.Scale(1/pt.total, g.h)
		g.curve, g.place = slices.Clone(pt.curve), slices.Repeat([]int{-1}, f.d.p)
		for i, j := range list {
			g.place[j] = i
		}
	}
	l, _ := f.localise(features)
	at := make([]int, len(features))
	for i, j := range features {
		at[i] = g.place[j]
		l.r = append(l.r, f.gradient[j])
	}
	if l.h = g.h; len(at) < g.order || !consecutive(g.place, features) {
		l.h = pick(g.h, g.order, at)
		dense.Mirror(l.h, len(at))
	}
}
