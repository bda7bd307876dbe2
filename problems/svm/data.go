package svm

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/problems/dataset"
)

// rows are features with labels -1 and 1.
type rows struct {
	x *dataset.Data
	y []float64
}

func newRows(d *dataset.Data, labels []float64) *rows {
	r := &rows{x: d, y: make([]float64, len(d.Y))}
	for i, y := range d.Y {
		r.y[i] = dataset.Sign(labels, y)
	}
	return r
}

// weight returns the weight of a row: its own times that of its class.
func (r *rows) weight(i int, classes [2]float64) float64 {
	w := classes[0]
	if r.y[i] > 0 {
		w = classes[1]
	}
	if r.x.Weights != nil {
		w *= r.x.Weights[i]
	}
	return w
}

// mean is the weighted mean over some rows of a function of the decision values of a machine times the labels.
func (r *rows) mean(index []int, classes [2]float64, w []float64, c float64, of func(z float64) float64) float64 {
	sum, total := 0.0, 0.0
	for _, i := range index {
		u := r.weight(i, classes)
		total += u
		sum += u * of(r.y[i]*(r.x.Dot(i, w)-c))
	}
	return sum / total
}

// design is the weighted mean hinge loss over some rows as a function of a machine: with u_i the weights over
// their sum,
//
//	sum_i max(0, u_i - u_i y_i a_i.w + u_i y_i c).
type design struct {
	x mat.Matrix // rows u_i y_i a_i
	y *mat.Dense // u_i y_i
	u []float64
}

func (r *rows) design(index []int, classes [2]float64) *design {
	n := len(index)
	d := &design{y: mat.NewDense(n, 1, nil), u: make([]float64, n)}
	for k, i := range index {
		d.u[k] = r.weight(i, classes)
	}
	floats.Scale(1/floats.Sum(d.u), d.u)
	signed := make([]float64, n)
	for k, i := range index {
		signed[k] = d.u[k] * r.y[i]
		d.y.Set(k, 0, signed[k])
	}
	d.x = r.x.ScaledRows(index, signed).X
	return d
}

// hinge is the loss as an expression, squared the sum of u_i max(0, 1 - y_i (a_i.w - c))^2.
func (d *design) hinge(w, c *convex.Variable, squared bool) convex.Expr {
	short := convex.Add(convex.Sub(d.u, convex.Mul(d.x, w)), convex.Mul(d.y, c))
	if !squared {
		return convex.Sum(convex.Pos(short))
	}
	root := make([]float64, len(d.u))
	for i, u := range d.u {
		root[i] = 1 / math.Sqrt(u)
	}
	return convex.SumSquares(convex.Pos(convex.Scale(root, short)))
}
