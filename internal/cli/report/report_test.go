package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// made is a result with two features, of units a thousandfold apart, and n radii.
func made(n int) (*Run, *tune.Result) {
	test := 3.25
	train := &dataset.Data{
		X: mat.NewDense(2, 3, []float64{-1, -1000, 1, 1, 1000, -1}), Y: []float64{1, 2},
		Features: []string{"small", "large", "zero"}, Target: "y",
	}
	r := &tune.Result{
		Model: "elastic-net", Method: "vf-idca", Backend: "native", Status: outcome.Converged, TimeSeconds: 0.25,
		Iterations: 2,
		Errors:     problems.Errors{Validation: 1.5, Test: &test}, Refit: &problems.Errors{Validation: 2.5}, LowerGap: 0.01,
		RefitFit: problems.Fit{Features: train.Features, Coefficients: []float64{2, 0.001, 0}, Intercept: 7},
	}
	for i := range n {
		r.Names = append(r.Names, fmt.Sprintf("lambda%d", i+1))
		r.Lambda = append(r.Lambda, 0.5*float64(i))
		r.Radii = append(r.Radii, float64(i))
	}
	for k := 1; k <= 3; k++ {
		e := tune.Event{Iteration: dca.Iteration{K: k, Alpha: 1, Gap: 0.1, Step: 0.2}, Errors: r.Errors,
			Elapsed: time.Duration(k) * time.Millisecond}
		if k == 2 {
			e.Refit = r.Refit
		}
		r.Trace = append(r.Trace, e)
	}
	r.TrainedOn = tune.FinalTrain
	split := &dataset.Split{Train: train, Val: train}
	source, rows := &input.Source{Dir: "data"}, &input.Rows{Split: split}
	return &Run{Source: source, From: "data", Options: &model.Options{}, Rows: rows, Results: []*tune.Result{r},
		Judge: evaluate.NewJudge(rows, nil, false)}, r
}

func TestReport(t *testing.T) {
	run, _ := made(2)
	text := Text(run, []string{"model in m.json"})
	require.Equal(t, `elastic-net for y, chosen by vf-idca: lambda 0.5, l1_ratio 0.
Half the mean squared error, which the methods compare: 2.5 on the validation rows.

name       value   meaning
lambda       0.5   weight of the penalty
l1_ratio       0   share of the 1-norm in the penalty: 1 is the lasso, 0 ridge; alpha of glmnet
The weight is that of the fit to the training rows, on the features and the target as they are.
The same model elsewhere:
  Ridge(alpha=1)
  glmnet(x, y, family = "gaussian", alpha = 0, lambda = 0.5, standardize = FALSE)

feature   effect   coefficient
small          2             2
large          1         0.001
2 of 3 features are in the model. An effect is what the prediction changes by when the feature rises by one
standard deviation; a coefficient is in the unit of the table.

data      data
          3 features; 2 training, 2 validation rows; target y
          features as they are, no intercept
made by   vf-idca on the native backend, searched along a path (2 fits), 0.250 s
          the model is trained on the training rows

model in m.json
`, text)

	// What the optimiser has to say is for those who ask.
	run.Verbose, run.Options.Intercept = true, true
	text = Text(run, nil)
	require.Contains(t, text, `
method    validation   test   iterate, validation   iterate, test      time   steps    status
vf-idca          2.5      -                   1.5            3.25   0.250 s   2 fits   converged
`)
	require.Contains(t, text, "lower gap, 0.01, is small (--gap-tol).")
	require.Regexp(t, `(?m)^lambda2 +0.5 +1$`, text)
	require.Contains(t, text, "The intercept is 7.")

	// Many hyperparameters: the largest come first.
	run, r := made(20)
	r.Model = "group-lasso"
	text = choiceOf(run, r).describe()
	require.Regexp(t, `(?m)^lambda20 +9.5 `, text)
	require.NotContains(t, text, "lambda5 ")
	require.Contains(t, text, "and 12 more")

	// A run that ended before its first iteration has only its status.
	early := &tune.Result{Model: "elastic-net", Method: "vf-idca", Backend: "native", Status: outcome.Cancelled}
	run.Results = []*tune.Result{early}
	text = Text(run, nil)
	require.Contains(t, text, "interrupted after 0 iterations, without a model")
	require.NotContains(t, text, "refit")
}

