package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
)

// rates is a table of counts of two groups over exposures.
func rates() (table string, exposure, counts [2]float64) {
	var b strings.Builder
	b.WriteString("claims,group,noise,log_exposure\n")
	for i := range 40 {
		months, claims := float64(5+i*13%60), float64(i*i%7)+float64(i%2)
		exposure[i%2], counts[i%2] = exposure[i%2]+months, counts[i%2]+claims
		fmt.Fprintf(&b, "%g,%d,%d,%.17g\n", claims, i%2, i*5%3, math.Log(months))
	}
	return b.String(), exposure, counts
}

// Almost without a penalty, the rates of two groups are counts over exposures; predictions and baselines are those
// times the exposure of the row.
func TestOffset(t *testing.T) {
	dir := t.TempDir()
	text, exposure, counts := rates()
	data, saved, page := clitest.Write(t, dir, "claims.csv", text), filepath.Join(dir, "m.json"), filepath.Join(dir, "r.html")
	run := func(args ...string) outcome {
		return conetune(t, append([]string{"tune", "poisson", "--data", data, "--target", "claims", "--offset", "log_exposure", "--method", "grid", "--evaluations", "1", "--range", "1e-8:1e-8"}, args...)...)
	}
	o := run("--features", "group", "--json", "--test", data, "--save", saved, "--report", page)
	o.ok(t)
	r := o.object(t)
	rate := [2]float64{counts[0] / exposure[0], counts[1] / exposure[1]}
	require.InDelta(t, math.Log(rate[1]/rate[0]), r["coefficients"].(map[string]any)["group"], 1e-5)
	require.InDelta(t, math.Log(rate[0]), r["intercept"], 1e-5)
	half := func(mean func(i int, months float64) float64) (sum float64) {
		for i := range 40 {
			m, y := mean(i, float64(5+i*13%60)), float64(i*i%7)+float64(i%2)
			if sum += m - y; y > 0 {
				sum += y * math.Log(y/m)
			}
		}
		return sum / 40
	}
	measures := r["metrics"].(map[string]any)["deviance"].(map[string]any)
	require.InEpsilon(t, 2*half(func(i int, months float64) float64 { return rate[i%2] * months }), measures["value"], 1e-6)
	all := (counts[0] + counts[1]) / (exposure[0] + exposure[1])
	require.InEpsilon(t, 2*half(func(_ int, months float64) float64 { return all * months }), measures["baseline"], 1e-9)

	file, err := os.ReadFile(saved)
	require.NoError(t, err)
	require.Contains(t, string(file), `"offset": "log_exposure"`)
	p := conetune(t, "predict", "--model", saved, "--data", data, "--json").object(t)
	require.InEpsilon(t, r["refit"].(map[string]any)["test_error"], p["error"], 1e-9)
	require.InEpsilon(t, rate[1]*18, p["predictions"].([]any)[1], 1e-5)
	require.Contains(t, conetune(t, "show", saved).ok(t), "offset log_exposure\n")
	require.Contains(t, run().ok(t), "target claims, offset log_exposure\n")
	require.Contains(t, contents(t, dir)[page], ", offset = o, standardize = FALSE)")
	require.NotContains(t, contents(t, dir)[page], "PoissonRegressor")

	for want, args := range map[string][]string{
		`has no column "log_exposure", the offset that the model adds to the value of a row`: {"predict", "--model", saved, "--data", clitest.Write(t, dir, "bare.csv", "claims,group\n1,0\n2,1\n")},
		`gap.csv:3: column 3 ("log_exposure"): missing value, expected a number`:             {"predict", "--model", saved, "--data", clitest.Write(t, dir, "gap.csv", "claims,group,log_exposure\n1,0,2\n2,1,NA\n")},
		`svm.libsvm: has no column "log_exposure"`:                                           {"predict", "--model", saved, "--data", clitest.Write(t, dir, "svm.libsvm", "1 1:2\n0 1:3\n")},
	} {
		o := conetune(t, args...)
		require.Equal(t, cli.ExitUsage, o.code, "%v: %s", args, o.stderr)
		require.Contains(t, o.stderr, want)
	}
}

// With squares the offset is taken from the target: errors, measures and the saved model are those of the difference,
// in all models that take it.
func TestOffsetOfSquares(t *testing.T) {
	dir := t.TempDir()
	lines := strings.Split(strings.TrimSpace(clitest.CsvText(3, 60, 4)), "\n")
	with, less := lines[0]+",o\n", lines[0]+"\n"
	for i, line := range lines[1:] {
		first, rest, _ := strings.Cut(line, ",")
		var y float64
		_, err := fmt.Sscan(first, &y)
		require.NoError(t, err)
		with += fmt.Sprintf("%.17g,%s,%d\n", y+float64(i%11), rest, i%11)
		less += fmt.Sprintf("%.17g,%s\n", y, rest)
	}
	a, b := clitest.Write(t, dir, "with.csv", with), clitest.Write(t, dir, "less.csv", less)
	for _, args := range [][]string{
		{"elastic-net"}, {"huber", "--method", "random", "--evaluations", "5"}, {"quantile", "--method", "random", "--evaluations", "5"}, {"adaptive-lasso"}, {"fused-lasso", "--method", "random", "--evaluations", "3"},
	} {
		run := func(data string, more ...string) map[string]any {
			o := conetune(t, append(append([]string{"tune", "--json", "--data", data, "--folds", "3"}, args...), more...)...)
			o.ok(t)
			return o.object(t)
		}
		got, want := run(a, "--offset", "o"), run(b)
		near(t, want["refit"], got["refit"], args[0])
		near(t, want["coefficients"], got["coefficients"], args[0])
		for _, name := range []string{"rmse", "mae", "pinball"} {
			if m, ok := want["metrics"].(map[string]any)[name]; ok {
				near(t, m, got["metrics"].(map[string]any)[name], args[0]+" "+name)
			}
		}
	}
}
