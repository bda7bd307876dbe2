package tune_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// The curve has the error of the selection in its middle. At a hundred times the weights nothing but the intercept is
// left, whose error and standard error are those of the mean of the training rows.
func TestCurve(t *testing.T) {
	config := must.Of(dataset.InSets.Preset("100-20-250-p250"))(t)
	s := must.First(dataset.Generate(config, 1))(t)
	m := must.Of(regression.ElasticNet(s, regression.Options{Standardize: true, Intercept: true}))(t)
	for _, method := range []string{"grid", "hoag"} {
		r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, Evaluations: 25, Curve: 4}))(t)
		require.Len(t, r.Curve, 9)
		require.Equal(t, 1.0, r.Curve[4].Factor)
		require.InEpsilon(t, r.Refit.Validation, r.Curve[4].Validation, 1e-6)
		for k, at := range r.Curve {
			require.InEpsilon(t, math.Pow(10, 2-float64(k)/2), at.Factor, 1e-12)
			require.InEpsilon(t, at.Factor*r.Lambda[0], at.Lambda[0], 1e-12)
			require.GreaterOrEqual(t, at.Validation, r.Curve[4].Validation*(1-0.05))
		}
		mean := 0.0
		for _, y := range s.Train.Y {
			mean += y / float64(len(s.Train.Y))
		}
		n, sum, squares := float64(len(s.Val.Y)), 0.0, 0.0
		for _, y := range s.Val.Y {
			loss := (y - mean) * (y - mean) / 2
			sum, squares = sum+loss, squares+loss*loss
		}
		require.InEpsilon(t, sum/n, r.Curve[0].Validation, 1e-6)
		require.InEpsilon(t, math.Sqrt((squares-sum*sum/n)/(n-1)/n), r.Curve[0].StandardError, 1e-6)
	}
	r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: "hoag"}))(t)
	require.Nil(t, r.Curve)
	_, err := tune.Run(context.Background(), m, tune.Config{Curve: -1})
	require.ErrorContains(t, err, "curve is -1")
}

// The curve has the predictors: that of the refit in its middle, at a hundred times the weights the mean, and in
// between what the final training with these weights gives, on the training rows or on all, and of folds on all.
func TestPath(t *testing.T) {
	config := must.Of(dataset.InSets.Preset("100-20-250-p250"))(t)
	s := must.First(dataset.Generate(config, 1))(t)
	cv := must.Of(dataset.CrossValidate(s.Train, 4, 1, nil))(t)
	native := must.Of(backends.Open(backends.Default))(t)
	for _, rows := range []dataset.Division{s, cv} {
		m := must.Of(regression.ElasticNet(rows, regression.Options{Standardize: true, Intercept: true}))(t)
		for _, final := range []string{tune.FinalTrain, tune.FinalAll} {
			if rows == dataset.Division(cv) && final == tune.FinalTrain {
				continue
			}
			c := tune.Config{Method: "grid", Evaluations: 16, Curve: 3}
			if rows != dataset.Division(cv) {
				c.Final = final
			}
			r := must.Of(tune.Run(context.Background(), m, c))(t)
			require.Len(t, r.Curve, 7)
			require.Equal(t, r.RefitFit, r.Curve[3].Fit)
			mean, n := 0.0, 0.0
			for _, part := range []*dataset.Data{s.Train, s.Val} {
				if final == tune.FinalTrain && part == s.Val || rows == dataset.Division(cv) && part == s.Val {
					continue
				}
				for _, y := range part.Y {
					mean, n = mean+y, n+1
				}
			}
			for _, v := range r.Curve[0].Fit.Coefficients {
				require.Zero(t, v)
			}
			require.InDelta(t, mean/n, r.Curve[0].Fit.Intercept, 1e-6*math.Abs(mean/n)+1e-8)
			if final == tune.FinalAll {
				want, _, err := m.Advice().RetrainWeighted(context.Background(), problems.Solver{Backend: native, Fits: true},
					r.Curve[4].Lambda)
				require.NoError(t, err)
				require.InDeltaSlice(t, want.Coefficients, r.Curve[4].Fit.Coefficients, 1e-2)
			}
		}
	}
}

