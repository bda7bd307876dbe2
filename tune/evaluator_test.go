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
	"pgregory.net/rapid"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/proptest"
	"github.com/conetune/conetune/lower"
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
	classes := must.Of(dataset.ClassNumbers(table, 2))(t)
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
		task := must.Of(newTask(m, Config{Method: MethodRandom, Eps: 1e-11}, nil, time.Now()))(t)
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

// On a quadratic of the logarithms the search ends within a thousandth of its least value, scores no weights twice and
// ends sooner the flatter the function is.
func TestCompass(t *testing.T) {
	trials := map[float64]int{}
	for _, bend := range []float64{1e-5, 1e-2, 1} {
		seen := map[[2]float64]bool{}
		f := func(l []float64) float64 {
			u, v := math.Log(l[0]/0.3), math.Log(l[1]/0.7)
			return 1 + bend*(u*u+v*v+u*v)
		}
		c := compass{ctx: context.Background(), at: func(_ context.Context, l []float64) (trial, error) {
			key := [2]float64{float64(float32(l[0])), float64(float32(l[1]))}
			require.False(t, seen[key], "%v twice", l)
			seen[key] = true
			return trial{X: [][]float64{{0}}, Lambda: l, Errors: &problems.Errors{Validation: f(l)}}, nil
		}}
		must.Of(c.score([]float64{4, 1}))(t)
		require.NoError(t, c.search())
		require.Less(t, c.best.Errors.Validation, 1.001)
		require.Less(t, c.trials, compassTrials)
		trials[bend] = c.trials
	}
	require.Less(t, trials[1e-5], trials[1e-2])
	require.Less(t, trials[1e-5], trials[1])
}

// A path ends where the errors of the folds have risen by more than chance, or no longer fall, and goes on where they
// differ by chance or rise for a while.
func TestPathEnds(t *testing.T) {
	const points = 200
	run := func(fold func(k, t int) float64) int {
		c := compass{ctx: context.Background(), fits: new(evaluator)}
		c.at = func(_ context.Context, l []float64) (trial, error) {
			k := int(math.Round(math.Log(l[0]) / math.Log(pathStep)))
			folds, mean := make([]float64, 10), 0.0
			for t := range folds {
				folds[t] = fold(k, t)
				mean += folds[t] / 10
			}
			return trial{X: [][]float64{{0}}, Lambda: l, Errors: &problems.Errors{Validation: mean}, folds: folds}, nil
		}
		var list [][]float64
		for k := range points {
			list = append(list, []float64{math.Pow(pathStep, float64(k))})
		}
		require.NoError(t, c.descend(list, &paths{lines: [][][]float64{list}, ends: true}))
		return len(c.tried)
	}
	valley := func(k int) float64 { return 1 + 1e-2*math.Pow(float64(k-20), 2) }
	require.Equal(t, 22, run(func(k, _ int) float64 { return valley(k) }), "a point above the least in all folds")
	chance := func(k, t int) float64 { return valley(k) + math.Sin(float64(k*(t+1))) }
	require.Less(t, run(chance), points/2)
	require.Equal(t, points, run(func(k, _ int) float64 { return math.Exp(-float64(k) / 40) }), "it falls all the way")
	require.Less(t, run(func(k, _ int) float64 { return 1 + math.Exp(-float64(k)/4) }), 50, "it falls no more")
	require.Greater(t, run(func(k, t int) float64 {
		return 1 - math.Max(0, float64(k-6)/100) + math.Cos(math.Pi*float64(k+t))/50
	}), 80, "it falls late")
}

