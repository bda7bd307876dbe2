package tune_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// few are rows of few features that count, in folds or as a split.
func few(t *testing.T, folds bool) dataset.Division {
	t.Helper()
	s := must.First(dataset.Generate(dataset.Config{Train: 60, Val: 60, Test: 200, Features: 80, Nonzeros: 6}, 4))(t)
	if !folds {
		return s
	}
	return must.Of(dataset.CrossValidate(s.Train, 5, 1, nil))(t)
}

// The common rung of squares is the lasso on the same path. The weights of the adaptive one are powers of its
// coefficients, all rows for the final fit, which satisfies the conditions of optimality with them.
func TestLadder(t *testing.T) {
	for name, of := range map[string]struct {
		build  func(dataset.Division, regression.Options) (*regression.Model, error)
		target func(y float64) float64
		slope  func(f, y float64) float64
	}{
		"weighted-lasso": {regression.WeightedLasso, func(y float64) float64 { return y },
			func(f, y float64) float64 { return f - y }},
		"weighted-logistic": {regression.WeightedLogistic, func(y float64) float64 { return math.Copysign(1, y) },
			func(f, y float64) float64 { return -y / (1 + math.Exp(y*f)) }},
		"weighted-poisson": {regression.WeightedPoisson, func(y float64) float64 { return math.Floor(math.Exp(0.1*y) + 0.5) },
			func(f, y float64) float64 { return math.Exp(f) - y }},
	} {
		t.Run(name, func(t *testing.T) {
			for _, folds := range []bool{false, true} {
				d := few(t, folds).Map(of.target)
				rows := []*dataset.Data{d.Table()}
				if !folds {
					rows = append(rows, d.Parts()[0].Val)
				}
				ladder(t, of.build, of.slope, d, rows, folds)
			}
		})
	}
}

func ladder(t *testing.T, build func(dataset.Division, regression.Options) (*regression.Model, error),
	slope func(f, y float64) float64, d dataset.Division, rows []*dataset.Data, folds bool) {
	ctx := context.Background()
	m := must.Of(build(d, regression.Options{}))(t)
	run := func(rung string) *tune.Result {
		r := must.Of(tune.Run(ctx, m, tune.Config{Rung: rung}))(t)
		require.Equal(t, m.Names(), r.Names)
		require.Len(t, r.Lambda, 80)
		optimal(t, r, rows, slope)
		return r
	}
	common, adaptive := run("common"), run("adaptive")
	require.Equal(t, slices.Max(common.Lambda), slices.Min(common.Lambda))
	if folds && m.Name() == "weighted-lasso" {
		plain := must.Of(regression.Lasso(d, regression.Options{}))(t)
		of := must.Of(tune.Run(ctx, plain, tune.Config{}))(t)
		require.InEpsilon(t, of.Lambda[0], common.Lambda[0], 1e-6)
		require.InDeltaSlice(t, of.RefitFit.Coefficients, common.RefitFit.Coefficients, 1e-6)
	}

	pilot := common.RefitFit.Coefficients
	top := floats.Norm(pilot, math.Inf(1))
	var power float64
	for j, v := range pilot {
		ratio := (math.Abs(v)/top + 0.01) / 1.01
		if g := -math.Log(adaptive.Lambda[j]/slices.Min(adaptive.Lambda)) / math.Log(ratio); v != 0 && ratio < 0.9 {
			power = g
		}
	}
	require.InDelta(t, 0, min(math.Abs(power-0.5), math.Abs(power-1), math.Abs(power-2)), 1e-6)
	for j, v := range pilot {
		want := slices.Min(adaptive.Lambda) * math.Pow((math.Abs(v)/top+0.01)/1.01, -power)
		require.InEpsilon(t, want, adaptive.Lambda[j], 1e-6)
	}

	all := must.Of(tune.Run(ctx, m, tune.Config{}))(t)
	require.Len(t, all.Ladder, 3)
	require.Equal(t, common.Ladder[0].Validation, all.Ladder[0].Validation)
	if above := all.Ladder[1].Validation; above < common.Ladder[0].Validation {
		require.Equal(t, adaptive.Ladder[1].Validation, above)
	} else {
		require.LessOrEqual(t, adaptive.Ladder[1].Validation, above, "refined only where it may be the least")
	}
	require.Contains(t, all.Message, "the rung")
}

