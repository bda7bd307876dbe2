package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	require.Equal(t, exitUsage, o.code)
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
	require.Equal(t, exitUnsolved, o.code)
	require.Contains(t, o.stderr, "still missing: 2 runs of the plan; the shards here are 1/2")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o = conetuneUntil(t, ctx, args("stopped")...)
	require.Equal(t, exitInterrupted, o.code)
	require.Contains(t, o.stderr, "--resume goes on")
}

func TestBenchPaperBadInput(t *testing.T) {
	for want, args := range map[string][]string{
		`--tables: unknown table "nmr"; known are: en`: {"paper", "--tables", "nmr"},
		"--tables: en is named twice":                  {"paper", "--tables", "en,en"},
		`--methods: unknown method "x"; known are`:     {"paper", "--methods", "grid,x"},
		`unknown backend "x"`:                          {"paper", "--backends", "x"},
		"--repeats is 0":                               {"paper", "--repeats", "0"},
		"--workers is -1":                              {"paper", "--workers", "-1"},
		`--shard: "3/2" found, expected I/N`:           {"paper", "--shard", "3/2"},
		"--data no/such/folder":                        {"paper", "--data", "no/such/folder"},
		`--rows: unknown row "w1a"`:                    {"paper", "--tables", "en", "--rows", "w1a"},
		"--out is empty":                               {"paper", "--out", ""},
		"nothing to do: needs the file":                {"paper", "--tables", "svm3"},
		"expected the folders of the parts":            {"merge", "--out", "x"},
		"--out DIR is missing":                         {"merge", "x"},
		"expected folders of conetune bench paper":     {"merge", "no/such/folder", "--out", "x"},
	} {
		o := conetune(t, append([]string{"bench"}, args...)...)
		require.Equal(t, exitUsage, o.code)
		require.Contains(t, o.stderr, want)
		require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
		require.Empty(t, o.stdout)
	}
}