// With orthogonal features fits are known: each part of l = sum_t 1/2 |b_t - a_t|^2 has b = soft(a, lambda), so that
// the first program of an iteration is checked by its own weights, and the second by the gap of its point at these.
func TestMajorisedGap(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		number := rapid.Map(rapid.IntRange(-30, 30), func(i int) float64 { return float64(i) / 10 })
		parts := rapid.SliceOfN(rapid.SliceOfN(number, 3, 3), 1, 3).Draw(t, "a")
		target := rapid.SliceOfN(number, 3, 3).Draw(t, "target")
		c := []float64{rapid.Float64Range(0.01, 10).Draw(t, "c")}
		epsilon := rapid.Float64Range(0.01, 2).Draw(t, "epsilon")
		p := dca.Program{H0: []float64{1}, Radii: 1}
		for _, a := range parts {
			p.Blocks = append(p.Blocks, func(m *convex.Model, h convex.Expr) dca.Level {
				b := m.Vector("b", len(a))
				loss := func(y []float64) convex.Expr {
					return convex.Scale(0.5, convex.SumSquares(convex.Sub(b, y)))
				}
				return dca.Level{X: []*convex.Variable{b}, Train: loss(a), Validation: loss(target),
					Constraints: []convex.Expr{convex.Sub(convex.Norm1(b), h)}}
			})
		}
		backend := must.Of(backends.Open(backends.Default))(t)
		of := &task{Program: p, Backend: backend}
		first := must.Of(of.majorise(false))(t)
		h, phi := must.Both(first.at(context.Background(), c, 0))(t)
		lambda := c[0] * h[0]
		loss, norm := 0.0, 0.0 // of the fits at lambda
		for _, a := range parts {
			for _, v := range a {
				b := math.Max(0, math.Abs(v)-lambda)
				loss, norm = loss+(math.Abs(v)-b)*(math.Abs(v)-b)/2, norm+b
			}
		}
		require.InDelta(t, norm, h[0], 1e-4)
		require.InDelta(t, loss+lambda*norm/2, phi, 1e-6)

		second := must.Of(of.majorise(true))(t)
		h, value := must.Both(second.at(context.Background(), c, phi+epsilon))(t)
		require.LessOrEqual(t, value, phi+epsilon+1e-6)
		train := value - c[0]*h[0]*h[0]/2
		gap := train + lambda*h[0] - (loss + lambda*norm)
		require.LessOrEqual(t, gap, epsilon+1e-6)
		require.GreaterOrEqual(t, gap, -1e-6)
		require.LessOrEqual(t, gap, value-phi+1e-6) // the majorant
		require.False(t, floats.HasNaN(h))
	})
}

// lookedAt is a fit whose error is known, and takes down the gaps to which it is solved.
type lookedAt struct {
	lower.Fit
	value float64
	gaps  []float64
}

func (*lookedAt) Traits() lower.Traits { return lower.Traits{} }

func (f *lookedAt) Solve(_ context.Context, lambda []float64, gap float64, _ *lower.Point) (*lower.Point, error) {
	f.gaps = append(f.gaps, gap)
	return &lower.Point{Lambda: lambda, X: [][]float64{{0}}, Gap: gap, Solved: true, Folds: []float64{f.value}}, nil
}

// A trial after one that was far from the best is solved coarsely first, and to the end where its error falls or may be
// the least.
func TestCoarseLook(t *testing.T) {
	const gap, before = 1e-4, 2.0
	for _, test := range []struct {
		coarse, value float64
		gaps          []float64
	}{
		{1e-2, 3, []float64{1e-2}},
		{1e-2, 1.5, []float64{1e-2, gap}},  // it falls
		{1e-2, 2.01, []float64{1e-2, gap}}, // it is not far
		{5e-4, 3, []float64{gap}},          // it is hardly coarser
		{0, 3, []float64{gap}},
	} {
		fit := &lookedAt{value: test.value}
		p := dca.Program{Radii: 1, Fit: fit, Build: func(*convex.Model, convex.Expr) dca.Level { return dca.Level{} }}
		e := &evaluator{task: &task{Advice: problems.Advice{Exact: 1}}, traits: new(lower.Traits),
			form: must.Of(dca.NewPenalized(p, dca.Settings{}))(t), gap: gap, coarse: test.coarse, before: before,
			far: func(tr *trial, at float64) bool { return tr.value() > 1+150*at || test.value == 1.5 }}
		tr := must.Of(e.with(context.Background(), []float64{1}, nil))(t)
		require.Equal(t, test.gaps, fit.gaps)
		require.Equal(t, test.value, tr.value())
		require.Equal(t, len(test.gaps) == 1 && test.gaps[0] > gap, tr.rough)
		require.Zero(t, e.coarse)
	}
}