func TestTraceFigure(t *testing.T) {
	_, r := made(2)
	f := traceFigure(r)
	require.Equal(t, "elastic-net by vf-idca: converged after 2 fits", f.Title)
	require.Len(t, f.Panels, 4)
	refit := f.Panels[0].Lines[1]
	require.Equal(t, []float64{2}, refit.X)
	require.Equal(t, []float64{2.5}, refit.Y)
	require.Empty(t, f.Panels[0].Lines[3].X, "there is no test error of the refit")
	var b bytes.Buffer
	require.NoError(t, f.As("a.png")(&b))
}

// The figure ends at the errors of the report, which may be those of a model trained on more rows than the fits of the
// trace.
func TestFigureEndsAtReport(t *testing.T) {
	run, r := made(2)
	final := 9.75
	r.Refit, r.TrainedOn, r.LowerLevel = &problems.Errors{Validation: 2.5, Test: &final}, tune.FinalAll, r.Refit
	run.Choice = &evaluate.Choice{Methods: []string{"vf-idca"}}
	f := Trace(run)
	points := f.Panels[0].Lines[4:]
	require.Len(t, points, 2)
	for k, want := range []float64{2.5, 9.75} {
		require.Equal(t, []float64{want}, points[k].Y)
		require.Equal(t, []float64{3}, points[k].X)
		require.Contains(t, points[k].Name, "chosen")
	}
	require.Contains(t, f.XLabel, "training on training and validation rows")

	r.Method, run.Methods = "grid", []string{"grid"}
	f = Trace(run)
	for k, want := range []float64{2.5, 9.75} {
		lines := f.Panels[k].Lines
		require.Equal(t, want, lines[0].Y[len(lines[0].Y)-1])
		require.Equal(t, "chosen", lines[1].Name)
		require.Equal(t, []float64{want}, lines[1].Y)
	}
}

// The lines are coefficients times the deviations of their features, 1, 2 and 3 here, the largest at the end first, or
// the norms of their groups.
func TestPathPanel(t *testing.T) {
	split := &dataset.Split{Train: &dataset.Data{
		X: mat.NewDense(2, 3, []float64{1, 2, 3, -1, -2, -3}), Y: []float64{1, 2}, Features: []string{"a", "b", "c"},
		Target: "y",
	}}
	event := func(c ...float64) tune.Event {
		return tune.Event{Fit: &problems.Fit{Coefficients: c, Features: split.Train.Features}}
	}
	r := &tune.Result{Method: tune.MethodGrid, Trace: []tune.Event{event(5, 1, -1), {}, event(0, 2, -3)}}
	run := &Run{Choice: &evaluate.Choice{Methods: []string{r.Method}}, Rows: &input.Rows{Split: split},
		Results: []*tune.Result{r}}
	last := func() []figure.Line {
		panels := Trace(run).Panels
		return panels[len(panels)-1].Lines
	}
	require.Equal(t, []figure.Line{
		{Name: "c", X: []float64{1, 3}, Y: []float64{-3, -9}, Style: 0},
		{Name: "b", X: []float64{1, 3}, Y: []float64{2, 4}, Style: 1},
		{Name: "a", X: []float64{1, 3}, Y: []float64{5, 0}, Style: 2},
	}, last())
	run.Groups = &groups.Groups{Names: []string{"first", "second"}, Members: [][]int{{0}, {1, 2}}}
	lines := last()
	require.InDeltaSlice(t, []float64{math.Sqrt(13), math.Sqrt(97)}, lines[0].Y, 1e-14)
	require.Equal(t, []string{"second", "first"}, []string{lines[0].Name, lines[1].Name})
	r.Trace = nil
	require.Len(t, Trace(run).Panels, 2, "no coefficients")
}

