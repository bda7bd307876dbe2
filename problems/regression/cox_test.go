package regression_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/split"
)

// timed makes times that fall with the targets, with ties, of which two thirds are events.
func timed(s *dataset.Split) *dataset.Split {
	return s.Map(func(y float64) float64 {
		return survival.Row(math.Ceil(20*math.Exp(-math.Tanh(y/2))), math.Mod(math.Abs(y)*1e3, 3) < 2)
	}).(*dataset.Split)
}

func timedSplit(seed uint64, train int) *dataset.Split {
	return timed(modeltest.Split(seed, train, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7))
}

// halfDeviance is that of rows among themselves, from the definition with Breslow's rule.
func halfDeviance(d *dataset.Data, f problems.Fit) (sum float64) {
	for i, y := range d.Y {
		if y < 0 {
			continue
		}
		risk, ties := 0.0, 0.0
		for j, v := range d.Y {
			if math.Abs(v) >= y {
				risk += math.Exp(f.Value(mat.Row(nil, j, d.X)))
			}
			if v == y {
				ties++
			}
		}
		sum += math.Log(risk/ties) - f.Value(mat.Row(nil, i, d.X))
	}
	return sum
}

func events(y []float64) (n float64) {
	for _, v := range y {
		if v > 0 {
			n++
		}
	}
	return n
}

// lung are the rows of R's data set of that name (Loprinzi et al. 1994) that have age, sex and ph.ecog.
func lung(t *testing.T) *dataset.Data {
	f := must.Of(table.Read("testdata/lung.csv", table.Options{}))(t)
	d := must.Of(table.Choose(f, table.Wanted{Targets: []string{"time", "status"}, Features: []string{"age", "sex",
		"ph.ecog"}, Missing: table.DropRows}))(t)
	e := must.Of(d.Fit(d.Rows()))(t)
	r := must.Of(e.Read(f, d.Targets(), false))(t)
	data, values := r.Encode(d.Rows(), false), r.Targets(d.Rows())
	for i, v := range values[0] {
		data.Y[i] = survival.Row(v, values[1][i] == 2)
	}
	return data
}

// coxph(Surv(time, status) ~ age + sex + ph.ecog, lung) of R's survival: coefficients 0.011067, -0.552612 and 0.463728,
// logarithms of the likelihood -744.4805 and -729.2301, concordance 0.637 with the standard error 0.025, on 227 rows.
func TestLung(t *testing.T) {
	rows := lung(t)
	require.Len(t, rows.Y, 227)
	for _, standardize := range []bool{false, true} {
		m, err := regression.Cox(&dataset.Split{Train: rows, Val: rows}, options{Ties: "efron", Standardize: standardize})
		require.NoError(t, err)
		fit := must.Of(m.Penalised())(t)
		pt := must.Of(fit.Solve(context.Background(), []float64{1e-9, 1e-10}, 1e-12, nil))(t)
		f := m.Fit(pt.X)
		require.InDeltaSlice(t, []float64{0.011067, -0.552612, 0.463728}, f.Coefficients, 2e-6)
		zero := m.Evaluate([][]float64{make([]float64, 3)}).Validation
		require.InDelta(t, 2*(744.4805-729.2301), 164*(zero-m.Evaluate(pt.X).Validation), 2e-4)
		values := make([]float64, len(rows.Y))
		for i := range values {
			values[i] = f.Value(mat.Row(nil, i, rows.X))
		}
		c, se := survival.Concordance(survival.Part{Y: rows.Y, F: values})
		require.InDelta(t, 0.637, c, 5e-4)
		require.InDelta(t, 0.025, se, 5e-4)
		mean := 0.0
		for _, v := range values {
			mean += v / 227
		}
		require.InDelta(t, 0, mean, 1e-12)
	}
}

// termed are the rows of a split with weights 1 to 3 and an offset, and those repeated as often as their weights say.
func termed(seed uint64, train int) (weighted, repeated *dataset.Split) {
	weighted, repeated = timedSplit(seed, train), &dataset.Split{}
	for from, to := range map[*dataset.Data]**dataset.Data{weighted.Train: &repeated.Train, weighted.Val: &repeated.Val,
		weighted.Test: &repeated.Test} {
		var rows []int
		from.Offset = make([]float64, len(from.Y))
		weights := make([]float64, len(from.Y))
		for i := range from.Y {
			from.Offset[i], weights[i] = math.Sin(float64(3*i)), float64(1+i%3)
			rows = append(rows, slices.Repeat([]int{i}, 1+i%3)...)
		}
		*to = from.Rows(rows)
		from.Weights = weights
	}
	return weighted, repeated
}

