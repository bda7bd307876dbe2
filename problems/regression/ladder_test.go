package regression_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/lower/warm"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

var _ problems.Model = (*regression.Model)(nil)

// climbed are the values of the variables on the rungs common and adaptive, with the exponent 1, at weights.
func climbed(t *testing.T, m *regression.Model, lambda []float64) (x [2][][]float64, rungs [2]*regression.Model) {
	t.Helper()
	ctx := context.Background()
	ladder := m.Advice().Ladder()
	require.Len(t, ladder, 3)
	rungs[0] = must.Of(ladder[0].Models(nil, nil, nil))(t)[0].(*regression.Model)
	for k := range rungs {
		fit := must.Of(rungs[k].Advice().Together(ctx))(t)
		pt := must.Of(warm.NewChain(fit).Solve(ctx, lambda, 1e-12))(t)
		require.True(t, pt.Solved)
		if x[k] = pt.X; k == 0 {
			rungs[1] = must.Of(ladder[1].Models(rungs[0], lambda, pt.X))(t)[1].(*regression.Model)
		}
	}
	return x, rungs
}

// Pilots, and so solutions at given weights, are the same whatever the targets of the validation rows.
func TestPilotsSeeTrainingRows(t *testing.T) {
	of := func(change float64) [2][][]float64 {
		s := modeltest.Split(5, 60, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7)
		for i := range s.Val.Y {
			s.Val.Y[i] *= change
		}
		m := must.Of(regression.WeightedLasso(s, options{Intercept: true}))(t)
		x, _ := climbed(t, m, []float64{0.1})
		return x
	}
	a, b := of(1), of(-3)
	for k := range a {
		require.InDeltaSlice(t, a[k][0], b[k][0], 1e-12)
	}
}

// Those of the adaptive lasso see training rows only: what is next to nothing for the choice of their weight, one of
// few, changes nothing.
func TestAdaptivePilotsSeeTrainingRows(t *testing.T) {
	fit := func(change float64) []float64 {
		s := modeltest.Split(5, 60, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7)
		for i := range s.Val.Y {
			s.Val.Y[i] *= change
		}
		m := must.Of(regression.AdaptiveLasso(s, options{Intercept: true}))(t)
		return m.Fit(solved(t, m, 1e-10, 0.1).X).Coefficients
	}
	require.Equal(t, fit(1), fit(1+1e-6))
}

// Compare is the mean of the differences of the rows' losses, with its standard error, and Spread the weights of the
// groups and, for the 1-norm, the mean ones.
func TestCompareAndSpread(t *testing.T) {
	s := modeltest.Split(5, 60, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7)
	g := must.Of(groups.Equal(6, 3))(t)
	m := must.Of(regression.SparseGroupLasso(s, options{Groups: g}))(t)
	lambda := []float64{0.1, 0.2}
	x, rungs := climbed(t, m, lambda)
	var differences []float64
	for i, y := range s.Val.Y {
		row := s.Val.Dense().RawRowView(i)
		a, b := y-floats.Dot(row, x[0][0]), y-floats.Dot(row, x[1][0])
		differences = append(differences, (a*a-b*b)/2)
	}
	on := rungs[0].Advice()
	mean, se := on.Compare(on.Losses(x[0]), on.Losses(x[1]))
	wantMean, deviation := stat.MeanStdDev(differences, nil)
	require.InDelta(t, wantMean, mean, 1e-9)
	require.InDelta(t, deviation/math.Sqrt(40), se, 1e-9)

	spread := func(m problems.Model) []float64 {
		weights, upper := m.Advice().Spread(lambda)
		require.Nil(t, upper)
		return weights
	}
	require.InDeltaSlice(t, []float64{0.2 * math.Sqrt2, 0.2 * math.Sqrt2, 0.2 * math.Sqrt2, 0.1}, spread(rungs[0]), 1e-12)
	b := x[0][0]
	sizes := []float64{math.Hypot(b[0], b[1]), math.Hypot(b[2], b[3]), math.Hypot(b[4], b[5])}
	want, l1 := make([]float64, 4), 0.0
	for k, v := range sizes {
		want[k] = 0.2 * math.Sqrt2 * 1.01 / (v/slices.Max(sizes) + 0.01)
	}
	for _, v := range b {
		l1 += math.Log(1.01/(math.Abs(v)/floats.Norm(b, math.Inf(1))+0.01)) / 6
	}
	want[3] = 0.1 * math.Exp(l1)
	require.InDeltaSlice(t, want, spread(rungs[1]), 1e-9)

	factors := []float64{2, 1, 0.5, 3}
	floats.Mul(want, factors)
	require.InDeltaSlice(t, want, spread(rungs[1].Advice().Times(factors)), 1e-9)
	parts := must.Of(rungs[1].Advice().Deviations(lambda))(t)
	var losses [3]float64
	for k, fit := range parts {
		at := must.Of(fit.Solve(context.Background(), []float64{1, 1, 1, 1}, 1e-12, nil))(t)
		require.InDeltaSlice(t, x[1][0], at.X[0], 1e-6)
		losses[k] = at.Validation
	}
	require.InEpsilon(t, losses[0], (losses[1]+losses[2])/2, 1e-9)
	require.NotEqual(t, losses[1], losses[2])
}

