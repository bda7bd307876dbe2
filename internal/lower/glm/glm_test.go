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
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
)

// Each fold's objective is that of a conic program, and its validation loss that of its own rows.
func TestAgainstConic(t *testing.T) {
	each := func(v float64, p int) []float64 { return slices.Repeat([]float64{v}, p) }
	groups := func(p int) (list [][]int) {
		for j := 0; j < p; j += 4 {
			list = append(list, []int{j, j + 1, j + 2, j + 3})
		}
		return list
	}
	for name, c := range map[string]struct {
		n, p, q int
		change  func(table *Table)
		weights func(p int) *Weights
	}{
		"lasso": {60, 24, 1, nil, func(p int) *Weights { return &Weights{Norm: each(0.2, p)} }},
		"smooth curves": {120, 70, 1, func(table *Table) { // columns are nearly sums of others, as of spectra
			x := table.X.(*mat.Dense)
			for i := range 2 * 120 {
				floats.CumSum(x.RawRowView(i%120), x.RawRowView(i%120))
			}
			x.Scale(1e-2, x)
		}, func(p int) *Weights { return &Weights{Norm: each(1e-4, p)} }},
		"wide lasso": {30, 60, 1, nil, func(p int) *Weights { return &Weights{Norm: each(0.2, p)} }},
		"no intercept": {60, 24, 1, func(table *Table) { table.Intercept = false },
			func(p int) *Weights { return &Weights{Norm: each(0.2, p)} }},
		"elastic net": {40, 24, 1, nil, func(p int) *Weights { return &Weights{Norm: each(0.1, p), L2: each(0.3, p)} }},
		"ridge":       {40, 60, 1, nil, func(p int) *Weights { return &Weights{Norm: each(0, p), L2: each(0.3, p)} }},
		"not penalised": {60, 12, 1, nil, func(p int) *Weights {
			w := &Weights{Norm: each(0.3, p)}
			w.Norm[1], w.Norm[4] = 0, 0
			return w
		}},
		"weighted rows": {40, 60, 1, func(table *Table) {
			for i := range 40 {
				table.Weights = append(table.Weights, 0.5+float64(i%4))
			}
		}, func(p int) *Weights { return &Weights{Norm: each(0.2, p), L2: each(0.1, p)} }},
		"bounds": {60, 24, 1, func(table *Table) {
			table.Lower, table.Upper = each(-0.1, 24), each(0.2, 24)
			table.Lower[0], table.Upper[3] = 0, math.Inf(1)
			table.Upper[3] = 5
		}, func(p int) *Weights { return &Weights{Norm: each(0.1, p)} }},
		"groups": {60, 24, 1, func(table *Table) { table.Units = groups(24) },
			func(p int) *Weights { return &Weights{Norm: each(0.3, p/4)} }},
		"wide groups": {30, 60, 1, func(table *Table) { table.Units = groups(60) },
			func(p int) *Weights { return &Weights{Norm: each(0.4, p/4)} }},
		"sparse groups": {60, 24, 1, func(table *Table) { table.Units = groups(24) }, func(p int) *Weights {
			return &Weights{Norm: each(0.2, p/4), L1: each(0.1, p)}
		}},
		"targets":      {60, 24, 3, nil, func(p int) *Weights { return &Weights{Norm: each(0.15, p), L2: each(0.01, p)} }},
		"wide targets": {30, 60, 3, nil, func(p int) *Weights { return &Weights{Norm: each(0.2, p)} }},
		"labels":       {80, 12, 1, signs, func(p int) *Weights { return &Weights{Norm: each(0.02, p), L2: each(0.01, p)} }},
		"bounded labels": {80, 12, 1, func(table *Table) {
			signs(table)
			table.Lower, table.Upper = each(-0.1, 12), each(0.2, 12)
			table.Lower[0], table.Upper[3] = 0, 5
		}, func(p int) *Weights {
			w := &Weights{Norm: each(0.02, p), L2: each(0.01, p)}
			w.L2[6] = 0
			return w
		}},
		"sparse labels": {80, 12, 1, func(table *Table) {
			signs(table)
			x := table.X.(*mat.Dense)
			x.Apply(func(i, j int, v float64) float64 { return max(0, v) + 1e4*float64(j/11) }, x) // one is far from 0
			table.X = matrices.Compress(x)
		}, func(p int) *Weights { return &Weights{Norm: each(0.02, p), L2: each(0.01, p)} }},
		"wide labels": {50, 80, 1, signs, func(p int) *Weights { return &Weights{Norm: each(0.06, p)} }},
		"bent": {80, 12, 1, func(table *Table) { table.Loss = Huber{1} },
			func(p int) *Weights { return &Weights{Norm: each(0.05, p)} }},
		"wide bent": {40, 70, 1, func(table *Table) { table.Loss = Huber{0.5} }, func(p int) *Weights {
			return &Weights{Norm: each(0.05, p), L2: each(0.02, p)}
		}},
		"quantile": {80, 12, 1, func(table *Table) { table.Loss = Pinball{0.3} },
			func(p int) *Weights { return &Weights{Norm: each(0.05, p)} }},
		"wide quantile": {40, 70, 1, func(table *Table) { table.Loss = Pinball{0.3} }, func(p int) *Weights {
			return &Weights{Norm: each(0.05, p), L2: each(0.02, p)}
		}},
		"hazards":      {80, 12, 1, times, func(p int) *Weights { return &Weights{Norm: each(0.02, p)} }},
		"wide hazards": {50, 80, 1, times, func(p int) *Weights { return &Weights{Norm: each(0.05, p), L2: each(0.01, p)} }},
		"counts": {80, 12, 1, func(table *Table) {
			for i, y := range table.Y[0] {
				table.Y[0][i] = math.Max(0, math.Round(y/3))
			}
			table.Loss = Poisson{}
		}, func(p int) *Weights { return &Weights{Norm: each(0.05, p)} }},
		"squares with gaps": {60, 24, 1, gaps,
			func(p int) *Weights { return &Weights{Norm: each(0.15, p), L2: each(0.01, p)} }},
		"labels with gaps": {80, 12, 1, func(table *Table) {
			signs(table)
			gaps(table)
		}, func(p int) *Weights { return &Weights{Norm: each(0.02, p), L2: each(0.01, p)} }},
		"bent with gaps": {80, 12, 1, func(table *Table) {
			table.Loss = Huber{1}
			gaps(table)
		}, func(p int) *Weights { return &Weights{Norm: each(0.05, p)} }},
	} {
		t.Run(name, func(t *testing.T) {
			table := made(3, c.n, c.p, c.q)
			if c.change != nil {
				c.change(table)
			}
			w := c.weights(c.p)
			s := solve(t, table, w, 1e-9)
			require.LessOrEqual(t, s.Gap, 1e-8)
			for f := range table.Folds {
				own := of(table, f)
				train, validation := objective(own, f, s, w)
				require.InEpsilon(t, conic(t, own, f, w), train, 2e-7)
				require.InEpsilon(t, validation, s.Validation[f], 1e-9)
			}
		})
	}
}