// All folds together have the fits and the errors of one fold after the other, by the whole second derivatives: with
// ties, weights, an offset, factors and bounds.
func TestCoxTogether(t *testing.T) {
	s, _ := termed(9, 60)
	for _, weights := range []bool{false, true} {
		if !weights {
			s.Train.Weights = nil
		}
		cv := must.Of(dataset.CrossValidate(s.Train, 3, 1, nil))(t)
		for _, o := range []options{
			{}, {Ties: "efron", Standardize: true},
			{Ties: "efron", Terms: regression.Terms{
				Factors: []float64{1, 1, 0, 1, 2, 1}, Lower: []float64{-0.3, -9, -9, -9, -9, -9}, Upper: []float64{9, 1, 9, 1, 0.05,
					1},
			}},
		} {
			m := must.Of(regression.Cox(cv, o))(t)
			alone := must.Of(m.Penalised())(t)
			together := must.Of(m.Advice().Together(context.Background()))(t)
			var one, all *lower.Point
			for _, lambda := range [][]float64{{0.3, 0.03}, {0.1, 1e-4}, {0.02, 0.01}, {1e-3, 1e-5}, {1e-5, 1e-5}} {
				one = must.Of(alone.Solve(context.Background(), lambda, 1e-11, one))(t)
				all = must.Of(together.Solve(context.Background(), lambda, 1e-9, all))(t)
				require.True(t, all.Solved, "weights %g of %+v: gap %g", lambda, o, all.Gap)
				require.InEpsilon(t, one.Validation, all.Validation, 1e-5)
				require.InEpsilonSlice(t, one.Folds, all.Folds, 1e-4)
				require.InEpsilon(t, m.Evaluate(all.X).Validation, all.Validation, 1e-9)
				for f := range one.X {
					require.InDeltaSlice(t, one.X[f], all.X[f], 1e-3)
				}
			}
		}
	}
}

const features, targets = 12, 3

// several are rows with these targets.
func several(x, y *mat.Dense) *dataset.Data {
	d := &dataset.Data{X: x, Y: mat.Col(nil, 0, y), Targets: y}
	_, p := x.Dims()
	for j := range p {
		d.Features = append(d.Features, fmt.Sprintf("x%d", j+1))
	}
	return d
}

// severalRows has targets that depend on the first three features, with errors of standard deviation noise.
func severalRows(rng *rand.Rand, n int, noise float64) *dataset.Data {
	x, targetsOf := mat.NewDense(n, features, nil), mat.NewDense(n, targets, nil)
	for i := range n {
		for j := range features {
			x.Set(i, j, rng.NormFloat64())
		}
		for k := range targets {
			y := noise * rng.NormFloat64()
			for j := range 3 {
				y += float64(1+j-k) * x.At(i, j)
			}
			targetsOf.Set(i, k, y)
		}
	}
	return several(x, targetsOf)
}

func severalSplit() *dataset.Split {
	rng := rand.New(rand.NewPCG(2, 3))
	return &dataset.Split{Train: severalRows(rng, 40, 1), Val: severalRows(rng, 30, 1), Test: severalRows(rng, 200, 1)}
}

