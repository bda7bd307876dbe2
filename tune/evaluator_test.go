package tune

import (
	"context"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
)

// machine is a support vector machine on 60 rows of 12 features, of which 3 count, in 3 folds.
func machine(t *testing.T, o svm.Options) *svm.Model {
	split := must.First(dataset.Generate(dataset.Config{Train: 61, Val: 5, Test: 5, Features: 12}, 4))(t)
	table := split.Train
	for i, y := range table.Y {
		table.Y[i] = math.Copysign(1, y-1)
	}
	classes := must.Of(svm.Classes(table))(t)
	cv := must.Of(dataset.CrossValidate(table, 3, 1, classes))(t)
	return must.Of(svm.New(cv, o))(t)
}

// Methods on the support vector machine: the same with any number of workers; descents, with a bound for each feature,
// end below the grid, at a fit that is that of the conic program.
func TestMachineMethods(t *testing.T) {
	ctx := context.Background()
	m := machine(t, svm.Options{ClassWeights: []float64{1, math.Phi}})
	var grid float64
	for _, method := range []string{MethodGrid, MethodRandom, MethodTPE, MethodIGJO, MethodIFDM, MethodHOAG} {
		var first *Result
		for _, workers := range []int{1, 3} {
			r := must.Of(Run(ctx, m, Config{Method: method, Preset: PresetPaper, Workers: workers, Evaluations: 60}))(t)
			require.Len(t, r.Selection.Upper, 12)
			require.Len(t, r.Hyperparameters, 13)
			if first == nil {
				first = r
			}
			require.Equal(t, first.Selection, r.Selection, method)
			require.Equal(t, len(first.Trace), len(r.Trace))
			for k := range r.Trace {
				require.Equal(t, first.Trace[k].Errors, r.Trace[k].Errors)
			}
		}
		switch method {
		case MethodGrid:
			grid = first.Refit.Validation
			continue
		case MethodIGJO, MethodIFDM, MethodHOAG:
			require.Less(t, first.Refit.Validation, grid, method)
		}
		task := must.Of(newTask(m, Config{Method: MethodRandom, Eps: 1e-10}, nil, time.Now()))(t)
		conic := must.Of(dca.NewPenalized(task.Program, task.settings()))(t)
		b := must.Of(conic.Solve(ctx, first.Lambda, first.Selection.Upper))(t)
		require.NoError(t, conic.Close())
		require.InDelta(t, m.Evaluate(b.X).Validation, first.Refit.Validation, 1e-6, method)
	}
	both := must.Of(Compare(ctx, m, []string{MethodGrid, MethodIFDM}, true, Config{Evaluations: 40}))(t)
	require.LessOrEqual(t, both[1].Refit.Validation, both[0].Refit.Validation*(1+1e-9))
}

// Descents on matrix completions go below a path of common weights; the forward mode is not theirs.
func TestCompletionDescents(t *testing.T) {
	data := must.Of(matcomp.ReadDir("../problems/matcomp/testdata/small", 0))(t)
	ctx := context.Background()
	for _, o := range []matcomp.Options{{}, {Intercept: true, Standardize: true}} {
		m := must.Of(matcomp.New(data, o))(t)
		direct := must.Of(m.Penalised())(t)
		lambda := make([]float64, direct.Dim())
		require.Len(t, lambda, len(m.Names()))
		for i := range lambda {
			lambda[i] = 0.2 * direct.LambdaMax() / float64(1+i%3)
		}
		a := must.Of(direct.Solve(ctx, lambda, 1e-10, nil))(t)
		require.True(t, a.Solved)
		for _, method := range []string{MethodIGJO, MethodHOAG} {
			r := must.Of(Run(ctx, m, Config{Method: method, Evaluations: 20}))(t)
			require.Less(t, r.Refit.Validation, m.Evaluate(a.X).Validation)
		}
		_, err := Run(ctx, m, Config{Method: MethodIFDM})
		require.ErrorContains(t, err, "ifdm cannot do the model matrix-completion")
	}
}

