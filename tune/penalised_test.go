package tune_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

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