// The solution of the penalised form by proximal gradient steps, whose map shrinks each row.
func proximal(d *dataset.Data, l1, l2 float64) *mat.Dense {
	n, _ := d.X.Dims()
	b := mat.NewDense(features, targets, nil)
	var gram mat.Dense
	gram.Mul(d.X.T(), d.X)
	step := float64(n*targets) / mat.Norm(&gram, 2)
	for range 20000 {
		var r, g mat.Dense
		r.Mul(d.X, b)
		r.Sub(&r, d.Targets)
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

// Standardised and with intercepts, predictions follow a change of the units of features and of all targets, radii in
// the unit of the model being the same; the final fit is that of all rows together.
func TestMultiTaskUnitsAndRetrain(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(8, 3))
	sets := []*dataset.Data{severalRows(rng, 40, 1), severalRows(rng, 30, 1), severalRows(rng, 20, 1)}
	var wide []*dataset.Data
	for _, d := range sets {
		x, y := new(mat.Dense), new(mat.Dense)
		x.Apply(func(_, j int, v float64) float64 { return 5 + float64(j+1)*v }, d.X)
		y.Apply(func(_, k int, v float64) float64 { return float64(10*k) + 7*v }, d.Targets)
		wide = append(wide, several(x, y))
	}
	o, radii := options{Intercept: true, Standardize: true}, []float64{1.5, 0.5}
	fit := func(sets []*dataset.Data) (x [][]float64, e, last float64, predicted []float64) {
		m := must.Of(regression.MultiTask(&dataset.Split{Train: sets[0], Val: sets[1], Test: sets[2]}, o))(t)
		x, _ = modeltest.LowerLevel(t, m, radii...)
		final, test := must.Both(m.Advice().Retrain(ctx, problems.Solver{Backend: native(t), Fits: true}, radii))(t)
		return x, m.Evaluate(x).Validation, *test, final.Values(sets[2].Dense().RawRowView(3))
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
	m := must.Of(regression.MultiTask(&dataset.Split{Train: sets[0], Val: sets[1]}, options{}))(t)
	final, test, err := m.Advice().Retrain(ctx, problems.Solver{Backend: native(t), Fits: true}, []float64{5, 50})
	require.NoError(t, err)
	require.Nil(t, test)
	union := dataset.Stack(sets[0], sets[1])
	all := must.Of(regression.MultiTask(&dataset.Split{Train: union, Val: sets[1]}, options{}))(t)
	_, lambda := modeltest.LowerLevel(t, all, 5, 50)
	require.InDeltaSlice(t, proximal(union, lambda[0], lambda[1]).RawMatrix().Data, final.Coefficients, 1e-4)
}

// In penalty form each fold has the solution of its rows at the same lambda, found apart by proximal gradient steps.
// With radii, the multipliers are the derivatives of the mean of the folds' losses, and the final fit is that of all
// rows.
func TestMultiTaskFolds(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(12, 3))
	d, test := severalRows(rng, 45, 1), severalRows(rng, 30, 1)
	folds := must.Of(split.By{}.Folds(45, 3, 1, 1, nil))(t)
	cv := &dataset.CrossValidation{Data: d, Folds: folds, Test: test}
	m := must.Of(regression.MultiTask(cv, options{}))(t)
	require.True(t, m.Advice().Folds)
	p := m.Program()
	form := must.Of(dca.NewPenalized(p, dca.Settings{Backend: native(t)}))(t)
	defer form.Close()
	s := must.Of(form.Solve(ctx, []float64{0.1, 0.05}, nil))(t)
	validation := 0.0
	for k, f := range folds {
		want := proximal(d.Rows(f.Train), 0.1, 0.05)
		require.InDeltaSlice(t, want.RawMatrix().Data, s.X[k], 1e-4)
		val := d.Rows(f.Val)
		var r mat.Dense
		r.Mul(val.X, want)
		r.Sub(&r, val.Targets)
		norm := mat.Norm(&r, 2)
		validation += norm * norm / float64(2*len(f.Val)*targets) / 3
	}
	e := m.Evaluate(s.X)
	require.InDelta(t, validation, e.Validation, 1e-4)
	require.Nil(t, e.Test)

	value := func(r ...float64) *dca.Solution {
		q := p
		q.H0 = r
		return must.Of(dca.LowerLevel(ctx, q, dca.Settings{Backend: native(t)}))(t)
	}
	at := value(6, 4)
	const step = 1e-3
	require.InDelta(t, (value(6-step, 4).Value-value(6+step, 4).Value)/(2*step), at.Lambda[0], 1e-4)
	require.InDelta(t, (value(6, 4-step).Value-value(6, 4+step).Value)/(2*step), at.Lambda[1], 1e-4)

	final, e2 := must.Both(m.Advice().Retrain(ctx, problems.Solver{Backend: native(t), Fits: true}, []float64{6, 4}))(t)
	require.NotNil(t, e2)
	all := must.Of(regression.MultiTask(&dataset.Split{Train: d, Val: test}, options{}))(t)
	_, lambda := modeltest.LowerLevel(t, all, 6, 4)
	require.InDeltaSlice(t, proximal(d, lambda[0], lambda[1]).RawMatrix().Data, final.Coefficients, 1e-4)
}

// A model of one target takes no rows of several, and targets have the same names everywhere.
func TestTargetsThatDoNotFit(t *testing.T) {
	s := severalSplit()
	for _, build := range []constructor{regression.ElasticNet, regression.Huber, regression.FusedLasso} {
		_, err := build(s, regression.Options{})
		require.ErrorContains(t, err, "rows with several targets")
	}
	s.Train.TargetNames, s.Val.TargetNames = []string{"a", "b", "c"}, []string{"a", "c", "b"}
	_, err := regression.MultiTask(s, regression.Options{})
	require.ErrorContains(t, err, `its targets are ["a" "c" "b"], expected ["a" "b" "c"]`)
}
