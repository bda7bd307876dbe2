package regression_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// options are those of all regressions.
type options = regression.Options

// constructor is that of a regression.
type constructor func(dataset.Division, options) (*regression.Model, error)

// models are all regressions of six features, of rows with real targets, which those of other models are made of.
func models(t *testing.T) map[string]constructor {
	t.Helper()
	g := must.Of(groups.Equal(6, 3))(t)
	with := func(build constructor, change func(o *options)) constructor {
		return func(d dataset.Division, o options) (*regression.Model, error) {
			change(&o)
			return build(d, o)
		}
	}
	grouped := func(o *options) { o.Groups = g }
	labelled := func(build constructor, classes int) constructor {
		return func(d dataset.Division, o options) (*regression.Model, error) {
			return build(classified(d, classes), o)
		}
	}
	counted := func(build constructor) constructor {
		return func(d dataset.Division, o options) (*regression.Model, error) { return build(counts(d), o) }
	}
	return map[string]constructor{
		"elastic-net":         regression.ElasticNet,
		"lasso":               regression.Lasso,
		"ridge":               regression.Ridge,
		"bounded-elastic-net": regression.BoundedElasticNet,
		"weighted-lasso":      regression.WeightedLasso,
		"adaptive-lasso":      regression.AdaptiveLasso,
		"fused-lasso":         regression.FusedLasso,
		"group-lasso":         with(regression.GroupLasso, grouped),
		"sparse-group-lasso":  with(regression.SparseGroupLasso, grouped),
		"huber":               with(regression.Huber, func(o *options) { o.Threshold = 0.5 }),
		"quantile":            with(regression.Quantile, func(o *options) { o.Level = 0.3 }),
		"cox":                 regression.Cox,
		"logistic":            labelled(regression.Logistic, 2),
		"weighted-logistic":   labelled(regression.WeightedLogistic, 2),
		"multinomial":         labelled(regression.Multinomial, 3),
		"poisson":             counted(regression.Poisson),
		"weighted-poisson":    counted(regression.WeightedPoisson),
	}
}

// some are those of these names.
func some(t *testing.T, names ...string) map[string]constructor {
	all, out := models(t), map[string]constructor{}
	for _, name := range names {
		out[name] = all[name]
	}
	return out
}

func native(t testing.TB) backends.ConicBackend {
	t.Helper()
	return must.Of(backends.Open("native"))(t)
}

// tuned is the result of a model by a configuration.
func tuned(t *testing.T, c tune.Config) func(m *regression.Model, err error) *tune.Result {
	return func(m *regression.Model, err error) *tune.Result {
		t.Helper()
		require.NoError(t, err)
		return must.Of(tune.Run(context.Background(), m, c))(t)
	}
}

// solved is the point of the fit of a model to a gap, at weights.
func solved(t *testing.T, m *regression.Model, gap float64, lambda ...float64) *lower.Point {
	t.Helper()
	fit := must.Of(m.Penalised())(t)
	return must.Of(fit.Solve(context.Background(), lambda, gap, nil))(t)
}

// classified has two labels, or three, in the place of the targets; nil has none.
func classified(d dataset.Division, classes int) dataset.Division {
	return mapped(d, func(y float64) float64 {
		k := 0.0
		if y > 0 {
			k++
		}
		if classes > 2 && y > 2 {
			k++
		}
		return k
	})
}

// counts has counts in the place of the targets.
func counts(d dataset.Division) dataset.Division {
	return mapped(d, func(y float64) float64 { return math.Floor(math.Exp(math.Min(2, y/3))) })
}

func mapped(d dataset.Division, f func(y float64) float64) dataset.Division {
	if d == nil || d.Validate() != nil {
		return d
	}
	return d.Map(f)
}

// compressed has sparse tables.
func compressed(d dataset.Division) dataset.Division {
	cv := d.(*dataset.CrossValidation)
	return &dataset.CrossValidation{Data: cv.Data.Compress(), Folds: cv.Folds, Test: cv.Test.Compress()}
}

// labelledSplit are rows whose label is 7 with probability 1/(1 + exp(-a'b)), and 2 otherwise.
func labelledSplit(seed uint64, train int, b []float64) *dataset.Split {
	s := modeltest.Split(seed, train, 60, 400, b, 0)
	rng := rand.New(rand.NewPCG(seed, 5))
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		for i, f := range d.Y {
			d.Y[i] = 2
			if rng.Float64() < 1/(1+math.Exp(-f)) {
				d.Y[i] = 7
			}
		}
	}
	return s
}

