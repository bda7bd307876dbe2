package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// made is a result with two features, of units a thousandfold apart, and n radii.
func made(n int) (*tuneJob, *dataset.Split, *tune.Result) {
	test := 3.25
	train := &dataset.Data{
		X: mat.NewDense(2, 3, []float64{-1, -1000, 1, 1, 1000, -1}), Y: []float64{1, 2},
		Features: []string{"small", "large", "zero"}, Target: "y",
	}
	r := &tune.Result{
		Model: "elastic-net", Method: "vf-idca", Backend: "native", Status: dca.Converged, TimeSeconds: 0.25, Iterations: 2,
		Errors: tune.Errors{Validation: 1.5, Test: &test}, Refit: &tune.Errors{Validation: 2.5}, LowerGap: 0.01,
		RefitFit: tune.Fit{Features: train.Features, Coefficients: []float64{2, 0.001, 0}, Intercept: 7},
	}
	for i := range n {
		r.Names = append(r.Names, fmt.Sprintf("lambda%d", i+1))
		r.Lambda = append(r.Lambda, 0.5*float64(i))
		r.Radii = append(r.Radii, float64(i))
	}
	for k := 1; k <= 3; k++ {
		e := tune.Event{Iteration: dca.Iteration{K: k, Alpha: 1, Gap: 0.1, Step: 0.2}, Errors: r.Errors, Elapsed: time.Duration(k) * time.Millisecond}
		if k == 2 {
			e.Refit = r.Refit
		}
		r.Trace = append(r.Trace, e)
	}
	r.TrainedOn = tune.FinalTrain
	job := &tuneJob{tuneFlags: &tuneFlags{data: dataFlags{Source: input.Source{Dir: "data"}}}}
	split := &dataset.Split{Train: train, Val: train}
	job.rows = &input.Rows{Split: split}
	job.judge = evaluate.NewJudge(job.rows, nil, false)
	return job, split, r
}

func TestReport(t *testing.T) {
	job, split, r := made(2)
	text := describeRun(job, split, []*tune.Result{r}, []string{"model in m.json"})
	require.Equal(t, `elastic-net for y, chosen by vf-idca: lambda 0.5, l1_ratio 0.
Half the mean squared error, which the methods compare: 2.5 on the validation rows.

name       value   meaning
lambda       0.5   weight of the penalty
l1_ratio       0   share of the 1-norm in the penalty: 1 is the lasso, 0 ridge; alpha of glmnet
The weight is that of the fit to the training rows, on the features and the target as they are.
The same model elsewhere:
  ElasticNet(alpha=0.5, l1_ratio=0)
  glmnet(x, y, family = "gaussian", alpha = 0, lambda = 0.5, standardize = FALSE)

feature   effect   coefficient
small          2             2
large          1         0.001
2 of 3 features are in the model. An effect is what the prediction changes by when the feature rises by one
standard deviation; a coefficient is in the unit of the table.

data      data
          3 features; 2 training, 2 validation rows; target y
          features as they are, no intercept
made by   vf-idca on the native backend, converged after 2 iterations, 0.250 s
          the model is trained on the training rows

model in m.json
`, text)

	// What the optimiser has to say is for those who ask.
	job.verbose, job.model.Intercept = true, true
	text = describeRun(job, split, []*tune.Result{r}, nil)
	require.Contains(t, text, `
method    validation   test   iterate, validation   iterate, test      time   steps          status
vf-idca          2.5      -                   1.5            3.25   0.250 s   2 iterations   converged
`)
	require.Contains(t, text, "lower gap, 0.01, is small (--gap-tol).")
	require.Regexp(t, `(?m)^lambda2 +0.5 +1$`, text)
	require.Contains(t, text, "The intercept is 7.")

	// Many hyperparameters: the largest come first.
	job, split, r = made(20)
	r.Model = "group-lasso"
	text = choiceOf(job, r).describe()
	require.Regexp(t, `(?m)^lambda20 +9.5 `, text)
	require.NotContains(t, text, "lambda5 ")
	require.Contains(t, text, "and 12 more")

	// A run that ended before its first iteration has only its status.
	early := &tune.Result{Model: "elastic-net", Method: "vf-idca", Backend: "native", Status: dca.Cancelled}
	text = describeRun(job, split, []*tune.Result{early}, nil)
	require.Contains(t, text, "interrupted after 0 iterations, without a model")
	require.NotContains(t, text, "refit")
}

