package glm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
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
	d, err := New(context.Background(), table)
	require.NoError(t, err)
	path := d.Path(context.Background())
	var s *Solution
	for _, factor := range []float64{30, 5, 2, 1} {
		s, err = path.Solve(context.Background(), w.scaled(&Weights{}, factor), tol)
		require.NoError(t, err)
		require.True(t, s.Solved, "factor %g, gap %g", factor, s.Gap)
	}
	return s
}

// conic is the least objective of the training rows of fold f by a conic program.
func conic(t *testing.T, table *Table, f int, w *Weights, loss func(eta convex.Affine, y, weights []float64) convex.Convex) float64 {
	n, p := table.X.Dims()
	q := len(table.Y)
	m := convex.NewModel()
	b, b0 := m.Variable("b", p*q), m.Variable("b0", q)
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
	var sum convex.Convex
	for k := range q {
		place := make([]int, p)
		for j := range place {
			place[j] = j*q + k
		}
		eta := b.Expr().Pick(place).MulMat(x)
		if table.Intercept {
			eta = eta.Plus(b0.Expr().At(k))
		}
		y := make([]float64, len(rows))
		for l, i := range rows {
			y[l] = table.Y[k][i]
		}
		if part := loss(eta, y, weights); k == 0 {
			sum = part
		} else {
			sum = sum.Plus(part)
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
			sum = sum.Plus(convex.Norm2(b.Expr().Pick(at)).Scale(w.Norm[u]))
		}
	}
	for j := range p {
		for k := range q {
			one := b.Expr().At(j*q + k)
			if w.L1 != nil {
				sum = sum.Plus(convex.Norm1(one).Scale(w.L1[j]))
			}
			if w.L2 != nil {
				sum = sum.Plus(convex.SumSquares(one).Scale(w.L2[j] / 2))
			}
		}
	}
	m.Minimize(sum)
	for j := range p {
		if table.Lower != nil {
			m.Constrain(convex.GreaterEqual(b.Expr().At(j), convex.Const(table.Lower[j])))
		}
		if table.Upper != nil {
			m.Constrain(convex.LessEqual(b.Expr().At(j).Convex(), convex.Const(table.Upper[j])))
		}
	}
	program, err := m.Compile()
	require.NoError(t, err)
	backend, err := backends.Open("native")
	require.NoError(t, err)
	solver, err := program.Solver(convex.SolverOptions{Backend: backend})
	require.NoError(t, err)
	defer solver.Close()
	r, err := solver.Solve(context.Background())
	require.NoError(t, err)
	require.Equal(t, backends.Optimal, r.Status)
	return r.Objective
}

func squares(eta convex.Affine, y, weights []float64) convex.Convex {
	roots := make([]float64, len(weights))
	for i, w := range weights {
		roots[i] = math.Sqrt(w / 2)
	}
	return convex.SumSquares(eta.Minus(convex.Const(y...)).MulMat(mat.NewDiagDense(len(roots), roots)))
}

func labels(eta convex.Affine, y, weights []float64) convex.Convex {
	minus := make([]float64, len(y))
	for i, v := range y {
		minus[i] = -v
	}
	return convex.Logistic(eta.MulMat(mat.NewDiagDense(len(minus), minus))).Dot(weights)
}

func counts(eta convex.Affine, y, weights []float64) convex.Convex {
	constant, minus := 0.0, make([]float64, len(y))
	for i, v := range y {
		if minus[i] = -weights[i] * v; v > 0 {
			constant += weights[i] * v * (math.Log(v) - 1)
		}
	}
	return convex.Exp(eta).Dot(weights).PlusAffine(eta.Dot(minus).Plus(convex.Const(constant)))
}

func bent(eta convex.Affine, y, weights []float64) convex.Convex {
	return convex.Huber(eta.Minus(convex.Const(y...)), 1).Dot(weights)
}

func bentHalf(eta convex.Affine, y, weights []float64) convex.Convex {
	return convex.Huber(eta.Minus(convex.Const(y...)), 0.5).Dot(weights)
}

