package tune

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/matcomp"
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

func TestSimplest(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		losses [][]float64 // and standard errors
		want   int
	}{{[][]float64{{1, 1}, {0, 0}}, 0}, {[][]float64{{1.1, 1}, {0, 0}}, 1}, {[][]float64{{3, 1}, {0.5, 1}, {0, 0}}, 1},
		{[][]float64{{nan, nan}, {0, 0}}, 0}} { // one validation row tells nothing
		got := simplest(make([]Rung, len(c.losses)), c.losses, func(a, b []float64) (mean, se float64) {
			return a[0] - b[0], a[1]
		})
		require.Equal(t, c.want, got)
	}
}

// selective has features of units a thousandfold apart.
var selective = problems.Advice{
	Columns: func() (*dataset.Data, bool) {
		return &dataset.Data{X: mat.NewDense(2, 3, []float64{-1, -1000, 3, 1, 1000, 5}), Y: make([]float64, 2)}, true
	},
	TestError: func(f problems.Fit) *float64 { return &f.Intercept },
}

// A coefficient is negligible by what it does when its feature moves by one standard deviation; its mean goes into the
// intercept, and the predictor that is left is scored.
func TestDropNegligible(t *testing.T) {
	test := 3.25
	made := func() *Result {
		fit := problems.Fit{Features: []string{"small", "large", "zero"}, Coefficients: []float64{2, 0.001, 1e-7},
			Intercept: 7}
		return &Result{Refit: &problems.Errors{Test: &test}, RefitFit: fit, Errors: problems.Errors{Test: &test}}
	}
	task := &task{Advice: selective}
	r := made()
	r.dropNegligible(task)
	require.Equal(t, []float64{2, 0.001, 0}, r.RefitFit.Coefficients)
	require.Equal(t, 7+4*1e-7, r.RefitFit.Intercept)
	require.Equal(t, 7+4*1e-7, *r.Refit.Test)
	require.Equal(t, r.RefitFit, r.Iterate, "with folds they are the same predictor")

	task.Config.Eps = 1e-3
	r = made()
	r.dropNegligible(task)
	require.Equal(t, []float64{2, 0.001, 0}, r.RefitFit.Coefficients, "0.001 moves by 1, half of the largest")

	task.Advice.Columns = nil // it keeps them all
	r = made()
	r.dropNegligible(task)
	require.Equal(t, made(), r)
}

// A tour is a permutation that always goes to the nearest point left.
func TestTour(t *testing.T) {
	units := [][]float64{{0.1, 0.1}, {0.9, 0.8}, {0.2, 0.1}, {0.9, 0.1}, {0.5, 0.5}}
	block := []int{0, 1, 2, 3, 4}
	tour(block, units)
	require.Equal(t, 1, block[0])
	require.Equal(t, indices.Range(0, 5), slices.Sorted(slices.Values(block)))
	for n := range len(block) - 1 {
		step := floats.Distance(units[block[n]], units[block[n+1]], 2)
		for _, later := range block[n+1:] {
			require.LessOrEqual(t, step, floats.Distance(units[block[n]], units[later], 2))
		}
	}
}

func TestPerAxis(t *testing.T) {
	for _, c := range []struct{ n, axes, want int }{{100, 2, 10}, {99, 2, 9}, {125, 3, 5}, {1000, 3, 10}, {7, 1, 7},
		{1, 4, 1}, {16, 4, 2}} {
		k := must.Of(perAxis(c.n, c.axes))(t)
		require.Equal(t, c.want, k)
	}
	_, err := perAxis(100, 31)
	require.ErrorContains(t, err, "31 axes")
}

func TestKindName(t *testing.T) {
	for want, names := range map[string][]string{
		"wbar":    {"wbar_x1", "wbar_x2", "wbar_x10"},
		"group":   {"group0", "group1", "group10"},
		"lambda3": {"x1", "x2"},
		"price":   {"price-a", "price-b"},
	} {
		all := make([]int, len(names))
		for i := range all {
			all[i] = i
		}
		require.Equal(t, want, kindName(2, all, func(j int) string { return names[j] }, false))
	}
	require.Equal(t, "u", kindName(0, []int{0, 1}, func(j int) string { return []string{"a", "b"}[j] }, true))
}