// gaps makes entries of two columns differ between the folds.
func gaps(table *Table) {
	n, _ := table.X.Dims()
	table.Gaps = &Gaps{More: make([][]float64, len(table.Folds))}
	for i := 0; i < n; i += 2 {
		table.Gaps.Row, table.Gaps.Feature = append(table.Gaps.Row, i, i), append(table.Gaps.Feature, 0, 5)
		for f := range table.Folds {
			v := float64(f) - 0.7
			table.Gaps.More[f] = append(table.Gaps.More[f], v, v*math.Cos(float64(i)))
		}
	}
}

// of is the table as it is in a fold.
func of(table *Table, f int) *Table {
	if table.Gaps == nil {
		return table
	}
	out, x := *table, mat.DenseCopyOf(table.X)
	for e, i := range table.Gaps.Row {
		x.Set(i, table.Gaps.Feature[e], x.At(i, table.Gaps.Feature[e])+table.Gaps.More[f][e])
	}
	out.X, out.Gaps = x, nil
	return &out
}

// The derivatives of losses are those of differences, and losses of no weight are left out.
func TestDerivatives(t *testing.T) {
	y := map[Loss][]float64{
		Logistic{}: {1, -1, 1, -1, 1}, Poisson{}: {0, 3, 1, 2, 5}, Huber{0.7}: {0.1, 2, -1, 0.4, 3},
		Hazards{}: {1, 2, -3, 2, 4}, Hazards{Ties: survival.Efron}: {1, 2, -3, 2, 4},
	}
	for loss, y := range y {
		weights := []float64{1, 2, 0.5, 1, 0}
		of := loss.Rows(y)(Counted{Weights: weights})()
		eta, pull, curve := []float64{0.3, -0.5, 0.2, 1, -2}, make([]float64, 5), make([]float64, 5)
		value := of.Sum(eta, pull, curve)
		got := slices.Clone(pull)
		second := slices.Clone(curve)
		require.Positive(t, value)
		const step = 1e-5
		for i := range eta {
			eta[i] += step
			up := of.Sum(eta, pull, curve)
			down := pull[i]
			eta[i] -= 2 * step
			low := of.Sum(eta, pull, curve)
			require.InDelta(t, (low-up)/(2*step), got[i], 1e-8, "%T", loss)
			if bend := (pull[i] - down) / (2 * step); loss == (Hazards{}) || loss == (Hazards{Ties: survival.Efron}) {
				require.GreaterOrEqual(t, second[i], bend-1e-8)
			} else {
				require.InDelta(t, bend, second[i], 1e-8, "%T", loss)
			}
			eta[i] += step
		}
		if of.Second != nil {
			continue
		}
		require.InEpsilon(t, lossOf(loss, convex.Const(eta), y, weights).Eval(nil)[0], value, 1e-12)
	}
}

