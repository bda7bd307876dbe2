package svm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/machine"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// On many rows both programs are solved by fits, and what is chosen is as good as by conic programs.
func TestManyRows(t *testing.T) {
	m := must.Of(New(folded(t, 9, 3300, 5, 3, 1), Options{}))(t)
	var values []float64
	for _, engine := range []string{"", tune.EngineConic} {
		res := must.Of(tune.Run(context.Background(), m, tune.Config{Preset: tune.PresetPaper, Engine: engine}))(t)
		values = append(values, res.Refit.Validation)
		fits := 0
		for _, e := range res.Trace {
			if e.SubEngine == "fit" && e.LowerEngine == "fit" {
				fits++
			}
		}
		if engine == "" {
			require.Equal(t, len(res.Trace), fits)
		} else {
			require.Zero(t, fits)
		}
	}
	require.InDelta(t, values[1], values[0], 1e-3*values[1])
}

// On wide tables of many rows the folds have fits of few digits, on others none.
func TestWide(t *testing.T) {
	m := must.Of(New(folded(t, 4, 753, 1001, 3, 0.01), Options{}))(t)
	fit := must.Of(m.Penalised())(t)
	require.Len(t, fit.Traits().Parts, 3)
	require.Equal(t, 1e-5, fit.Traits().Coarse)
	m = must.Of(New(folded(t, 4, 750, 20, 3, 0.5), Options{}))(t)
	fit = must.Of(m.Penalised())(t)
	require.Zero(t, fit.Traits().Coarse)
}

// Each fold has its own values in the gaps: the validation error is the mean hinge loss of their machines, by hand.
func TestGaps(t *testing.T) {
	data := &dataset.Data{
		X: mat.NewDense(4, 1, []float64{1, 9, -1, 9}), Y: []float64{1, 1, 0, 0}, Features: []string{"a"}, Target: "y",
	}
	folds := []split.Fold{{Train: []int{0, 2}, Val: []int{1, 3}}, {Train: []int{1, 3}, Val: []int{0, 2}}}
	cv := &dataset.CrossValidation{Data: data, Folds: folds, Gaps: &dataset.Gaps{Row: []int{1, 3}, Feature: []int{0, 0},
		Values: [][]float64{{0.25, 0.25}, {9, 9}}}}
	m := must.Of(New(cv, Options{}))(t)
	// w = 2, c = 0: the first fold validates (0.25, +) and (0.25, -), which cost 1 - 0.5 and 1 + 0.5; the second (1, +)
	// and (-1, -), which cost nothing.
	require.InDelta(t, 0.5, m.Evaluate([][]float64{{2}, {0}, {2}, {0}}).Validation, 1e-15)
	cv.Gaps = nil
	m = must.Of(New(cv, Options{}))(t)
	require.InDelta(t, 9.5/2, m.Evaluate([][]float64{{2}, {0}, {2}, {0}}).Validation, 1e-15) // without, 9 costs 0 and 19
}

// The final training is that of the conic program, and iterations of VF-iDCA are conic programs.
func TestSquaredHingeIsConic(t *testing.T) {
	ctx := context.Background()
	m := must.Of(New(folded(t, 5, 80, 4, 3, 1), Options{ClassWeights: []float64{1, 2}, Loss: SquaredHinge}))(t)
	for _, h := range [][]float64{{10, 0.3, 0.2, 0.1, 1e-6}, {0.05, 10, 10, 10, 10}} {
		for _, of := range []training{within(h), weighted(h)} {
			w, c := must.Both(m.train(ctx, problems.Solver{Backend: native(t), Fits: true}, of))(t)
			conic, d := must.Both(m.train(ctx, problems.Solver{Backend: native(t), Options: backends.Options{Eps: 1e-10}},
				of))(t)
			require.InDeltaSlice(t, conic, w, 1e-4)
			require.InDelta(t, d, c, 1e-4)
		}
	}
	r := must.Of(tune.Run(ctx, m, tune.Config{Preset: tune.PresetPaper, MaxIter: 5}))(t)
	require.Len(t, r.Trace, 5)
	require.NotEqual(t, "fit", r.Trace[4].SubEngine)
}