// optimal checks the conditions of optimality of a refit on rows, at its weights, for the slope of a loss.
func optimal(t *testing.T, r *tune.Result, rows []*dataset.Data, slope func(f, y float64) float64) {
	b, n := r.RefitFit.Coefficients, 0.0
	gradient := make([]float64, len(b))
	for _, d := range rows {
		n += float64(len(d.Y))
	}
	for _, d := range rows {
		for i, y := range d.Y {
			row := d.Dense().RawRowView(i)
			floats.AddScaled(gradient, slope(floats.Dot(row, b), y)/n, row)
		}
	}
	for j, g := range gradient {
		require.LessOrEqual(t, math.Abs(g), r.Lambda[j]*(1+1e-3))
		if b[j] != 0 {
			require.InEpsilon(t, r.Lambda[j], math.Abs(g), 1e-3)
			require.Less(t, g*b[j], 0.0)
		}
	}
}

// Free weights, the settings of an iteration, and models without a ladder.
func TestRungs(t *testing.T) {
	ctx := context.Background()
	d := few(t, false)
	m := must.Of(regression.WeightedLasso(d, regression.Options{}))(t)
	for _, c := range []tune.Config{{Rung: tune.RungFree, MaxIter: 2}, {MaxIter: 2}, {Preset: tune.PresetPaper,
		MaxIter: 2}, {Init: []float64{1}, MaxIter: 2}} {
		r := must.Of(tune.Run(ctx, m, c))(t)
		require.Empty(t, r.Ladder)
	}
	plain := must.Of(regression.Lasso(d, regression.Options{}))(t)
	for want, of := range map[string]struct {
		m problems.Model
		c tune.Config
	}{
		"unknown Config.Rung": {m, tune.Config{Rung: "high"}},
		"no iterations":       {m, tune.Config{Rung: "common", MaxIter: 3}},
		"no ladder":           {plain, tune.Config{Rung: "common"}},
		"weights by grid":     {m, tune.Config{Rung: "common", Method: "grid"}},
	} {
		_, err := tune.Run(ctx, of.m, of.c)
		require.ErrorContains(t, err, want)
	}
}

// Free weights that the folds share are no worse in validation than those of descents along the hypergradient.
func TestFreeByFolds(t *testing.T) {
	g := must.Of(groups.Equal(48, 16))(t)
	for seed := range uint64(2) {
		s := must.First(dataset.Generate(dataset.Config{Train: 60, Val: 1, Features: 48, Nonzeros: 6}, seed))(t)
		cv := must.Of(dataset.CrossValidate(s.Train, 5, 1, nil))(t)
		m := must.Of(regression.SparseGroupLasso(cv, regression.Options{Groups: g}))(t)
		free := must.Of(tune.VFiDCA(context.Background(), m, tune.Config{Rung: tune.RungFree}))(t)
		for _, method := range []string{tune.MethodIGJO, tune.MethodHOAG} {
			r := must.Of(tune.Run(context.Background(), m, tune.Config{Method: method}))(t)
			require.LessOrEqual(t, free.Refit.Validation, 1.005*r.Refit.Validation, "%s, %d", method, seed)
		}
	}
}

// Where rows are few for the coefficients that count, weights of their own predict better, and the bridge finds them.
// What it ends in is a solution of the lower level at the weights reported. A final fit to all rows has none, nor has a
// rung that was asked for.
func TestBridge(t *testing.T) {
	ctx := context.Background()
	c := dataset.Config{Train: 60, Val: 60, Test: 500, Features: 80, Nonzeros: 40, SNR: 10}
	s := must.First(dataset.Generate(c, 2))(t)
	m := must.Of(regression.WeightedLasso(s, regression.Options{}))(t)
	run := func(c tune.Config) *tune.Result { return must.Of(tune.Run(ctx, m, c))(t) }
	r := run(tune.Config{Final: tune.FinalTrain})
	require.Len(t, r.Ladder, 4)
	last := r.Ladder[3]
	require.Equal(t, tune.RungBridge, last.Name)
	require.True(t, last.Taken)
	require.Negative(t, last.Above)
	require.Contains(t, r.Message, "the rung bridge")
	optimal(t, r, []*dataset.Data{s.Train}, func(f, y float64) float64 { return f - y })

	base := 0
	for r.Ladder[base].Above > r.Ladder[base].StandardError {
		base++
	}
	without := run(tune.Config{Final: tune.FinalTrain, Rung: r.Ladder[base].Name})
	require.Less(t, r.Refit.Validation, without.Refit.Validation)
	require.Less(t, *r.Refit.Test, *without.Refit.Test)
	require.Len(t, run(tune.Config{}).Ladder, 3)
}

