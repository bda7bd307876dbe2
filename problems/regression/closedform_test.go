package regression_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// orthogonal are rows with the loss 1/2 |b - a|^2.
func orthogonal(a ...float64) *dataset.Data {
	p := len(a)
	x, root := mat.NewDense(p, p, nil), math.Sqrt(float64(p))
	d := &dataset.Data{X: x, Target: "y"}
	for j, v := range a {
		x.Set(j, j, root)
		d.Y, d.Features = append(d.Y, root*v), append(d.Features, fmt.Sprint("x", j))
	}
	return d
}

// soft is the soft threshold of v.
func soft(v, threshold float64) float64 { return math.Copysign(math.Max(math.Abs(v)-threshold, 0), v) }

// The lasso is a soft threshold, and the best threshold on the validation rows is found.
func TestSoftThreshold(t *testing.T) {
	a, w := []float64{1.5, 0.1, 1.1, -2, 0.6, 0.7, 0.04, -0.2}, []float64{1.1, 0.1, 0.9, -1.6, 0.4, 0.6, -0.08, -0.1}
	threshold := func(lambda float64) (b []float64, e float64) {
		for j, v := range a {
			b = append(b, soft(v, lambda))
			e += (b[j] - w[j]) * (b[j] - w[j]) / 2
		}
		return b, e
	}
	best := math.Inf(1)
	for lambda := 1e-4; lambda < 3; lambda *= 1.001 {
		_, e := threshold(lambda)
		best = math.Min(best, e)
	}
	m := must.Of(regression.Lasso(&dataset.Split{Train: orthogonal(a...), Val: orthogonal(w...)}, options{}))(t)
	for _, engine := range tune.Engines() {
		for _, method := range []string{tune.MethodVFiDCA, tune.MethodGrid, tune.MethodHOAG, tune.MethodIGJO} {
			r := tuned(t, tune.Config{Method: method, Engine: engine, Final: tune.FinalTrain})(m, nil)
			b, e := threshold(r.Lambda[0])
			require.InDelta(t, e, r.Refit.Validation, 2e-4*best, "%s %s", engine, method)
			require.InDeltaSlice(t, b, r.RefitFit.Coefficients, 1e-3, "%s %s", engine, method)
			require.Less(t, r.Refit.Validation, 1.02*best, "%s %s", engine, method)
		}
	}
}

// The pilot of an adaptive lasso by ridge regression is a_j / (1 + mu), so that w_j = (max a / |a_j|)^gamma, and its
// coefficients are sign(a_j) max(0, |a_j| - lambda w_j). Where there is nothing to find, there is no weight.
func TestAdaptiveClosedForm(t *testing.T) {
	rows := orthogonal(3, -1, 0.5) // for training and validation, so that pilots have next to no penalty
	for _, gamma := range []float64{0.5, 1, 2} {
		for _, pilot := range regression.Pilots() {
			m, err := regression.AdaptiveLasso(&dataset.Split{Train: rows, Val: rows}, options{Pilot: pilot, Gamma: gamma})
			require.NoError(t, err)
			for _, lambda := range []float64{0.01, 0.1, 0.3} {
				got := m.Fit(solved(t, m, 1e-12, lambda).X).Coefficients
				for j, v := range []float64{3, -1, 0.5} {
					want := soft(v, lambda*math.Pow(3/math.Abs(v), gamma))
					require.InDelta(t, want, got[j], 2e-2, "gamma %g, %s, lambda %g, feature %d", gamma, pilot, lambda, j)
				}
			}
		}
	}
	rows = orthogonal(0, 0)
	m := must.Of(regression.AdaptiveLasso(&dataset.Split{Train: rows, Val: rows}, options{Intercept: true}))(t)
	f := must.Of(m.Penalised())(t)
	require.Zero(t, f.LambdaMax())
}