// validated is an elastic net by cross-validation.
func validated(t *testing.T, repeats int) *regression.Model {
	s, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 5, Test: 40, Features: 12, Nonzeros: 4, SNR: 1}, 3)
	require.NoError(t, err)
	folds := must.Of(split.By{}.Folds(len(s.Train.Y), 4, repeats, 1, nil))(t)
	return must.Of(regression.ElasticNet(&dataset.CrossValidation{Data: s.Train, Folds: folds, Test: s.Test},
		regression.Options{Intercept: true, Standardize: true}))(t)
}

// at is the validation error of conic programs at weights that all folds share, and the test error of the model of all
// rows.
func at(t *testing.T, m problems.Model, lambda []float64) (validation, test float64) {
	var ranges []tune.Range
	for j, name := range m.Names() {
		ranges = append(ranges, tune.Range{Axis: name, Low: lambda[j], High: lambda[j]})
	}
	r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid, Engine: tune.EngineConic,
		Evaluations: 1, Ranges: ranges}))(t)
	require.NotNil(t, r.Refit.Test)
	return r.Refit.Validation, *r.Refit.Test
}

// The rule of one standard error takes no more features than the least error, and weights as large as the bound allows.
func TestOneStandardError(t *testing.T) {
	m := validated(t, 1)
	for _, method := range []string{tune.MethodVFiDCA, tune.MethodGrid, tune.MethodHOAG} {
		least := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method}))(t)
		simple := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, OneSE: true}))(t)
		bound := least.Refit.Validation + m.Advice().StandardError(least.Selection.X)
		require.Greater(t, simple.Lambda[0], 1.1*least.Lambda[0], method)
		require.LessOrEqual(t, simple.RefitFit.Used(), least.RefitFit.Used(), method)
		lambda := []float64{simple.Lambda[0], math.Max(simple.Lambda[1], 1e-9)}
		v, _ := at(t, m, lambda)
		require.InEpsilon(t, v, simple.Refit.Validation, 1e-5)
		require.LessOrEqual(t, v, bound*(1+1e-9))
		over, _ := at(t, m, []float64{1.02 * lambda[0], 1.02 * lambda[1]})
		require.Greater(t, over, bound, method)
	}
	_, err := tune.Run(context.Background(), tune.Custom{}, tune.Config{OneSE: true})
	require.Error(t, err)
}

// VF-iDCA by folds searches on paths, without iterations unless they are asked for, and finds weights that are no worse
// than a grid's, to the share that the search leaves.
func TestSharedWeightsWithoutIterations(t *testing.T) {
	s, _, err := dataset.Generate(dataset.Config{Train: 14000, Val: 5, Test: 40, Features: 100, Nonzeros: 10, SNR: 1}, 3)
	require.NoError(t, err)
	cv := must.Of(dataset.CrossValidate(s.Train, 4, 1, nil))(t)
	large := must.Of(regression.ElasticNet(cv, regression.Options{Intercept: true}))(t)
	r := must.Of(tune.Run(context.Background(), large, tune.Config{}))(t)
	require.False(t, r.Trace[0].Iterates())
	grid := must.Of(tune.Run(context.Background(), large, tune.Config{Method: tune.MethodGrid}))(t)
	require.LessOrEqual(t, r.Refit.Validation, grid.Refit.Validation*(1+1e-4))

	small := must.Of(tune.Run(context.Background(), validated(t, 1), tune.Config{MaxIter: 200}))(t)
	require.Positive(t, small.Iterations)
	require.True(t, small.Trace[0].Iterates())
}

