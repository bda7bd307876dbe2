package tune_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/must"
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
	s, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 60, Test: 500, Features: 80, Nonzeros: 40, SNR: 10}, 2)
	require.NoError(t, err)
	m := must.Of(regression.WeightedLasso(s, regression.Options{}))(t)
	run := func(c tune.Config) *tune.Result {
		return must.Of(tune.Run(ctx, m, c))(t)
	}
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