// A lasso with a weight for each feature. The first rung has one for all; on those above, features with large
// coefficients on the rung below have smaller ones.
func ExampleCustom_ladder() {
	const features = 30
	var train, val [][]float64 // rows, the target last
	for i := range 60 {
		row, noise := make([]float64, features+1), math.Sin(float64(i*i))
		for j := range features {
			row[j] = math.Sin(float64((i + 3) * (i + 3) * (3*j + 2)))
		}
		if row[features] = 3*(row[2]-row[11]+row[16]-row[25]) + noise; i%2 == 0 {
			train = append(train, row)
		} else {
			val = append(val, row)
		}
	}
	residual := func(row []float64, b []float64) float64 { return row[features] - floats.Dot(row[:features], b) }
	loss := func(rows [][]float64, b convex.Expr) convex.Expr {
		sum := convex.Const(0)
		for _, row := range rows {
			sum = convex.Add(sum, convex.SumSquares(convex.Sub(convex.Dot(row[:features], b), row[features])))
		}
		return convex.Scale(0.5/float64(len(rows)), sum)
	}
	ones := slices.Repeat([]float64{1}, features)
	model := tune.Custom{
		Bilevel: dca.Program{
			Name: "my-lasso", H0: ones, Radii: features,
			Build: func(m *convex.Model, h convex.Expr) dca.Level {
				b := m.Vector("b", features)
				return dca.Level{
					X: []*convex.Variable{b}, Train: loss(train, b), Validation: loss(val, b),
					Constraints: []convex.Expr{convex.Sub(convex.Abs(b), h)},
				}
			},
		},
		Common: [][]float64{ones},
		Says: problems.Advice{Losses: func(x [][]float64) (list []float64) {
			for _, row := range val {
				list = append(list, residual(row, x[0])*residual(row, x[0])/2)
			}
			return list
		}},
	}
	result, err := tune.VFiDCA(context.Background(), model, tune.Config{})
	check(err)
	for _, r := range result.Ladder {
		fmt.Printf("%s: validation error %.3f, features %.0f, taken %v\n", r.Name, r.Validation, r.Features, r.Taken)
	}
	for j, b := range result.RefitFit.Coefficients {
		if math.Abs(b) > 0.01 {
			fmt.Printf("feature %d: coefficient %.2f, weight %.3f\n", j, b, result.Lambda[j])
		}
	}
	// Output:
	// common: validation error 0.484, features 7, taken false
	// adaptive: validation error 0.240, features 4, taken true
	// adaptive-twice: validation error 0.239, features 4, taken false
	// feature 2: coefficient 2.71, weight 0.007
	// feature 11: coefficient -2.90, weight 0.006
	// feature 16: coefficient 2.80, weight 0.006
	// feature 25: coefficient -3.28, weight 0.004
}

// written is a regression by squares on the rows of a division, with penalties of one's own.
func written(d dataset.Division, common [][]float64, penalties func(b, r convex.Expr) []convex.Expr) tune.Custom {
	parts, radii := d.Parts(), len(common[0])
	half := func(rows *dataset.Data, b *convex.Variable) convex.Expr {
		r := convex.Sub(convex.Mul(rows.Dense(), b), rows.Y)
		return convex.Scale(0.5/float64(len(rows.Y)*len(parts)), convex.SumSquares(r))
	}
	p := dca.Program{Name: "written", H0: slices.Repeat([]float64{1}, radii), Radii: radii}
	for _, part := range parts {
		_, n := part.Train.Dims()
		p.Blocks = append(p.Blocks, func(m *convex.Model, h convex.Expr) dca.Level {
			b := m.Vector("b", n)
			return dca.Level{X: []*convex.Variable{b}, Train: half(part.Train, b), Validation: half(part.Val, b),
				Constraints: penalties(b, h)}
		})
	}
	losses := func(x [][]float64) (list []float64) {
		for t, part := range parts {
			for i, y := range part.Val.Y {
				e := floats.Dot(part.Val.Dense().RawRowView(i), x[t]) - y
				list = append(list, e*e/2)
			}
		}
		return list
	}
	return tune.Custom{Bilevel: p, Common: common, Says: problems.Advice{Losses: losses}}
}