// countedSplit are rows of counts with the means exp(0.5 + a'b).
func countedSplit(seed uint64, train int, b []float64) *dataset.Split {
	s := modeltest.Split(seed, train, 60, 400, b, 0)
	rng := rand.New(rand.NewPCG(seed, 5))
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		for i, f := range d.Y {
			d.Y[i] = -1
			for left := math.Exp(0.5 + f); left >= 0; left += math.Log(rng.Float64()) { // the waiting times of a Poisson process
				d.Y[i]++
			}
		}
	}
	return s
}

var (
	logisticTruth = []float64{2, -1.5, 0, 0, 1, 0, 0, 0}
	poissonTruth  = []float64{0.6, -0.5, 0, 0, 0.3, 0, 0, 0}
)

// split has targets 3, 5 and 8, by how large a combination of the features is.
func classesSplit(seed uint64, train int) *dataset.Split {
	s := modeltest.Split(seed, train, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7)
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		for i, y := range d.Y {
			switch {
			case y < -1 && d.X.At(i, 3) < 1:
				d.Y[i] = 3
			case y < 1:
				d.Y[i] = 5
			default:
				d.Y[i] = 8
			}
		}
	}
	return s
}

// meanLoss is the mean of minus the logarithm of the probability of the label, from the definition.
func meanMultinomial(d *dataset.Data, f problems.Fit) float64 {
	sum := 0.0
	for i, y := range d.Y {
		total, own := 0.0, 0.0
		for k, v := range f.Values(floats.AddTo(make([]float64, 6), d.Dense().RawRowView(i), make([]float64, 6))) {
			if total += math.Exp(v); f.Labels[k] == y {
				own = math.Exp(v)
			}
		}
		sum -= math.Log(own/total) / float64(len(d.Y))
	}
	return sum
}

// Rows, radii and options of each model that make no sense are errors, which begin with the model.
func TestBadOptions(t *testing.T) {
	type terms = regression.Terms
	s := modeltest.Split(1, 12, 5, 5, []float64{1, 2, 3}, 1)
	six := modeltest.Split(1, 12, 5, 5, []float64{1, 2, 3, 0, 0, 0}, 1)
	few := must.Of(groups.Equal(2, 1))(t)
	as := func(_ *regression.Model, err error) error { return err }
	for name, build := range models(t) {
		of := func(s dataset.Division, o options) error {
			_, err := build(s, o)
			return err
		}
		require.NoError(t, of(six, options{}), name)
		require.ErrorContains(t, of(nil, options{}), "no data", name)
		require.ErrorContains(t, of(&dataset.Split{}, options{}), name)
	}
	for want, err := range map[string]error{
		"gamma is -1":          as(regression.AdaptiveLasso(s, options{Gamma: -1})),
		"gamma is +Inf":        as(regression.AdaptiveLasso(s, options{Gamma: math.Inf(1)})),
		`unknown pilot "tree"`: as(regression.AdaptiveLasso(s, options{Pilot: "tree"})),
		"order -1 of 3 coefficients, expected an order from":     as(regression.FusedLasso(s, options{Order: -1})),
		"order 3 of 3 coefficients, expected an order from":      as(regression.FusedLasso(s, options{Order: 3})),
		"group-lasso: feature 2 is in no group":                  as(regression.GroupLasso(s, options{Groups: few})),
		"sparse-group-lasso: feature 2 is in no group":           as(regression.SparseGroupLasso(s, options{Groups: few})),
		"sparse-group-lasso: no groups":                          as(regression.SparseGroupLasso(s, options{})),
		"huber: threshold -1, expected a positive number":        as(regression.Huber(s, options{Threshold: -1})),
		"huber: threshold NaN, expected a positive number":       as(regression.Huber(s, options{Threshold: math.NaN()})),
		"huber: threshold +Inf, expected a positive number":      as(regression.Huber(s, options{Threshold: math.Inf(1)})),
		"level -0.1, expected a number between 0 and 1":          as(regression.Quantile(s, options{Level: -0.1})),
		"level 1, expected a number between 0 and 1":             as(regression.Quantile(s, options{Level: 1})),
		"level NaN, expected a number between 0 and 1":           as(regression.Quantile(s, options{Level: math.NaN()})),
		"expected numbers that are not negative, such as counts": as(regression.Poisson(s, options{})),
		"huber: the model takes no Options.Level; it takes Intercept, Standardize, Scaling, Threshold": as(
			regression.Huber(s, options{Level: 0.5})),
		"weighted-lasso: the model takes no Options.Terms": as(
			regression.WeightedLasso(s, options{Terms: terms{Upper: []float64{1}}})),
		`cox: survival: unknown rule "exact" for ties`: as(regression.Cox(s, options{Ties: "exact"})),
	} {
		require.ErrorContains(t, err, want)
	}
	for want, terms := range map[string]terms{
		"2 lower bounds, expected one or 3":                      {Lower: []float64{0, 0}},
		`upper bound of "x2" is -1, which leaves no room for 0`:  {Upper: []float64{1, -1, 1}},
		`lower bound of "x1" is 0.5, which leaves no room for 0`: {Lower: []float64{0.5}},
		`lower bound of "x1" is NaN, which leaves no room for 0`: {Lower: []float64{math.NaN()}},
		"2 penalty factors, expected one or 3":                   {Factors: []float64{1, 2}},
		`penalty factor of "x2" is -1, expected a finite number`: {Factors: []float64{1, -1, 1}},
		"all penalty factors are 0":                              {Factors: []float64{0}},
	} {
		require.ErrorContains(t, as(regression.BoundedElasticNet(s, options{Terms: terms})), want)
	}
}

