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

	"github.com/conetune/conetune/internal/cli"
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

// Flags about single features hold in the saved model, for each model that takes them and whatever the method; a column of categories stands for its levels.
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

// The adaptive lasso, with folds: the pilot decides which features are cheap, and the saved model predicts in the user's units.
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

// TestHostileNumbers gives every numeric flag of every command what it cannot mean: each is bad usage, and one line names the flag.
func TestHostileNumbers(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 40, 4))
	labels := clitest.Write(t, dir, "labels.csv", labelled(1, 40, 3))
	program := clitest.Write(t, dir, "tiny.qps", tinyQPS)
	out := filepath.Join(dir, "out")
	tuned := func(model string) []string { return []string{"tune", model, "--data", data} }
	random := append(tuned("elastic-net"), "--method", "random", "--evaluations", "4")
	svm := []string{"tune", "svm", "--data", labels}
	paper := []string{"bench", "paper", "--tables", "svm3", "--data", sonar(t), "--out", out}
	backends := []string{"bench", "backends", "--models", "elastic-net", "--backends", "native"}

	any := []string{"", "NaN", "Inf", "-Inf", "x", "1e400"}
	real := append([]string{"-1", "-1e-300", "1e300", "1e101"}, any...)
	positive := append([]string{"0"}, real...)
	small := append([]string{"1e9", "1.5"}, positive...)   // no tolerance is more than 1
	weight := append([]string{"1e13"}, positive...)        // or a weight than 1e12
	whole := append([]string{"2000000000"}, small...)      // counts are whole numbers
	number := append([]string{"1e9", "1.5", "-1"}, any...) // of 64 bits
	pair := []string{"", "1", "0,1", "-1,1", "NaN,1", "Inf,1", "1e300,1", "1,1e-300", "1,1,1", "x,1"}
	ranges := []string{"", "1", "0:1", "-1:1", "2:1", "NaN:1", "1:NaN", "1:Inf", "1e-300:1e300", "1e-300:1", "1:1e300", "lambda1=1e-300:1e-299", "x:1"}
	for _, c := range []struct {
		args   []string
		flag   string
		values []string
	}{
		{[]string{"solve", program}, "eps", small}, {[]string{"solve", program}, "max-iter", whole}, {[]string{"solve", program}, "threads", whole},
		{[]string{"solve", program}, "time-limit", append([]string{"0s", "-1s", "10"}, whole...)},
		{tuned("elastic-net"), "tol", small}, {tuned("elastic-net"), "gap-tol", append([]string{"1.5", "1e9"}, real...)},
		{tuned("elastic-net"), "rho", weight}, {tuned("elastic-net"), "delta", weight}, {tuned("elastic-net"), "c-alpha", weight},
		{tuned("elastic-net"), "epsilon", append([]string{"1e13"}, real...)}, {tuned("elastic-net"), "eps", small},
		{tuned("elastic-net"), "max-iter", whole}, {tuned("elastic-net"), "threads", whole}, {tuned("elastic-net"), "seed", number},
		{tuned("elastic-net"), "time-limit", append([]string{"0s", "-1s", "10"}, whole...)},
		{tuned("elastic-net"), "init", append([]string{"1e13", "1,,1", "1,"}, real...)},
		{tuned("elastic-net"), "folds", append([]string{"0", "1", "1000"}, number...)}, {svm, "folds", append([]string{"0", "1", "1000"}, number...)},
		{tuned("elastic-net"), "split", append([]string{"0/0", "-1/2", "1e9/1", "NaN/1"}, any...)},
		{random, "evaluations", whole}, {random, "workers", whole}, {random, "range", ranges},
		{svm, "class-weights", pair},
		{tuned("quantile"), "level", append([]string{"1", "2"}, positive...)}, {tuned("huber"), "threshold", positive},
		{tuned("fused-lasso"), "order", append([]string{"1000000000"}, whole...)},
		{tuned("bounded-elastic-net"), "lower", []string{"", "1", "NaN", "Inf", "-1e300", "x"}},
		{tuned("bounded-elastic-net"), "upper", []string{"", "-1", "NaN", "-Inf", "1e300", "x"}},
		{tuned("group-lasso"), "groups", []string{"", "0", "3", "-1", "1000000000"}},
		{backends, "eps", append([]string{"1e-3,1e9", "1e-3,"}, small...)}, {backends, "repeats", whole}, {backends, "time-limit", append([]string{"0s", "-1s"}, whole...)},
		{paper, "repeats", whole}, {paper, "workers", append([]string{"2000000000", "-1", "1e9", "1.5"}, any...)}, {paper, "shard", append([]string{"0/1", "2/1", "1/0", "-1/2"}, positive...)},
		{[]string{"generate", "elastic-net", "--out", out}, "seed", number},
		{[]string{"generate", "elastic-net", "--out", out}, "preset", append([]string{"0-5-5-p20", "-1-5-5-p20", "5-5-5-p0", "5-5-5-p1e9", "5-5-5-pNaN"}, positive...)},
	} {
		for _, v := range c.values {
			before := contents(t, dir)
			o := conetune(t, append(append([]string{}, c.args...), "--"+c.flag+"="+v)...)
			require.Equal(t, cli.ExitUsage, o.code, "%v --%s=%s: %s%s", c.args, c.flag, v, o.stdout, o.stderr)
			require.Empty(t, o.stdout)
			require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
			require.Contains(t, strings.ReplaceAll(o.stderr, "_", "-"), c.flag, "%s=%s", c.flag, v)
			require.Equal(t, before, contents(t, dir), "something was written")
		}
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
