package glm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/must"
)

// made is a table of n rows and p features, of which every third counts, with columns of means and scales of their own.
func made(seed uint64, n, p, q int) *Table {
	rng := rand.New(rand.NewPCG(seed, 5))
	x, t := mat.NewDense(n, p, nil), &Table{Intercept: true}
	for i := range n {
		for j := range p {
			x.Set(i, j, float64(j%5)+(1+float64(j%3))*rng.NormFloat64())
		}
	}
	t.X = x
	for k := range q {
		y := make([]float64, n)
		for i := range y {
			y[i] = 3 + rng.NormFloat64()
			for j := 0; j < p; j += 3 {
				y[i] += x.At(i, j) * math.Cos(float64(j+k)) / 2
			}
		}
		t.Y = append(t.Y, y)
	}
	for f := range 3 {
		var left []int
		for i := f; i < n; i += 3 {
			left = append(left, i)
		}
		t.Folds = append(t.Folds, left)
	}
	return t
}

// solve solves a table at weights that fall to them in steps, to the relative gap tol.
func solve(t *testing.T, table *Table, w *Weights, tol float64) *Solution {
	d := must.Of(New(context.Background(), table))(t)
	path := d.Path(context.Background())
	var s *Solution
	for _, factor := range []float64{30, 5, 2, 1} {
		s = must.Of(path.Solve(context.Background(), w.scaled(factor), tol))(t)
		require.True(t, s.Solved, "factor %g, gap %g", factor, s.Gap)
	}
	return s
}

// program is a table with weights as a conic model of coefficients b, of features and then of targets, and constants.
type program struct {
	*convex.Model
	*Table
	w     *Weights
	b, b0 *convex.Variable
}

func newProgram(table *Table, w *Weights) *program {
	_, p := table.X.Dims()
	m := convex.NewModel()
	return &program{m, table, w, m.Vector("b", p*len(table.Y)), m.Vector("b0", len(table.Y))}
}

// rows are those of training of fold f, and the others.
func (m *program) rows(f int) (train, left []int) {
	n, _ := m.X.Dims()
	for i := range n {
		if !slices.Contains(m.Folds[f], i) {
			train = append(train, i)
		}
	}
	return train, m.Folds[f]
}

// loss is the mean of the losses of rows, over all targets.
func (m *program) loss(rows []int) convex.Expr {
	_, p := m.X.Dims()
	q := len(m.Y)
	x, weights, ys := mat.NewDense(len(rows), p, nil), make([]float64, len(rows)), make([][]float64, q)
	for l, i := range rows {
		x.SetRow(l, mat.Row(nil, i, m.X))
		if weights[l] = 1; m.Weights != nil {
			weights[l] = m.Weights[i]
		}
		for k := range q {
			ys[k] = append(ys[k], m.Y[k][i])
		}
	}
	floats.Scale(1/(floats.Sum(weights)*float64(q)), weights)
	sum := convex.Const(0)
	for k, y := range ys {
		place := make([]int, p)
		for j := range place {
			place[j] = j*q + k
		}
		eta := convex.Mul(x, convex.Pick(m.b, place))
		if m.Intercept {
			eta = convex.Add(eta, convex.At(m.b0, k))
		}
		sum = convex.Add(sum, lossOf(m.Loss, eta, y, weights))
	}
	return sum
}

// penalties are those of the coefficients.
func (m *program) penalties() convex.Expr {
	_, p := m.X.Dims()
	q, sum := len(m.Y), convex.Const(0)
	of := func(features []int) (at []int) {
		for _, j := range features {
			at = append(at, indices.Range(j*q, (j+1)*q)...)
		}
		return at
	}
	units := m.Units
	if units == nil {
		units = indices.Singles(p)
	}
	for u, members := range units {
		if m.w.Norm[u] > 0 {
			sum = convex.Add(sum, convex.Scale(m.w.Norm[u], convex.Norm2(convex.Pick(m.b, of(members)))))
		}
	}
	for j := range p {
		own := convex.Slice(m.b, j*q, (j+1)*q)
		if m.w.L1 != nil {
			sum = convex.Add(sum, convex.Scale(m.w.L1[j], convex.Norm1(own)))
		}
		if m.w.L2 != nil {
			sum = convex.Add(sum, convex.Scale(m.w.L2[j]/2, convex.SumSquares(own)))
		}
	}
	if m.w.Fusion > 0 {
		sum = convex.Add(sum, convex.Scale(m.w.Fusion, convex.TotalVariation(m.b)))
	}
	return sum
}