// What was recorded makes the result: the least error with the radii of its solution, and how many lower levels failed.
func TestRecord(t *testing.T) {
	split := must.First(dataset.Generate(dataset.Config{Train: 40, Val: 20, Features: 20}, 3))(t)
	task := must.Of(newTask(must.Of(regression.ElasticNet(split, regression.Options{}))(t), Config{Method: MethodGrid}, nil,
		time.Now()))(t)
	errors := map[float64]float64{}
	for _, l := range []float64{1, 0.1} {
		b := make([]float64, 20)
		b[0] = 1 - l
		errors[l] = task.record(trial{Lambda: []float64{l, l}, X: [][]float64{b}})
		sum := 0.0
		for i, y := range split.Val.Y {
			sum += math.Pow(y-split.Val.Dot(i, b), 2)
		}
		require.InEpsilon(t, sum/float64(2*len(split.Val.Y)), errors[l], 1e-12)
	}
	require.True(t, math.IsInf(task.record(trial{Lambda: []float64{9, 9}}), 1))
	r := must.Of(task.finish(context.Background(), "", ""))(t)
	require.Equal(t, outcome.Converged, r.Status)
	require.Equal(t, "1 of 3 lower levels could not be solved", r.Message)
	require.Equal(t, 3, r.Iterations)
	require.Equal(t, math.Min(errors[1], errors[0.1]), r.Refit.Validation)
	x := 1 - r.Lambda[0]
	require.InDeltaSlice(t, []float64{x, x * x / 2}, r.Radii, 1e-12)
	require.Nil(t, r.Trace[2].Refit)
	line := must.Of(json.Marshal(r.Trace[2]))(t)
	require.Contains(t, string(line), `"validation_error":null`)
}

// A start by radii is that of Init.
func TestStartAtRadii(t *testing.T) {
	split := must.First(dataset.Generate(dataset.Config{Train: 40, Val: 20, Features: 20}, 3))(t)
	m, c := must.Of(regression.ElasticNet(split, regression.Options{}))(t), Config{Preset: PresetPaper, MaxIter: 1}
	r := must.Of(run(context.Background(), m, c, &Selection{Radii: []float64{3, 2}}))(t)
	c.Init = []float64{3, 2}
	same := must.Of(VFiDCA(context.Background(), m, c))(t)
	require.Equal(t, same.Radii, r.Radii)
}

// VF-iDCA on a matrix completion has the start and the iterates of conic programs.
func TestCompletionSolversAreConic(t *testing.T) {
	data := must.Of(matcomp.ReadDir("../problems/matcomp/testdata/small", 0))(t)
	for _, o := range []matcomp.Options{{}, {Intercept: true, Standardize: true}} {
		m := must.Of(matcomp.New(data, o))(t)
		task := must.Of(newTask(m, Config{Method: MethodVFiDCA}, nil, time.Now()))(t)
		ctx := context.Background()
		s := task.settings()
		s.PathStart, s.MaxIter = true, 2
		p := task.Program
		conic := must.Of(dca.Solve(ctx, p, s))(t)
		require.NoError(t, task.solvers(t.Context(), &p))
		direct := must.Of(dca.Solve(ctx, p, s))(t)
		require.NotEmpty(t, direct.StartWeights)
		require.Equal(t, conic.StartWeights, direct.StartWeights)
		require.InDeltaSlice(t, conic.H, direct.H, 1e-3)
		require.InDeltaSlice(t, conic.Lambda, direct.Lambda, 1e-4)
		require.InDelta(t, m.Evaluate(conic.X).Validation, m.Evaluate(direct.X).Validation, 1e-4)
		require.Less(t, direct.Stats.Iterations, conic.Stats.Iterations)
	}
	task := must.Of(newTask(must.Of(matcomp.New(data, matcomp.Options{}))(t), Config{Method: MethodVFiDCA, Eps: 1e-11}, nil,
		time.Now()))(t)
	p := task.Program
	require.NoError(t, task.solvers(t.Context(), &p))
	require.Nil(t, p.Fit, "conic programs are more accurate")
}
