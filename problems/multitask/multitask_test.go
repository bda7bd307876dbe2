package multitask_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/multitask"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

var _ tune.Model = (*multitask.Model)(nil)

const features, targets = 12, 3

// table has targets that depend on the first three features, with errors of standard deviation noise.
func table(rng *rand.Rand, n int, noise float64) *multitask.Data {
	d := &multitask.Data{X: mat.NewDense(n, features, nil), Y: mat.NewDense(n, targets, nil)}
	for i := range n {
		for j := range features {
			d.X.Set(i, j, rng.NormFloat64())
		}
		for k := range targets {
			y := noise * rng.NormFloat64()
			for j := range 3 {
				y += float64(1+j-k) * d.X.At(i, j)
			}
			d.Y.Set(i, k, y)
		}
	}
	return d
}

func model(t testing.TB, o multitask.Options) (*multitask.Model, *multitask.Data) {
	rng := rand.New(rand.NewPCG(2, 3))
	train := table(rng, 40, 1)
	m, err := multitask.New(train, table(rng, 30, 1), table(rng, 200, 1), o)
	require.NoError(t, err)
	return m, train
}

// The solution of the penalised form by proximal gradient steps, whose map shrinks each row.
func proximal(d *multitask.Data, l1, l2 float64) *mat.Dense {
	n, _ := d.X.Dims()
	b := mat.NewDense(features, targets, nil)
	var gram mat.Dense
	gram.Mul(d.X.T(), d.X)
	step := float64(n*targets) / mat.Norm(&gram, 2)
	for range 20000 {
		var r, g mat.Dense
		r.Mul(d.X, b)
		r.Sub(&r, d.Y)
		g.Mul(d.X.T(), &r)
		g.Scale(step/float64(n*targets), &g)
		b.Sub(b, &g)
		for j := range features {
			row := b.RawRowView(j)
			norm := mat.Norm(b.RowView(j), 2)
			for k := range row {
				row[k] *= math.Max(0, 1-step*l1/norm) / (1 + step*l2)
			}
		}
	}
	return b
}

func TestAgainstProximalGradient(t *testing.T) {
	for _, r0 := range [][]float64{{5, 50}, {50, 4}, {6, 4}} {
		m, train := model(t, multitask.Options{R0: r0})
		x, lambda := modeltest.LowerLevel(t, m)
		require.Greater(t, math.Max(lambda[0], lambda[1]), 0.01)
		want := proximal(train, lambda[0], lambda[1])
		require.InDeltaSlice(t, want.RawMatrix().Data, x[0], 1e-4)
	}
}

// Features are used for all targets or for none, and the fit predicts well.
func TestSelection(t *testing.T) {
	m, _ := model(t, multitask.Options{Targets: []string{"a", "b", "c"}})
	for _, s := range []dca.Settings{m.PaperSettings(), m.DefaultSettings()} {
		res := modeltest.Solve(t, m, s)
		require.Equal(t, dca.Converged, res.Status, res.Message)
		require.Less(t, *m.Evaluate(res.Refit).Test, 0.75) // 0.5 is the noise
		fit := m.Fit(res.Refit)
		require.Equal(t, []string{"a", "b", "c"}, fit.Targets)
		require.Equal(t, "x2", fit.Features[1])
		y := fit.Values(append([]float64{1}, make([]float64, features-1)...))
		require.InDelta(t, 1, y[0], 0.3)
		require.InDelta(t, -1, y[2], 0.3)
	}
}

