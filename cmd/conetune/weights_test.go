package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli/clitest"
)

// weightedText is a table with the folds and the weights, 0 to 3, of its rows, and the table with each row as often as
// its weight says.
func weightedText(seed uint64, rows int) (weighted, repeated string) {
	lines := strings.Split(strings.TrimSpace(clitest.CsvText(seed, rows, 4)), "\n")
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
	with, without := clitest.Write(t, dir, "with.csv", weighted), clitest.Write(t, dir, "without.csv", repeated)
	testWith, testWithout := clitest.Write(t, dir, "test.csv", testWeighted), clitest.Write(t, dir, "test2.csv", testRepeated)
	for _, c := range []struct {
		model      string
		args       []string
		with, same []string
	}{
		{"elastic-net", []string{"--fold-column", "part", "--nested"}, []string{"--data", with}, []string{"--data", without}},
		{"elastic-net", []string{"--fold-column", "part", "--method", "grid", "--evaluations", "16", "--test"}, []string{testWith, "--data", with}, []string{testWithout, "--data", without}},
		{"ridge", []string{"--drop", "part", "--train"}, []string{with, "--val", testWith, "--test", testWith}, []string{without, "--val", testWithout, "--test", testWithout}},
		{"group-lasso", []string{"--groups", "2", "--fold-column", "part", "--test"}, []string{testWith, "--data", with}, []string{testWithout, "--data", without}},
		{"bounded-elastic-net", []string{"--fold-column", "part", "--test"}, []string{testWith, "--data", with}, []string{testWithout, "--data", without}},
	} {
		saved := filepath.Join(dir, "m.json")
		run := func(more ...string) map[string]any {
			o := conetune(t, slices.Concat([]string{"tune", c.model, "--json", "--save", saved}, c.args, more)...)
			o.ok(t)
			return o.object(t)
		}
		b := run(c.same...)
		a := run(append(slices.Clone(c.with), "--weights", "times")...)
		for _, field := range []string{"refit", "coefficients", "metrics", "nested"} {
			if field != "nested" || c.model == "elastic-net" && slices.Contains(c.args, "--nested") {
				near(t, b[field], a[field], c.model+" "+field)
			}
		}
		text, err := os.ReadFile(saved)
		require.NoError(t, err)
		require.Contains(t, string(text), `"weights": "times"`)
		if refit := a["refit"].(map[string]any); refit["test_error"] != nil {
			p := conetune(t, "predict", "--model", saved, "--data", testWith, "--json").object(t)
			require.InEpsilon(t, refit["test_error"], p["error"], 1e-9)
		}
	}
	saved, page := filepath.Join(dir, "m.json"), filepath.Join(dir, "r.html")
	text := conetune(t, "tune", "lasso", "--data", with, "--weights", "times", "--group", "part", "--repeats", "2", "--save", saved, "--report", page).ok(t)
	require.Contains(t, text, "(3 folds by group part, 2 repeats, seed 1)")
	require.Contains(t, text, "target y, rows weighed by times\n")
	require.Contains(t, contents(t, dir)[page], ", weights = w, standardize = FALSE)")
	require.Contains(t, contents(t, dir)[page], ".fit(X, y, sample_weight=w)")
	require.Contains(t, conetune(t, "show", saved).ok(t), "45 training rows, 3 folds, 2 repeats, by group part, weighed by times\n")
}

// relabelled is a table with another text in the place of the numbers of its first column.
func relabelled(table string, as func(y float64) string) string {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	for i, line := range lines[1:] {
		first, rest, _ := strings.Cut(line, ",")
		y, err := strconv.ParseFloat(first, 64)
		if err != nil {
			panic(err)
		}
		lines[1+i] = as(y) + "," + rest
	}
	return strings.Join(lines, "\n") + "\n"
}

// The same for losses that are weighed row by row, with labels that are texts, and what predict says of the test rows.
func TestWeightsOfOtherLosses(t *testing.T) {
	dir := t.TempDir()
	for model, c := range map[string]struct {
		as   func(y float64) string
		args []string
	}{
		"logistic":    {func(y float64) string { return map[bool]string{true: "ill", false: "well"}[y > 100] }, nil},
		"svm":         {func(y float64) string { return map[bool]string{true: "ill", false: "well"}[y > 101] }, []string{"--class-weights", "balanced"}},
		"multinomial": {func(y float64) string { return []string{"a", "b", "c"}[max(0, min(2, int(y/4)-24))] }, nil},
		"poisson":     {func(y float64) string { return strconv.Itoa(int(math.Exp(min(3, (y-100)/3)))) }, nil},
		"huber":       {func(y float64) string { return fmt.Sprint(y) }, nil},
		"quantile":    {func(y float64) string { return fmt.Sprint(y) }, []string{"--level", "0.713", "--range", "0.001:0.1"}},
	} {
		weighted, repeated := weightedText(1, 90)
		testWeighted, testRepeated := weightedText(2, 60)
		with, without := clitest.Write(t, dir, "with.csv", relabelled(weighted, c.as)), clitest.Write(t, dir, "without.csv", relabelled(repeated, c.as))
		testWith, testWithout := clitest.Write(t, dir, "test.csv", relabelled(testWeighted, c.as)), clitest.Write(t, dir, "test2.csv", relabelled(testRepeated, c.as))
		saved := filepath.Join(dir, "m.json")
		run := func(data, test string, more ...string) map[string]any {
			args := slices.Concat([]string{"tune", model, "--json", "--method", "random", "--evaluations", "12", "--fold-column", "part", "--data", data, "--test", test, "--save", saved}, c.args, more)
			o := conetune(t, args...)
			o.ok(t)
			return o.object(t)
		}
		b := run(without, testWithout)
		a := run(with, testWith, "--weights", "times")
		for _, field := range []string{"refit", "metrics"} {
			near(t, b[field], a[field], model+" "+field)
		}
		p := conetune(t, "predict", "--model", saved, "--data", testWith, "--json").object(t)
		require.InEpsilon(t, a["refit"].(map[string]any)["test_error"], p["error"], 1e-9, model)
	}
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
