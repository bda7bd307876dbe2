package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/internal/cli/root"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/tune"
)

// Several methods: an array, a table, one trace, a figure, and the best model in the file.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 90, 6))
	trace, plot, path := filepath.Join(dir, "t.jsonl"), filepath.Join(dir, "p.png"), filepath.Join(dir, "m.json")
	args := []string{"tune", "elastic-net", "--data", data, "--method", "grid,random,vf-idca", "--evaluations", "9", "--seed", "2"}
	o := conetune(t, append(args, "--json", "--trace", trace, "--plot", plot, "--save", path)...)
	o.ok(t)
	var results []map[string]any
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &results))
	require.Len(t, results, 3)
	least, validation := "", 0.0
	for i, name := range []string{"grid", "random", "vf-idca"} {
		require.Equal(t, name, results[i]["method"])
		if v := results[i]["refit"].(map[string]any)["validation_error"].(float64); least == "" || v < validation {
			least, validation = name, v
		}
	}
	saved, err := model.Read(path)
	require.NoError(t, err)
	require.Equal(t, least, saved.Provenance.Method)
	require.Equal(t, validation, *saved.ValidationError)

	raw, err := os.ReadFile(trace)
	require.NoError(t, err)
	lines := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		var e map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		lines[e["method"].(string)]++
		require.Contains(t, e, "best_validation_error")
		require.Contains(t, e, "lambda")
	}
	require.Equal(t, 9, lines["grid"])
	require.Equal(t, 9, lines["random"])
	require.Equal(t, int(results[2]["iterations"].(float64)), lines["vf-idca"])
	f, err := os.Open(plot)
	require.NoError(t, err)
	defer f.Close()
	_, err = png.Decode(f)
	require.NoError(t, err)

	text := conetune(t, args...).ok(t)
	for _, want := range []string{"grid", "random", "vf-idca", "9 evaluations", "The model of " + least, "chosen by " + least} {
		require.Contains(t, text, want)
	}
}

// One after the other: vf-idca begins at the choice of the grid, and needs no path.
func TestChain(t *testing.T) {
	data := clitest.Write(t, t.TempDir(), "table.csv", clitest.CsvText(1, 90, 6))
	o := conetune(t, "tune", "elastic-net", "--data", data, "--method", "grid,vf-idca,random", "--chain", "--evaluations", "16", "--json")
	o.ok(t)
	var results []tune.Result
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &results))
	require.Len(t, results, 3)
	require.LessOrEqual(t, results[1].Refit.Validation, results[0].Refit.Validation*1.0001)
	require.LessOrEqual(t, results[2].Refit.Validation, results[0].Refit.Validation*1.01)
}

// The log of a run has its stages in their order; without -v nothing is written where nobody looks.
func TestStagesInTheLog(t *testing.T) {
	data := clitest.Write(t, t.TempDir(), "table.csv", clitest.CsvText(1, 90, 6))
	var stdout, stderr bytes.Buffer
	require.Equal(t, cli.ExitDone, root.Run(context.Background(), []string{"tune", "elastic-net", "--data", data, "-v", "--max-iter", "100"}, nil, &stdout, &stderr))
	text := stderr.String()
	for _, stage := range []string{
		"reading ", "building the model", `at="start: point 1 of `, `at="start: lower level"`,
		`at="iteration 1: subproblem"`, `at="iteration 1: lower level"`, `at="final fit"`,
	} {
		_, rest, found := strings.Cut(text, stage)
		require.True(t, found, stage)
		text = rest
	}
	stderr.Reset()
	require.Equal(t, cli.ExitDone, root.Run(context.Background(), []string{"tune", "elastic-net", "--data", data, "--method", "grid"}, nil, &stdout, &stderr))
	require.Empty(t, stderr.String())
}