// Of two features, effects are coefficients times standard deviations, the larger one at the choice first, and a
// feature that is nowhere in use is left out.
func TestPathsOf(t *testing.T) {
	x := mat.NewDense(4, 3, []float64{1, 10, 1, -1, -10, 0, 1, -10, 1, -1, 10, 0}) // standard deviations 1, 10 and 1/2
	split := &dataset.Split{Train: &dataset.Data{X: x, Y: make([]float64, 4), Features: []string{"a", "b", "c"}}}
	fit := func(b ...float64) problems.Fit { return problems.Fit{Coefficients: b, Features: split.Train.Features} }
	r := &tune.Result{Model: "lasso", Refit: &problems.Errors{}, RefitFit: fit(1, -0.3, 0)}
	r.Lambda = []float64{0.5}
	for k, f := range []problems.Fit{fit(0, 0, 0), fit(1, -0.3, 0), {}, fit(4, -0.35, 0)} {
		r.Curve = append(r.Curve, tune.CurvePoint{Factor: math.Pow(10, float64(1-k)), Validation: 1, Fit: f})
	}
	run := &Run{Rows: &input.Rows{Split: split}}
	p, c := pathsOf(run, r)
	require.Equal(t, []string{"b", "a"}, p.name)
	require.InDeltaSlice(t, []float64{5, 0.5, 0.005}, p.x, 1e-12)
	require.InDeltaSlice(t, []float64{0, -3, -3.5}, p.effect[0], 1e-12)
	require.InDeltaSlice(t, []float64{0, 1, 4}, p.effect[1], 1e-12)
	lines := p.around(c).Lines
	require.Len(t, lines, 3)
	require.Equal(t, []float64{0.5, 0.5}, lines[2].X)
	require.Equal(t, []float64{-3.5, 4}, lines[2].Y)
	require.Contains(t, pathsOnPage(run, r)[0].About, "In use: 0 features at 5, 2 features at 0.005.")
	r.Curve = r.Curve[:1]
	require.Nil(t, pathsOnPage(run, r))
	require.Equal(t, strings.Repeat("x", 18)+"..", shortened(strings.Repeat("x", 30)))
}

// Rows of weight 2 count twice in the ROC curve: (0,0), (0,1/2), (1/3,1/2), (1/3,1), (1,1).
func TestWeightedROC(t *testing.T) {
	x, y := roc([]float64{4, 3, 2, 1}, []float64{1, 0, 1, 0}, []float64{2, 1, 2, 2})
	require.InDeltaSlice(t, []float64{0, 0, 1. / 3, 1. / 3, 1}, x, 1e-15)
	require.InDeltaSlice(t, []float64{0, 0.5, 0.5, 1, 1}, y, 1e-15)
	found, right := precision(x, y, 4./7) // rows of weight 4 of 7 are positive
	require.InDeltaSlice(t, []float64{0.5, 1}, found, 1e-15)
	require.InDeltaSlice(t, []float64{1, 4. / 5}, right, 1e-15)
}

// lambda (l1_ratio |b|_1 + (1 - l1_ratio)/2 |b|^2) is the penalty of the elastic net in one parametrisation.
func TestParametrised(t *testing.T) {
	lambda, l1, ok := parametrised("elastic-net", []float64{0.3, 0.1})
	require.True(t, ok)
	require.InDelta(t, 0.4, lambda, 1e-15)
	require.InDelta(t, 0.75, l1, 1e-15)
	require.Contains(t, sameAs("elastic-net", lambda, l1, 10, false, false)[0].Code,
		"ElasticNet(alpha=0.4, l1_ratio=0.75, tol=1e-8, max_iter=100000)")
	require.Contains(t, sameAs("logistic", lambda, l1, 10, false, false)[0].Code, "C=0.25, l1_ratio=0.75")
	require.Equal(t, []string{"0", "1", "0.25", "0.999", "0.00008", "0.99999"}, []string{words.Ratio(1e-10, 3),
		words.Ratio(1-1e-10, 3), words.Ratio(0.25, 3), words.Ratio(0.999, 3), words.Ratio(8e-5, 3), words.Ratio(0.99999, 3)})
	_, _, ok = parametrised("weighted-lasso", []float64{0.3, 0.1})
	require.False(t, ok)
}

func TestCommandLine(t *testing.T) {
	require.Equal(t, `conetune tune lasso --data 'it'\''s a $.csv' ''`,
		commandLine([]string{"tune", "lasso", "--data", "it's a $.csv", ""}))
}
