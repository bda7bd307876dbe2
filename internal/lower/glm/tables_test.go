package glm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
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

// conic is the least objective of the training rows of fold f by a conic program.
func conic(t *testing.T, table *Table, f int, w *Weights, loss func(eta convex.Expr, y,
	weights []float64) convex.Expr) float64 {
	n, p := table.X.Dims()
	q := len(table.Y)
	m := convex.NewModel()
	b, b0 := m.Vector("b", p*q), m.Vector("b0", q)
	var rows []int
	total := 0.0
	weight := func(i int) float64 {
		if table.Weights == nil {
			return 1
		}
		return table.Weights[i]
	}
	for i := range n {
		if !slices.Contains(table.Folds[f], i) {
			rows = append(rows, i)
			total += weight(i)
		}
	}
	x := mat.NewDense(len(rows), p, nil)
	weights := make([]float64, len(rows))
	for l, i := range rows {
		for j := range p {
			x.Set(l, j, table.X.At(i, j))
		}
		weights[l] = weight(i) / (total * float64(q))
	}
	var sum convex.Expr
	for k := range q {
		place := make([]int, p)
		for j := range place {
			place[j] = j*q + k
		}
		eta := convex.Mul(x, convex.Pick(b, place))
		if table.Intercept {
			eta = convex.Add(eta, convex.At(b0, k))
		}
		y := make([]float64, len(rows))
		for l, i := range rows {
			y[l] = table.Y[k][i]
		}
		if part := loss(eta, y, weights); k == 0 {
			sum = part
		} else {
			sum = convex.Add(sum, part)
		}
	}
	units := table.Units
	if units == nil {
		for j := range p {
			units = append(units, []int{j})
		}
	}
	for u, members := range units {
		var at []int
		for _, j := range members {
			for k := range q {
				at = append(at, j*q+k)
			}
		}
		if w.Norm[u] > 0 {
			sum = convex.Add(sum, convex.Scale(w.Norm[u], convex.Norm2(convex.Pick(b, at))))
		}
	}
	for j := range p {
		for k := range q {
			one := convex.At(b, j*q+k)
			if w.L1 != nil {
				sum = convex.Add(sum, convex.Scale(w.L1[j], convex.Norm1(one)))
			}
			if w.L2 != nil {
				sum = convex.Add(sum, convex.Scale(w.L2[j]/2, convex.SumSquares(one)))
			}
		}
	}
	for j := range p - 1 {
		if w.Fusion > 0 {
			sum = convex.Add(sum, convex.Scale(w.Fusion, convex.Abs(convex.Sub(convex.At(b, j+1), convex.At(b, j)))))
		}
	}
	m.Minimize(sum)
	for j := range p {
		if table.Lower != nil {
			m.Ge("", convex.At(b, j), table.Lower[j])
		}
		if table.Upper != nil {
			m.Le("", convex.At(b, j), table.Upper[j])
		}
	}
	return lowertest.Conic(t, m, 0).Objective
}

func squares(eta convex.Expr, y, weights []float64) convex.Expr {
	roots := make([]float64, len(weights))
	for i, w := range weights {
		roots[i] = math.Sqrt(w / 2)
	}
	return convex.SumSquares(convex.Mul(mat.NewDiagDense(len(roots), roots), convex.Sub(eta, y)))
}

func labels(eta convex.Expr, y, weights []float64) convex.Expr {
	minus := make([]float64, len(y))
	for i, v := range y {
		minus[i] = -v
	}
	return convex.Dot(weights, convex.Logistic(convex.Mul(mat.NewDiagDense(len(minus), minus), eta)))
}

func counts(eta convex.Expr, y, weights []float64) convex.Expr {
	constant, minus := 0.0, make([]float64, len(y))
	for i, v := range y {
		if minus[i] = -weights[i] * v; v > 0 {
			constant += weights[i] * v * (math.Log(v) - 1)
		}
	}
	return convex.Add(convex.Dot(weights, convex.Exp(eta)), convex.Add(convex.Dot(minus, eta), constant))
}

func bent(threshold float64) func(eta convex.Expr, y, weights []float64) convex.Expr {
	return func(eta convex.Expr, y, weights []float64) convex.Expr {
		return convex.Dot(weights, convex.Huber(convex.Sub(eta, y), threshold))
	}
}

// one is the loss of a row by its closed form.
func one(loss Loss, y, eta float64) float64 {
	switch l := loss.(type) {
	case Logistic:
		return math.Log1p(math.Exp(-y * eta))
	case Poisson:
		if y > 0 {
			return math.Exp(eta) - y*eta + y*(math.Log(y)-1)
		}
		return math.Exp(eta)
	case Pinball:
		return max(l.Level*(y-eta), (l.Level-1)*(y-eta))
	case Huber:
		if r := math.Abs(y - eta); r > l.Threshold {
			return l.Threshold * (r - l.Threshold/2)
		}
	}
	return (y - eta) * (y - eta) / 2
}

func pinball(eta convex.Expr, y, weights []float64) convex.Expr {
	r := convex.Sub(y, eta)
	return convex.Sub(convex.Dot(weights, convex.Pos(r)), convex.Scale(0.7, convex.Dot(weights, r)))
}

// partial is the half deviance of Breslow's partial likelihood of some rows with times that all differ.
func partial(y, eta []float64, rows []bool) (sum float64) {
	for i, t := range y {
		if !rows[i] || math.Signbit(t) {
			continue
		}
		risk := 0.0
		for k, v := range y {
			if rows[k] && math.Abs(v) >= t {
				risk += math.Exp(eta[k])
			}
		}
		sum += math.Log(risk) - eta[i]
	}
	return sum
}

// objective is that of fold f at a solution, by rows.
func objective(table *Table, f int, s *Solution, w *Weights) (train, validation float64) {
	n, p := table.X.Dims()
	q := len(table.Y)
	rows, total, rest := slices.Repeat([]bool{true}, n), 0.0, 0.0
	for _, i := range table.Folds[f] {
		rows[i] = false
	}
	eta := make([]float64, n)
	for i := range n {
		weight := 1.0
		if table.Weights != nil {
			weight = table.Weights[i]
		}
		loss := 0.0
		for k := range q {
			eta[i] = 0
			for j := range p {
				eta[i] += table.X.At(i, j) * s.B[f][j*q+k]
			}
			if table.Intercept {
				eta[i] += s.B0[f][k]
			}
			loss += one(table.Loss, table.Y[k][i], eta[i]) / float64(q)
		}
		if rows[i] {
			train, total = train+weight*loss, total+weight
		} else {
			validation, rest = validation+weight*loss, rest+weight
		}
	}
	if h, ok := table.Loss.(Hazards); ok {
		train = partial(table.Y[0], eta, rows)
		validation, rest = partial(table.Y[0], eta, slices.Repeat([]bool{true}, n))-train, h.Unit
	}
	train, validation = train/total, validation/rest
	units := table.Units
	if units == nil {
		for j := range p {
			units = append(units, []int{j})
		}
	}
	for u, members := range units {
		size := 0.0
		for _, j := range members {
			for _, b := range s.B[f][j*q : (j+1)*q] {
				size += b * b
				train += w.second(j)*b*b/2 + w.absolute(j)*math.Abs(b)
			}
		}
		train += w.Norm[u] * math.Sqrt(size)
	}
	for j := range p - 1 {
		train += w.Fusion * math.Abs(s.B[f][j+1]-s.B[f][j])
	}
	return train, validation
}

func hazards(eta convex.Expr, y, weights []float64) convex.Expr {
	minus := make([]float64, len(y))
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
