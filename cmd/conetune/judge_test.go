package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/cli/clitest"
)

// measured are the metrics of a JSON object.
func measured(t *testing.T, o outcome) (on string, metrics map[string]map[string]float64) {
	t.Helper()
	var m struct {
		On      string                        `json:"metrics_on"`
		Metrics map[string]map[string]float64 `json:"metrics"`
	}
	require.NoError(t, json.Unmarshal([]byte(o.ok(t)), &m))
	return m.On, m.Metrics
}

// The measures of each model are about the rows that the errors of the refit are about, and agree with these.
func TestMetricsInJSON(t *testing.T) {
	dir := t.TempDir()
	data, labels := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 90, 6)), clitest.Write(t, dir, "labels.csv", labelled(1, 300, 6))
	counts := "y,a\n"
	for i := range 90 {
		x := math.Sin(float64(i))
		counts += fmt.Sprintf("%.0f,%g\n", math.Exp(1+x+0.3*math.Cos(3*float64(i))), x)
	}
	for _, c := range []struct {
		model, data, metric string
		args                string
		on                  string
		// of turns the metric into the error of the refit.
		of func(float64) float64
	}{
		{"elastic-net", data, "rmse", "--split " + threeParts, "test", func(v float64) float64 { return v * v / 2 }},
		{"elastic-net", data, "rmse", "--final train --split 0.6/rest", "validation", func(v float64) float64 { return v * v / 2 }},
		{"elastic-net", data, "rmse", "", "cross-validation", func(v float64) float64 { return v * v / 2 }},
		{"lasso", "", "rmse", "--standardize --intercept --dir " + foldsDir(t, clitest.CsvText(1, 90, 6), 3), "cross-validation", func(v float64) float64 { return v * v / 2 }},
		{"quantile", data, "pinball", "--level 0.8 --split " + threeParts, "test", func(v float64) float64 { return v }},
		{"poisson", clitest.Write(t, dir, "counts.csv", counts), "deviance", "--split " + threeParts, "test", func(v float64) float64 { return v / 2 }},
		{"logistic", labels, "log_loss", "--split " + threeParts, "test", func(v float64) float64 { return v }},
		{"svm", labels, "error_rate", "--split 0.7/rest", "test", func(v float64) float64 { return v }},
	} {
		t.Run(c.model+" "+c.on, func(t *testing.T) {
			args := append([]string{"tune", c.model, "--json"}, strings.Fields(c.args)...)
			if c.data != "" {
				args = append(args, "--data", c.data)
			}
			o := conetune(t, args...)
			on, metrics := measured(t, o)
			require.Equal(t, c.on, on)
			refit := o.object(t)["refit"].(map[string]any)
			want := refit["test_error"]
			if c.on != "test" {
				want = refit["validation_error"]
			}
			m := metrics[c.metric]
			require.InEpsilon(t, want, c.of(m["value"]), 1e-9) // folds of 90 rows are of one size
			require.Positive(t, m["standard_error"])
			require.Less(t, m["value"], m["baseline"])
		})
	}
}

// With several targets there are none of all together, but those of each target, whose squared errors are the validation error.
func TestMetricsOfSeveralTargets(t *testing.T) {
	data := clitest.Write(t, t.TempDir(), "table.csv", clitest.CsvText(1, 45, 6))
	o := conetune(t, "tune", "multi-task", "--data", data, "--target", "y,f2", "--json")
	require.NotContains(t, o.ok(t), `"metrics":`)
	r, sum := o.object(t), 0.0
	for _, name := range []string{"y", "f2"} {
		rmse := r["metrics_of_targets"].(map[string]any)[name].(map[string]any)["rmse"].(map[string]any)["value"].(float64)
		sum += rmse * rmse / 4 // half the mean over two targets; folds of 45 rows are of one size
	}
	require.InEpsilon(t, r["refit"].(map[string]any)["validation_error"], sum, 1e-9)
}

// foldsDir is a folder with a table dealt out to folds, row by row, and no rows for a test.
func foldsDir(t *testing.T, text string, folds int) string {
	t.Helper()
	dir := t.TempDir()
	clitest.Write(t, dir, "data.csv", text)
	list := "fold,row,role\n"
	for k := range folds {
		for i := range strings.Count(text, "\n") - 1 {
			role := "train"
			if i%folds == k {
				role = "val"
			}
			list += fmt.Sprintf("%d,%d,%s\n", k, i, role)
		}
	}
	clitest.Write(t, dir, "folds.csv", list)
	return dir
}

// Each row is judged by the fold that it does not train.
func TestMetricsOfFolds(t *testing.T) {
	table, err := os.ReadFile(filepath.Join("..", "..", "examples", "diabetes.csv"))
	require.NoError(t, err)
	on, metrics := measured(t, conetune(t, "tune", "ridge", "--dir", foldsDir(t, string(table), 5), "--standardize", "--intercept", "--json"))
	require.Equal(t, evaluate.OnFolds, on)
	// R^2 by scikit-learn of cross_val_predict with these folds, of a StandardScaler and Ridge(alpha), is 0.5010 to 0.5013 for alpha from 1 to 10.
	require.InDelta(t, 0.5012, metrics["r2"]["value"], 0.0005)
	require.InDelta(t, 0, metrics["r2"]["baseline"], 0.02) // the means of the folds' training rows
	require.InDelta(t, 0.04, metrics["r2"]["standard_error"], 0.02)
}