// normal is the ridge regression of the rows by its normal equations, (X'X/n + lambda I) b = X'y/n.
func normalEquations(d *dataset.Data, lambda float64) *mat.VecDense {
	n, p := d.Dims()
	var gram mat.Dense
	gram.Mul(d.X.T(), d.X)
	gram.Scale(1/float64(n), &gram)
	for j := range p {
		gram.Set(j, j, gram.At(j, j)+lambda)
	}
	var right, b mat.VecDense
	right.MulVec(d.X.T(), mat.NewVecDense(n, d.Y))
	right.ScaleVec(1/float64(n), &right)
	if err := b.SolveVec(&gram, &right); err != nil {
		panic(err)
	}
	return &b
}

func halfOf(d *dataset.Data, b *mat.VecDense) float64 {
	n, _ := d.Dims()
	var f mat.VecDense
	f.MulVec(d.X, b)
	f.SubVec(&f, mat.NewVecDense(n, d.Y))
	return mat.Dot(&f, &f) / float64(2*n)
}

// Every method ends near the best weight of a fine grid of normal equations, and what it reports is their solution at
// its weight.
func TestNormalEquations(t *testing.T) {
	for seed := range uint64(3) {
		s, _, err := dataset.Generate(dataset.Config{Train: 30, Val: 30, Test: 30, Features: 20, Nonzeros: 10, SNR: 0.7},
			seed+1)
		require.NoError(t, err)
		best := halfOf(s.Val, normalEquations(s.Train, 1e-4))
		for lambda := 1e-4; lambda < 1e4; lambda *= 1.02 {
			best = min(best, halfOf(s.Val, normalEquations(s.Train, lambda)))
		}
		for _, engine := range tune.Engines() {
			m := must.Of(regression.Ridge(s, options{}))(t)
			for _, method := range []string{tune.MethodVFiDCA, tune.MethodGrid, tune.MethodHOAG} {
				r, err := tune.Run(context.Background(), m, tune.Config{Method: method, Engine: engine, Final: tune.FinalTrain})
				require.NoError(t, err)
				require.NotNil(t, r.Refit, "%s %s", engine, method)
				b := normalEquations(s.Train, r.Lambda[0])
				require.InEpsilon(t, halfOf(s.Val, b), r.Refit.Validation, 1e-4, "%s %s", engine, method)
				require.Less(t, r.Refit.Validation, best*1.002, "%s %s, lambda %v", engine, method, r.Lambda)
				require.GreaterOrEqual(t, r.Refit.Validation, best*(1-1e-4))
				for j, c := range r.RefitFit.Coefficients {
					require.InDelta(t, b.AtVec(j), c, 2e-3, "%s %s", engine, method)
				}
			}
		}
	}
}

var termsOfTests = regression.Terms{
	Factors: []float64{1, 0, 2, 1, 0.5, 1},
	Lower:   []float64{0, math.Inf(-1), math.Inf(-1), 0, -0.1, math.Inf(-1)},
	Upper:   []float64{0.4, math.Inf(1), 0.3, math.Inf(1), math.Inf(1), 0},
}

// bound is that of feature j, of one for each or one for all.
func bound(list []float64, j int, none float64) float64 {
	if list == nil {
		return none
	}
	return list[min(j, len(list)-1)]
}

// folded are the training rows of a split in folds, beside its test rows.
func folded(t *testing.T, s *dataset.Split, folds int) *dataset.CrossValidation {
	t.Helper()
	cv := must.Of(dataset.CrossValidate(s.Train, folds, 1, nil))(t)
	cv.Test = s.Test
	return cv
}