// At any coefficients, with their best constant, the gap is at least what the objective is above that of a conic
// program.
func TestWeakDuality(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for name, c := range map[string]struct {
		change  func(table *Table)
		weights *Weights
	}{
		"labels": {signs, &Weights{Norm: []float64{0.1, 0.05, 0.02, 0.1, 0.03, 0.2}}},
		"smooth labels": {signs, &Weights{Norm: []float64{0.1, 0, 0.02, 0.1, 0.03, 0.2}, L2: []float64{0, 0.3, 0.1,
			0.01, 0, 0.2}}},
		"bounded labels": {func(table *Table) {
			signs(table)
			table.Lower, table.Upper = slices.Repeat([]float64{-3}, 6), slices.Repeat([]float64{2}, 6)
		}, &Weights{Norm: []float64{0.1, 0, 0.02, 0.1, 0.03, 0.2}, L2: []float64{0, 0.3, 0.1, 0.01, 0, 0.2}}},
		"bent": {func(table *Table) { table.Loss = Huber{1} }, &Weights{Norm: []float64{0.1, 0.05, 0.02, 0.1, 0.03, 0.2}}},
		"hazards": {times, &Weights{Norm: []float64{0.1, 0.05, 0.02, 0.1, 0.03, 0.2}, L2: []float64{0, 0.3, 0.1,
			0.01, 0, 0.2}}},
	} {
		table := made(8, 30, 6, 1)
		c.change(table)
		d := must.Of(New(context.Background(), table))(t)
		least := conic(t, table, 0, c.weights)
		for range 50 {
			path := d.Path(context.Background())
			f := path.folds[0]
			f.join([]int{0, 1, 2, 3, 4, 5})
			size := math.Pow(10, -3*rng.Float64())
			for j := range f.b {
				if rng.IntN(3) > 0 {
					lo, hi := d.bounds(j)
					f.b[j] = max(lo, min(hi, size*rng.NormFloat64()))
				}
				d.columns().Axpy(f.b[j], j, f.point.eta)
			}
			for range 50 { // to the best constant
				d.look(f.point)
				step := max(-1, min(1, f.point.slant*f.point.total/max(floats.Sum(f.point.curve), 1e-9)))
				f.point.b0 += step
				floats.AddConst(step, f.point.eta)
			}
			d.look(f.point)
			d.slopes(context.Background(), path.folds[:1])
			f.measure(c.weights)
			require.False(t, math.IsInf(f.gap, 0))
			require.LessOrEqual(t, f.point.value+f.penalties(f.working, c.weights)-least, f.gap+1e-8, name)
		}
	}
}

