package regression_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// definition is a model by its definition: the loss of a target y at the value f, and the penalties of coefficients.
type definition struct {
	loss      func(y, f float64) float64
	penalties func(b []float64) []float64
}

func halfSquare(y, f float64) float64 { return (f - y) * (f - y) / 2 }

func elastic(b []float64) []float64 { return []float64{floats.Norm(b, 1), floats.Dot(b, b) / 2} }

// groupNorms are those of groups of two features.
func groupNorms(b []float64) (out []float64) {
	for j := 0; j < len(b); j += 2 {
		out = append(out, floats.Norm(b[j:j+2], 2))
	}
	return out
}

func definitions() map[string]definition {
	logistic := func(y, f float64) float64 { return math.Log(1 + math.Exp((1-2*y)*f)) } // labels 0 and 1
	poisson := func(y, f float64) float64 {
		if y == 0 {
			return math.Exp(f)
		}
		return math.Exp(f) - y + y*(math.Log(y)-f)
	}
	abs := func(b []float64) (out []float64) {
		for _, v := range b {
			out = append(out, math.Abs(v))
		}
		return out
	}
	return map[string]definition{
		"elastic-net":         {halfSquare, elastic},
		"bounded-elastic-net": {halfSquare, elastic},
		"lasso":               {halfSquare, func(b []float64) []float64 { return []float64{floats.Norm(b, 1)} }},
		"ridge":               {halfSquare, func(b []float64) []float64 { return []float64{floats.Dot(b, b) / 2} }},
		"weighted-lasso":      {halfSquare, abs},
		"fused-lasso": {halfSquare, func(b []float64) []float64 {
			return []float64{floats.Norm(b, 1), floats.Norm(differ(b, 1), 1)}
		}},
		"group-lasso": {halfSquare, groupNorms},
		"sparse-group-lasso": {halfSquare, func(b []float64) []float64 {
			return append(groupNorms(b), floats.Norm(b, 1))
		}},
		"huber": {func(y, f float64) float64 { // the threshold is 1/2
			if r := math.Abs(f - y); r > 0.5 {
				return r/2 - 0.125
			}
			return halfSquare(y, f)
		}, elastic},
		"quantile": {func(y, f float64) float64 { return math.Max(0.3*(y-f), 0.7*(f-y)) }, elastic}, // of the level 0.3
		"logistic": {logistic, elastic}, "weighted-logistic": {logistic, abs},
		"poisson": {poisson, elastic}, "weighted-poisson": {poisson, abs},
	}
}

// The program of a model has its losses and penalties, at any coefficients. That conic programs of them are solved is
// the matter of package convex, and that multipliers are derivatives, that of TestFoldsDerivative.
func TestProgramIsTheDefinition(t *testing.T) {
	s := modeltest.Split(3, 30, 20, 10, []float64{1, -0.5, 0.3, 0.2, 0, 0}, 0.5)
	rng := rand.New(rand.NewPCG(2, 9))
	for name, want := range definitions() {
		t.Run(name, func(t *testing.T) {
			rows := rowsOf(s, name)
			m := must.Of(models(t)[name](s, options{Intercept: true}))(t)
			p := m.Program()
			model := convex.NewModel()
			level := p.Build(model, model.Vector("h", len(p.H0)))
			require.Len(t, level.X, 2)
			for range 20 {
				b, b0 := make([]float64, 6), rng.NormFloat64()
				for j := range b {
					b[j] = rng.NormFloat64() * float64(rng.IntN(3))
				}
				mean := func(d *dataset.Data) (sum float64) {
					for i, y := range d.Y {
						sum += want.loss(y, b0+d.Dot(i, b)) / float64(len(d.Y))
					}
					return sum
				}
				at := convex.Point{level.X[0]: b, level.X[1]: {b0}}
				require.InEpsilon(t, mean(rows.Train), level.Train.Eval(at)[0], 1e-12)
				require.InEpsilon(t, mean(rows.Val), level.Validation.Eval(at)[0], 1e-12)
				require.InEpsilon(t, mean(rows.Val), m.Evaluate([][]float64{b, {b0}}).Validation, 1e-12)
				require.InEpsilon(t, mean(rows.Test), *m.Evaluate([][]float64{b, {b0}}).Test, 1e-12)
				penalties := must.Of(p.Penalties([][]float64{b, {b0}}, nil))(t)
				require.InDeltaSlice(t, want.penalties(b), penalties, 1e-12)
			}
		})
	}
}

