package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli/clitest"
)

// Beside the measures of a model stand those of the fit without penalty: by LinearRegression, LogisticRegression (C=inf) and PoissonRegressor (alpha=0) of
// scikit-learn 1.9.1, fitted to the first 300 patients and measured on the others.
func TestWithoutPenalty(t *testing.T) {
	raw, err := os.ReadFile("../../examples/diabetes.csv")
	require.NoError(t, err)
	rows := strings.Split(strings.TrimSpace(string(raw)), "\n")
	ill := []string{rows[0]}
	for _, row := range rows[1:] {
		y, rest, _ := strings.Cut(row, ",")
		v, err := strconv.ParseFloat(y, 64)
		require.NoError(t, err)
		ill = append(ill, map[bool]string{true: "yes,", false: "no,"}[v > 140]+rest)
	}
	for model, want := range map[string]map[string]float64{
		"elastic-net": {"rmse": 52.863853442917865, "mae": 41.2035144971547, "r2": 0.5071960134667436},
		"logistic":    {"log_loss": 0.4977546174281718, "auc": 0.8443781094527363, "brier": 0.1626062328137925, "error_rate": 0.2676056338028169},
		"poisson":     {"deviance": 18.557794059796855},
	} {
		dir, table := t.TempDir(), rows
		if model == "logistic" {
			table = ill
		}
		train := clitest.Write(t, dir, "train.csv", strings.Join(table[:301], "\n")+"\n")
		test := clitest.Write(t, dir, "test.csv", strings.Join(append([]string{table[0]}, table[301:]...), "\n")+"\n")
		m := conetune(t, "tune", model, "--data", train, "--test", test, "--json").object(t)
		require.Equal(t, "test", m["metrics_on"])
		for name, v := range want {
			require.InEpsilon(t, v, m["metrics"].(map[string]any)[name].(map[string]any)["without_penalty"], 1e-6, "%s, %s", model, name)
		}
	}
}

// Where there is no such fit the report says why.
func TestNoFitWithoutPenalty(t *testing.T) {
	wide := clitest.Write(t, t.TempDir(), "wide.csv", clitest.CsvText(1, 20, 30))
	o := conetune(t, "tune", "elastic-net", "--data", wide)
	require.Contains(t, strings.Join(strings.Fields(o.ok(t)), " "), "Least squares, without a penalty, has no answer here: no more rows than coefficients.")
	m := conetune(t, "tune", "elastic-net", "--data", wide, "--json").object(t)
	require.Nil(t, m["metrics"].(map[string]any)["rmse"].(map[string]any)["without_penalty"])
}
