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
	out := conetune(t, "bench", "backends", "--models", "weighted-lasso", "--backends", "native", "--eps", "1e-7", "--repeats", "1", "--json", "--html", page).ok(t)
	var rows []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &rows))
	require.Len(t, rows, 4)
	for _, r := range rows {
		require.Equal(t, "native", r["backend"])
		require.Equal(t, 1e-7, r["eps"])
		require.Less(t, r["error"], 1e-4)
	}
	raw, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(raw), "--models weighted-lasso --backends native --eps 1e-7")
}

// sonar writes a small LIBSVM table of one row of the tables of the support vector machine.
func sonar(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text := strings.Repeat("1 1:1.5 2:0.5\n-1 1:-1 2:0.25\n1 1:0.5 2:-0.25\n-1 1:0.25 2:-1\n1 1:-0.25 2:1\n-1 1:-0.5 2:-0.5\n", 6)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sonar"), []byte(text), 0o666))
	return dir
}

func TestBenchPaper(t *testing.T) {
	data, root := sonar(t), t.TempDir()
	args := func(out string, more ...string) []string {
		return append([]string{"bench", "paper", "--tables", "svm3", "--methods", "grid,vf-idca-t", "--repeats", "2", "--data", data, "--out", filepath.Join(root, out)}, more...)
	}
	o := conetune(t, args("whole")...)
	text := o.ok(t)
	require.Contains(t, text, "### sonar")
	require.Contains(t, text, "4 runs, 0 of the plan are missing")
	require.Contains(t, o.stderr, "svm3 w1a is left out: no file w1a_scale or w1a")

	o = conetune(t, args("whole")...)
	require.Equal(t, cli.ExitUsage, o.code)
	require.Contains(t, o.stderr, "go on with --resume, or choose another folder")
	conetune(t, args("whole", "--resume")...).ok(t)

	conetune(t, args("a", "--shard", "1/2", "--workers", "1")...).ok(t)
	conetune(t, args("b", "--shard", "2/2")...).ok(t)
	conetune(t, "bench", "merge", filepath.Join(root, "a"), filepath.Join(root, "b"), "--out", filepath.Join(root, "both")).ok(t)
	for _, name := range []string{"errors.md", "errors.csv"} {
		want, err := os.ReadFile(filepath.Join(root, "whole", "tables", name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(root, "both", "tables", name))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
	o = conetune(t, "bench", "merge", filepath.Join(root, "a"), "--out", filepath.Join(root, "half"))
	require.Equal(t, cli.ExitUnsolved, o.code)
	require.Contains(t, o.stderr, "still missing: 2 runs of the plan; the shards here are 1/2")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o = conetuneUntil(t, ctx, args("stopped")...)
	require.Equal(t, cli.ExitInterrupted, o.code)
	require.Contains(t, o.stderr, "--resume goes on")
}