// Whatever the units, errors are the mean losses of the predictor in those of the user, and with the settings of the
// paper and by default VF-iDCA ends at a better one than the constant.
func TestErrorsAreMeanLosses(t *testing.T) {
	s := modeltest.Split(2, 60, 40, 50, []float64{1, -0.5, 0.5, 0, 0, 0}, 0.5)
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		for i := range d.Y {
			d.Dense().Set(i, 1, 100*d.X.At(i, 1)-40)
			if d.Y[i] *= 2; i%5 == 0 { // labels that no feature tells apart
				d.Y[i] = -d.Y[i]
			}
		}
	}
	for name, want := range definitions() {
		t.Run(name, func(t *testing.T) {
			rows := rowsOf(s, name)
			mean := func(d *dataset.Data, b []float64, b0 float64) (sum float64) {
				for i, y := range d.Y {
					sum += want.loss(y, b0+d.Dot(i, b)) / float64(len(d.Y))
				}
				return sum
			}
			m := must.Of(models(t)[name](s, options{Intercept: true, Standardize: true}))(t)
			for _, set := range []dca.Settings{m.PaperSettings(), m.DefaultSettings()} {
				res := modeltest.Solve(t, m, set)
				require.Contains(t, []outcome.Stop{outcome.Converged, outcome.IterationLimit}, res.Status, res.Message)
				f, e := m.Fit(res.Refit), m.Evaluate(res.Refit)
				require.InEpsilon(t, mean(rows.Val, f.Coefficients, f.Intercept), e.Validation, 1e-9)
				require.InEpsilon(t, mean(rows.Test, f.Coefficients, f.Intercept), *e.Test, 1e-9)
				constant := math.Inf(1)
				for c := -3.0; c < 3; c += 0.01 {
					constant = math.Min(constant, mean(rows.Test, make([]float64, 6), c))
				}
				require.Less(t, *e.Test, constant)
			}
		})
	}
}

// rowsOf are the rows of a model in models, as it takes them.
func rowsOf(s *dataset.Split, name string) *dataset.Split {
	switch name {
	case "logistic", "weighted-logistic":
		return classified(s, 2).(*dataset.Split)
	case "poisson", "weighted-poisson":
		return counts(s).(*dataset.Split)
	}
	return s
}

// Groups may share features, and differences be of higher order.
func TestPenaltiesOfOptions(t *testing.T) {
	s := modeltest.Split(3, 30, 20, 10, []float64{1, -0.5, 0.3, 0.2, 0, 0}, 0.5)
	b := []float64{1, -2, 0.5, 3, 0, -1}
	shared := &groups.Groups{Names: []string{"a", "b"}, Members: [][]int{{0, 1, 2, 3}, {3, 4, 5}}}
	for _, c := range []struct {
		build constructor
		o     options
		want  []float64
	}{
		{regression.GroupLasso, options{Groups: shared}, []float64{floats.Norm(b[:4], 2), floats.Norm(b[3:], 2)}},
		{regression.FusedLasso, options{Order: 2}, []float64{floats.Norm(b, 1), floats.Norm(differ(b, 2), 1)}},
	} {
		m := must.Of(c.build(s, c.o))(t)
		p := m.Program()
		penalties := must.Of(p.Penalties([][]float64{b}, nil))(t)
		require.InDeltaSlice(t, c.want, penalties, 1e-12)
	}
}

// differ is D b by its definition.
func differ(b []float64, order int) []float64 {
	for range order {
		next := make([]float64, len(b)-1)
		for j := range next {
			next[j] = b[j+1] - b[j]
		}
		b = next
	}
	return b
}

