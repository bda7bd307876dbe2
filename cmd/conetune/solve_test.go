package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/must"
)

func solvedFile(format, name string) string {
	return filepath.Join("..", "..", "formats", format, "testdata", name)
}

// numbers are the entries of an array of the JSON object.
func numbers(t *testing.T, value any) []float64 {
	t.Helper()
	list, ok := value.([]any)
	require.True(t, ok, "%v", value)
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = v.(float64)
	}
	return out
}

func TestSolveJSON(t *testing.T) {
	o := conetune(t, "solve", solvedFile("qps", "small.qps"), "--json")
	o.ok(t)
	require.Empty(t, o.stderr)
	m := o.object(t)
	require.Equal(t, "small", m["name"])
	require.Equal(t, "native", m["backend"])
	require.Equal(t, "optimal", m["status"])
	require.InDelta(t, -.25, m["objective"], 1e-6)
	require.InDelta(t, -.25, m["dual_objective"], 1e-6)
	require.InDeltaSlice(t, []float64{1, 1.5, 1}, numbers(t, m["x"]), 1e-5)
	require.InDeltaSlice(t, []float64{1, 0, 0}, numbers(t, m["y"]), 1e-5)
	for _, field := range []string{"primal_residual", "dual_residual", "gap"} {
		require.LessOrEqual(t, m[field], 1e-8)
	}
	for _, field := range []string{"iterations", "setup_seconds", "solve_seconds"} {
		require.Greater(t, m[field], 0.0)
	}
}

// By the class of the problem, and by two that have to agree: the optimum is that of TestSolveJSON, by hand.
func TestSolveBySeveral(t *testing.T) {
	file := solvedFile("qps", "small.qps")
	m := conetune(t, "solve", file, "--backend", "auto", "--json").told(t)
	require.Equal(t, "native", m["backend"])
	require.Equal(t, "a quadratic program: interior points", m["choice"])
	require.InDelta(t, -.25, m["objective"], 1e-6)
	require.Contains(t, conetune(t, "solve", file, "--backend", "auto").stdout,
		"native, a quadratic program: interior points")
}

func TestSolveFormats(t *testing.T) {
	m := conetune(t, "solve", solvedFile("qps", "fixed.mps"), "--json").object(t)
	require.InDelta(t, 11, m["objective"], 1e-6, "a maximum")
	require.InDeltaSlice(t, []float64{-2, 0}, numbers(t, m["y"]), 1e-6)

	m = conetune(t, "solve", solvedFile("cbf", "small.cbf"), "--json").object(t)
	require.InDelta(t, 6-2*math.Sqrt2, m["objective"], 1e-6)
	require.Len(t, m["x"], 4)
	require.Len(t, m["y"], 6)

	// A file in upper case, gzipped; a diagonal program in the SDPA format.
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	must.Of(w.Write([]byte("1\n1\n-2\n1\n0 1 1 1 3\n1 1 1 1 1\n1 1 2 2 1\n")))(t)
	require.NoError(t, w.Close())
	m = conetune(t, "solve", write(t, t.TempDir(), "LP.DAT-S.GZ", packed.String()), "--json").object(t)
	require.Equal(t, "LP", m["name"])
	require.InDeltaSlice(t, []float64{3}, numbers(t, m["x"]), 1e-6)
	require.InDeltaSlice(t, []float64{1, 0}, numbers(t, m["y"]), 1e-6)
}