// Standardised and with intercepts, predictions follow a change of the units of features and of all targets, radii in
// the unit of the model being the same; the final fit is that of all rows together.
func TestUnitsAndRetrain(t *testing.T) {
	ctx := context.Background()
	backend, err := backends.Open("native")
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(8, 3))
	sets := []*multitask.Data{table(rng, 40, 1), table(rng, 30, 1), table(rng, 20, 1)}
	var wide []*multitask.Data
	for _, d := range sets {
		w := &multitask.Data{X: mat.DenseCopyOf(d.X), Y: mat.DenseCopyOf(d.Y)}
		w.X.Apply(func(_, j int, v float64) float64 { return 5 + float64(j+1)*v }, w.X)
		w.Y.Apply(func(_, k int, v float64) float64 { return float64(10*k) + 7*v }, w.Y)
		wide = append(wide, w)
	}
	o := multitask.Options{Intercept: true, Standardize: true, R0: []float64{1.5, 0.5}}
	fit := func(sets []*multitask.Data) (x [][]float64, e, last float64, predicted []float64) {
		m, err := multitask.New(sets[0], sets[1], sets[2], o)
		require.NoError(t, err)
		x, _ = modeltest.LowerLevel(t, m)
		final, test, err := m.Advice().Retrain(ctx, problems.Solver{Backend: backend, Fits: true}, o.R0)
		require.NoError(t, err)
		return x, m.Evaluate(x).Validation, *test, final.Values(sets[2].X.RawRowView(3))
	}
	x, e, last, predicted := fit(sets)
	wx, we, wlast, wpredicted := fit(wide)
	require.InDeltaSlice(t, x[0], wx[0], 1e-5)
	require.InEpsilon(t, 49*e, we, 1e-4)
	require.InEpsilon(t, 49*last, wlast, 1e-4)
	for k, v := range predicted {
		require.InDelta(t, float64(10*k)+7*v, wpredicted[k], 1e-3)
	}

	// Without units, the final fit is the lower level of the union.
	m, err := multitask.New(sets[0], sets[1], nil, multitask.Options{R0: []float64{5, 50}})
	require.NoError(t, err)
	final, test, err := m.Advice().Retrain(ctx, problems.Solver{Backend: backend, Fits: true}, []float64{5, 50})
	require.NoError(t, err)
	require.Nil(t, test)
	var union multitask.Data
	union.X, union.Y = new(mat.Dense), new(mat.Dense)
	union.X.Stack(sets[0].X, sets[1].X)
	union.Y.Stack(sets[0].Y, sets[1].Y)
	all, err := multitask.New(&union, sets[1], nil, multitask.Options{R0: []float64{5, 50}})
	require.NoError(t, err)
	_, lambda := modeltest.LowerLevel(t, all)
	require.InDeltaSlice(t, proximal(&union, lambda[0], lambda[1]).RawMatrix().Data, final.Coefficients, 1e-4)
}

// With one target it is the elastic net, whose rows are single coefficients.
func TestOneTarget(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	first := func(d *multitask.Data) *multitask.Data {
		return &multitask.Data{X: d.X, Y: mat.DenseCopyOf(d.Y.Slice(0, d.Y.RawMatrix().Rows, 0, 1))}
	}
	train, val := first(table(rng, 40, 1)), first(table(rng, 30, 1))
	m, err := multitask.New(train, val, nil, multitask.Options{R0: []float64{3, 50}})
	require.NoError(t, err)
	rows := &dataset.Data{X: train.X, Y: mat.Col(nil, 0, train.Y)}
	modeltest.ElasticOptimality(t, m, rows, false, func(y, f float64) float64 { return f - y })
	require.Nil(t, m.Evaluate([][]float64{make([]float64, features)}).Test)
}

func TestBadInput(t *testing.T) {
	d := func(n, p, q int) *multitask.Data {
		return &multitask.Data{X: mat.NewDense(n, p, nil), Y: mat.NewDense(n, q, nil)}
	}
	bad := d(3, 2, 2)
	bad.Y.Set(1, 1, math.NaN())
	for _, c := range []struct {
		train, val, test *multitask.Data
		o                multitask.Options
		want             string
	}{
		{nil, d(2, 2, 2), nil, multitask.Options{}, "training rows: no data"},
		{d(2, 2, 2), nil, nil, multitask.Options{}, "validation rows: no data"},
		{d(2, 2, 2), d(2, 3, 2), nil, multitask.Options{}, "validation rows: 3 features, expected 2"},
		{d(2, 2, 2), d(2, 2, 2), d(2, 2, 1), multitask.Options{}, "test rows: 1 targets, expected 2"},
		{&multitask.Data{X: mat.NewDense(2, 2, nil), Y: mat.NewDense(3, 2, nil)}, d(2, 2, 2), nil, multitask.Options{}, "3 rows of targets for 2 rows of features"},
		{d(2, 2, 2), bad, nil, multitask.Options{}, "target 1 of row 1 is NaN"},
		{d(2, 2, 2), d(2, 2, 2), nil, multitask.Options{R0: []float64{1, 1, 1}}, "expected one or 2"},
		{d(2, 2, 2), d(2, 2, 2), nil, multitask.Options{R0: []float64{1, -1}}, `radius of "lambda2" is -1`},
		{d(2, 2, 2), d(2, 2, 2), nil, multitask.Options{Features: []string{"a"}}, "1 names of x, expected 2"},
	} {
		_, err := multitask.New(c.train, c.val, c.test, c.o)
		require.ErrorContains(t, err, c.want)
	}
}

func Example() {
	x := mat.NewDense(3, 2, []float64{1, 0, 0, 1, 1, 1})
	y := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 4, 6})
	m, err := multitask.New(&multitask.Data{X: x, Y: y}, &multitask.Data{X: x, Y: y}, nil, multitask.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	b := []float64{1, 2, 3, 4} // coefficients of the first feature, then of the second
	fmt.Println(m.Fit([][]float64{b}).Values(x.RawRowView(2)), m.Evaluate([][]float64{b}).Validation)
	// Output: [4 6] 0
}