// counted gives the rows of a cross-validation weights of 1 to 4, and returns it with each row as often as its weight
// says, too.
func counted(t *testing.T) (weighted, repeated *dataset.CrossValidation) {
	t.Helper()
	weighted = crossValidation(t)
	random := rand.New(rand.NewPCG(4, 4))
	give := func(d *dataset.Data) (index []int, first []int) {
		d.Weights = make([]float64, len(d.Y))
		for i := range d.Weights {
			times := 1 + random.IntN(4)
			d.Weights[i] = float64(times)
			first = append(first, len(index))
			index = append(index, slices.Repeat([]int{i}, times)...)
		}
		return index, first
	}
	index, first := give(weighted.Data)
	tests, _ := give(weighted.Test)
	repeated = &dataset.CrossValidation{Data: weighted.Data.Rows(index), Test: weighted.Test.Rows(tests)}
	repeated.Data.Weights, repeated.Test.Weights = nil, nil
	again := func(rows []int) (list []int) {
		for _, i := range rows {
			for k := range int(weighted.Data.Weights[i]) {
				list = append(list, first[i]+k)
			}
		}
		return list
	}
	for _, f := range weighted.Folds {
		repeated.Folds = append(repeated.Folds, split.Fold{Train: again(f.Train), Val: again(f.Val)})
	}
	return weighted, repeated
}

// run is a configuration, and how near its results are to each other.
type run struct {
	tune.Config
	tol float64
}

// sameTuned tunes models of two tables that say the same, and compares choice, errors and the final fit.
func sameTuned(t *testing.T, where string, tables [2]dataset.Division,
	build func(dataset.Division) (problems.Model, error), runs ...run) {
	t.Helper()
	for _, run := range runs {
		var results [2]*tune.Result
		for k, d := range tables {
			m, err := build(d)
			require.NoError(t, err, where)
			results[k], err = tune.Run(context.Background(), m, run.Config)
			require.NoError(t, err, where)
		}
		a, b := results[0], results[1]
		require.InEpsilon(t, b.Refit.Validation, a.Refit.Validation, run.tol, where)
		require.InEpsilon(t, *b.Refit.Test, *a.Refit.Test, run.tol, where)
		require.InDeltaSlice(t, b.RefitFit.Coefficients, a.RefitFit.Coefficients, 10*run.tol, where)
		require.InDelta(t, b.RefitFit.Intercept, a.RefitFit.Intercept, 10*run.tol, where)
	}
}

// Rows with integer weights give what the rows give that are there as often: units, choice, errors and the final fit,
// by fits and by conic programs, in folds and split, with an intercept and without.
func TestWeightsAreRepeatedRows(t *testing.T) {
	weighted, repeated := counted(t)
	sample := func(cv *dataset.CrossValidation) *dataset.Split {
		f := cv.Folds[0]
		return &dataset.Split{Train: cv.Data.Rows(f.Train), Val: cv.Data.Rows(f.Val), Test: cv.Test}
	}
	ranges := []tune.Range{{Low: 1e-3, High: 0.3}}
	grid := tune.Config{Method: tune.MethodGrid, Evaluations: 4, Ranges: ranges}
	nine, conic := grid, grid
	nine.Evaluations, conic.Engine = 9, tune.EngineConic
	iterated := func(n int, tol float64) run { return run{tune.Config{MaxIter: n}, tol} } // steps end where they are small
	random := tune.Config{Method: tune.MethodRandom, Evaluations: 6}
	folds := [2]dataset.Division{weighted, repeated}
	for name, build := range some(t, "elastic-net", "lasso", "ridge", "weighted-lasso", "sparse-group-lasso") {
		for _, o := range []options{{Standardize: true, Intercept: true}, {}, {Intercept: true}, {Standardize: true}} {
			if o.Standardize != o.Intercept && name != "lasso" {
				continue
			}
			for _, pair := range [][2]dataset.Division{folds, {sample(weighted), sample(repeated)}} {
				of := func(d dataset.Division) (problems.Model, error) { return build(d, o) }
				sameTuned(t, name, pair, of, run{nine, 1e-5}, run{conic, 1e-5}, // fits are exact to 1e-8 of their objectives
					iterated(3, 1e-3))
			}
		}
	}
	// Losses that are weighed row by row, and sparse tables with an intercept.
	for name, build := range some(t, "logistic", "multinomial", "poisson", "huber", "quantile", "weighted-logistic",
		"weighted-poisson", "group-lasso", "fused-lasso", "bounded-elastic-net") {
		of := func(d dataset.Division) (problems.Model, error) {
			return build(d, options{Standardize: true, Intercept: true})
		}
		sameTuned(t, name, folds, of, run{grid, 1e-4}, run{conic, 1e-4}, iterated(2, 1e-2))
	}
	for name, build := range some(t, "elastic-net", "lasso", "ridge", "logistic", "weighted-lasso", "sparse-group-lasso") {
		search := grid
		if name == "weighted-lasso" {
			search = random
			search.Ranges = ranges
		}
		of := func(d dataset.Division) (problems.Model, error) {
			return build(compressed(d), options{Intercept: true})
		}
		sameTuned(t, "sparse "+name, folds, of, run{search, 1e-4}, iterated(2, 1e-2))
	}
	sameTuned(t, "logistic, terms", folds, func(d dataset.Division) (problems.Model, error) {
		terms := regression.Terms{Factors: []float64{0, 1, 1, 2, 1, 1}}
		return regression.Logistic(classified(d, 2), options{Intercept: true, Terms: terms})
	}, run{grid, 1e-4}, run{conic, 1e-4}, iterated(2, 1e-2))
	sameTuned(t, "svm", folds, func(d dataset.Division) (problems.Model, error) {
		return svm.New(classified(d, 2).(*dataset.CrossValidation), svm.Options{Standardize: true,
			ClassWeights: classified(d, 2).Table().Balanced([]float64{0, 1})})
	}, run{random, 1e-4}, iterated(2, 1e-2))
}