func TestOutcome(t *testing.T) {
	for status, want := range map[dca.Status]struct {
		code int
		text string
	}{
		dca.Converged:       {exitDone, ""},
		dca.IterationLimit:  {exitUnsolved, "stopped by the iteration limit after 2 iterations"},
		dca.TimeLimit:       {exitUnsolved, "stopped by the time limit"},
		dca.Inaccurate:      {exitUnsolved, "missed their tolerances"},
		dca.SolverFailed:    {exitUnsolved, "stopped by a numerical error"},
		dca.LowerInfeasible: {exitUnsolved, "the lower level became infeasible"},
		dca.Cancelled:       {exitInterrupted, "interrupted after 2 iterations"},
	} {
		job, _, r := made(2)
		r.Status = status
		var stderr bytes.Buffer
		err := (&app{stderr: &stderr}).outcome(job, []*tune.Result{r})
		if want.code == exitDone {
			require.NoError(t, err)
			require.Empty(t, stderr.String())
			continue
		}
		var e *exitError
		require.ErrorAs(t, err, &e)
		require.Equal(t, want.code, e.code)
		require.Contains(t, stderr.String(), want.text)
		require.Equal(t, 1, strings.Count(stderr.String(), "\n"))
	}
	// A run without a refit has no model to save.
	job, _, r := made(2)
	job.save, r.Refit, r.Status = "m.json", nil, dca.Cancelled
	var stderr bytes.Buffer
	require.Error(t, (&app{stderr: &stderr}).outcome(job, []*tune.Result{r}))
	require.Contains(t, stderr.String(), "no model to write to m.json")
}

func TestTraceFigure(t *testing.T) {
	_, _, r := made(2)
	f := traceFigure(r)
	require.Equal(t, "elastic-net by vf-idca: converged after 2 iterations", f.Title)
	require.Len(t, f.Panels, 4)
	refit := f.Panels[0].Lines[1]
	require.Equal(t, []float64{2}, refit.X)
	require.Equal(t, []float64{2.5}, refit.Y)
	require.Empty(t, f.Panels[0].Lines[3].X, "there is no test error of the refit")
	var b bytes.Buffer
	require.NoError(t, f.Write(&b, "png"))
}

func TestSavedModel(t *testing.T) {
	job, _, r := made(2)
	r.Hyperparameters = map[string]float64{"lambda1": 0, "lambda2": 0.5}
	m := job.saved(r)
	require.Equal(t, 2.5, *m.ValidationError)
	require.Equal(t, r.RefitFit.Coefficients, m.Coefficients)
	require.Equal(t, []string{"data"}, m.Provenance.Files)
	require.Equal(t, 0, m.Provenance.TestRows)
}

// The figure ends at the errors of the report, which may be those of a model trained on more rows than the fits of the trace.
func TestFigureEndsAtReport(t *testing.T) {
	job, split, r := made(2)
	final := 9.75
	r.Refit, r.TrainedOn, r.LowerLevel = &tune.Errors{Validation: 2.5, Test: &final}, tune.FinalAll, r.Refit
	job.methods = []string{"vf-idca"}
	f := traceOfRun(job, split, []*tune.Result{r})
	points := f.Panels[0].Lines[4:]
	require.Len(t, points, 2)
	for k, want := range []float64{2.5, 9.75} {
		require.Equal(t, []float64{want}, points[k].Y)
		require.Equal(t, []float64{3}, points[k].X)
		require.Contains(t, points[k].Name, "chosen")
	}
	require.Contains(t, f.XLabel, "training on training and validation rows")

	r.Method, job.methods = "grid", []string{"grid"}
	f = traceOfRun(job, split, []*tune.Result{r})
	for k, want := range []float64{2.5, 9.75} {
		lines := f.Panels[k].Lines
		require.Equal(t, want, lines[0].Y[len(lines[0].Y)-1])
		require.Equal(t, "chosen", lines[1].Name)
		require.Equal(t, []float64{want}, lines[1].Y)
	}
}