// A model of one's own, a trend filter: a signal is measured twice, the sum of all its changes of slope is bounded by a
// radius, and the radius is chosen so that what is fitted to the first measurement predicts the second.
func ExampleCustom() {
	var first, second []float64
	for i := range 25 {
		signal := math.Abs(float64(i)-12) / 2
		first = append(first, signal+0.5*math.Sin(float64(5*i)))
		second = append(second, signal+0.5*math.Cos(float64(7*i)))
	}
	model := tune.Custom{Bilevel: dca.Program{
		Name: "trend", Radii: 1,
		Build: func(m *convex.Model, h convex.Expr) dca.Level {
			x := m.Vector("x", 25)
			slope := convex.Sub(convex.Slice(x, 1, 25), convex.Slice(x, 0, 24))
			bends := convex.Sub(convex.Slice(slope, 1, 24), convex.Slice(slope, 0, 23))
			return dca.Level{
				X:           []*convex.Variable{x},
				Train:       convex.Scale(1./50, convex.SumSquares(convex.Sub(x, first))),
				Validation:  convex.Scale(1./50, convex.SumSquares(convex.Sub(x, second))),
				Constraints: []convex.Expr{convex.Sub(convex.Norm1(bends), h)},
			}
		},
	}}
	result, err := tune.VFiDCA(context.Background(), model, tune.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: changes of slope up to %.2f, validation error %.2f\n", result.Status, result.Radii[0],
		result.Refit.Validation)
	// Output: converged: changes of slope up to 0.96, validation error 0.07
}

// folded is the program of a fit x to the numbers of several folds, one block for each, with squares for losses or
// absolute values.
func folded(name string, train, val []float64, loss func(convex.Operand) convex.Expr) dca.Program {
	p := dca.Program{Name: name, H0: []float64{2}, Radii: 1}
	for t := range train {
		p.Blocks = append(p.Blocks, func(m *convex.Model, h convex.Expr) dca.Level {
			x := m.Vector("x", 1)
			share := 1 / float64(len(train))
			return dca.Level{
				X:           []*convex.Variable{x},
				Train:       convex.Scale(share, loss(convex.Sub(x, train[t]))),
				Validation:  convex.Scale(share, loss(convex.Sub(x, val[t]))),
				Constraints: []convex.Expr{convex.Sub(convex.Scale(0.5, convex.SumSquares(x)), h)},
			}
		})
	}
	return p
}

func halfSquares(r convex.Operand) convex.Expr { return convex.Scale(0.5, convex.SumSquares(r)) }

// Every method takes a model of one's own. Blocks need no Score. In the penalty form the folds have x = a/(1 + lambda),
// a = 3 and 6 with the validation values 1 and 2: lambda = 2 is best. A radius is one for both, whose x are then the
// same: 1.5 is best, with 1/8.
func TestCustomBlocks(t *testing.T) {
	model := tune.Custom{Bilevel: folded("folds", []float64{3, 6}, []float64{1, 2}, halfSquares)}
	e := model.Evaluate([][]float64{{2}, {5}})
	require.InDelta(t, (1.+9)/4, e.Validation, 1e-15)
	require.Nil(t, e.Test)
	require.Equal(t, []string{"h1"}, model.Names())
	require.True(t, math.IsNaN(model.Evaluate([][]float64{{2}}).Validation), "of one fold only")
	for _, method := range []string{"vf-idca", "grid", "random", "tpe", "cma-es"} {
		r, err := tune.Run(context.Background(), model, tune.Config{Method: method, Evaluations: 40, Seed: 1,
			Ranges: []tune.Range{{Low: 0.1, High: 10}}})
		require.NoError(t, err, method)
		require.Equal(t, outcome.Converged, r.Status, method)
		require.Equal(t, tune.FinalTrain, r.TrainedOn)
		x := r.Selection.X
		require.InDelta(t, (math.Pow(x[0][0]-1, 2)+math.Pow(x[1][0]-2, 2))/4, r.Refit.Validation, 1e-12, method)
		least := 0.0
		if method == "vf-idca" {
			least = 1. / 8
		}
		require.InDelta(t, least, r.Refit.Validation, 0.05, method)
	}
}