// The fits that models bring and the conic programs choose the same: errors, coefficients and constants, by a split as
// by folds, with terms and without, and bounds in the user's units hold.
func TestAgainstConic(t *testing.T) {
	inf := math.Inf(1)
	check := func(
		build constructor, rows dataset.Division, o options, c tune.Config, errors, coefficients float64,
	) problems.Fit {
		t.Helper()
		var results []*tune.Result
		for _, c.Engine = range []string{tune.EngineAuto, tune.EngineConic} {
			r := tuned(t, c)(build(rows, o))
			for j, b := range r.RefitFit.Coefficients {
				j /= max(1, len(r.RefitFit.Targets))
				require.GreaterOrEqual(t, b, bound(o.Terms.Lower, j, -inf)-1e-6)
				require.LessOrEqual(t, b, bound(o.Terms.Upper, j, inf)+1e-6)
			}
			results = append(results, r)
		}
		fit, conic := results[0].RefitFit, results[1].RefitFit
		require.InEpsilon(t, results[1].Refit.Validation, results[0].Refit.Validation, errors, "%s %+v", results[0].Model, o)
		require.InDeltaSlice(t, conic.Coefficients, fit.Coefficients, coefficients, "%s %+v", results[0].Model, o)
		require.InDeltaSlice(t, conic.Intercepts, fit.Intercepts, coefficients)
		return fit
	}
	grid := func(n int, eps float64) tune.Config {
		return tune.Config{Method: tune.MethodGrid, Evaluations: n, Seed: 1, Eps: eps}
	}
	iterated := tune.Config{Method: tune.MethodVFiDCA, GapTol: 1e-6}
	s := modeltest.Split(7, 60, 40, 30, []float64{1, -1, 0.5, -0.5, -1, 1}, 0.7)
	for _, build := range some(t, "elastic-net", "bounded-elastic-net", "lasso", "ridge", "logistic", "poisson") {
		for _, standardize := range []bool{false, true} {
			o := options{Intercept: true, Standardize: standardize, Terms: termsOfTests}
			require.Negative(t, check(build, s, o, iterated, 2e-3, 0.03).Coefficients[1]) // not penalised
		}
	}

	s = modeltest.Split(5, 60, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7)
	for _, rows := range []dataset.Division{s, folded(t, s, 3)} {
		fit := check(regression.AdaptiveLasso, rows, options{Intercept: true, Standardize: true}, iterated, 1e-3, 0.02)
		require.InDelta(t, 2, fit.Coefficients[0], 0.3)
	}

	s = timedSplit(3, 40)
	for _, rows := range []dataset.Division{s, folded(t, s, 2)} {
		for _, o := range []options{{}, {Standardize: true}, {Ties: "efron", Standardize: true}} {
			check(regression.Cox, rows, o, grid(9, 0), 1e-5, 1e-3)
		}
	}
	s, _ = termed(5, 40)
	for _, rows := range []dataset.Division{s, folded(t, s, 2)} {
		for _, ties := range survival.TieRules() { // with weights and an offset
			o := options{Ties: ties, Standardize: true, Terms: regression.Terms{
				Factors: []float64{1, 1, 0, 1, 2, 1}, Lower: []float64{-0.3}, Upper: []float64{inf, 1, 1, 1, 0.05, 1},
			}}
			check(regression.Cox, rows, o, grid(4, 1e-9), 1e-6, 1e-4)
		}
	}

	for k, terms := range []regression.Terms{
		{}, {}, {Factors: []float64{1, 0, 2, 0.5, 1, 1}},
		{Lower: []float64{0, -inf, -0.1, -inf, -inf, 0}, Upper: []float64{inf, 0.3, 0.1, inf, inf, 0}},
		{Factors: []float64{0, 1, 1, 3, 1, 1}, Lower: []float64{-inf, -0.2, -inf, 0, -inf, -inf}},
	} {
		o := options{Intercept: true, Standardize: k > 0, Terms: terms}
		check(regression.Multinomial, classesSplit(3, 60), o, grid(16, 0), 1e-5, 1e-3)
	}
}