// VF-iDCA is no worse than a grid, by a split as by folds, and errors are what the definitions of the losses say.
func TestMethods(t *testing.T) {
	type splits = []*dataset.Split
	type checking = func(m *regression.Model, best *tune.Result, parts splits)
	final := func(method string) tune.Config {
		return tune.Config{Method: method, Evaluations: 25, Final: tune.FinalTrain}
	}
	both := func(s *dataset.Split, folds int, build constructor, o options, check checking) {
		cv := folded(t, s, folds)
		for _, rows := range []dataset.Division{s, cv} {
			m, err := build(rows, o)
			grid, best := tuned(t, final(tune.MethodGrid))(m, err), tuned(t, final(tune.MethodVFiDCA))(m, err)
			require.LessOrEqual(t, best.Refit.Validation, grid.Refit.Validation*1.005)
			require.Positive(t, m.Advice().StandardError(best.Selection.X))
			check(m, best, rows.Parts())
			if m.Name() == "cox" {
				hoag := tuned(t, tune.Config{Method: tune.MethodHOAG, Final: tune.FinalTrain})(m, err)
				require.LessOrEqual(t, hoag.Refit.Validation, grid.Refit.Validation*1.02)
			}
		}
	}
	s := timedSplit(3, 50)
	both(s, 3, regression.Cox, options{Standardize: true}, func(m *regression.Model, best *tune.Result, parts splits) {
		require.InEpsilon(t, 2*halfDeviance(s.Test, best.RefitFit)/events(s.Test.Y), *best.Refit.Test, 1e-9)
		want := 2 * halfDeviance(parts[0].Val, best.RefitFit) / events(parts[0].Val.Y)
		if len(parts) > 1 {
			require.False(t, best.Trace[0].Iterates())
			want = 0
			for k, f := range m.FoldFits(best.Selection.X) {
				all := dataset.Stack(parts[k].Train, parts[k].Val)
				want += 2 * (halfDeviance(all, f) - halfDeviance(parts[k].Train, f)) / events(s.Train.Y)
			}
		}
		require.InEpsilon(t, want, best.Refit.Validation, 1e-9)
		require.True(t, best.RefitFit.Hazard)
		base := m.Baseline(best.RefitFit)
		require.Len(t, base.Hazard, len(base.Times))
		require.IsIncreasing(t, base.Hazard)
	})
	labels := map[float64]string{3: "low", 5: "mid", 8: "high"}
	o := options{Intercept: true, Standardize: true, Label: func(y float64) string { return labels[y] }}
	s = classesSplit(3, 50)
	both(s, 2, regression.Multinomial, o, func(m *regression.Model, best *tune.Result, parts splits) {
		require.Nil(t, m.Baseline(best.RefitFit))
		require.Equal(t, []string{"low", "mid", "high"}, best.RefitFit.Targets)
		require.Equal(t, []float64{3, 5, 8}, best.RefitFit.Labels)
		require.InEpsilon(t, meanMultinomial(s.Test, best.RefitFit), *best.Refit.Test, 1e-9)
		if len(parts) == 1 {
			require.InEpsilon(t, meanMultinomial(s.Val, best.RefitFit), best.Refit.Validation, 1e-9)
		}
	})
}