// A sparse matrix has the fits of the same dense one, and any number of threads the same bits.
func TestSparseAndThreads(t *testing.T) {
	for _, of := range []struct {
		loss Loss
		n, p int // more features than rows, and less
	}{{nil, 50, 80}, {Logistic{}, 50, 80}, {nil, 120, 30}, {Logistic{}, 120, 30}} {
		loss, n, p := of.loss, of.n, of.p
		table := made(7, n, p, 1)
		x := table.X.(*mat.Dense)
		x.Apply(func(i, j int, v float64) float64 {
			if (i*7+j*3)%4 > 0 {
				return 0
			}
			return v
		}, x)
		for i, y := range table.Y[0] {
			if loss != nil {
				table.Y[0][i] = math.Copysign(1, y-3)
			}
		}
		table.Loss = loss
		w := &Weights{Norm: slices.Repeat([]float64{0.08}, p)}
		full := solve(t, table, w, 1e-10)
		table.Threads = 4
		again := solve(t, table, w, 1e-10)
		require.Equal(t, full, again, fmt.Sprint(loss))
		table.X = matrices.Compress(x)
		compressed := solve(t, table, w, 1e-10)
		for f := range table.Folds {
			require.InDeltaSlice(t, full.B[f], compressed.B[f], 1e-4)
			require.InEpsilon(t, full.Validation[f], compressed.Validation[f], 1e-4)
		}
	}
}

// Targets that the features explain exactly, columns that are constant, equal or zero, and labels that a feature tells
// apart have fits.
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
			require.LessOrEqual(t, train, conic(t, table, f, w)*(1+1e-3)+1e-8)
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
	table.Y = table.Y[:1]
	gaps(table)
	table.X = sparse.NewCSC(12, 4, make([]int, 5), nil, nil)
	_, err = New(context.Background(), table)
	require.ErrorContains(t, err, "gaps")
	table = made(1, 12, 4, 1)
	d := must.Of(New(context.Background(), table))(t)
	_, err = d.Path(context.Background()).Solve(context.Background(), &Weights{Norm: []float64{1}}, 1e-6)
	require.ErrorContains(t, err, "1, 0 and 0 weights for 4 units of 4 features")
	_, err = d.Path(context.Background()).Solve(context.Background(), &Weights{Norm: []float64{1, 1, -1, 1}}, 1e-6)
	require.ErrorContains(t, err, "weight 2 is -1")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := must.Of(d.Path(context.Background()).Solve(ctx, &Weights{Norm: []float64{1, 1, 1, 1}}, 1e-6))(t)
	require.False(t, s.Solved)
}