// A net with a loss of its own, here squares, which package glm does not know, is solved by conic programs: its weights
// are twice those of the elastic net, whose loss is half of its.
func TestNetOfAnotherLoss(t *testing.T) {
	squares := regression.Net{Name: "squares", Loss: regression.Loss{
		Sum: func(f convex.Expr, y, _ []float64, _ float64) convex.Expr {
			return convex.SumSquares(convex.Sub(f, y))
		},
		Value: func(f, y []float64, _ float64) float64 { return (f[0] - y[0]) * (f[0] - y[0]) },
		Slope: func(f, y, _ float64) float64 { return 2 * (f - y) },
	}}
	s := modeltest.Split(5, 40, 20, 10, []float64{2, -1, 0.5, 0}, 0.7)
	for _, rows := range []dataset.Division{s, folded(t, s, 3)} {
		at := func(weight float64) tune.Config {
			only := []tune.Range{{Low: weight, High: weight}}
			return tune.Config{Method: tune.MethodGrid, Evaluations: 1, Ranges: only, Eps: 1e-10}
		}
		net := tuned(t, at(0.2))(regression.NewNet(rows, options{Intercept: true}, squares))
		half := tuned(t, at(0.1))(regression.ElasticNet(rows, options{Intercept: true}))
		require.InEpsilon(t, 2*half.Refit.Validation, net.Refit.Validation, 1e-6)
		require.InDeltaSlice(t, half.RefitFit.Coefficients, net.RefitFit.Coefficients, 1e-4)
	}
}

func small(t testing.TB) *dataset.Split {
	return must.Of(input.ReadDir("testdata/elasticnet/small"))(t)
}

// The runs of an independent implementation in Python, see README.md beside the data.
func TestAgainstPython(t *testing.T) {
	within := modeltest.Within{Errors: 1e-3, Radii: 1e-3, Lambda: 1e-3, Trace: 1e-3, Step: 1e-4}
	modeltest.AgainstPython(t, "testdata/elasticnet/small", 2, within,
		must.Of(regression.ElasticNet(small(t), options{}))(t))
	split, g := smallGroups(t)
	// Multipliers of the size of ECOS's tolerance, divided by rho, move its radii in each iteration.
	within = modeltest.Within{Errors: 2e-3, Radii: 3e-3, Lambda: 2e-3, Trace: 3e-3, Step: 1e-3}
	modeltest.AgainstPython(t, "testdata/sgl/small", 3, within,
		must.Of(regression.SparseGroupLasso(split, options{Groups: g}))(t))
}

// Standardised with an intercept, the predictor does not depend on the units of the data, nor does the threshold by
// default of a Huber regression.
func TestUnitsOfTheData(t *testing.T) {
	o := options{Intercept: true, Standardize: true}
	for _, c := range []struct {
		build        constructor
		rows         func() *dataset.Split
		coefficients float64
	}{{regression.ElasticNet, func() *dataset.Split { return small(t) }, 1e-2}, {regression.Huber, outliers, 0.05}} {
		wide := c.rows().Map(func(y float64) float64 { return 100*y + 5000 }).(*dataset.Split)
		for _, d := range []*dataset.Data{wide.Train, wide.Val, wide.Test} {
			x := mat.DenseCopyOf(d.X)
			x.Apply(func(_, j int, v float64) float64 { return v*float64(j+1) - 30 }, x)
			d.X = x
		}
		a := must.Of(c.build(c.rows(), o))(t)
		b := must.Of(c.build(wide, o))(t)
		require.InDelta(t, 100*a.Options().Threshold, b.Options().Threshold, 1e-9)
		x, y := modeltest.Solve(t, a, a.DefaultSettings()), modeltest.Solve(t, b, b.DefaultSettings())
		require.Equal(t, outcome.Converged, x.Status)
		f, g := a.Fit(x.Refit), b.Fit(y.Refit)
		for j, v := range f.Coefficients {
			require.InDelta(t, 100*v/float64(j+1), g.Coefficients[j], c.coefficients)
		}
		require.InEpsilon(t, 1e4*a.Evaluate(x.Refit).Validation, b.Evaluate(y.Refit).Validation, 1e-4)
	}
}

func smallGroups(t testing.TB) (*dataset.Split, *groups.Groups) {
	s := must.Of(input.ReadDir("testdata/sgl/small"))(t)
	g := must.Of(groups.ReadDir("testdata/sgl/small", s.Train.Features, false))(t)
	return s, g
}
