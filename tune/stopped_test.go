package tune_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop/stoptest"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/tune"
)

// labelled is a table of two classes, with folds.
func labelled(t testing.TB, n, p int) *dataset.CrossValidation {
	rng := rand.New(rand.NewPCG(4, 9))
	d := &dataset.Data{X: mat.NewDense(n, p, nil), Target: "y"}
	for j := range p {
		d.Features = append(d.Features, fmt.Sprintf("f%d", j+1))
	}
	for i := range n {
		y := float64(2*(i%2) - 1)
		for j := range p {
			d.Dense().Set(i, j, rng.NormFloat64()+y/float64(1+j))
		}
		d.Y = append(d.Y, y)
	}
	return must.Of(dataset.CrossValidate(d, 3, 1, nil))(t)
}

// stopModels are models of all kinds: with and without folds, with ladders.
func stopModels(t testing.TB) map[string]problems.Model {
	cv := labelled(t, 45, 6)
	cv.Test = cv.Data
	out := map[string]problems.Model{}
	out["svm"] = must.Of(svm.New(cv, svm.Options{}))(t)
	out["elastic net, folds"] = must.Of(regression.ElasticNet(cv, regression.Options{Intercept: true}))(t)
	out["elastic net"] = model(t, regression.Options{Intercept: true, Standardize: true})
	out["weighted lasso"] = must.Of(regression.WeightedLasso(sample(t), regression.Options{Intercept: true}))(t)
	out["logistic"] = must.Of(regression.Logistic(cv, regression.Options{Intercept: true}))(t)
	return out
}

// Wherever a run is stopped, what it returns is consistent: the refit's validation error is that of the selection, its
// coefficients are finite, some of the runs of VF-iDCA that are stopped leave a model, and what is not called cancelled
// is complete.
func TestStoppedAnywhere(t *testing.T) {
	for name, m := range stopModels(t) {
		for _, c := range []tune.Config{{}, {MaxIter: 9}, {Method: "tpe", Evaluations: 6}, {Method: "hoag"}} {
			at := fmt.Sprintf("%s by %s %d", name, c.Method, c.MaxIter)
			models := 0
			whole := must.Of(tune.Run(context.Background(), m, c))(t)
			for n := 1; ; n += 1 + n/4 + n*n/100 {
				ctx := stoptest.After(n)
				r, err := tune.Run(ctx, m, c)
				require.NoError(t, err, at)
				requireValid(t, r)
				if r.Refit != nil {
					models++
					require.True(t, r.RefitFit.Finite(), at)
					require.NotNil(t, r.Selection, at)
					require.InDelta(t, m.Evaluate(r.Selection.X).Validation, r.Refit.Validation, 1e-12, at)
					require.Contains(t, []string{tune.FinalTrain, tune.FinalAll, tune.FinalFolds}, r.TrainedOn)
				}
				if ctx.Looks() <= n {
					require.NotNil(t, r.Refit, at)
					break
				}
				if r.Status != outcome.Cancelled { // then it was complete
					require.Equal(t, whole.Status, r.Status, "%s after %d polls: %s", at, n, r.Message)
					require.Equal(t, whole.RefitFit, r.RefitFit)
				}
			}
			if c.Method == "" { // searches: TestStoppedAtEvents
				require.Greater(t, models, 1, "%s: no model from a run that was stopped", at)
			}
		}
	}
}

// Stopped at any line of its trace, a run keeps the best point of those before.
func TestStoppedAtEvents(t *testing.T) {
	for name, m := range stopModels(t) {
		for _, method := range []string{"vf-idca", "grid", "random", "tpe", "cma-es", "igjo", "hoag"} {
			for stop := 1; stop < 5; stop++ {
				ctx, cancel := context.WithCancel(context.Background())
				seen := 0
				r, err := tune.Run(ctx, m, tune.Config{Method: method, Evaluations: 8, Workers: 1, Progress: func(tune.Event) {
					if seen++; seen == stop {
						cancel()
					}
				}})
				require.NoError(t, err)
				requireValid(t, r)
				at := fmt.Sprintf("%s by %s after %d", name, method, stop)
				require.NotNil(t, r.Refit, at)
				require.True(t, r.RefitFit.Finite(), at)
				require.InDelta(t, m.Evaluate(r.Selection.X).Validation, r.Refit.Validation, 1e-12, at)
				if seen < stop {
					break
				}
				require.Equal(t, outcome.Cancelled, r.Status, at)
				cancel()
			}
		}
	}
}

// A deadline of the caller's context is a time limit, as that of the configuration is.
func TestDeadline(t *testing.T) {
	ctx, end := context.WithDeadline(context.Background(), time.Now().Add(-time.Hour))
	defer end()
	for _, method := range tune.Methods() {
		for limit, ctx := range map[time.Duration]context.Context{0: ctx, time.Nanosecond: context.Background()} {
			r := must.Of(tune.Run(ctx, model(t, regression.Options{}), tune.Config{Method: method, TimeLimit: limit}))(t)
			require.Equal(t, outcome.TimeLimit, r.Status, method)
			require.Nil(t, r.Refit)
			must.Of(json.Marshal(r))(t)
		}
	}
}

// trained is a model of folds whose final training is another one.
type trained struct {
	*regression.Model
	train func(ctx context.Context) (problems.Fit, *float64, error)
}

func (m trained) Advice() problems.Advice {
	a := m.Model.Advice()
	a.Retrain = func(ctx context.Context, _ problems.Solver, _ []float64) (problems.Fit, *float64, error) {
		return m.train(ctx)
	}
	a.RetrainWeighted = a.Retrain
	return a
}