// conic is the least objective of the training rows of fold f by a conic program.
func conic(t *testing.T, table *Table, f int, w *Weights) float64 {
	m := newProgram(table, w)
	train, _ := m.rows(f)
	m.Minimize(convex.Add(m.loss(train), m.penalties()))
	for j := range table.Lower {
		m.Ge("", convex.At(m.b, j), table.Lower[j])
		m.Le("", convex.At(m.b, j), table.Upper[j])
	}
	return lowertest.Conic(t, m.Model, 0).Objective
}

// objective is that of fold f at a solution, and the mean loss of the rows that it leaves out.
func objective(table *Table, f int, s *Solution, w *Weights) (train, validation float64) {
	m := newProgram(table, w)
	at := convex.Point{m.b: s.B[f], m.b0: make([]float64, len(table.Y))}
	if table.Intercept {
		at[m.b0] = s.B0[f]
	}
	rows, left := m.rows(f)
	train = m.loss(rows).Eval(at)[0]
	if h, ok := table.Loss.(Hazards); ok { // what all rows have more
		n, _ := m.X.Dims()
		validation = (float64(n)*m.loss(indices.Range(0, n)).Eval(at)[0] - float64(len(rows))*train) / h.Unit
	} else if len(left) > 0 {
		validation = m.loss(left).Eval(at)[0]
	}
	return train + m.penalties().Eval(at)[0], validation
}

// lossOf is the sum of the losses of rows with predictions eta, times weights; that of times has weights that are equal.
func lossOf(loss Loss, eta convex.Expr, y, weights []float64) convex.Expr {
	r, minus := convex.Sub(y, eta), make([]float64, len(y))
	switch l := loss.(type) {
	case Logistic:
		return convex.Dot(weights, convex.Logistic(convex.Scale(floats.ScaleTo(minus, -1, y), eta)))
	case Poisson:
		constant := 0.0
		for i, v := range y {
			if minus[i] = -weights[i] * v; v > 0 {
				constant += weights[i] * v * (math.Log(v) - 1)
			}
		}
		return convex.Add(convex.Dot(weights, convex.Exp(eta)), convex.Dot(minus, eta), constant)
	case Huber:
		return convex.Dot(weights, convex.Huber(r, l.Threshold))
	case Pinball:
		return convex.Sub(convex.Dot(weights, convex.Pos(r)), convex.Scale(1-l.Level, convex.Dot(weights, r)))
	case Hazards:
		var groups [][]int
		for i, t := range y {
			if math.Signbit(t) {
				continue
			}
			minus[i] = -weights[i]
			var risk []int
			for k, v := range y {
				if math.Abs(v) >= t {
					risk = append(risk, k)
				}
			}
			groups = append(groups, risk)
		}
		return convex.Add(convex.Scale(weights[0], convex.Sum(convex.LogSumExp(eta, groups...))), convex.Dot(minus, eta))
	}
	return convex.Scale(0.5, convex.Dot(weights, convex.Power(r, 2)))
}

// signs makes a target to labels.
func signs(table *Table) {
	middle := slices.Sorted(slices.Values(table.Y[0]))[len(table.Y[0])/2]
	for i, y := range table.Y[0] {
		table.Y[0][i] = math.Copysign(1, y-middle)
	}
	table.Loss = Logistic{}
}

// times makes a target to times of which a third are censored.
func times(table *Table) {
	for i, y := range table.Y[0] {
		if table.Y[0][i] = math.Exp(y / 5); i%3 == 1 {
			table.Y[0][i] = -table.Y[0][i]
		}
	}
	table.Intercept, table.Loss = false, Hazards{Unit: 7}
}