// Sparse tables with many coefficients have the fits of the same dense ones.
func TestManyCoefficients(t *testing.T) {
	const p = 400
	for _, c := range []struct {
		n     int
		loss  Loss
		units [][]int
	}{
		{n: 240}, {n: 240, loss: Logistic{}}, {n: 500},
		{n: 500, units: [][]int{indices.Range(0, 200), indices.Range(200, p)}},
	} {
		n, loss := c.n, c.loss
		table := made(11, n, p, 1)
		x := table.X.(*mat.Dense)
		for j := range p {
			for i := range n {
				v := 0.0
				if (i*7+j*3)%5 == 0 || (i+j/20)%9 == 0 { // neighbours have rows in common
					v = x.At(i, j/20)/2 + x.At(i, j)
				}
				x.Set(i, j, v)
			}
		}
		size := 0.2
		if table.Loss = loss; loss != nil {
			signs(table)
			size = 1e-3
		}
		w := &Weights{Norm: slices.Repeat([]float64{size}, p), L2: slices.Repeat([]float64{size}, p)}
		if table.Units = c.units; c.units != nil {
			w = &Weights{Norm: []float64{size, size}}
		}
		full := solve(t, table, w, 1e-9)
		table.X = matrices.Compress(x)
		compressed := solve(t, table, w, 1e-9)
		for f := range table.Folds {
			used := 0
			for _, v := range full.B[f] {
				if v != 0 {
					used++
				}
			}
			require.Greater(t, used, mostSparse)
			require.InEpsilon(t, full.Validation[f], compressed.Validation[f], 1e-4)
			one, _ := objective(table, f, full, w)
			other, _ := objective(table, f, compressed, w)
			require.InEpsilon(t, one, other, 1e-8)
		}
	}
}

// Weights of its own for each fold are those of its conic program.
func TestWeightsOfFolds(t *testing.T) {
	for _, p := range []int{5, 60} { // products of columns, and rows
		table := made(3, 40, p, 1)
		d := must.Of(New(context.Background(), table))(t)
		var weights []*Weights
		for f := range table.Folds {
			w := &Weights{Norm: make([]float64, p)}
			for j := range w.Norm {
				w.Norm[j] = 0.05 * float64(1+(f+j)%4)
			}
			weights = append(weights, w)
		}
		s := must.Of(d.Path(context.Background()).SolveEach(context.Background(), weights, 1e-10))(t)
		require.True(t, s.Solved)
		for f, w := range weights {
			require.InEpsilon(t, conic(t, table, f, w), s.Objective[f], 1e-6)
		}
		_, err := d.Path(context.Background()).SolveEach(context.Background(), weights[:1], 1e-10)
		require.ErrorContains(t, err, "expected 3")
	}
}

// While signs change more coefficients of equal columns are in use than there are rows, beside squares of little
// weight: where sweeps alone moved them, they would take minutes.
func TestMoreCoefficientsThanRows(t *testing.T) {
	const n, p = 60, 200
	rng := rand.New(rand.NewPCG(1, 5))
	x, w := mat.NewDense(n, p, nil), &Weights{}
	table := &Table{X: x, Y: [][]float64{make([]float64, n)}, Loss: Logistic{}, Folds: [][]int{nil}}
	for i := range n {
		v := rng.NormFloat64()
		for j := range p {
			x.Set(i, j, v)
		}
		table.Y[0][i] = float64(1 - 2*(i%2))
	}
	for j := range p {
		if j%3 == 0 {
			table.Units, w.Norm = append(table.Units, nil), append(w.Norm, 0)
		}
		last := &table.Units[len(table.Units)-1]
		*last = append(*last, j)
		w.L1, w.L2 = append(w.L1, 1e-3), append(w.L2, 1e-6*(1+math.Cos(float64(j))/3))
	}
	s := solve(t, table, w, 1e-8)
	train, _ := objective(table, 0, s, w)
	require.InEpsilon(t, train, s.Objective[0], 1e-10)
}

// Where a feature tells labels apart, its coefficient b at the weight l solves 1 / (1 + exp(b)) = l, and a row costs
// -log(1-l): fits at small weights are as near to that, for their size, as those at large ones.
func TestSeparableDown(t *testing.T) {
	x := mat.NewDense(20, 1, nil)
	table := &Table{X: x, Y: [][]float64{make([]float64, 20)}, Loss: Logistic{}, Folds: [][]int{{0, 1}}}
	for i := range 20 {
		table.Y[0][i] = float64(1 - 2*(i%2))
		x.Set(i, 0, table.Y[0][i])
	}
	path := must.Of(New(context.Background(), table))(t).Path(context.Background())
	for l := 0.1; l > 1e-9; l /= 10 {
		s := must.Of(path.Solve(context.Background(), &Weights{Norm: []float64{l}}, 1e-4))(t)
		require.InEpsilon(t, -math.Log1p(-l), s.Validation[0], 0.07, "weight %g", l)
	}
}