// A name says nothing about what a custom model is: one with absolute values for losses stays that.
func TestCustomByTheNameOfOurs(t *testing.T) {
	for _, name := range []string{"svm", "elastic-net", "weighted-lasso", "logistic", "sparse-group-lasso",
		"matrix-completion"} {
		model := tune.Custom{Bilevel: folded(name, []float64{3}, []float64{1}, convex.Norm1)}
		for _, preset := range []string{"", tune.PresetPaper} {
			for _, method := range []string{"vf-idca", "grid", "tpe", "tpe2", "random", "cma-es", "igjo", "ifdm", "hoag"} {
				r, err := tune.Run(context.Background(), model, tune.Config{Method: method, Preset: preset, Evaluations: 20,
					Seed: 1, Ranges: []tune.Range{{Low: 0.1, High: 10}}})
				require.NoError(t, err, "%s by %s", name, method)
				require.InDelta(t, math.Abs(r.Selection.X[0][0]-1), r.Refit.Validation, 1e-12, "%s by %s", name, method)
				// The derivative of |x - 3| + lambda x^2 / 2 vanishes at min(3, 1/lambda).
				if method != "vf-idca" {
					require.InDelta(t, math.Min(3, 1/r.Lambda[0]), r.Selection.X[0][0], 1e-4, "%s by %s", name, method)
				}
			}
		}
	}
}

// Descents along the derivatives of conic programs end where these vanish: by a weight for each of two penalties and an
// upper variable u, (x - 3)^2 / 2 + (x - u)^2 / 2 + l1 |y - 2| + (y - 5)^2 / 2 + l2 z^2 / 2 + (z - 3)^2 / 2 has
// x = (3 + u) / 2, y = 5 - l1 above 2 and z = 3 / (1 + l2).
func TestCustomDescents(t *testing.T) {
	p := dca.Program{Name: "three", H0: []float64{1, 1, 1}, Radii: 2, Lo: []float64{0, 0, 0.1}, Hi: []float64{9, 9, 10},
		Build: func(m *convex.Model, h convex.Expr) dca.Level {
			x, y, z := m.Vector("x", 1), m.Vector("y", 1), m.Vector("z", 1)
			square := func(x convex.Expr, a float64) convex.Expr { return halfSquares(convex.Sub(x, a)) }
			u := convex.At(h, 2)
			return dca.Level{X: []*convex.Variable{x, y, z},
				Train:      convex.Add(square(x, 3), halfSquares(convex.Sub(x, u)), square(y, 5), square(z, 3)),
				Validation: convex.Add(square(x, 2.5), square(y, 3), square(z, 1), 0.1),
				Constraints: []convex.Expr{convex.Sub(convex.Norm1(convex.Sub(y, 2)), convex.At(h, 0)),
					convex.Sub(square(z, 0), convex.At(h, 1))}}
		}}
	for _, method := range []string{"igjo", "ifdm", "hoag"} {
		r, err := tune.Run(context.Background(), tune.Custom{Bilevel: p}, tune.Config{Method: method, Tol: 1e-8})
		require.NoError(t, err)
		require.Equal(t, outcome.Converged, r.Status, method)
		require.InDelta(t, 0.1, r.Refit.Validation, 1e-5, method)
		require.InDeltaSlice(t, []float64{2, 2, 2}, slices.Concat(r.Selection.Lambda, r.Selection.Upper), 1e-2, method)
	}
}

// nearTwo has the fit x = 3 / (1 + lambda), the validation error 1/2 (x - 1)^2 and the score |x - 2|.
type nearTwo struct{ tune.Custom }

func (nearTwo) Advice() problems.Advice {
	return problems.Advice{Score: func(x [][]float64) float64 { return math.Abs(x[0][0] - 2) }}
}

func newNearTwo() nearTwo {
	return nearTwo{tune.Custom{Bilevel: folded("ridge", []float64{3}, []float64{1}, halfSquares)}}
}