func TestSolveInfeasible(t *testing.T) {
	dir := t.TempDir()
	o := conetune(t, "solve", write(t, dir, "none.mps",
		"ROWS\n N c\n L r\n G s\nCOLUMNS\n x c 1 r 1\n x s 1\nRHS\n S r 1 s 2\nENDATA\n"), "--json")
	require.Zero(t, o.code, "an infeasibility that is proven")
	m := o.object(t)
	require.Equal(t, "primal_infeasible", m["status"])
	for _, field := range []string{"x", "y", "objective", "dual_objective", "gap", "primal_residual"} {
		value, there := m[field]
		require.True(t, there, field)
		require.Nil(t, value, field)
	}
	proof := m["certificate"].(map[string]any)
	y, z := numbers(t, proof["y"]), numbers(t, proof["z"])
	require.InDelta(t, 0, y[0]+y[1]+z[0], 1e-6, "A'y + z = 0")
	require.LessOrEqual(t, y[0], 0.0)
	require.GreaterOrEqual(t, min(y[1], z[0]), 0.0)
	require.Positive(t, y[0]*1+y[1]*2, "while the sides add up to more than 0")

	radius, there := proof["radius"]
	require.True(t, there && radius == nil, "the proof is exact")

	o = conetune(t, "solve", write(t, dir, "unbounded.mps", "ROWS\n N c\n G r\nCOLUMNS\n x c -1 r 1\nENDATA\n"), "--json")
	require.Zero(t, o.code)
	m = o.object(t)
	require.Equal(t, "dual_infeasible", m["status"])
	require.Positive(t, numbers(t, m["certificate"].(map[string]any)["x"])[0])
	require.Nil(t, m["x"])

	text := conetune(t, "solve", filepath.Join(dir, "none.mps")).ok(t)
	require.Contains(t, text, "none on the native backend: infeasible, with proof")
	require.Contains(t, text, "exact: no x is feasible")

	// 0.1 x + 0.7 y <= 1, 0.3 x + 2.1 y >= 4: three times the first row contradicts the second but for the rounding of
	// the numbers, which leaves y = 1 / (3*0.7 - 2.1 + 7 (3*0.1 - 0.3)) = 2.4e15, x = -7 y as the nearest points.
	file := write(t, dir, "nearly.mps", "ROWS\n N c\n L r\n G s\nCOLUMNS\n x c 0.3 r 0.1\n x s 0.3\n y c 2.1 r 0.7\n y "+
		"s 2.1\nRHS\n RHS r 1 s 4\nBOUNDS\n FR B x\n FR B y\nENDATA\n")
	m = conetune(t, "solve", file, "--json").object(t)
	require.Equal(t, "primal_infeasible", m["status"])
	radius = m["certificate"].(map[string]any)["radius"]
	require.Greater(t, radius, 1e12)
	require.LessOrEqual(t, radius, 1.7e16)
	require.Contains(t, conetune(t, "solve", file).ok(t), fmt.Sprintf("no x with entries up to %.2g is feasible", radius))
}

func TestSolveTable(t *testing.T) {
	text := conetune(t, "solve", solvedFile("qps", "fixed.mps")).ok(t)
	for _, want := range []string{"fixed on the native backend: optimal after",
		"2 rows, 2 columns, 4 nonzeros; to maximise", "3 nonnegative", "A 1"} {
		require.Contains(t, text, want)
	}
}

func TestSolveOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "solution.json")
	file := solvedFile("qps", "small.qps")
	o := conetune(t, "solve", file, "--out", path, "--json")
	o.ok(t)
	require.Equal(t, o.stdout, readFile(t, path))
	require.Contains(t, conetune(t, "solve", file, "--out", path).ok(t), "solution in "+path)
}

func TestSolveLimits(t *testing.T) {
	file := solvedFile("qps", "small.qps")
	o := conetune(t, "solve", file, "--max-iter", "2", "--json").fails(t, cli.ExitUnsolved,
		"not solved, iteration_limit after 2 iterations")
	m := o.object(t)
	require.Equal(t, "iteration_limit", m["status"])
	require.Len(t, m["x"], 3, "what was reached is there")
	require.Len(t, m["y"], 3)

	o = conetune(t, "solve", file, "-v")
	require.Regexp(t, `(?m)^ *iteration  *objective .*\n  *0 `, o.stderr)
}

func TestSolveInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := conetuneUntil(t, ctx, "solve", solvedFile("qps", "small.qps"), "--json")
	require.Equal(t, cli.ExitInterrupted, o.code)
}

// TestSolveTimeLimit: the limit is for everything after the reading of the file.
func TestSolveTimeLimit(t *testing.T) {
	file := solvedFile("qps", "small.qps")
	o := conetune(t, "solve", file, "--time-limit", "1ns", "--json").fails(t, cli.ExitUnsolved,
		"not solved, time_limit after 0 iterations")
	m := o.object(t)
	require.Equal(t, "time_limit", m["status"])
	require.Nil(t, m["x"])
	require.Nil(t, m["objective"])
	text := conetune(t, "solve", file, "--time-limit", "1ns").stdout
	require.Contains(t, text, "stopped by the time limit")
}

// TestSolveMemory has a program for which a budget is too small; it is not the file's fault.
func TestSolveMemory(t *testing.T) {
	before := debug.SetMemoryLimit(64 << 20)
	defer debug.SetMemoryLimit(before)
	var file strings.Builder
	const order = 700 // 5 + 4 matrices of 4 MB
	fmt.Fprintf(&file, "1\n1\n%d\n1\n0 1 1 1 1\n", order)
	for i := range order {
		fmt.Fprintf(&file, "1 1 %d %d 1\n", i+1, i+1)
		for _, step := range []int{1, 37, 101, 283} { // else it falls into small cliques
			if i >= step {
				fmt.Fprintf(&file, "1 1 %d %d 0.1\n", i-step+1, i+1)
			}
		}
	}
	path := write(t, t.TempDir(), "large.dat-s", file.String())
	o := conetune(t, "solve", path)
	require.Equal(t, cli.ExitUnsolved, o.code)
	require.Empty(t, o.stdout)
	require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	for _, want := range []string{path, "the matrices of the cones would take the memory of this problem to",
		"67.1 MB are allowed", "--memory SIZE"} {
		require.Contains(t, o.stderr, want)
	}
}

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