// The folds choose a loss, and have the rungs and the machine of a run that is asked for it. A lambda is that of the
// hinge where none is named.
func TestLossByFolds(t *testing.T) {
	ctx := context.Background()
	for want, cv := range map[string]*dataset.CrossValidation{
		SquaredHinge: folded(t, 3, 1000, 20, 2, 1), Hinge: folded(t, 3, 400, 6, 4, 1),
	} {
		run := func(loss string, c tune.Config) *tune.Result {
			return must.Of(tune.Run(ctx, must.Of(New(cv, Options{Loss: loss}))(t), c))(t)
		}
		got, asked := run("", tune.Config{}), run(want, tune.Config{})
		require.Equal(t, want, got.Loss)
		require.Equal(t, asked.RefitFit, got.RefitFit)
		require.Equal(t, asked.Ladder, got.Ladder)
		require.Equal(t, Hinge, run("", tune.Config{Fixed: map[string]float64{"lambda": 0.1}}).Loss)
	}
}

// boxed trains a machine on some rows, with the weight lambda of its squared norm, within bounds, nil for none, by a
// conic program.
func boxed(t *testing.T, m *Model, rows []int, lambda float64, bound []float64) (w []float64, c float64) {
	_, p := m.rows.Dims()
	model := convex.NewModel()
	x, shift := model.Vector("w", p), model.Vector("c", 1)
	model.Minimize(convex.Add(newDesign(m.rows, rows).hinge(x, shift, false),
		convex.Scale(lambda/2, convex.SumSquares(x))))
	if bound != nil {
		model.Le("", convex.Abs(x), bound)
	}
	res := lowertest.Conic(t, model, 0)
	return res.Value(x), res.Value(shift)[0]
}

// The bounds of the second rung are those of the formula at the machines of the first, of each fold and of all rows, and
// its machines those of conic programs within them.
func TestLadder(t *testing.T) {
	ctx := context.Background()
	cv := folded(t, 11, 60, 5, 3, 1)
	m := must.Of(New(cv, Options{ClassWeights: []float64{1, 2}}))(t)
	first := must.Of(tune.Run(ctx, m, tune.Config{Rung: "common"}))(t)
	r := must.Of(tune.Run(ctx, m, tune.Config{Rung: "adaptive"}))(t)
	require.Equal(t, m.Names(), r.Names)
	bounds := func(rows []int) []float64 {
		w, _ := boxed(t, m, rows, first.Lambda[0], nil)
		out := make([]float64, len(w))
		for j, v := range w {
			out[j] = 3 * v * v / floats.Norm(w, math.Inf(1))
		}
		return out
	}
	hinge := 0.0
	for _, f := range cv.Folds {
		w, c := boxed(t, m, f.Train, r.Lambda[0], bounds(f.Train))
		hinge += meanHinge(cv.Data, f.Val, [2]float64{1, 2}, w, c) / 3
	}
	require.InEpsilon(t, hinge, r.Refit.Validation, 1e-3)
	every := indices.Range(0, len(m.rows.Y))
	all := bounds(every)
	require.InDeltaSlice(t, all, r.Selection.Upper, 1e-3)
	w, c := boxed(t, m, every, r.Lambda[0], all)
	require.InDeltaSlice(t, w, r.RefitFit.Coefficients, 1e-3)
	require.InDelta(t, -c, r.RefitFit.Intercept, 1e-3)

	again := must.Of(tune.Run(ctx, m, tune.Config{Rung: "adaptive", Workers: 3}))(t)
	require.Equal(t, r.RefitFit, again.RefitFit)
}

// Rungs are compared by the differences of the score, row by row: the mean is that of the score, and the standard error
// that of rows of one weight in folds of one size.
func TestCompare(t *testing.T) {
	cv := folded(t, 4, 60, 4, 3, 1)
	m := must.Of(New(cv, Options{}))(t)
	rungs := m.ladder()
	r := must.Of(rungs[0].Models(nil, nil, nil))(t)[0].Advice()
	var x, y [][]float64
	for _, k := range []float64{0, 1, 2} {
		x = append(x, []float64{1, -k, 0.5, 0}, []float64{0.2})
		y = append(y, []float64{0.3, k, 0.5, -1}, []float64{0})
	}
	a, b := r.Losses(x), r.Losses(y)
	require.Len(t, a, 60)
	mean, se := r.Compare(a, b)
	require.InDelta(t, m.Score(x)-m.Score(y), mean, 1e-12)
	floats.Sub(a, b)
	require.InEpsilon(t, stat.StdDev(a, nil)/math.Sqrt(60), se, 0.02)
	require.InDelta(t, 10./3, r.Used(slices.Concat(y[:4], x[4:])), 1e-12) // a weight of 0 in the first and the last fold
}

