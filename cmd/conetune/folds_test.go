package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/model"
)

// Every regression model and the logistic one are chosen by folds, of a table or of a folder; what is saved predicts the test rows with
// the test error that was reported.
func TestTuneByFolds(t *testing.T) {
	dir := t.TempDir()
	data, test := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 45, 6)), clitest.Write(t, dir, "test.csv", clitest.CsvText(2, 30, 6))
	labels, fresh := clitest.Write(t, dir, "labels.csv", labelled(1, 45, 6)), clitest.Write(t, dir, "fresh.csv", labelled(2, 30, 6))
	times, later := clitest.Write(t, dir, "times.csv", timed(clitest.CsvText(1, 45, 6))), clitest.Write(t, dir, "later.csv", timed(clitest.CsvText(2, 30, 6)))
	for _, spec := range model.Specs() {
		if spec.Folds || spec.Matrix {
			continue // svm_test.go; none for a matrix
		}
		t.Run(spec.Name, func(t *testing.T) {
			table, rows := data, test
			if spec.Labels {
				table, rows = labels, fresh
			}
			if spec.Survival {
				table, rows = times, later
			}
			model := filepath.Join(dir, spec.Name+".json")
			args := []string{"tune", spec.Name, "--data", table, "--test", rows, "--folds", "3", "--gap-tol", "0", "--tol", "0.1"}
			if spec.Several {
				args = append(args, "--target", "y,f2")
			}
			if spec.Takes("Groups") {
				args = append(args, "--groups", "3")
			}
			m := conetune(t, append(args, "--json", "--save", model)...).object(t)
			refit := m["refit"].(map[string]any)
			require.Equal(t, m["test_error"], refit["test_error"])
			require.Positive(t, refit["validation_error"])
			if strings.HasPrefix(spec.Unit(), "half the mean squared") || spec.Survival {
				p := conetune(t, "predict", "--model", model, "--data", rows, "--json").object(t)
				require.InEpsilon(t, refit["test_error"], p["error"], 1e-9)
			}
			text := conetune(t, args...).ok(t)
			deals := "3 folds, 3 repeats, seed 1" // 45 rows are few
			if spec.Folds {
				deals = "3 folds, seed 1"
			}
			require.Contains(t, text, deals)
			require.Contains(t, text, "45 cross-validation, 30 test rows")
			require.Contains(t, text, "the model is trained on all rows but those of the test")
		})
	}
}

// All methods take folds and choose one lambda for all of them. They agree, and none finds a better one than vf-idca.
func TestMethodsOnFolds(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "data")
	require.Contains(t, conetune(t, "generate", "elastic-net", "--preset", "60-40-p8-t3", "--out", out).ok(t), "60 rows in 3 folds, 40 test rows of 8 features")
	o := conetune(t, "tune", "elastic-net", "--dir", out, "--json", "--method", "vf-idca,grid,random,tpe,igjo,ifdm,hoag", "--plot", filepath.Join(dir, "f.svg"))
	var list []map[string]any
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &list), o.stderr)
	require.Len(t, list, 7)
	least := list[0]["refit"].(map[string]any)["validation_error"].(float64)
	for _, m := range list[1:] {
		e := m["refit"].(map[string]any)["validation_error"]
		require.InEpsilon(t, list[4]["refit"].(map[string]any)["validation_error"], e, 0.02, m["method"])
		require.Less(t, least, 1.0001*e.(float64))
	}
	text, err := os.ReadFile(filepath.Join(out, "folds.csv"))
	require.NoError(t, err)
	require.Equal(t, 1+3*60, strings.Count(string(text), "\n"))
}