// A course has the slope and the curvature along what is left of a direction, as products of all columns have them.
func TestCourse(t *testing.T) {
	table := made(3, 12, 30, 1) // by residuals
	table.Weights = []float64{1, 2, 1, 3, 1, 1, 2, 1, 0.5, 1, 4, 1}
	d := must.Of(New(context.Background(), table))(t)
	f, w, features := d.newFold(0), &Weights{L2: slices.Repeat([]float64{0.3}, 30)}, []int{4, 7, 20, 21}
	f.join(features)
	f.products.begin(f)
	step, moved, descent := []float64{1, -2, 0.5, 3}, make([]float64, 4), []float64{5, -1, 2, 1}
	c := f.course(features, slices.Clone(step), descent, w, true)
	require.IsType(t, &residual{}, f.work)
	for e, at := range []float64{0.1, 0.4, 0.4} {
		c.stop(e, at)
		moved[e], step[e] = at*step[e], 0
		now, image := make([]float64, 4), make([]float64, 4)
		floats.AddScaledTo(now, moved, at, step)
		f.work.times(features, now, image)
		floats.AddScaled(image, 0.3, now)
		require.InDelta(t, floats.Dot(step, descent)-floats.Dot(step, image), c.slope, 1e-12)
		clear(image)
		f.work.times(features, step, image)
		floats.AddScaled(image, 0.3, step)
		require.InDelta(t, floats.Dot(step, image), c.curve, 1e-12)
	}
}

// What is added to the coefficients of all classes of a feature makes their penalties as small as can be.
func TestCentre(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		k := 2 + rng.IntN(5)
		d := &Data{classes: k, p: k, q: 1, units: indices.Singles(k), upper: slices.Repeat([]float64{math.Inf(1)}, k)}
		d.lower = floats.ScaleTo(make([]float64, k), -1, d.upper)
		f := &fold{d: d, b: make([]float64, k)}
		w := &Weights{Norm: make([]float64, k), L2: make([]float64, k)}
		f.inWork = slices.Repeat([]bool{true}, k)
		second := float64(rng.IntN(2)) * rng.Float64()
		for e := range k {
			f.b[e], w.Norm[e], w.L2[e] = float64(rng.IntN(5)-2)+rng.Float64(), rng.Float64(), second
		}
		f.centre(w)
		penalty := func(b []float64) (sum float64) {
			for u := range k {
				sum = d.withPenalty(sum, u, w, b)
			}
			return sum
		}
		least := penalty(f.b)
		for add := -6.0; add < 6; add += 1e-2 {
			b := slices.Clone(f.b)
			floats.AddConst(add, b)
			require.GreaterOrEqual(t, penalty(b), least-1e-12)
		}
	}
}

// Squares alone hold the coefficients of units of several features, more than there are rows, of alike sparse columns.
func TestRidgeOfUnits(t *testing.T) {
	const n, p = 30, 210
	rng := rand.New(rand.NewPCG(2, 5))
	table := &Table{Y: [][]float64{make([]float64, n)}, Folds: made(1, n, 1, 1).Folds}
	entries, w := sparse.NewDOK(n, p), &Weights{}
	for i := range n {
		v := 0.0
		for j := range p {
			if v = 0.95*v + 0.3*rng.NormFloat64(); rng.IntN(4) == 0 {
				entries.Set(i, j, v)
			}
		}
		table.Y[0][i] = rng.NormFloat64()
	}
	table.X = entries.ToCSR().ToCSC()
	for j := 0; j < p; j += 15 { // fewer units than rows
		table.Units, w.Norm = append(table.Units, indices.Range(j, j+15)), append(w.Norm, 0)
	}
	w.L2 = slices.Repeat([]float64{1e-6}, p)
	s := solve(t, table, w, 1e-8)
	for f := range table.Folds {
		train, _ := objective(table, f, s, w)
		require.InEpsilon(t, train, s.Objective[f], 1e-6)
	}
}