// Searches take the least score, lambda = 1/2, where the model has one, and the least validation error, lambda = 2, for
// the paper.
func TestScored(t *testing.T) {
	for _, method := range []string{tune.MethodGrid, tune.MethodRandom, tune.MethodTPE, tune.MethodCMAES} {
		c := tune.Config{Method: method, Evaluations: 60, Seed: 1}
		r := must.Of(tune.Run(context.Background(), newNearTwo(), c))(t)
		require.InEpsilon(t, 0.5, r.Lambda[0], 0.3, method)
		x := 3 / (1 + r.Lambda[0])
		require.InDelta(t, math.Abs(x-2), *r.Score, 1e-6)
		require.InDelta(t, (x-1)*(x-1)/2, r.Refit.Validation, 1e-6)
		require.Equal(t, *r.Score, r.Value())
		last := r.Trace[len(r.Trace)-1]
		require.Equal(t, r.Refit.Validation, *last.Best, "the trace ends with what the report has")
		for _, e := range r.Trace {
			require.GreaterOrEqual(t, e.Value(), *r.Score)
		}

		c.Preset = tune.PresetPaper
		r = must.Of(tune.Run(context.Background(), newNearTwo(), c))(t)
		require.InEpsilon(t, 2, r.Lambda[0], 0.3, method)
		require.Nil(t, r.Score)
	}
}

// ridge is the model of the fits a/(1 + lambda) to the numbers a of several folds, which brings a fit without
// derivatives: the searches need no more.
type ridge struct {
	tune.Custom
	fit *ridgeFit
}

func newRidge(gap float64) ridge {
	train, val := []float64{3, 6}, []float64{1, 2}
	return ridge{tune.Custom{Bilevel: folded("ridge", train, val, halfSquares)},
		&ridgeFit{a: train, gap: gap}}
}

func (m ridge) Advice() problems.Advice {
	return problems.Advice{Fit: func() (lower.Fit, error) { return m.fit, nil }}
}

// ridgeFit knows its gap, or says that it does not by NaN.
type ridgeFit struct {
	a     []float64
	gap   float64
	calls int
}

func (*ridgeFit) Dim() int           { return 1 }
func (*ridgeFit) LambdaMax() float64 { return 10 }

func (*ridgeFit) Traits() lower.Traits { return lower.Traits{} }

func (f *ridgeFit) Solve(_ context.Context, lambda []float64, _ float64, _ *lower.Point) (*lower.Point, error) {
	f.calls++
	pt := &lower.Point{Lambda: lambda, Gap: f.gap, Solved: true}
	for _, a := range f.a {
		pt.X = append(pt.X, []float64{a / (1 + lambda[0])})
	}
	return pt, nil
}

// A fit that is no more than Penalised is enough for all searches, whose answers are those of the conic program.
func TestSearchesNeedNoDerivative(t *testing.T) {
	ctx := context.Background()
	for _, method := range []string{tune.MethodGrid, tune.MethodRandom, tune.MethodTPE, tune.MethodTPE2,
		tune.MethodCMAES} {
		c := tune.Config{Method: method, Evaluations: 30, Seed: 1, Workers: 1, Ranges: []tune.Range{{Low: 0.1, High: 10}}}
		m := newRidge(1e-12)
		r, err := tune.Run(ctx, m, c)
		require.NoError(t, err, method)
		require.Equal(t, outcome.Converged, r.Status, method)
		require.Equal(t, 30, m.fit.calls, method)
		require.Zero(t, r.BackendSetups, method)
		conic, err := tune.Run(ctx, m.Custom, c)
		require.NoError(t, err, method)
		require.Positive(t, conic.BackendSetups, method)
		require.InDelta(t, conic.Refit.Validation, r.Refit.Validation, 1e-6, method)
		require.InDelta(t, conic.Lambda[0], r.Lambda[0], 1e-2, method)
	}
	for _, method := range []string{tune.MethodIGJO, tune.MethodIFDM, tune.MethodHOAG} {
		_, err := tune.Run(ctx, newRidge(1e-12), tune.Config{Method: method})
		require.ErrorContains(t, err, method+" cannot do the model ridge")
	}
}

