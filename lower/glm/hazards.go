package glm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/lower/survival"
)

// Hazards is the half deviance of the partial likelihood of times, minus those of censored rows, see package survival. Its second derivatives are diag(a) less those of the
// means of the rows at risk. As what varies within these varies by as much at least among all rows, those of weights a about one mean bound them: a constant,
// which changes nothing, makes the model that of rows alone.
type Hazards struct {
	Ties survival.Ties
	// Unit is what half deviances of validation rows are divided by, 0 for none of interest.
	Unit float64
}

// Rows implements [Loss].
func (h Hazards) Rows(y, weights []float64) Sum {
	sum, _ := h.Joint(y, weights)()
	return sum
}

// Joint is Rows with the means, for one goroutine at a time.
func (h Hazards) Joint(y, weights []float64) func() (Sum, Means) {
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
	return func() (Sum, Means) { return sumOf(likelihood, list, roots) }
}

// sumOf is the half deviance of the rows of a list, with the roots of the weights of its terms.
func sumOf(likelihood *survival.Likelihood, list []int, roots []float64) (Sum, Means) {
	n := len(list)
	values, slopes, shares := make([]float64, n), make([]float64, n), make([]float64, n)
	var at *survival.Point
	sum := func(eta, pull, curve []float64) float64 {
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
	return sum, func(column []float64) []float64 {
		for k, i := range list {
			slopes[k] = column[i]
		}
		out := make([]float64, len(roots))
		at.Means(out, slopes)
		floats.Mul(out, roots)
		return out
	}
}

// added implements [joint].
func (h Hazards) added() float64 { return h.Unit }

// joint is a loss of all rows together, which a constant does not change. What validation rows add to that of the training rows, over a unit, is the validation loss.
type joint interface {
	Loss
	added() (unit float64)
	// Joint makes what Rows is, with what its second derivatives are less than those of the rows alone, for one goroutine
	// at a time.
	Joint(y, weights []float64) func() (Sum, Means)
}

// Means are numbers of a column of the table at the last predictions of a sum, whose products with those of others are
// what the second derivatives are less.
type Means func(column []float64) []float64

// whole are the products of the working set with all second derivatives of a joint loss.
type whole struct {
	gram
	means Means
}

// begin implements products.
func (g *whole) begin(f *fold) {
	d, pt, x := g.d, f.point, g.d.columns()
	features := f.features()
	n := len(features)
	l := &local{q: 1, features: features, place: make([]int, d.p), h: x.Products(context.Background(), features, features, pt.curve, 1), lda: n}
	column, block := make([]float64, d.n), []float64(nil)
	for a, j := range features {
		clear(column)
		x.Axpy(1, j, column)
		values := g.means(column)
		if a == 0 {
			block = make([]float64, n*len(values))
		}
		for k, v := range values {
			block[k*n+a] = v
		}
		l.place[j], l.r, l.b = a, append(l.r, f.gradient[j]), append(l.b, f.b[j])
	}
	if n > 0 {
		dense.SyrkNT(n, len(block)/n, block, n, block, n, l.h, n)
	}
	floats.Scale(1/pt.total, l.h)
	mirror(l.h, n)
	f.local, f.work = l, l
}

// block implements products.
func (*whole) block(f *fold, features []int) [][]float64 {
	at := make([]int, len(features))
	for a, j := range features {
		at[a] = f.local.place[j]
	}
	return pick(f.local.h, f.local.lda, at)
}
