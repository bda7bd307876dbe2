package main

import (
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

func TestBenchBadInput(t *testing.T) {
	for want, args := range map[string][]string{
		"expected a subcommand":                             {},
		`unknown model "lasso"; known are`:                  {"backends", "--models", "lasso"},
		`unknown backend "x"; known are`:                    {"backends", "--backends", "native,x"},
		`--eps: tolerance 2 is "0"`:                         {"backends", "--eps", "1e-3,0"},
		"--repeats is 0":                                    {"backends", "--repeats", "0"},
		"--time-limit is 0s":                                {"backends", "--time-limit", "0"},
		"--html":                                            {"backends", "--html", "no/such/folder/x.html"},
		`unknown command "x" for "conetune bench backends"`: {"backends", "x"},
	} {
		o := conetune(t, append([]string{"bench"}, args...)...)
		require.Equal(t, cli.ExitUsage, o.code)
		require.Contains(t, o.stderr, want)
		require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
		require.Empty(t, o.stdout)
	}
}