// The default is the lambda with the least score of the folds' machines without bounds, as conic programs have it, and
// its machine the one of all rows at this lambda.
func TestOpen(t *testing.T) {
	cv := folded(t, 11, 60, 4, 3, 1)
	m := must.Of(New(cv, Options{ClassWeights: []float64{1, 2}}))(t)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{Rung: "common"}))(t)
	require.True(t, r.Selection.Weighted)
	at := func(lambda float64) (hinge, score float64) {
		for _, f := range cv.Folds {
			w, c := boxed(t, m, f.Train, lambda, nil)
			hinge += meanHinge(cv.Data, f.Val, [2]float64{1, 2}, w, c) / 3
			score += meanScore(cv.Data, f.Val, [2]float64{1, 2}, w, c) / 3
		}
		return hinge, score
	}
	hinge, least := at(r.Lambda[0])
	require.InEpsilon(t, hinge, r.Refit.Validation, 1e-4)
	require.InEpsilon(t, least, *r.Score, 1e-4)
	for e := -5.0; e <= 1; e += 0.5 {
		_, score := at(math.Pow(10, e))
		require.Greater(t, score, *r.Score*(1-1e-2), "lambda 1e%g", e)
	}
	w, c := boxed(t, m, indices.Range(0, len(m.rows.Y)), r.Lambda[0], nil)
	require.InDeltaSlice(t, w, r.RefitFit.Coefficients, 1e-4)
	require.InDelta(t, -c, r.RefitFit.Intercept, 1e-4)
	conic, d := must.Both(m.train(context.Background(), problems.Solver{Backend: native(t)},
		weighted(slices.Concat(r.Lambda, r.Selection.Upper))))(t)
	require.InDeltaSlice(t, w, conic, 1e-4)
	require.InDelta(t, c, d, 1e-4)

	for _, other := range []tune.Config{{GapTol: 1e-4}, {Preset: tune.PresetPaper}, {MaxIter: 4}} {
		r := must.Of(tune.Run(context.Background(), m, other))(t)
		require.Nil(t, r.Ladder)
	}
}

// On a large table the search is to a gap, and what it ends with is solved for to the end: no lambda of the list has a
// score that is smaller by more than a share that the rows cannot tell.
func TestOpenLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand rows")
	}
	cv := folded(t, 5, 10_000, 100, 2, 1)
	m := must.Of(New(cv, Options{Loss: Hinge}))(t)
	open := m.open()
	require.Positive(t, open.Gap)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{Rung: "common"}))(t)
	at := func(lambda float64) (hinge, score float64) {
		for _, f := range cv.Folds {
			part := part(m.rows, f.Train)
			g := must.Of(machine.New(part.X, part.Y, part.Weights))(t)
			s := must.Of(g.Solve(context.Background(), lambda, []float64{openBound}, 1e-9, nil))(t)
			require.Equal(t, outcome.Converged, s.Status)
			hinge += meanHinge(cv.Data, f.Val, [2]float64{1, 1}, s.W, s.C) / 2
			score += meanScore(cv.Data, f.Val, [2]float64{1, 1}, s.W, s.C) / 2
		}
		return hinge, score
	}
	hinge, least := at(r.Lambda[0])
	require.InEpsilon(t, hinge, r.Refit.Validation, 1e-5)
	require.InEpsilon(t, least, *r.Score, 1e-5)
	for _, w := range open.Weights {
		if share := w[0] / r.Lambda[0]; share > 0.09 && share < 11 {
			_, score := at(w[0])
			require.Greater(t, score, *r.Score*(1-2e-3), "lambda %g", w[0])
		}
	}
}

// Where the small difference of two features tells the labels apart, weights are as large as that needs: far beyond the
// bounds of the paper.
func TestOpenSeparable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func(n int) *dataset.Data {
		d := &dataset.Data{X: mat.NewDense(n, 3, nil), Y: make([]float64, n), Features: []string{"a", "b", "c"}, Target: "y"}
		for i := range n {
			a, gap := rng.NormFloat64(), 0.05*rng.NormFloat64()
			d.Dense().SetRow(i, []float64{a, a + gap, rng.NormFloat64()})
			if gap > 0 {
				d.Y[i] = 1
			}
		}
		return d
	}
	d := draw(90)
	classes := must.Of(dataset.ClassNumbers(d, 2))(t)
	cv := must.Of(dataset.CrossValidate(d, 5, 1, classes))(t)
	cv.Test = draw(400)
	m := must.Of(New(cv, Options{Standardize: true}))(t)
	r := must.Of(tune.Run(context.Background(), m, tune.Config{}))(t)
	require.Greater(t, math.Abs(r.RefitFit.Coefficients[0]), 3.0*highest)
	require.Less(t, *r.Refit.Test, 0.05) // the grid has 0.2: its bounds are those of the paper
}
