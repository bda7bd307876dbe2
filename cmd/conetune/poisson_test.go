package main

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
)

// TestPoisson: counts, from a table to means and back.
func TestPoisson(t *testing.T) {
	dir := t.TempDir()
	made := filepath.Join(dir, "made")
	conetune(t, "generate", "poisson", "--preset", "60-30-30-p20", "--out", made).ok(t)
	model := filepath.Join(dir, "m.json")
	o := conetune(t, "tune", "poisson", "--dir", made, "--intercept", "--save", model, "--json")
	o.ok(t)
	m := o.object(t)
	require.Equal(t, "converged", m["status"])
	require.Contains(t, conetune(t, "tune", "poisson", "--dir", made, "--method", "hoag").ok(t), "Half the mean Poisson deviance")

	test := filepath.Join(made, "test.csv.gz")
	out := conetune(t, "predict", "--model", model, "--data", test)
	out.ok(t)
	require.Contains(t, out.stderr, "half the mean Poisson deviance")
	var saved struct {
		Coefficients []float64
		Intercept    float64
	}
	text, err := os.ReadFile(model)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &saved))
	file, err := os.Open(test)
	require.NoError(t, err)
	defer file.Close()
	plain, err := gzip.NewReader(file)
	require.NoError(t, err)
	table, err := io.ReadAll(plain)
	require.NoError(t, err)
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")
	columns := strings.Split(rows[0], ",")
	for i, line := range strings.Fields(out.stdout) {
		got, err := strconv.ParseFloat(line, 64)
		require.NoError(t, err)
		value, j := saved.Intercept, 0
		for k, field := range strings.Split(rows[i+1], ",") {
			v, err := strconv.ParseFloat(field, 64)
			require.NoError(t, err)
			if columns[k] == "y" {
				continue
			}
			value += saved.Coefficients[j] * v
			j++
		}
		require.InEpsilon(t, math.Exp(value), got, 1e-9)
	}

	bad := conetune(t, "tune", "poisson", "--data", clitest.Write(t, dir, "bad.csv", "y,a\n1,2\n-1,3\n"+strings.Repeat("2,5\n", 20)))
	require.Equal(t, cli.ExitUsage, bad.code)
	require.Contains(t, bad.stderr, "a target is -1, expected numbers that are not negative")
	wrong := clitest.Write(t, dir, "wrong.json", strings.Replace(string(text), `"model": "poisson"`, `"model": "huber"`, 1))
	require.NotEqual(t, 0, conetune(t, "predict", "--model", wrong, "--data", test).code)
}