// beside are models of ours, each with the same one as a user would write it.
func beside(t *testing.T, d dataset.Division) (ours []*regression.Model, custom []tune.Custom) {
	_, p := d.Table().Dims()
	ones := slices.Repeat([]float64{1}, p)
	g := &groups.Groups{Names: []string{"a", "b", "c"}}
	g.Members = [][]int{{0, 1, 2}, {3, 5, 7, 9, 11, 13}, {4, 6, 8, 10, 12}}
	for j := 14; j < p; j++ { // alone
		g.Names, g.Members = append(g.Names, fmt.Sprint(j)), append(g.Members, []int{j})
	}
	roots, sparse := make([]float64, len(g.Members)), make([]float64, p)
	for k, members := range g.Members {
		roots[k] = math.Sqrt(float64(len(members)))
	}
	o := regression.Options{Groups: g}
	ours = []*regression.Model{must.Of(regression.WeightedLasso(d, regression.Options{}))(t),
		must.Of(regression.GroupLasso(d, o))(t), must.Of(regression.SparseGroupLasso(d, o))(t)}
	norms := func(b, r convex.Expr) []convex.Expr {
		return []convex.Expr{convex.Sub(convex.GroupNorms(b, g.Members), r)}
	}
	custom = []tune.Custom{
		written(d, [][]float64{ones}, func(b, r convex.Expr) []convex.Expr {
			return []convex.Expr{convex.Sub(convex.Abs(b), r)}
		}),
		written(d, [][]float64{roots}, norms),
		written(d, [][]float64{slices.Concat(ones, make([]float64, len(roots))), slices.Concat(sparse, roots)},
			func(b, r convex.Expr) []convex.Expr {
				return append(norms(b, convex.Slice(r, p, r.Len())), convex.Sub(convex.Abs(b), convex.Slice(r, 0, p)))
			}),
	}
	for k, m := range ours {
		a := m.Advice()
		custom[k].Says.Rows, custom[k].Says.Features, custom[k].Bilevel.Path = a.Rows, a.Features, m.Program().Path
		custom[k].Says.Used = func(x [][]float64) float64 {
			used := 0
			for _, b := range x {
				for _, v := range b {
					if math.Abs(v) > 1e-6*floats.Norm(b, math.Inf(1)) {
						used++
					}
				}
			}
			return float64(used) / float64(len(x))
		}
	}
	return ours, custom
}

// Whole runs climb the same rungs and take the same one, with the same weights up to what a search leaves to gain.
func TestCustomClimbs(t *testing.T) {
	ctx := context.Background()
	for _, folds := range []bool{false, true} {
		ours, custom := beside(t, few(t, folds))
		for k, m := range ours[:2] {
			name := fmt.Sprintf("%s, folds %v", m.Name(), folds)
			want := must.Of(tune.VFiDCA(ctx, m, tune.Config{}))(t)
			got := must.Of(tune.VFiDCA(ctx, custom[k], tune.Config{}))(t)
			require.Equal(t, outcome.Converged, got.Status, name)
			require.Equal(t, want.Message, got.Message, name)
			require.Len(t, got.Ladder, len(want.Ladder))
			for i, r := range got.Ladder {
				require.Equal(t, want.Ladder[i].Name, r.Name, name)
				require.Equal(t, want.Ladder[i].Taken, r.Taken, name)
				require.InEpsilon(t, want.Ladder[i].Validation, r.Validation, 3e-3, name)
				require.InDelta(t, want.Ladder[i].StandardError, r.StandardError, 3e-3, name)
				require.InDelta(t, want.Ladder[i].Features, r.Features, 1, name)
			}
			require.InDeltaSlice(t, slices.Concat(want.Selection.X...), slices.Concat(got.Selection.X...), 0.02, name)
			require.Equal(t, custom[k].Names(), got.Names)
			if folds { // weights of ours are those of a fit to all rows then
				break
			}
			for _, rung := range []string{"common", "adaptive", "adaptive-twice"} {
				c := tune.Config{Rung: rung, Final: tune.FinalTrain}
				want, got := must.Of(tune.Run(ctx, m, c))(t), must.Of(tune.Run(ctx, custom[k], c))(t)
				for j, v := range want.Lambda {
					if want.Radii[j] > 0.1*slices.Max(want.Radii) { // others have weights of a high power of a small pilot
						require.InEpsilon(t, v, got.Lambda[j], 0.03, "%s, %s", name, rung)
					}
				}
			}
		}
	}
}