// In penalty form each fold has the solution of its rows at the same lambda, found apart by proximal gradient steps.
// With radii, the multipliers are the derivatives of the mean of the folds' losses, and the final fit is that of all
// rows.
func TestFolds(t *testing.T) {
	ctx := context.Background()
	backend, err := backends.Open("native")
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(12, 3))
	d, test := table(rng, 45, 1), table(rng, 30, 1)
	folds, err := split.RandomFolds(45, 3, 1, 1, nil)
	require.NoError(t, err)
	rows := func(index []int) *multitask.Data {
		out := &multitask.Data{X: mat.NewDense(len(index), features, nil), Y: mat.NewDense(len(index), targets, nil)}
		for k, i := range index {
			out.X.SetRow(k, d.X.RawRowView(i))
			out.Y.SetRow(k, d.Y.RawRowView(i))
		}
		return out
	}
	m, err := multitask.NewFolds(d, folds, test, multitask.Options{R0: []float64{6, 4}})
	require.NoError(t, err)
	require.True(t, m.Advice().Folds)
	p := m.Program()
	form, err := dca.NewPenalized(p, dca.Settings{Backend: backend})
	require.NoError(t, err)
	defer form.Close()
	s, err := form.Solve(ctx, []float64{0.1, 0.05}, nil)
	require.NoError(t, err)
	validation := 0.0
	for k, f := range folds {
		want := proximal(rows(f.Train), 0.1, 0.05)
		require.InDeltaSlice(t, want.RawMatrix().Data, s.X[k], 1e-4)
		val := rows(f.Val)
		var r mat.Dense
		r.Mul(val.X, want)
		r.Sub(&r, val.Y)
		norm := mat.Norm(&r, 2)
		validation += norm * norm / float64(2*len(f.Val)*targets) / 3
	}
	e := m.Evaluate(s.X)
	require.InDelta(t, validation, e.Validation, 1e-4)
	require.Nil(t, e.Test)

	value := func(r ...float64) *dca.LowerSolution {
		q := p
		q.H0 = r
		low, err := dca.LowerLevel(ctx, q, dca.Settings{Backend: backend})
		require.NoError(t, err)
		return low
	}
	at := value(6, 4)
	const step = 1e-3
	require.InDelta(t, (value(6-step, 4).Value-value(6+step, 4).Value)/(2*step), at.Lambda[0], 1e-4)
	require.InDelta(t, (value(6, 4-step).Value-value(6, 4+step).Value)/(2*step), at.Lambda[1], 1e-4)

	final, e2, err := m.Advice().Retrain(ctx, problems.Solver{Backend: backend, Fits: true}, []float64{6, 4})
	require.NoError(t, err)
	require.NotNil(t, e2)
	all, err := multitask.New(d, test, nil, multitask.Options{R0: []float64{6, 4}})
	require.NoError(t, err)
	_, lambda := modeltest.LowerLevel(t, all)
	require.InDeltaSlice(t, proximal(d, lambda[0], lambda[1]).RawMatrix().Data, final.Coefficients, 1e-4)

	_, err = multitask.NewFolds(d, folds[:1], nil, multitask.Options{})
	require.ErrorContains(t, err, "1 folds, expected at least 2")
	_, err = multitask.NewFolds(d, []split.Fold{folds[0], {Train: []int{45}, Val: []int{1}}}, nil, multitask.Options{})
	require.ErrorContains(t, err, "row 45")
}

// Targets are the features times the coefficients, with noise of half the norm; all use the same features, and the
// first is that of package dataset.
func TestGenerate(t *testing.T) {
	c := dataset.Config{Train: 300, Val: 200, Test: 100, Features: 30, Nonzeros: 4}
	train, val, test, b, err := multitask.Generate(c, 3, 7)
	require.NoError(t, err)
	s, first, err := dataset.Generate(c, 7)
	require.NoError(t, err)
	require.Equal(t, first, mat.Col(nil, 0, b))
	require.Equal(t, s.Val.Y, mat.Col(nil, 0, val.Y))
	require.True(t, mat.Equal(s.Test.X, test.X))
	for j, v := range first {
		for k := range 3 {
			require.Equal(t, v == 0, b.At(j, k) == 0)
		}
	}
	for k := 1; k < 3; k++ {
		signal, noise := 0.0, 0.0
		for _, d := range []*multitask.Data{train, val, test} {
			var y mat.VecDense
			y.MulVec(d.X, b.ColView(k))
			signal += math.Pow(mat.Norm(&y, 2), 2)
			y.SubVec(&y, d.Y.ColView(k))
			noise += math.Pow(mat.Norm(&y, 2), 2)
		}
		require.InEpsilon(t, 2, math.Sqrt(signal/noise), 1e-9)
	}
	again, _, _, _, err := multitask.Generate(c, 3, 7)
	require.NoError(t, err)
	require.True(t, mat.Equal(train.Y, again.Y))
	_, _, _, _, err = multitask.Generate(c, 0, 7)
	require.ErrorContains(t, err, "0 targets")
}
