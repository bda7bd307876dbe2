package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
)

func TestBenchBackends(t *testing.T) {
	page := filepath.Join(t.TempDir(), "b.html")
	out := conetune(t, "bench", "backends", "--models", "weighted-lasso", "--backends", "native", "--eps", "1e-7",
		"--repeats", "1", "--json", "--html", page).ok(t)
	var rows []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &rows))
	require.Len(t, rows, 4)
	for _, r := range rows {
		require.Equal(t, "native", r["backend"])
		require.Equal(t, 1e-7, r["eps"])
		require.Less(t, r["error"], 1e-4)
	}
	require.Contains(t, readFile(t, page), "--models weighted-lasso --backends native --eps 1e-7")
}

// sonar writes a small LIBSVM table of one row of the tables of the support vector machine.
func sonar(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text := strings.Repeat(
		"1 1:1.5 2:0.5\n-1 1:-1 2:0.25\n1 1:0.5 2:-0.25\n-1 1:0.25 2:-1\n1 1:-0.25 2:1\n-1 1:-0.5 2:-0.5\n", 6)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sonar"), []byte(text), 0o666))
	return dir
}

func TestBenchPaper(t *testing.T) {
	data, root := sonar(t), t.TempDir()
	args := func(out string, more ...string) []string {
		return append([]string{"bench", "paper", "--tables", "svm3", "--methods", "grid,vf-idca-t", "--repeats", "2",
			"--data", data, "--out", filepath.Join(root, out)}, more...)
	}
	o := conetune(t, args("whole")...)
	text := o.ok(t)
	require.Contains(t, text, "### sonar")
	require.Contains(t, text, "4 runs, 0 of the plan are missing")
	require.Contains(t, o.stderr, "svm3 w1a is left out: no file w1a_scale or w1a")

	conetune(t, args("whole")...).fails(t, cli.ExitUsage, "go on with --resume, or choose another folder")
	conetune(t, args("whole", "--resume")...).ok(t)

	conetune(t, args("a", "--shard", "1/2", "--workers", "1")...).ok(t)
	conetune(t, args("b", "--shard", "2/2")...).ok(t)
	conetune(t, "bench", "merge", filepath.Join(root, "a"), filepath.Join(root, "b"), "--out",
		filepath.Join(root, "both")).ok(t)
	for _, name := range []string{"errors.md", "errors.csv"} {
		want := readFile(t, filepath.Join(root, "whole", "tables", name))
		require.Equal(t, want, readFile(t, filepath.Join(root, "both", "tables", name)))
	}
	conetune(t, "bench", "merge", filepath.Join(root, "a"), "--out", filepath.Join(root, "half")).fails(t,
		cli.ExitUnsolved, "still missing: 2 runs of the plan; the shards here are 1/2")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	conetuneUntil(t, ctx, args("stopped")...).fails(t, cli.ExitInterrupted, "--resume goes on")
}

// Generated folders are what their words say, are read back and tuned, with the paper's settings and with ours.
func TestGenerate(t *testing.T) {
	for _, c := range []struct {
		model, preset, want string
		tune                []string
		said                string // of the tune
	}{
		{"elastic-net", "40-20-30-p20",
			"40 training, 20 validation, 30 test rows of 20 features, seed 3\ncoefficients are 1 for x",
			[]string{"--preset", "paper"}, "features as they are, no intercept"},
		{"logistic", "60-30-30-p20", "60 training", []string{"--preset", "paper"}, "Mean logistic loss"},
		{"poisson", "60-30-30-p20", "60 training", []string{"--method", "hoag"}, "Half the mean Poisson deviance"},
		{"cox", "60-30-30-p20", "60 training", []string{"--method", "hoag"}, "concordance"},
		{"multi-task", "60-50-40-p8", "3 targets use x", []string{"--method", "vf-idca,grid,random"}, "targets y1, y2, y3"},
		{"svm", "60-40-p5-t3", "60 rows in 3 folds, 40 test rows of 5 features", []string{"--preset", "paper", "--tol",
			"0.1"}, "40 test rows"},
		{"elastic-net", "60-40-p8-t3", "60 rows in 3 folds, 40 test rows of 8 features", nil, "40 test rows"},
		{"matrix-completion", "20-16-2-1", "a matrix of 20 x 16", []string{"--max-iter", "2"}, "matrix of 20 x 16"},
		{"sparse-group-lasso", "60-30-30-p30-m6",
			"30 features, seed 3\n6 groups; coefficients are x1=1 x2=2 x3=3 x4=4 x5=5 x11=1", []string{"--preset", "paper"},
			"7 hyperparameters"},
	} {
		dir := filepath.Join(t.TempDir(), "made")
		require.Contains(t, conetune(t, "generate", c.model, "--preset", c.preset, "--seed", "3", "--out", dir).ok(t), c.want)
		require.Contains(t, conetune(t, append([]string{"tune", c.model, "--dir", dir}, c.tune...)...).stdout, c.said)
	}
	// All models without groups have the same rows.
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	conetune(t, "generate", "lasso", "--preset", "9-9-9-p20", "--out", a).ok(t)
	conetune(t, "generate", "weighted-lasso", "--preset", "9-9-9-p20", "--out", b).ok(t)
	for _, name := range []string{"train.csv.gz", "val.csv.gz", "test.csv.gz"} {
		files := contents(t, dir)
		require.NotEmpty(t, files[filepath.Join(a, name)])
		require.Equal(t, files[filepath.Join(a, name)], files[filepath.Join(b, name)])
	}
}

func TestGenerateInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(t.TempDir(), "out")
	o := conetuneUntil(t, ctx, "generate", "elastic-net", "--preset", "300-300-300-p3000", "--out", out)
	require.Equal(t, cli.ExitInterrupted, o.code)
	require.NoDirExists(t, out)
}

// Groups are found in the folder, and as many by number are the same.
func TestGroups(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	conetune(t, "generate", "sparse-group-lasso", "--preset", "60-30-30-p30-m6", "--seed", "3", "--out", dir).ok(t)
	run := func(args ...string) map[string]any {
		m := conetune(t, append([]string{"tune", "sparse-group-lasso", "--dir", dir, "--preset", "paper", "--json"},
			args...)...).object(t)
		delete(m, "time_seconds")
		delete(m, "setup_seconds")
		return m
	}
	file := run()
	require.Equal(t, file, run("--groups", "6"))
	require.Len(t, file["radii"], 7)
	require.Len(t, run("--groups", "3")["radii"], 4)
}