// Folds together have the solutions of each as a split of its own, where they leave rows of one table out and where
// they do not.
func TestFoldsOfRungs(t *testing.T) {
	s := modeltest.Split(5, 60, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7)
	whole := must.Of(dataset.CrossValidate(s.Train, 3, 1, nil))(t)
	first := make([]int, 60)
	for i := range first {
		first[i] = i
	}
	parts := &dataset.CrossValidation{Data: s.Train, Folds: []split.Fold{{Train: first[:20], Val: first[20:40]},
		{Train: first[:40], Val: first[40:]}}}
	g := must.Of(groups.Equal(6, 3))(t)
	for _, cv := range []*dataset.CrossValidation{whole, parts} {
		all := must.Of(regression.SparseGroupLasso(cv, options{Groups: g}))(t)
		lambda := []float64{0.1, 0.05}
		x, _ := climbed(t, all, lambda)
		for f, fold := range cv.Folds {
			rows := &dataset.Split{Train: cv.Data.Rows(fold.Train), Val: cv.Data.Rows(fold.Val)}
			one := must.Of(regression.SparseGroupLasso(rows, options{Groups: g}))(t)
			alone, _ := climbed(t, one, lambda)
			for k := range x {
				require.InDeltaSlice(t, alone[k][0], x[k][f], 1e-6)
			}
		}
	}
}

// crossValidation splits 40 rows of six features into three folds.
func crossValidation(t *testing.T) *dataset.CrossValidation {
	s := modeltest.Split(3, 40, 1, 30, []float64{2, -1, 0, 0.5, 0, 0}, 0.5)
	cv := must.Of(dataset.CrossValidate(s.Train, 3, 1, nil))(t)
	cv.Test = s.Test
	return cv
}

// lasso is min 1/(2n) |y - X b - b0|^2 + lambda |b|_1 by coordinate descent, written apart from the code under test.
func lasso(d *dataset.Data, lambda float64, intercept bool) (b []float64, b0 float64) {
	n, p := d.Dims()
	b = make([]float64, p)
	r := append([]float64(nil), d.Y...) // y - X b - b0
	for range 3000 {
		if intercept {
			mean := floats.Sum(r) / float64(n)
			b0 += mean
			floats.AddConst(-mean, r)
		}
		for j := range p {
			var g, h float64
			for i := range n {
				x := d.X.At(i, j)
				g += x * (r[i] + x*b[j]) / float64(n)
				h += x * x / float64(n)
			}
			next := math.Copysign(math.Max(0, math.Abs(g)-lambda), g) / h
			for i := range n {
				r[i] -= d.X.At(i, j) * (next - b[j])
			}
			b[j] = next
		}
	}
	return b, b0
}

// within finds the lasso with |b|_1 = r by bisection.
func within(d *dataset.Data, r float64, intercept bool) (b []float64, b0, lambda float64) {
	lo, hi := 0.0, 10.0
	for range 60 {
		lambda = (lo + hi) / 2
		if b, b0 = lasso(d, lambda, intercept); floats.Norm(b, 1) > r {
			lo = lambda
		} else {
			hi = lambda
		}
	}
	return b, b0, lambda
}

