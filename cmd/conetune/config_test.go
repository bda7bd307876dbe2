package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
)

// The settings of a tune, written and read again, give the same choice; the command line goes first.
func TestConfig(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.Write(t, ".", "t.csv", clitest.CsvText(3, 60, 6))
	args := []string{"tune", "elastic-net", "--data", "t.csv", "--drop", "f5,f6", "--method", "grid,random", "--evaluations", "9", "--folds", "3", "--range", "1e-4:1",
		"--time-limit", "1m30s", "--standardize=true", "--memory", "1234567890", "--target", "y"}
	o := conetune(t, append(args, "--save-config", "s.yaml", "--save", "a.json", "--report", "a.html")...)
	require.Contains(t, o.ok(t), "settings in s.yaml")
	text, err := os.ReadFile("s.yaml")
	require.NoError(t, err)
	head, rest, _ := strings.Cut(string(text), "\n")
	require.Contains(t, head, "# conetune "+cli.Version())
	require.Equal(t, `model: elastic-net
data: t.csv
target: y
drop: [f5, f6]
folds: 3
seed: 1
standardize: true
time-limit: 1m30s
memory: 1234567890
method: [grid, random]
evaluations: 9
range: 1e-4:1
`, rest)
	page, err := os.ReadFile("a.html")
	require.NoError(t, err)
	require.Contains(t, string(page), "drop: [f5, f6]\nfolds: 3\n")

	conetune(t, "tune", "--config", "s.yaml", "--save", "b.json", "--save-config", "again.yaml").ok(t)
	again, err := os.ReadFile("again.yaml")
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
	a, b := contents(t, ".")["a.json"], contents(t, ".")["b.json"]
	require.True(t, a == b && a != "")

	r := conetune(t, "tune", "ridge", "--config", "s.yaml", "--method", "vf-idca", "--seed", "4", "--json").object(t)
	require.Equal(t, "ridge", r["model"])
	require.Equal(t, "vf-idca", r["method"])
	require.Equal(t, 4.0, r["seed"])

	clitest.Write(t, ".", "jobs.csv", "job,seed,method\na,,\nb,2,vf-idca\n")
	t.Setenv(command, "1")
	conetune(t, "batch", "jobs.csv", "--config", "s.yaml", "--folds", "4", "--out", "out").ok(t)
	records := batchRecords(t, "out")
	require.Equal(t, map[string]any{"model": "elastic-net", "data": "t.csv", "target": "y", "drop": "f5,f6", "folds": "4", "standardize": "true", "method": "vf-idca", "evaluations": "9",
		"range": "1e-4:1", "time-limit": "1m30s", "memory": "1234567890", "seed": "2"}, records["b"]["settings"])
}