// So are rows that make no sense to a model.
func TestBadRows(t *testing.T) {
	type rows = *dataset.Split
	all := func(y float64) func(s rows) {
		return func(s rows) {
			for i := range s.Train.Y {
				s.Train.Y[i] = y
			}
		}
	}
	censor := func(y []float64) {
		for i, v := range y {
			y[i] = -math.Abs(v)
		}
	}
	for _, c := range []struct {
		build constructor
		rows  func() rows
		o     options
		wrong map[string]func(s rows)
	}{
		{regression.Logistic, func() rows { return labelledSplit(1, 20, logisticTruth) }, options{}, map[string]func(s rows){
			`training rows: all rows have the label 2 in "y"`:         all(2),
			`training rows: "y" has 3 values (2, 3, 7)`:               func(s rows) { s.Train.Y[0] = 3 },
			"validation rows: row 1 has the label 9, expected 2 or 7": func(s rows) { s.Val.Y[1] = 9 },
			"test rows: row 0 has the label -1, expected 2 or 7":      func(s rows) { s.Test.Y[0] = -1 },
			"does not fit the training set: it lacks columns \"x1\"": func(s rows) {
				s.Val.Features = strings.Split("abcdefgh",
					"")
			},
		}},
		{regression.Multinomial, func() rows { return classesSplit(3, 50) }, options{}, map[string]func(s rows){
			"validation rows: row 2 has the label 4, which no training row has": func(s rows) { s.Val.Y[2] = 4 },
			"test rows: row 1 has the label 4":                                  func(s rows) { s.Test.Y[1] = 4 },
			"all rows have the label 5":                                         all(5),
		}},
		{regression.Cox, func() rows { return timedSplit(3, 50) }, options{}, map[string]func(s rows){
			"target of row 2 is +Inf":               func(s rows) { s.Val.Y[2] = math.Inf(1) },
			"target of row 1 is +Inf":               func(s rows) { s.Test.Y[1] = math.Inf(1) },
			"no event in the rows for validation":   func(s rows) { censor(s.Val.Y) },
			"no event has other rows at risk":       func(s rows) { censor(s.Train.Y) },
			"no event of the validation rows of th": func(s rows) { censor(s.Val.Y); s.Val.Y[0] = 1e9 },
		}},
		{regression.MultiTask, severalSplit, options{}, map[string]func(s rows){
			"no data (training set)": func(s rows) { s.Train = nil },
			"no Data.Targets": func(s rows) {
				s.Train.Targets, s.Val.Targets, s.Test.Targets = nil, nil, nil
			},
			"it has 1 targets, expected 3":             func(s rows) { s.Test.Targets = mat.NewDense(len(s.Test.Y), 1, nil) },
			"41 rows of targets for 40 rows of X":      func(s rows) { s.Train.Targets = mat.NewDense(41, 3, nil) },
			"target 1 of row 2 is NaN":                 func(s rows) { s.Val.Targets.Set(2, 1, math.NaN()) },
			"multi-task: rows with weights, an offset": func(s rows) { s.Train.Weights = slices.Repeat([]float64{1}, 40) },
			"1 names of targets, expected 3":           func(s rows) { s.Train.TargetNames = []string{"a"} },
		}},
		{regression.Poisson, func() rows { return countedSplit(1, 30, poissonTruth) }, options{}, map[string]func(s rows){
			"a target is -1, expected numbers": func(s rows) { s.Val.Y[3] = -1 },
			"the offset goes from 3 to 293, expected the logarithm of the exposure": func(s rows) {
				for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
					d.Offset = make([]float64, len(d.Y))
					for i := range d.Offset {
						d.Offset[i] = float64(3 + 10*i)
					}
				}
			},
		}},
		{
			regression.ElasticNet, func() rows { return modeltest.Split(3, 60, 40, 30, []float64{1, -1, 0.5}, 0.7) },
			options{Terms: regression.Terms{Factors: []float64{0, 1, 1}}}, map[string]func(s rows){
				"the features without a penalty explain the targets by themselves; pe": func(s rows) {
					for i := range s.Train.Y {
						s.Train.Y[i] = s.Train.X.At(i, 0)
					}
				},
			},
		},
	} {
		for want, change := range c.wrong {
			s := c.rows()
			change(s)
			_, err := c.build(s, c.o)
			require.ErrorContains(t, err, want)
		}
	}
	s := classesSplit(3, 50)
	folds := []split.Fold{{Train: []int{0, 1}, Val: []int{2, 3}}, {Train: []int{2, 3}, Val: []int{0, 1}}}
	_, err := regression.Multinomial(&dataset.CrossValidation{Data: s.Train, Folds: folds}, options{})
	require.ErrorContains(t, err, "has no training row with the label")
}