// VF-iDCA starts from the path of the fit.
func TestVFiDCAStartsFromTheFit(t *testing.T) {
	m := newRidge(1e-12)
	m.Bilevel.Path = [][]float64{{4}, {2}, {1}}
	r := must.Of(tune.Run(context.Background(), m, tune.Config{}))(t)
	require.Equal(t, outcome.Converged, r.Status)
	require.Equal(t, 3, m.fit.calls)
	require.InDelta(t, 1./8, r.Refit.Validation, 1e-3)
	require.False(t, math.IsNaN(r.LowerGap) || math.IsNaN(r.Stationarity))
}

// A gap that nobody computed is not 0 but null, and one that the fit has computed is reported.
func TestGapsThatAreNotComputed(t *testing.T) {
	ctx := context.Background()
	c := tune.Config{Method: tune.MethodGrid, Evaluations: 4, Ranges: []tune.Range{{Low: 0.1, High: 10}}}
	known := 1e-12
	for _, test := range []struct {
		model problems.Model
		gap   *float64
	}{{newRidge(known), &known}, {newRidge(math.NaN()), nil}, {newRidge(known).Custom, nil}} {
		r := must.Of(tune.Run(ctx, test.model, c))(t)
		require.True(t, math.IsNaN(r.LowerGap) && math.IsNaN(r.Stationarity))
		for _, e := range r.Trace {
			require.Equal(t, test.gap, e.FitGap)
			require.True(t, math.IsNaN(e.Gap) && math.IsNaN(e.Residual) && math.IsNaN(e.Stationarity))
			fields := map[string]any{}
			raw := must.Of(json.Marshal(e))(t)
			require.NoError(t, json.Unmarshal(raw, &fields))
			require.Contains(t, fields, "fit_gap")
			require.Equal(t, test.gap == nil, fields["fit_gap"] == nil)
		}
		fields := map[string]any{}
		raw := must.Of(json.Marshal(r))(t)
		require.NoError(t, json.Unmarshal(raw, &fields))
		require.Contains(t, fields, "lower_gap")
		require.Nil(t, fields["lower_gap"])
		require.Nil(t, fields["stationarity"])
	}
}

// smoothRidge brings a fit with a derivative, too.
type smoothRidge struct{ ridge }

func (m smoothRidge) Advice() problems.Advice {
	return problems.Advice{
		Fit: func() (lower.Fit, error) { return smoothFit{m.fit}, nil }, Modes: []lower.Mode{lower.Adjoint, lower.Forward},
	}
}

// smoothFit has the validation loss to the numbers 1 and 2.
type smoothFit struct{ *ridgeFit }

func (f smoothFit) Traits() lower.Traits { return lower.Traits{Path: f.Path, Gradient: f.Gradient} }

func (smoothFit) Path() [][]float64 { return [][]float64{{8}, {4}, {1}, {0.5}} }

func (f smoothFit) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, err := f.ridgeFit.Solve(ctx, lambda, tol, start)
	for k, x := range pt.X {
		pt.Validation += math.Pow(x[0]-float64(k+1), 2) / 4
	}
	return pt, err
}

func (f smoothFit) Gradient(_ context.Context, at *lower.Point, _ lower.Mode, _ float64) ([]float64, error) {
	g := 0.0
	for k, a := range f.a {
		g -= (at.X[k][0] - float64(k+1)) / 2 * a / math.Pow(1+at.Lambda[0], 2)
	}
	return []float64{g}, nil
}

