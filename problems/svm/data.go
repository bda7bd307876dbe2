package svm

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/problems/dataset"
)

// design is the weighted mean hinge loss over some rows as a function of a machine: with u_i the weights over
// their sum,
//
//	sum_i max(0, u_i - u_i y_i a_i.w + u_i y_i c).
type design struct {
	x mat.Matrix // rows u_i y_i a_i
	y *mat.Dense // u_i y_i
	u []float64
}

func newDesign(rows *dataset.Data, index []int) *design {
	n := len(index)
	d := &design{y: mat.NewDense(n, 1, nil), u: indices.Pick(rows.Weights, index)}
	floats.Scale(1/floats.Sum(d.u), d.u)
	signed := indices.Pick(rows.Y, index)
	floats.Mul(signed, d.u)
	d.y.SetCol(0, signed)
	d.x = rows.ScaledRows(index, signed).X
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

// part are some rows for a fit.
func part(rows *dataset.Data, index []int) fits.Rows {
	some := rows.Rows(index)
	out := fits.NewRows(some.X, some.Y)
	out.Weights = some.Weights
	return out
}
