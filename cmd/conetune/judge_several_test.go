package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli/clitest"
)

// twoTargets is a table with a second target, and the values of both.
func twoTargets(seed uint64, n int) (string, [2][]float64) {
	lines := strings.Split(strings.TrimSpace(clitest.CsvText(seed, n, 4)), "\n")
	out, y := "z,"+lines[0]+"\n", [2][]float64{}
	for i, line := range lines[1:] {
		var first float64
		fmt.Sscan(strings.Split(line, ",")[0], &first)
		z := 2*first + math.Sin(float64(i))
		out += fmt.Sprintf("%.17g,%s\n", z, line)
		y[0], y[1] = append(y[0], first), append(y[1], z)
	}
	return out, y
}

// The measures of each target are those of the predictions of predict; they are there for folds, a split and a test, and in the report.
func TestMetricsOfTargets(t *testing.T) {
	dir := t.TempDir()
	text, _ := twoTargets(1, 60)
	tests, actual := twoTargets(2, 40)
	data, test, saved, page := clitest.Write(t, dir, "d.csv", text), clitest.Write(t, dir, "t.csv", tests), filepath.Join(dir, "m.json"), filepath.Join(dir, "r.html")
	o := conetune(t, "tune", "multi-task", "--data", data, "--test", test, "--target", "y,z", "--json", "--save", saved, "--report", page)
	o.ok(t)
	r := o.object(t)
	require.Equal(t, "test", r["metrics_on"])
	require.NotContains(t, r, "metrics")
	p := conetune(t, "predict", "--model", saved, "--data", test, "--json").object(t)["predictions_of_targets"].([]any)
	for k, name := range []string{"y", "z"} {
		mean, squares, total, absolute := 0.0, 0.0, 0.0, 0.0
		for _, v := range actual[k] {
			mean += v / 40
		}
		for i, v := range actual[k] {
			off := v - p[i].([]any)[k].(float64)
			squares, absolute, total = squares+off*off, absolute+math.Abs(off), total+(v-mean)*(v-mean)
		}
		m := r["metrics_of_targets"].(map[string]any)[name].(map[string]any)
		value := func(name string) any { return m[name].(map[string]any)["value"] }
		require.InEpsilon(t, math.Sqrt(squares/40), value("rmse"), 1e-4)
		require.InEpsilon(t, absolute/40, value("mae"), 1e-4)
		require.InEpsilon(t, 1-squares/total, value("r2"), 1e-4)
	}
	report, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(report), "How good it is on 40 rows for the test")
	for on, args := range map[string][]string{"cross-validation": {"--folds", "4"}, "validation": {"--split", "0.7/rest"}} {
		r := conetune(t, append([]string{"tune", "multi-task", "--data", data, "--target", "y,z", "--json"}, args...)...).object(t)
		require.Equal(t, on, r["metrics_on"])
		m := r["metrics_of_targets"].(map[string]any)["z"].(map[string]any)["r2"].(map[string]any)
		require.Greater(t, m["value"], 0.8)
		require.Less(t, m["baseline"], 0.01)
	}
	// On validation rows half the mean squared error over both targets is the validation error.
	o = conetune(t, "tune", "multi-task", "--data", data, "--target", "y,z", "--json", "--split", "0.7/rest", "--method", "grid", "--evaluations", "9")
	r = o.object(t)
	sum := 0.0
	for _, m := range r["metrics_of_targets"].(map[string]any) {
		rmse := m.(map[string]any)["rmse"].(map[string]any)["value"].(float64)
		sum += rmse * rmse / 4
	}
	require.InEpsilon(t, r["lower_level"].(map[string]any)["validation_error"], sum, 1e-6)
}

// The measures of a completed matrix are on its test entries, whose mean squared error is twice the test error, or else on those for validation.
func TestMetricsOfMatrix(t *testing.T) {
	dir := t.TempDir()
	entries := "row,col,value\n"
	for i := range 12 {
		for k := range 10 {
			entries += fmt.Sprintf("%d,%d,%g\n", i, k, 3+math.Sin(float64(i))*float64(k)+0.1*math.Cos(float64(7*i+3*k)))
		}
	}
	data := clitest.Write(t, dir, "e.csv", entries)
	for on, split := range map[string]string{"test": "0.5/0.25/rest", "validation": "0.7/rest"} {
		page := filepath.Join(dir, on+".html")
		o := conetune(t, "tune", "matrix-completion", "--data", data, "--split", split, "--json", "--report", page)
		o.ok(t)
		r := o.object(t)
		require.Equal(t, on, r["metrics_on"])
		m := r["metrics"].(map[string]any)
		rmse := m["rmse"].(map[string]any)["value"].(float64)
		want := r["refit"].(map[string]any)["validation_error"]
		if on == "test" {
			want = r["refit"].(map[string]any)["test_error"]
		} else if lower, ok := r["lower_level"].(map[string]any); ok {
			want = lower["validation_error"]
		}
		require.InEpsilon(t, want, rmse*rmse/2, 1e-6, on)
		require.Less(t, m["mae"].(map[string]any)["value"], m["mae"].(map[string]any)["baseline"])
		report, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Contains(t, string(report), "the mean of the training entries")
		require.Contains(t, string(report), `id="residuals"`)
	}
}