// The folds share the radius of the l1 norm: each has the lasso with that norm, found apart by coordinate descent and
// bisection, lambda is the mean of theirs, and the final fit is the lasso of all rows with the same norm.
func TestFoldsShareRadii(t *testing.T) {
	ctx := context.Background()
	cv := crossValidation(t)
	for _, intercept := range []bool{false, true} {
		if !intercept && testing.Short() {
			continue
		}
		m := must.Of(regression.ElasticNet(cv, options{Intercept: intercept}))(t)
		require.True(t, m.Advice().Folds)
		p := m.Program()
		p.H0 = []float64{2.5, 100}
		low := must.Of(dca.LowerLevel(ctx, p, dca.Settings{Backend: native(t)}))(t)
		require.Equal(t, backends.Optimal, low.Status)
		each := len(low.X) / 3
		validation, mean := 0.0, 0.0
		for k, f := range cv.Folds {
			b, b0, lambda := within(cv.Data.Rows(f.Train), 2.5, intercept)
			require.InDeltaSlice(t, b, low.X[k*each], 1e-5)
			validation += half(cv.Data.Rows(f.Val), b, b0) / 3
			mean += lambda / 3
		}
		require.InDelta(t, mean, low.Lambda[0], 1e-5)
		e := m.Evaluate(low.X)
		require.InDelta(t, validation, e.Validation, 1e-5)
		require.Nil(t, e.Test)

		b, b0, _ := within(cv.Data, 2.5, intercept)
		fit, test := must.Both(m.Advice().Retrain(ctx, problems.Solver{Backend: native(t), Fits: true}, p.H0))(t)
		require.InDeltaSlice(t, b, fit.Coefficients, 1e-5)
		require.InDelta(t, b0, fit.Intercept, 1e-5)
		require.InDelta(t, half(cv.Test, b, b0), *test, 1e-5)

		// With weights it is the lasso of all rows with that lambda.
		b, b0 = lasso(cv.Data, 0.1, intercept)
		fit, test, err := m.Advice().RetrainWeighted(ctx, problems.Solver{Backend: native(t), Fits: true}, []float64{0.1, 0})
		require.NoError(t, err)
		require.InDeltaSlice(t, b, fit.Coefficients, 1e-5)
		require.InDelta(t, half(cv.Test, b, b0), *test, 1e-5)
	}
}

// half is half the mean squared error of a predictor.
func half(d *dataset.Data, b []float64, b0 float64) float64 {
	r := modeltest.Residuals(d, b)
	floats.AddConst(b0, r)
	return floats.Dot(r, r) / float64(2*len(r))
}

// ofFolds are models with a constant.
func ofFolds(t *testing.T) map[string]constructor {
	return some(t, "elastic-net", "weighted-lasso", "sparse-group-lasso", "group-lasso", "fused-lasso",
		"bounded-elastic-net", "huber", "quantile", "logistic")
}

// The multipliers of radii that the folds share are the derivatives of the mean of their losses, by finite differences.
func TestFoldsDerivative(t *testing.T) {
	ctx := context.Background()
	cv := crossValidation(t)
	for name, build := range ofFolds(t) {
		t.Run(name, func(t *testing.T) {
			m := must.Of(build(cv, options{Intercept: true}))(t)
			p := m.Program()
			for j := range p.H0 {
				p.H0[j] = 0.6 + 0.05*float64(j)
			}
			value := func(r []float64) *dca.Solution {
				q := p
				q.H0 = r
				s := must.Of(dca.LowerLevel(ctx, q, dca.Settings{Backend: native(t)}))(t)
				require.Equal(t, backends.Optimal, s.Status)
				return s
			}
			at := value(p.H0)
			for j := range p.H0 {
				const step = 1e-4
				up, down := append([]float64(nil), p.H0...), append([]float64(nil), p.H0...)
				up[j] += step
				down[j] -= step
				d := (value(up).Value - value(down).Value) / (2 * step)
				require.InDelta(t, -d, at.Lambda[j], 2e-3*(1+math.Abs(d)), "radius %d", j)
			}
		})
	}
}
