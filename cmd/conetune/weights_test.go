package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/must"
)

// weightedText is a table with the folds and the weights, 0 to 3, of its rows, and the table with each row as often as
// its weight says.
func weightedText(seed uint64, rows int) (weighted, repeated string) {
	lines := strings.Split(strings.TrimSpace(csvText(seed, rows, 4)), "\n")
	weighted, repeated = lines[0]+",part,times\n", lines[0]+",part\n"
	for i, line := range lines[1:] {
		row, times := fmt.Sprintf("%s,%d", line, i*7%3), i*5%4
		weighted += fmt.Sprintf("%s,%d\n", row, times)
		repeated += strings.Repeat(row+"\n", times)
	}
	return weighted, repeated
}

// A row of weight 2 is two rows: in the choice, in errors and measures, in the test and in predict.
func TestWeightsAreRows(t *testing.T) {
	dir := t.TempDir()
	weighted, repeated := weightedText(1, 60)
	testWeighted, testRepeated := weightedText(2, 40)
	with, without := write(t, dir, "with.csv", weighted), write(t, dir, "without.csv", repeated)
	testWith, testWithout := write(t, dir, "test.csv", testWeighted), write(t, dir, "test2.csv", testRepeated)
	for _, c := range []struct {
		model      string
		args       []string
		with, same []string
	}{
		{"elastic-net", []string{"--fold-column", "part", "--nested"}, []string{"--data", with}, []string{"--data", without}},
		{"elastic-net", []string{"--fold-column", "part", "--method", "grid", "--evaluations", "16", "--test"},
			[]string{testWith, "--data", with}, []string{testWithout, "--data", without}},
		{"ridge", []string{"--drop", "part", "--train"}, []string{with, "--val", testWith, "--test", testWith},
			[]string{without, "--val", testWithout, "--test", testWithout}},
		{"group-lasso", []string{"--groups", "2", "--fold-column", "part", "--test"}, []string{testWith, "--data", with},
			[]string{testWithout, "--data", without}},
		{"bounded-elastic-net", []string{"--fold-column", "part", "--test"}, []string{testWith, "--data", with},
			[]string{testWithout, "--data", without}},
	} {
		saved := filepath.Join(dir, "m.json")
		run := func(more ...string) map[string]any {
			return conetune(t, slices.Concat([]string{"tune", c.model, "--json", "--save", saved}, c.args, more)...).told(t)
		}
		b := run(c.same...)
		a := run(append(slices.Clone(c.with), "--weights", "times")...)
		for _, field := range []string{"refit", "coefficients", "metrics", "nested"} {
			if field != "nested" || c.model == "elastic-net" && slices.Contains(c.args, "--nested") {
				near(t, b[field], a[field], c.model+" "+field)
			}
		}
		require.Contains(t, readFile(t, saved), `"weights": "times"`)
		if refit := a["refit"].(map[string]any); refit["test_error"] != nil {
			p := conetune(t, "predict", "--model", saved, "--data", testWith, "--json").object(t)
			require.InEpsilon(t, refit["test_error"], p["error"], 1e-9)
		}
	}
	saved, page := filepath.Join(dir, "m.json"), filepath.Join(dir, "r.html")
	text := conetune(t, "tune", "lasso", "--data", with, "--weights", "times", "--group", "part", "--repeats", "2",
		"--save", saved, "--report", page).ok(t)
	require.Contains(t, text, "(3 folds by group part, 2 repeats, seed 1)")
	require.Contains(t, text, "target y, rows weighed by times\n")
	require.Contains(t, contents(t, dir)[page], ", weights = w, standardize = FALSE)")
	require.Contains(t, contents(t, dir)[page], ".fit(X, y, sample_weight=w)")
	require.Contains(t, conetune(t, "show", saved).ok(t),
		"45 training rows, 3 folds, 2 repeats, by group part, weighed by times\n")
}