// What fits know of the losses of folds are the errors of their predictors, with weights of rows, without noise,
// sparse, and with more features than rows.
func TestLossesOfFolds(t *testing.T) {
	beta := make([]float64, 80)
	copy(beta, []float64{2, -1, 0.5, 3})
	for name, build := range map[string]constructor{"Lasso": regression.Lasso, "ElasticNet": regression.ElasticNet,
		"Ridge": regression.Ridge, "GroupLasso": regression.GroupLasso} {
		for _, c := range []struct {
			n, p            int
			noise           float64
			weights, sparse bool
		}{{90, 20, 1, false, false}, {90, 20, 0, false, false}, {60, 80, 1, false, false}, {90, 20, 1, true, false},
			{90, 20, 1, false, true}} {
			rows := modeltest.Split(7, c.n, 10, 10, beta[:c.p], c.noise).Train
			if c.weights {
				for i := range rows.Y {
					rows.Weights = append(rows.Weights, float64(1+i%3))
				}
			}
			if c.sparse {
				rows = rows.Compress()
			}
			o := options{Intercept: true, Standardize: true}
			if name == "GroupLasso" {
				o.Groups = must.Of(groups.Equal(c.p, 5))(t)
			}
			m := must.Of(build(must.Of(dataset.CrossValidate(rows, 4, 3, nil))(t), o))(t)
			a := m.Advice()
			require.Positive(t, a.Exact, name)
			fit := must.Of(a.Together(context.Background()))(t)
			var at *lower.Point
			for _, share := range []float64{0.5, 1e-2, 1e-4, 1e-7} {
				lambda := slices.Repeat([]float64{share * fit.(interface{ LambdaMax() float64 }).LambdaMax()}, len(m.Names()))
				at = must.Of(fit.Solve(context.Background(), lambda, 1e-10, at))(t)
				require.InEpsilon(t, m.Evaluate(at.X).Validation, a.Exact*stat.Mean(at.Folds, nil), 1e-7, "%s %+v %g",
					name, c, share)
			}
		}
	}
}

// Folds whose gaps have values of their own have the fits of split rows, those of losses and penalties that only
// package glm knows, too: as by conic programs.
func TestFoldsWithGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x, y, targets := mat.NewDense(40, 4, nil), make([]float64, 40), mat.NewDense(40, 2, nil)
	for i := range y {
		x.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
		y[i] = x.At(i, 0) - x.At(i, 1) + rng.NormFloat64()
		targets.SetRow(i, []float64{y[i], x.At(i, 2) + rng.NormFloat64()})
	}
	rows := &dataset.Data{X: x, Y: y, Features: []string{"a", "b", "c", "d"}, Target: "y"}
	several := *rows
	several.Targets, several.TargetNames = targets, []string{"y", "z"}
	for _, c := range []struct {
		build  constructor
		rows   *dataset.Data
		lambda []float64
	}{
		{regression.Quantile, rows, []float64{0.05, 0.02}}, {regression.FusedLasso, rows, []float64{0.1, 0.05}},
		{regression.MultiTask, &several, []float64{0.1, 0.05}},
	} {
		cv := must.Of(dataset.CrossValidate(c.rows, 4, 1, nil))(t)
		cv.Gaps = &dataset.Gaps{Row: []int{1, 7, 30}, Feature: []int{0, 1, 0},
			Values: [][]float64{{1, 2, 3}, {0, -1, 2}, {1, 1, 1}, {3, 0, -2}}}
		m := must.Of(c.build(cv, options{Intercept: true}))(t)
		fit := solved(t, m, 1e-9, c.lambda...)
		require.True(t, fit.Solved, m.Name())
		form := must.Of(dca.NewPenalized(m.Program(), dca.Settings{Backend: native(t)}))(t)
		conic := must.Of(form.Solve(context.Background(), c.lambda, nil))(t)
		require.InEpsilon(t, m.Evaluate(conic.X).Validation, m.Evaluate(fit.X).Validation, 1e-5, m.Name())
		require.NoError(t, form.Close())
	}
}