// The descents take a model of the user's own whose fit can be differentiated. At lambda = 2 it is exact.
func TestDescentsOnAModelOfOnesOwn(t *testing.T) {
	for _, method := range []string{tune.MethodIGJO, tune.MethodIFDM, tune.MethodHOAG} {
		for _, preset := range []string{"", tune.PresetPaper} {
			m := smoothRidge{newRidge(1e-12)}
			require.True(t, tune.Able(method, m.Advice().Modes))
			r, err := tune.Run(context.Background(), m, tune.Config{Method: method, Preset: preset})
			require.NoError(t, err, method)
			require.InDelta(t, 2, r.Lambda[0], 0.1, "%s %s", method, preset)
			require.InDelta(t, 0, r.Refit.Validation, 1e-3, "%s %s", method, preset)
		}
	}
}

// The selection of each method is a solution of the lower level, as the conic solver computes it through its radii.
func TestHypergradientsSelectLowerLevelSolutions(t *testing.T) {
	for _, method := range []string{tune.MethodIGJO, tune.MethodIFDM, tune.MethodHOAG, tune.MethodLDMMA} {
		for _, preset := range []string{"", tune.PresetPaper} {
			m := model(t, regression.Options{Intercept: true, Standardize: true})
			res := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, Preset: preset}))(t)
			require.Contains(t, []outcome.Stop{outcome.Converged, outcome.IterationLimit}, res.Status)
			require.Len(t, res.Trace, res.Iterations)
			require.Equal(t, *res.LowerLevel, res.Errors)

			// The conic solver's fit at the selected weights has the same errors.
			at := []tune.Range{{Axis: "lambda1", Low: res.Lambda[0], High: res.Lambda[0]}, {Axis: "lambda2", Low: res.Lambda[1],
				High: res.Lambda[1]}}
			again, err := tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid, Ranges: at, Evaluations: 1,
				Eps: 1e-11})
			require.NoError(t, err)
			require.InEpsilon(t, again.Refit.Validation, res.Refit.Validation, 1e-4, method)
			grid := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodGrid}))(t)
			if method != tune.MethodHOAG && method != tune.MethodLDMMA && preset == tune.PresetPaper {
				continue // the steps of the paper's programs may end early
			}
			require.Less(t, res.Refit.Validation, 1.01*grid.Refit.Validation, "%s %s", method, preset)
		}
	}
}

// The paper's elastic net has sums of halved squares: its start 0.01 is 0.01 / n here.
func TestPaperDescent(t *testing.T) {
	m := model(t, regression.Options{})
	n := m.Advice().Rows
	res := must.Of(tune.Run(context.Background(), m, tune.Config{Method: tune.MethodIGJO, Preset: tune.PresetPaper}))(t)
	start := res.Trace[0].Lambda
	require.InEpsilonSlice(t, []float64{0.01 / float64(n), 0.01 / float64(n)}, start, 1e-14)
	require.LessOrEqual(t, res.Refit.Validation, *res.Trace[0].Best)
	for _, step := range res.Trace {
		for _, l := range step.Lambda {
			require.GreaterOrEqual(t, l, 1e-5/float64(n))
		}
	}
}

func TestHypergradientsKeepTheBudget(t *testing.T) {
	m := model(t, regression.Options{})
	for _, method := range []string{tune.MethodIGJO, tune.MethodIFDM, tune.MethodHOAG} {
		for _, evaluations := range []int{1, 2, 9, 30} {
			res := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method, Evaluations: evaluations}))(t)
			require.Equal(t, outcome.Converged, res.Status)
			require.LessOrEqual(t, res.Iterations, evaluations)
			require.False(t, math.IsNaN(res.Refit.Validation))
		}
	}
}

func TestHypergradientsBeginAtASelection(t *testing.T) {
	m := model(t, regression.Options{})
	for _, method := range []string{tune.MethodIGJO, tune.MethodIFDM, tune.MethodHOAG, tune.MethodLDMMA} {
		both := must.Of(tune.Compare(context.Background(), m, []string{tune.MethodGrid, method}, true,
			tune.Config{Evaluations: 16}))(t)
		require.LessOrEqual(t, both[1].Refit.Validation, both[0].Refit.Validation*(1+1e-6))
		require.InEpsilonSlice(t, both[0].Lambda, both[1].Trace[0].Lambda, 1e-12)
	}
}