// After a stop the final training is made if it is fast. One that is not is not waited for: the mean of the folds' fits
// is the model.
func TestFinalTrainingAfterAStop(t *testing.T) {
	cv := labelled(t, 45, 6)
	cv.Test = cv.Data
	net := must.Of(regression.ElasticNet(cv, regression.Options{Intercept: true}))(t)
	for _, method := range []string{"vf-idca", "grid"} {
		for _, limit := range []bool{false, true} {
			run := func(train func(ctx context.Context) (problems.Fit, *float64, error)) *tune.Result {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				c := tune.Config{Method: method, Progress: func(tune.Event) { cancel() }}
				if limit {
					var end context.CancelFunc
					ctx, end = context.WithCancel(context.Background())
					defer end()
					c.TimeLimit = time.Hour
					c.Progress = nil
					c.MaxIter, c.Evaluations = 2, 4
				}
				return must.Of(tune.Run(ctx, trained{net, train}, c))(t)
			}
			var r *tune.Result
			for range 50 { // a busy machine may have no turn for it within its time
				r = run(func(ctx context.Context) (problems.Fit, *float64, error) {
					return problems.Fit{Coefficients: []float64{1, 2, 3, 4, 5, 6}}, nil, ctx.Err()
				})
				if r.TrainedOn == tune.FinalAll {
					break
				}
			}
			require.Equal(t, tune.FinalAll, r.TrainedOn)
			require.Equal(t, []float64{1, 2, 3, 4, 5, 6}, r.RefitFit.Coefficients)
			if limit {
				require.NotEqual(t, outcome.TimeLimit, r.Status)
				continue // an hour is not waited for
			}
			require.Equal(t, outcome.Cancelled, r.Status)

			forever := make(chan struct{})
			r = run(func(context.Context) (problems.Fit, *float64, error) { <-forever; return problems.Fit{}, nil, nil })
			close(forever)
			require.Equal(t, outcome.Cancelled, r.Status)
			require.Equal(t, tune.FinalFolds, r.TrainedOn)
			require.Contains(t, r.Message, "mean of the folds' fits")
			require.Equal(t, net.Fit(r.Selection.X), r.RefitFit)
			require.InDelta(t, halfMeanSquareOf(cv.Data, r.RefitFit), *r.Refit.Test, 1e-12)
		}
	}
}

func halfMeanSquareOf(d *dataset.Data, f problems.Fit) float64 {
	sum := 0.0
	for i, y := range d.Y {
		e := y - f.Value(d.Dense().RawRowView(i))
		sum += e * e
	}
	return sum / (2 * float64(len(d.Y)))
}

// How a final training ended is how the run ends, whatever was reached before: one that missed its tolerances is not
// called converged, and one that was cancelled, or that its deadline stopped before the timer of the context has had a
// turn, as on a busy machine, leaves the mean of the folds' fits.
func TestHowTheFinalTrainingEnds(t *testing.T) {
	net := must.Of(regression.ElasticNet(labelled(t, 45, 6), regression.Options{Intercept: true}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	for _, c := range []struct {
		train   func(ctx context.Context) (problems.Fit, error)
		status  outcome.Stop
		on      string
		message string
	}{
		{func(context.Context) (problems.Fit, error) { return problems.Fit{}, nil }, outcome.Converged, tune.FinalAll, ""},
		{func(context.Context) (problems.Fit, error) { return problems.Fit{Inaccurate: true}, nil }, dca.Inaccurate,
			tune.FinalAll, "missed its tolerances"},
		{func(context.Context) (problems.Fit, error) {
			return problems.Fit{}, &problems.TrainingError{Status: backends.TimeLimit}
		}, outcome.TimeLimit, tune.FinalFolds, "mean of the folds' fits"},
		{func(context.Context) (problems.Fit, error) {
			return problems.Fit{}, &problems.TrainingError{Status: backends.Cancelled}
		}, outcome.Cancelled, tune.FinalFolds, "mean of the folds' fits"},
		{func(ctx context.Context) (problems.Fit, error) {
			cancel()
			<-ctx.Done()
			return problems.Fit{}, ctx.Err()
		}, outcome.Cancelled, tune.FinalFolds, "mean of the folds' fits"},
	} {
		r := must.Of(tune.Run(ctx, trained{net, func(ctx context.Context) (problems.Fit, *float64, error) {
			fit, err := c.train(ctx)
			fit.Coefficients = make([]float64, 6)
			return fit, nil, err
		}}, tune.Config{Method: tune.MethodGrid, Evaluations: 4}))(t)
		require.Equal(t, c.status, r.Status)
		require.NotNil(t, r.Refit)
		require.Equal(t, c.on, r.TrainedOn)
		require.Contains(t, r.Message, c.message)
		require.Equal(t, c.status == dca.Inaccurate, strings.Contains(r.Message, "missed its tolerances"))
	}
}

// blocked is a model whose fit is never made.
type blocked struct {
	*regression.Model
	begun func()
	wait  chan struct{}
}

func (m blocked) Advice() problems.Advice {
	a := m.Model.Advice()
	a.Fit = func() (lower.Fit, error) {
		m.begun()
		<-m.wait
		return nil, nil
	}
	return a
}

// A run does not wait for a fit that is being made when its context ends, and has nothing then.
func TestStoppedWhileAFitIsMade(t *testing.T) {
	wait := make(chan struct{})
	defer close(wait)
	for _, method := range []string{tune.MethodVFiDCA, tune.MethodGrid, tune.MethodTPE, tune.MethodHOAG} {
		ctx, cancel := context.WithCancel(context.Background())
		m := blocked{model(t, regression.Options{}), cancel, wait}
		r, err := tune.Run(ctx, m, tune.Config{Method: method})
		require.NoError(t, err, method)
		require.Equal(t, outcome.Cancelled, r.Status, method)
		require.Nil(t, r.Refit, method)
		require.Empty(t, r.Trace, method)
	}
}
