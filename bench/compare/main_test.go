package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain is the program under comparison where the environment says what it answers.
func TestMain(m *testing.M) {
	if answer := os.Getenv("COMPARE_TEST_ANSWER"); answer != "" && len(os.Args) > 2 && os.Args[1] == "solve" {
		fmt.Println(answer)
		os.Exit(3) // as solve does without a verdict; the JSON counts
	}
	os.Exit(m.Run())
}

// Both programs run on each file, and what they print is what is compared.
func TestContest(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"b.qps.gz", "a.mps", "instances.csv"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, f), nil, 0o600))
	}
	files, err := instances(dir, "")
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "a.mps"), filepath.Join(dir, "b.qps.gz")}, files)
	_, err = instances(dir, "c")
	require.Error(t, err)

	t.Setenv("COMPARE_TEST_ANSWER", `{"status": "inaccurate", "iterations": 7, "objective": null, "x": [1]}`)
	c := contestant{program: os.Args[0], backend: "native", eps: "1e-8", limit: time.Minute}
	r, err := contest(context.Background(), [2]contestant{c, c}, files[0], 2, 0)
	require.NoError(t, err)
	for _, x := range r.run {
		require.Equal(t, "inaccurate", x.Status)
		require.Equal(t, 7, x.Iterations)
		require.Nil(t, x.Objective)
		require.Positive(t, x.Seconds)
	}
}

// Sums and means of two files: twice and half the time, one status lost, one won.
func TestSummary(t *testing.T) {
	v, w := 2.0, 2.1
	rows := []row{
		{"x/a.mps", [2]run{{"optimal", 9, &v, 0.99}, {"optimal", 19, &w, 1.99}}},
		{"x/b.mps", [2]run{{"optimal", 9, &v, 3.99}, {"optimal", 9, &v, 1.99}}},
		{"x/c.mps", [2]run{{"optimal", 1, &v, 0}, {"inaccurate", 1, &v, 0}}},
		{"x/d.mps", [2]run{{"time_limit", 1, &v, 0}, {"primal_infeasible", 1, nil, 0}}},
	}
	s := summary(rows)
	require.Contains(t, s, "4 files: solved 3 -> 3 (1 lost, 1 won)")
	require.Contains(t, s, "iterations 20 -> 30")
	require.Contains(t, s, "CPU seconds 1.000, iterations 1.414")
	require.Contains(t, rows[0].String(), "objectives 4.8e-02 apart")
	require.Contains(t, rows[2].String(), "LOST")
	var b strings.Builder
	require.NoError(t, table(&b, rows))
	require.Equal(t, 5, strings.Count(b.String(), "\n"))
}