// Weights of the adaptive lasso have no unit.
func TestWeightsOfAdaptive(t *testing.T) {
	weighted, _ := counted(t)
	fit := func(of func(dataset.Division) dataset.Division, scale float64) problems.Fit {
		cv := of(&dataset.CrossValidation{Data: weighted.Data.Rows(indices.Range(0, len(weighted.Data.Y))),
			Test: weighted.Test, Folds: weighted.Folds}).(*dataset.CrossValidation)
		for i := range cv.Data.Weights {
			cv.Data.Weights[i] = 1
			if scale != 1 {
				cv.Data.Weights[i] = scale
			}
		}
		if scale == 0 {
			cv.Data.Weights = nil
		}
		m := must.Of(regression.AdaptiveLasso(cv, options{Intercept: true}))(t)
		r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid, Evaluations: 9,
			Ranges: []tune.Range{{Low: 1e-3, High: 0.3}}}))(t)
		return r.RefitFit
	}
	dense := func(d dataset.Division) dataset.Division { return d }
	want := fit(dense, 0)
	for _, of := range []func(dataset.Division) dataset.Division{dense, compressed} {
		for _, scale := range []float64{1, 3.5} {
			got := fit(of, scale)
			require.InDeltaSlice(t, want.Coefficients, got.Coefficients, 1e-5)
			require.InDelta(t, want.Intercept, got.Intercept, 1e-5)
		}
	}
}

// The fits by a split of models that have none of their own are the optima of conic programs.
func TestFitsOfSplits(t *testing.T) {
	native := must.Of(backends.Open("native"))(t)
	s := modeltest.Split(3, 40, 20, 10, []float64{2, -1, 0, 0.5, 0, 0}, 0.5)
	multi := must.Of(regression.MultiTask(severalSplit(), options{Intercept: true, Standardize: true}))(t)
	for name, m := range map[string]*regression.Model{
		"huber":       must.Of(regression.Huber(s, options{Intercept: true, Standardize: true, Threshold: 0.5}))(t),
		"quantile":    must.Of(regression.Quantile(s, options{Intercept: true, Level: 0.3}))(t),
		"fused lasso": must.Of(regression.FusedLasso(s, options{Intercept: true}))(t), "multi-task": multi,
	} {
		conic := must.Of(dca.NewPenalized(m.Program(), dca.Settings{Backend: native, Solver: backends.Options{Eps: 1e-11}}))(t)
		for _, lambda := range [][]float64{{0.1, 0.05}, {0.01, 1e-3}} {
			at := solved(t, m, 1e-10, lambda...)
			require.True(t, at.Solved, name)
			want := must.Of(conic.Solve(context.Background(), lambda, nil))(t)
			for k := range want.X {
				require.InDeltaSlice(t, want.X[k], at.X[k], 1e-4, name)
			}
			require.InEpsilon(t, want.Validation, at.Validation, 1e-5, name)
		}
		require.NoError(t, conic.Close())
	}
}