// objective is that of fold f at a solution, by rows.
func objective(table *Table, f int, s *Solution, w *Weights) (train, validation float64) {
	n, p := table.X.Dims()
	q := len(table.Y)
	left, total, rest := make([]bool, n), 0.0, 0.0
	for _, i := range table.Folds[f] {
		left[i] = true
	}
	for i := range n {
		weight := 1.0
		if table.Weights != nil {
			weight = table.Weights[i]
		}
		loss := 0.0
		for k := range q {
			eta := 0.0
			for j := range p {
				eta += table.X.At(i, j) * s.B[f][j*q+k]
			}
			if table.Intercept {
				eta += s.B0[f][k]
			}
			if table.Loss == nil {
				loss += (eta - table.Y[k][i]) * (eta - table.Y[k][i]) / (2 * float64(q))
			} else {
				value, _, _ := table.Loss.At(table.Y[k][i], eta)
				loss += value
			}
		}
		if left[i] {
			validation, rest = validation+weight*loss, rest+weight
		} else {
			train, total = train+weight*loss, total+weight
		}
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
	return train, validation
}

// Each fold's objective is that of a conic program, and its validation loss that of its own rows.
func TestAgainstConic(t *testing.T) {
	each := func(v float64, p int) []float64 { return slices.Repeat([]float64{v}, p) }
	groups := func(p int) (list [][]int) {
		for j := 0; j < p; j += 4 {
			list = append(list, []int{j, j + 1, j + 2, j + 3})
		}
		return list
	}
	signs := func(table *Table) {
		middle := slices.Sorted(slices.Values(table.Y[0]))[len(table.Y[0])/2]
		for i, y := range table.Y[0] {
			table.Y[0][i] = math.Copysign(1, y-middle)
		}
		table.Loss = Logistic{}
	}
	for name, c := range map[string]struct {
		n, p, q int
		change  func(table *Table)
		weights func(p int) *Weights
		loss    func(eta convex.Affine, y, weights []float64) convex.Convex
	}{
		"lasso":        {60, 24, 1, nil, func(p int) *Weights { return &Weights{Norm: each(0.2, p)} }, squares},
		"wide lasso":   {30, 60, 1, nil, func(p int) *Weights { return &Weights{Norm: each(0.2, p)} }, squares},
		"no intercept": {60, 24, 1, func(table *Table) { table.Intercept = false }, func(p int) *Weights { return &Weights{Norm: each(0.2, p)} }, squares},
		"elastic net":  {40, 24, 1, nil, func(p int) *Weights { return &Weights{Norm: each(0.1, p), L2: each(0.3, p)} }, squares},
		"ridge":        {40, 60, 1, nil, func(p int) *Weights { return &Weights{Norm: each(0, p), L2: each(0.3, p)} }, squares},
		"not penalised": {60, 12, 1, nil, func(p int) *Weights {
			w := &Weights{Norm: each(0.3, p)}
			w.Norm[1], w.Norm[4] = 0, 0
			return w
		}, squares},
		"weighted rows": {40, 60, 1, func(table *Table) {
			for i := range 40 {
				table.Weights = append(table.Weights, 0.5+float64(i%4))
			}
		}, func(p int) *Weights { return &Weights{Norm: each(0.2, p), L2: each(0.1, p)} }, squares},
		"bounds": {60, 24, 1, func(table *Table) {
			table.Lower, table.Upper = each(-0.1, 24), each(0.2, 24)
			table.Lower[0], table.Upper[3] = 0, math.Inf(1)
			table.Upper[3] = 5
		}, func(p int) *Weights { return &Weights{Norm: each(0.1, p)} }, squares},
		"groups":      {60, 24, 1, func(table *Table) { table.Units = groups(24) }, func(p int) *Weights { return &Weights{Norm: each(0.3, p/4)} }, squares},
		"wide groups": {30, 60, 1, func(table *Table) { table.Units = groups(60) }, func(p int) *Weights { return &Weights{Norm: each(0.4, p/4)} }, squares},
		"sparse groups": {60, 24, 1, func(table *Table) { table.Units = groups(24) }, func(p int) *Weights {
			return &Weights{Norm: each(0.2, p/4), L1: each(0.1, p)}
		}, squares},
		"targets":      {60, 24, 3, nil, func(p int) *Weights { return &Weights{Norm: each(0.15, p), L2: each(0.01, p)} }, squares},
		"wide targets": {30, 60, 3, nil, func(p int) *Weights { return &Weights{Norm: each(0.2, p)} }, squares},
		"labels":       {80, 12, 1, signs, func(p int) *Weights { return &Weights{Norm: each(0.02, p), L2: each(0.01, p)} }, labels},
		"wide labels":  {50, 80, 1, signs, func(p int) *Weights { return &Weights{Norm: each(0.06, p)} }, labels},
		"bent":         {80, 12, 1, func(table *Table) { table.Loss = Huber{1} }, func(p int) *Weights { return &Weights{Norm: each(0.05, p)} }, bent},
		"wide bent": {40, 70, 1, func(table *Table) { table.Loss = Huber{0.5} }, func(p int) *Weights {
			return &Weights{Norm: each(0.05, p), L2: each(0.02, p)}
		}, bentHalf},
		"counts": {80, 12, 1, func(table *Table) {
			for i, y := range table.Y[0] {
				table.Y[0][i] = math.Max(0, math.Round(y/3))
			}
			table.Loss = Poisson{}
		}, func(p int) *Weights { return &Weights{Norm: each(0.05, p)} }, counts},
	} {
		t.Run(name, func(t *testing.T) {
			table := made(3, c.n, c.p, c.q)
			if c.change != nil {
				c.change(table)
			}
			w := c.weights(c.p)
			s := solve(t, table, w, 1e-9)
			for f := range table.Folds {
				train, validation := objective(table, f, s, w)
				require.InEpsilon(t, conic(t, table, f, w, c.loss), train, 2e-7)
				require.InEpsilon(t, validation, s.Validation[f], 1e-9)
			}
		})
	}
}

// A sparse matrix has the fits of the same dense one, and any number of threads the same bits.
func TestSparseAndThreads(t *testing.T) {
	for _, loss := range []Loss{nil, Logistic{}} {
		table := made(7, 50, 80, 1)
		x := table.X.(*mat.Dense)
		start, index, value := []int{0}, []int{}, []float64{}
		for j := range 80 {
			for i := range 50 {
				if (i*7+j*3)%4 > 0 {
					x.Set(i, j, 0)
				} else {
					index, value = append(index, i), append(value, x.At(i, j))
				}
			}
			start = append(start, len(index))
		}
		for i, y := range table.Y[0] {
			if loss != nil {
				table.Y[0][i] = math.Copysign(1, y-3)
			}
		}
		table.Loss = loss
		w := &Weights{Norm: slices.Repeat([]float64{0.08}, 80)}
		full := solve(t, table, w, 1e-10)
		table.Threads = 4
		again := solve(t, table, w, 1e-10)
		full.Gap, again.Gap = 0, 0 // that of labels is no number
		require.Equal(t, full, again, fmt.Sprint(loss))
		table.X = sparse.NewCSC(50, 80, start, index, value)
		compressed := solve(t, table, w, 1e-10)
		for f := range table.Folds {
			require.InDeltaSlice(t, full.B[f], compressed.B[f], 1e-4)
			require.InEpsilon(t, full.Validation[f], compressed.Validation[f], 1e-4)
		}
	}
}

// Targets that the features explain exactly, columns that are constant, equal or zero, and labels that a feature tells apart have fits.
func TestDegenerate(t *testing.T) {
	table := made(9, 40, 10, 1)
	x := table.X.(*mat.Dense)
	for i := range 40 {
		x.Set(i, 1, 4)
		x.Set(i, 2, 0)
		x.Set(i, 5, x.At(i, 3))
		table.Y[0][i] = 2*x.At(i, 0) - x.At(i, 3)
	}
	for _, l := range []float64{1, 1e-3, 1e-6, 0} {
		w := &Weights{Norm: slices.Repeat([]float64{l}, 10)}
		s := solve(t, table, w, 1e-9)
		for f := range table.Folds {
			require.Zero(t, s.B[f][1])
			require.Zero(t, s.B[f][2])
			if l <= 1e-6 {
				require.Less(t, s.Validation[f], 1e-9)
			}
		}
	}
	for i := range 40 {
		table.Y[0][i] = math.Copysign(1, x.At(i, 0))
	}
	table.Loss = Logistic{}
	for _, l := range []float64{1e-1, 1e-3, 1e-5} {
		w := &Weights{Norm: slices.Repeat([]float64{l}, 10)}
		s := solve(t, table, w, 1e-8)
		for f := range table.Folds {
			train, _ := objective(table, f, s, w)
			require.LessOrEqual(t, train, conic(t, table, f, w, labels)*(1+1e-3)+1e-8)
		}
	}
}

func TestBadTables(t *testing.T) {
	table := made(1, 12, 4, 1)
	table.Y[0][3] = math.NaN()
	_, err := New(context.Background(), table)
	require.ErrorContains(t, err, "not finite")
	table = made(1, 12, 4, 2)
	table.Loss = Poisson{}
	_, err = New(context.Background(), table)
	require.ErrorContains(t, err, "2 targets")
	table = made(1, 12, 4, 1)
	d, err := New(context.Background(), table)
	require.NoError(t, err)
	_, err = d.Path(context.Background()).Solve(context.Background(), &Weights{Norm: []float64{1}}, 1e-6)
	require.ErrorContains(t, err, "1, 0 and 0 weights for 4 units of 4 features")
	_, err = d.Path(context.Background()).Solve(context.Background(), &Weights{Norm: []float64{1, 1, -1, 1}}, 1e-6)
	require.ErrorContains(t, err, "weight 2 is -1")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, err := d.Path(context.Background()).Solve(ctx, &Weights{Norm: []float64{1, 1, 1, 1}}, 1e-6)
	require.NoError(t, err)
	require.False(t, s.Solved)
}
