package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/model"
)

// householdText are rows with a category, counts and labels; the target falls in a and rises in b, little in c.
func householdText(n int) string {
	rng := rand.New(rand.NewPCG(4, 4))
	var text strings.Builder
	text.WriteString("a,b,c,region,y,label,count\n")
	for range n {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		region := []string{"east", "north", "west"}[rng.IntN(3)]
		f := -a + 2*b + 0.05*c + 0.5*rng.NormFloat64()
		if region == "west" {
			f += 0.2
		}
		label := "no"
		if f+rng.NormFloat64() > 0 {
			label = "yes"
		}
		fmt.Fprintf(&text, "%.4f,%.4f,%.4f,%s,%.4f,%s,%d\n", a, b, c, region, f, label, int(math.Exp(f/2)+rng.Float64()))
	}
	return text.String()
}

// Flags about single features hold in the saved model, for each model that takes them and whatever the method; a column
// of categories stands for its levels.
func TestTermFlags(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "data.csv", householdText(150))
	factors := clitest.Write(t, dir, "factors.csv", "feature,factor\nregion,0\nb,3\n")
	run := func(args ...string) map[string]float64 {
		t.Helper()
		path := filepath.Join(dir, "m.json")
		o := conetune(t, append([]string{"tune", "--data", data, "--save", path}, args...)...)
		o.ok(t)
		m, err := model.Read(path)
		require.NoError(t, err)
		out := map[string]float64{}
		for j, name := range m.Features {
			out[name] = m.Coefficients[j]
		}
		conetune(t, "predict", "--model", path, "--data", data).ok(t)
		require.Contains(t, conetune(t, "show", path).ok(t), "b ")
		return out
	}
	targets := map[string][]string{
		"elastic-net": {"--target", "y", "--drop", "label,count"}, "lasso": {"--target", "y", "--drop", "label,count"}, "ridge": {"--target", "y", "--drop", "label,count"},
		"bounded-elastic-net": {"--target", "y", "--drop", "label,count"}, "logistic": {"--target", "label", "--drop", "y,count"}, "poisson": {"--target", "count", "--drop", "y,label"},
	}
	for model, target := range targets {
		for _, method := range [][]string{nil, {"--method", "grid"}, {"--method", "hoag"}, {"--folds", "3"}} {
			args := append(append([]string{model}, target...), method...)
			b := run(append(args, "--penalty-factors", factors, "--lower", "a=0", "--upper", "b=0.1,c=inf")...)
			require.Zero(t, b["a"], "%s %v", model, method)
			require.LessOrEqual(t, b["b"], 0.1+1e-9)
			require.Greater(t, b["b"], 0.05)
			require.NotZero(t, b["region=west"])
		}
		for _, v := range run(append(append([]string{model}, target...), "--nonnegative")...) {
			require.GreaterOrEqual(t, v, -1e-9)
		}
	}
}

// The adaptive lasso, with folds: the pilot decides which features are cheap, and the saved model predicts in the
// user's units.
func TestAdaptiveFlags(t *testing.T) {
	dir := t.TempDir()
	data, path := clitest.Write(t, dir, "data.csv", householdText(150)), filepath.Join(dir, "m.json")
	tune := []string{"tune", "adaptive-lasso", "--data", data, "--target", "y", "--drop", "label,count", "--folds", "3", "--save", path}
	for _, args := range [][]string{nil, {"--gamma", "2"}, {"--pilot", "lasso", "--method", "grid"}, {"--method", "hoag"}} {
		conetune(t, append(tune, args...)...).ok(t)
		m, err := model.Read(path)
		require.NoError(t, err)
		require.InDelta(t, -1, m.Coefficients[0], 0.15)
		require.InDelta(t, 2, m.Coefficients[1], 0.15)
		require.InDelta(t, 0, m.Coefficients[2], 0.1)
		conetune(t, "predict", "--model", path, "--data", data).ok(t)
	}
}

// --threads is told to do nothing where it does nothing, and only there.
func TestThreads(t *testing.T) {
	dir := t.TempDir()
	data, program := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 40, 4)), clitest.Write(t, dir, "tiny.qps", tinyQPS)
	o := conetune(t, "solve", program, "--threads", "4")
	o.ok(t)
	require.Equal(t, "conetune: --threads 4: a solve on the native backend runs on one thread\n", o.stderr)
	o = conetune(t, "solve", program, "--threads", "1")
	o.ok(t)
	require.Empty(t, o.stderr)
	// Of tune it bounds all threads, and the result does not depend on it.
	before := runtime.GOMAXPROCS(0)
	one := conetune(t, "tune", "elastic-net", "--data", data, "--folds", "3", "--json", "--threads", "1")
	one.ok(t)
	require.Empty(t, one.stderr)
	two := conetune(t, "tune", "elastic-net", "--data", data, "--folds", "3", "--json", "--threads", "64")
	two.ok(t)
	require.Equal(t, before, runtime.GOMAXPROCS(0))
	for _, key := range []string{"validation_error", "test_error", "hyperparameters", "radii", "refit", "solver_iterations"} {
		require.Equal(t, one.object(t)[key], two.object(t)[key], key)
	}
}