// near compares the numbers of two values of JSON; standard errors are of as many rows as there are.
func near(t *testing.T, want, got any, where string) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		for name, v := range want {
			if name != "standard_error" && name != "rows" {
				near(t, v, got.(map[string]any)[name], where+" "+name)
			}
		}
	case []any:
		for k, v := range want {
			near(t, v, got.([]any)[k], where)
		}
	case float64:
		require.InDelta(t, want, got, 1e-4*(1+math.Abs(want)), where)
	default:
		require.Equal(t, want, got, where)
	}
}

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
	data, saved, page := write(t, dir, "claims.csv", text), filepath.Join(dir, "m.json"), filepath.Join(dir, "r.html")
	run := func(args ...string) outcome {
		return conetune(t, append([]string{"tune", "poisson", "--data", data, "--target", "claims", "--offset",
			"log_exposure", "--method", "grid", "--evaluations", "1", "--range", "1e-8:1e-8"}, args...)...)
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
	require.InEpsilon(t, 2*half(func(i int, months float64) float64 { return rate[i%2] * months }), measures["value"],
		1e-6)
	all := (counts[0] + counts[1]) / (exposure[0] + exposure[1])
	require.InEpsilon(t, 2*half(func(_ int, months float64) float64 { return all * months }), measures["baseline"], 1e-9)

	require.Contains(t, readFile(t, saved), `"offset": "log_exposure"`)
	p := conetune(t, "predict", "--model", saved, "--data", data, "--json").object(t)
	require.InEpsilon(t, r["refit"].(map[string]any)["test_error"], p["error"], 1e-9)
	require.InEpsilon(t, rate[1]*18, p["predictions"].([]any)[1], 1e-5)
	require.Contains(t, conetune(t, "show", saved).ok(t), "offset log_exposure\n")
	require.Contains(t, run().ok(t), "target claims, offset log_exposure\n")
	require.Contains(t, contents(t, dir)[page], ", offset = o, standardize = FALSE)")
	require.NotContains(t, contents(t, dir)[page], "PoissonRegressor")

	for want, args := range map[string][]string{
		`has no column "log_exposure", the offset that the model adds to the value of a row`: {"predict", "--model", saved,
			"--data", write(t, dir, "bare.csv", "claims,group\n1,0\n2,1\n")},
		`gap.csv:3: column 3 ("log_exposure"): missing value, expected a number`: {"predict", "--model", saved,
			"--data", write(t, dir, "gap.csv", "claims,group,log_exposure\n1,0,2\n2,1,NA\n")},
		`svm.libsvm: has no column "log_exposure"`: {"predict", "--model", saved,
			"--data", write(t, dir, "svm.libsvm", "1 1:2\n0 1:3\n")},
	} {
		conetune(t, args...).fails(t, cli.ExitUsage, want)
	}
}

// With squares the offset is taken from the target: errors, measures and the saved model are those of the difference,
// in all models that take it.
func TestOffsetOfSquares(t *testing.T) {
	dir := t.TempDir()
	lines := strings.Split(strings.TrimSpace(csvText(3, 60, 4)), "\n")
	with, less := lines[0]+",o\n", lines[0]+"\n"
	for i, line := range lines[1:] {
		first, rest, _ := strings.Cut(line, ",")
		var y float64
		must.Of(fmt.Sscan(first, &y))(t)
		with += fmt.Sprintf("%.17g,%s,%d\n", y+float64(i%11), rest, i%11)
		less += fmt.Sprintf("%.17g,%s\n", y, rest)
	}
	a, b := write(t, dir, "with.csv", with), write(t, dir, "less.csv", less)
	for _, args := range [][]string{
		{"elastic-net"}, {"huber", "--method", "random", "--evaluations", "5"}, {"quantile", "--method", "random",
			"--evaluations", "5"}, {"adaptive-lasso"}, {"fused-lasso", "--method", "random", "--evaluations", "3"},
	} {
		run := func(data string, more ...string) map[string]any {
			return conetune(t, append(append([]string{"tune", "--json", "--data", data, "--folds", "3"}, args...),
				more...)...).told(t)
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