// A final training on all rows has the weights that are reported, the geometric means of the folds'. Without a path a
// search begins at multipliers.
func TestCustomRetrains(t *testing.T) {
	ours, custom := beside(t, few(t, true))
	m, calls := custom[0], 0
	m.Bilevel.Path = nil
	var trained []float64
	m.Says.RetrainWeighted = func(ctx context.Context, s problems.Solver, h []float64) (problems.Fit, *float64, error) {
		calls, trained = calls+1, h
		return ours[0].Advice().RetrainWeighted(ctx, s, h)
	}
	r := must.Of(tune.VFiDCA(context.Background(), m, tune.Config{}))(t)
	require.Equal(t, tune.FinalAll, r.TrainedOn)
	require.Equal(t, 1, calls)
	require.Equal(t, r.Lambda, trained)
	with := must.Of(tune.VFiDCA(context.Background(), custom[0], tune.Config{}))(t)
	require.Equal(t, tune.FinalTrain, with.TrainedOn)
	for i, rung := range r.Ladder {
		require.InEpsilon(t, with.Ladder[i].Validation, rung.Validation, 3e-3)
	}
}

// Without Common, and where iterations are asked for, the model is what it was.
func TestCustomWithoutLadder(t *testing.T) {
	_, custom := beside(t, few(t, false))
	m := custom[1]
	plain := m
	plain.Common = nil
	config := tune.Config{MaxIter: 2, Tol: 1e-2}
	require.False(t, config.Climbs(m))
	require.False(t, (&tune.Config{}).Climbs(plain))
	require.True(t, (&tune.Config{}).Climbs(m))
	a, b := must.Of(tune.VFiDCA(context.Background(), m, config))(t), must.Of(tune.VFiDCA(context.Background(), plain,
		config))(t)
	require.Empty(t, a.Ladder)
	require.Equal(t, b.Lambda, a.Lambda)
	require.Equal(t, b.Selection.X, a.Selection.X)
}

func TestCustomMisuse(t *testing.T) {
	ones := []float64{1, 1, 1}
	for want, change := range map[string]func(m *tune.Custom){
		"Common has 0 rows":                func(m *tune.Custom) { m.Common = [][]float64{} },
		"Common has 3 rows":                func(m *tune.Custom) { m.Common = [][]float64{ones, ones, ones} },
		"factors [1 1] in row 0":           func(m *tune.Custom) { m.Common = [][]float64{{1, 1}} },
		"factors [1 -2 1] in row 0":        func(m *tune.Custom) { m.Common[0][1] = -2 },
		"radius 2 has no positive factor":  func(m *tune.Custom) { m.Common = [][]float64{{1, 0, 0}, {0, 1, 0}} },
		"of 3 hyperparameters 2 are":       func(m *tune.Custom) { m.Bilevel.Radii, m.Bilevel.Bounds = 2, 1 },
		"wants Says.RetrainWeighted":       func(m *tune.Custom) { m.Says.Retrain = untrained },
		"lacks Losses":                     func(m *tune.Custom) { m.Says.Losses = nil },
		"has 0 losses of validation rows":  func(m *tune.Custom) { m.Says.Losses = lossless },
		"row 1 of constraint 0 is not P(x": func(m *tune.Custom) { m.Bilevel.Blocks = bent(m.Bilevel.Blocks) },
	} {
		d := modeltest.Split(5, 20, 20, 5, []float64{2, -1, 0}, 0.5)
		m := written(d, [][]float64{slices.Clone(ones)}, func(b, r convex.Expr) []convex.Expr {
			return []convex.Expr{convex.Sub(convex.Abs(b), r)}
		})
		change(&m)
		_, err := tune.VFiDCA(context.Background(), m, tune.Config{})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "written")
	}
}

func lossless([][]float64) []float64 { return nil }

func untrained(context.Context, problems.Solver, []float64) (problems.Fit, *float64, error) {
	return problems.Fit{}, nil, nil
}

// bent are blocks whose constraints have multiples of radii.
func bent(blocks []func(*convex.Model, convex.Expr) dca.Level) (list []func(*convex.Model, convex.Expr) dca.Level) {
	for _, build := range blocks {
		list = append(list, func(m *convex.Model, h convex.Expr) dca.Level {
			l := build(m, h)
			l.Constraints[0] = convex.Sub(convex.Abs(l.X[0]),
				convex.Stack(convex.At(h, 0), convex.Scale(2, convex.Slice(h, 1, 3))))
			return l
		})
	}
	return list
}
