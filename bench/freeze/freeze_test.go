package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/dataset"
)

// TestMain is the program under measurement where the environment says so: it appends its arguments to the file that is
// named there, and answers what a model or a program would.
func TestMain(m *testing.M) {
	calls := os.Getenv("FREEZE_TEST_CALLS")
	if calls == "" {
		os.Exit(m.Run())
	}
	f, err := os.OpenFile(calls, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(70)
	}
	fmt.Fprintln(f, strings.Join(os.Args[1:], " "))
	switch {
	case os.Args[1] == "version":
		fmt.Println("conetune 7")
	case os.Args[1] == "solve":
		fmt.Println(
			`{"status": "inaccurate", "iterations": 7, "objective": 2.5, "gap": null, "x": [3, 0, -4], "y": [[1], {"b": 2}]}`)
		fmt.Fprintln(os.Stderr, "first\nlast of", os.Args[2])
		os.Exit(1)
	case os.Args[2] == "matrix-completion":
		fmt.Println(`{"status": "converged", "refit": {"validation_error": 1, "test_error": null}, "radii": [5, 12]}`)
	case os.Args[2] == "svm":
		fmt.Println(`{"status": "converged", "refit`)
	default:
		_, err := os.Stat(os.Args[slices.Index(os.Args, "--dir")+1]) // the table is there
		fmt.Printf(`{"status": "converged", "validation_error": %d, "refit": {"validation_error": 0.5, "test_error": 0.25},
			"metrics": {"mae": {"value": 3, "standard_error": 9}}, "radii": [2], "intercept": 5,
			"coefficients": {"a": {"x1": 1, "x2": -1}, "b": {"x1": 0}}}`, map[bool]int{true: 1}[err == nil])
	}
	os.Exit(0)
}

// fake is a run with that program: settings, and what it was called with.
func fake(t *testing.T, only string) (s settings, f *file, calls func() []string) {
	log := filepath.Join(t.TempDir(), "calls")
	t.Setenv("FREEZE_TEST_CALLS", log)
	s = settings{runs: 2, limit: time.Minute, made: t.TempDir(), data: t.TempDir(), enough: time.Minute}
	f = &file{path: filepath.Join(t.TempDir(), "f.json"), program: os.Args[0]}
	s.only = regexp.MustCompile(only)
	for _, name := range []string{"lp/a.mps.gz", "lp/instances.csv", "reference/svm-x-seed1/a", "tabular/b.csv.gz",
		"tabular/instances.csv"} {
		require.NoError(t, os.MkdirAll(filepath.Join(s.data, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(s.data, name), []byte("12345"), 0o600))
	}
	return s, f, func() []string {
		text := must.Of(os.ReadFile(log))(t)
		require.NoError(t, os.Remove(log))
		return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(text)), "\n"),
			func(c string) bool { return c == "version" })
	}
}

// What is read off the JSON of each command is in the file, and the file names no folder of this machine.
func TestFreeze(t *testing.T) {
	s, f, calls := fake(t, "^made/small/(lasso|matrix-completion|svm)|^lp/")
	f.Solve = "--eps 1"
	require.NoError(t, s.freeze(t.Context(), f))
	require.Len(t, calls(), 8)
	out := f.path
	f = must.Of(read(out))(t)
	require.Equal(t, "conetune 7", f.Version)
	require.False(t, f.Complete)
	text := must.Of(os.ReadFile(out))(t)
	require.NotContains(t, string(text), s.data)
	require.NotContains(t, string(text), s.made)
	require.Equal(t, 6, bytes.Count(text, []byte("\n")))

	lasso, entries, svm, program := f.Cases[0], f.Cases[1], f.Cases[2], f.Cases[3]
	require.Equal(t, strings.Fields(
		"tune lasso --json --threads 1 --memory 12GB --dir MADE/lasso-small"), lasso.Args)
	require.Equal(t, map[string]float64{"validation_error": 1, "refit.validation_error": 0.5, "refit.test_error": 0.25,
		"metrics.mae.value": 3}, lasso.Errors)
	require.Equal(t, vector{Digest: lasso.Answer.Digest, Norm1: 2, Norm2: math.Sqrt2, Nonzeros: 2}, lasso.Answer)
	require.Len(t, lasso.Answer.Digest, 24)
	require.Equal(t, 2, lasso.Runs)
	require.Positive(t, lasso.Seconds)
	require.False(t, lasso.Unsteady)
	require.Equal(t, vector{Digest: entries.Answer.Digest, Norm1: 17, Norm2: 13, Nonzeros: 2}, entries.Answer)
	require.Equal(t, "failed", svm.Status)
	require.Zero(t, svm.grade())
	require.Equal(t, strings.Fields("solve DATA/lp/a.mps.gz --json --threads 1 --memory 12GB --eps 1"), program.Args)
	require.Equal(t, map[string]float64{"objective": 2.5}, program.Errors)
	require.Equal(t, vector{Digest: program.Answer.Digest, Norm1: 7, Norm2: 5, Nonzeros: 2}, program.Answer)
	require.Equal(t, 7, program.Iterations)
	require.Equal(t, 1, program.Exit)
	require.Equal(t, "last of DATA/lp/a.mps.gz", program.Message)
	var b strings.Builder
	require.False(t, compare(&b, f, f, tolerances{1.1, 1e-4}), b.String())
	require.Contains(t, b.String(), "coefficients: 4 the same to the bit")
}

// A run that was stopped goes on with the cases that are missing, and not with another program's.
func TestResume(t *testing.T) {
	s, begun, calls := fake(t, "^made/small/(lasso|ridge)$")
	freeze := func() error { return s.freeze(t.Context(), &file{path: begun.path, program: begun.program}) }
	require.NoError(t, freeze())
	require.Len(t, calls(), 4)
	s.only = regexp.MustCompile("^made/small/(lasso|ridge|huber)$")
	require.NoError(t, freeze())
	again := calls()
	require.Len(t, again, 2)
	require.Contains(t, again[0], "tune huber")
	f := must.Of(read(begun.path))(t)
	require.Len(t, f.Cases, 3)

	f.Cases[1].Status = killed
	require.NoError(t, f.write())
	require.NoError(t, freeze())
	require.Contains(t, calls()[0], "tune ridge")
	f = must.Of(read(begun.path))(t)
	require.Len(t, f.Cases, 3)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.only = regexp.MustCompile("^made/small/quantile$")
	require.Error(t, s.freeze(ended, &file{path: begun.path, program: begun.program}))
	s.runs = 3
	require.ErrorContains(t, freeze(), "another program")
	kept := must.Of(read(begun.path))(t)
	require.Equal(t, f, kept)
}

// Two programs take their turns, the other one first in the second run.
func TestInTurn(t *testing.T) {
	s, a, calls := fake(t, "^lp/")
	b := &file{path: filepath.Join(t.TempDir(), "b.json"), program: a.program, Solve: "--backend scs"}
	require.NoError(t, s.freeze(t.Context(), a, b))
	var scs []bool
	for _, c := range calls() {
		scs = append(scs, strings.Contains(c, "--backend scs"))
	}
	require.Equal(t, []bool{false, true, true, false}, scs)
	require.Len(t, a.Cases, 1)
	require.Equal(t, 2, b.Cases[0].Runs)
}

// What is asked for: parts of the data that are there, small programs, quick cases.
func TestList(t *testing.T) {
	s, _, _ := fake(t, "")
	list := func() (names []string) {
		jobs := must.Of(s.list())(t)
		for _, j := range jobs {
			names = append(names, j.name)
		}
		return names
	}
	all := list()
	require.Equal(t, []string{"reference/svm-x-seed1", "paper/svm-x-seed1/vf-idca"}, all[:2])
	require.Contains(t, all, "tabular/b.csv.gz/ridge")
	require.Equal(t, "lp/a", all[len(all)-1])
	require.Len(t, all, 1+7+3+3*20+1)
	s.quick = true
	require.Len(t, list(), 1+7+2*20+1)
	s.size = 4
	require.Len(t, list(), 1+7+2*20)
	s.data = ""
	require.Len(t, list(), 2*20)
	s.only = regexp.MustCompile("^none$")
	_, err := s.list()
	require.Error(t, err)
}

// A case of the program has the same answer each time.
func TestProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds conetune")
	}
	s := settings{runs: 2, limit: time.Minute, enough: time.Minute, made: t.TempDir(),
		only: regexp.MustCompile("^made/small/(lasso|matrix-completion)$")}
	f := &file{path: filepath.Join(t.TempDir(), "f.json"), program: filepath.Join(s.made, "conetune")}
	text, err := exec.CommandContext(t.Context(), "go", "build", "-o", f.program,
		"github.com/conetune/conetune/cmd/conetune").CombinedOutput()
	require.NoError(t, err, string(text))
	require.NoError(t, s.freeze(t.Context(), f))
	require.Len(t, f.Cases, 2)
	for _, c := range f.Cases {
		require.Equal(t, "converged", c.Status, c)
		require.False(t, c.Unsteady)
		require.Positive(t, c.Answer.Nonzeros)
		require.Positive(t, c.Errors["refit.test_error"])
	}
}

// The slope of x^1.5 is 1.5 whatever came before the last decade.
func TestSlope(t *testing.T) {
	x := []float64{1, 10, 30, 100}
	y := []float64{1e9, math.Pow(10, 1.5), math.Pow(30, 1.5), math.Pow(100, 1.5)}
	require.Equal(t, ": 1.5", slope(x, y))
	require.Empty(t, slope(x[:1], y))
	require.Empty(t, slope([]float64{1, 100}, []float64{1, 2}))
}

// Tables have the shape that they say, and the same shape gives the same bytes.
func TestGrown(t *testing.T) {
	for _, shape := range []grown{{rows: 40, features: 7}, {rows: 41, features: 300, entries: 9},
		{rows: 40, features: 7, labels: true}} {
		a, b := t.TempDir(), t.TempDir()
		require.NoError(t, shape.write(a))
		require.NoError(t, shape.write(b))
		rows, nonzeros := 0, 0
		for _, name := range parts {
			read := func(dir string) *dataset.Data {
				f := must.Of(textfile.ReadFile(filepath.Join(dir, shape.folder(), name+".svm"), libsvm.Read))(t)
				x := must.Of(f.Matrix(1, shape.features))(t)
				return &dataset.Data{X: x, Y: f.Labels}
			}
			m, same := read(a), read(b)
			require.Equal(t, m, same)
			rows += len(m.Y)
			nonzeros += m.Nonzeros()
			for _, y := range m.Y {
				require.True(t, !shape.labels || math.Abs(y) == 1)
			}
		}
		require.Equal(t, shape.rows, rows)
		require.LessOrEqual(t, nonzeros, shape.nonzeros())
		require.GreaterOrEqual(t, 3*nonzeros, 2*shape.nonzeros())
	}
}

// The picture has a line for each series that was measured.
func TestDraw(t *testing.T) {
	f := &file{}
	for _, j := range grownTables(1e6) {
		f.Cases = append(f.Cases, result{Name: j.name, Args: j.args, Status: "converged", Seconds: 0.25, Peak: 30.5})
	}
	f.Cases = slices.DeleteFunc(f.Cases, func(r result) bool { return strings.Contains(r.Name, "logistic") })
	lines := draw(f).Panels[1].Lines
	require.Len(t, lines, 6)
	require.Equal(t, "rows hoag: 0.0", lines[1].Name)
	require.Equal(t, []float64{5e4, 15e4, 5e5}, lines[1].X)
}

// tuneCase and solveCase are cases as they stand in a file.
const (
	tuneCase  = `{"name": "made/a", "args": ["tune"], "exit": 0, "status": "converged", "errors": {"refit.validation_error": 2, "refit.test_error": 4}, "coefficients": {"digest": "aa", "norm1": 3, "norm2": 2, "nonzeros": 5}, "cpu_seconds": 1, "peak_mb": 100}`
	solveCase = `{"name": "lp/b", "args": ["solve"], "exit": 0, "status": "optimal", "errors": {"objective": -7}, "coefficients": {"digest": "bb", "norm1": 3, "norm2": 2, "nonzeros": 5}, "cpu_seconds": 0.1, "peak_mb": 50}`
)

// Two files of two cases, of which the newer differs in one thing.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	save := func(name, complete string, cases ...string) string {
		path := filepath.Join(dir, name)
		text := `{"complete": ` + complete + `, "cases": [` + strings.Join(cases, ",\n") + "]}"
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	older := save("old.json", "true", tuneCase, solveCase)
	for _, c := range []struct {
		name, from, to string
		worse          bool
		says           string
	}{
		{"the same", "", "", false, "coefficients: 2 the same to the bit, 0 with"},
		{"verdict lost", `0, "status": "optimal"`, `1, "status": "inaccurate"`, true, "lost     lp/b: optimal -> inaccurate"},
		{"other verdict", "optimal", "primal_infeasible", true, "lost     lp/b: optimal -> primal_infeasible"},
		{"failed", `0, "status": "converged"`, `2, "status": "failed", "message": "no row"`, true,
			"lost     made/a: converged -> failed no row"},
		{"error of the test", `"refit.test_error": 4`, `"refit.test_error": 4.001`, true,
			"worse    made/a: refit.test_error 4 -> 4.001 (+2.5e-04)"},
		{"error of the folds", `"refit.validation_error": 2`, `"refit.validation_error": 2.1`, true,
			"worse    made/a: refit.validation_error"},
		{"within the tolerance", `"refit.test_error": 4`, `"refit.test_error": 4.0003`, false, "0 lost, 0 worse, 0 slower"},
		{"less error of the folds", `"refit.validation_error": 2`, `"refit.validation_error": 1`, false,
			"better   made/a: refit.validation_error"},
		{"more of the test with it", `"refit.validation_error": 2, "refit.test_error": 4`,
			`"refit.validation_error": 1, "refit.test_error": 5`, false, "traded   made/a: refit.test_error"},
		{"no error", `, "refit.test_error": 4`, ``, true, "worse    made/a: refit.test_error 4 -> 0 (+Inf)"},
		{"objective", "-7", "-7.01", true, "worse    lp/b: objective -7 -> -7.01"},
		{"slower", `"cpu_seconds": 1`, `"cpu_seconds": 1.2`, true, "slower   made/a: 1.00 -> 1.20 s (1.20)"},
		{"slower by less", `"cpu_seconds": 1`, `"cpu_seconds": 1.05`, false,
			"tables            1      1.00 s      1.05 s   1.050"},
		{"slower in little time", `"cpu_seconds": 0.1`, `"cpu_seconds": 0.19`, false,
			"programs          1      0.10 s      0.19 s   1.900"},
		{"memory", `"peak_mb": 50`, `"peak_mb": 100`, true, "memory   lp/b: 50 -> 100 MB (2.00)"},
		{"coefficients", `"digest": "aa", "norm1": 3`, `"digest": "cc", "norm1": 4`, false, "1 further apart made/a"},
		{"coefficients nearby", `"digest": "aa", "norm1": 3`, `"digest": "cc", "norm1": 3.0001`, false,
			"1 with norms within 1e-04, 0 further"},
		{"unsteady", `"peak_mb": 50`, `"peak_mb": 50, "unsteady": true`, false, "from run to run: lp/b"},
		{"command line", `["solve"]`, `["solve", "--eps"]`, false, "2 cases of both (1 with another command line)"},
	} {
		newer := save("new.json", "true", strings.Replace(tuneCase, c.from, c.to, 1), strings.Replace(solveCase, c.from, c.to,
			1))
		var b strings.Builder
		worse := must.Of(compareFiles(&b, older, newer, tolerances{1.1, 1e-4}))(t)
		require.Equal(t, c.worse, worse, c.name)
		require.Contains(t, b.String(), c.says, c.name)
	}

	for complete, worse := range map[string]bool{"true": true, "false": false} {
		var b strings.Builder
		got := must.Of(compareFiles(&b, older, save("new.json", complete, tuneCase), tolerances{1.1, 1e-4}))(t)
		require.Equal(t, worse, got)
		require.Contains(t, b.String(),
			"1 cases of both (0 with another command line), 1 of the old alone, 0 of the new alone")
	}
	var b strings.Builder
	failing := strings.Replace(solveCase, `0, "status": "optimal"`, `1, "status": "inaccurate"`, 1)
	got := must.Of(compareFiles(&b, save("bad.json", "true", failing), older, tolerances{1.1, 1e-4}))(t)
	require.False(t, got)
	require.Contains(t, b.String(), "won      lp/b: inaccurate -> optimal")
	_, err := compareFiles(&b, filepath.Join(dir, "none.json"), older, tolerances{})
	require.Error(t, err)
	_, err = compareFiles(&b, save("torn.json", "true", tuneCase[:9]), older, tolerances{})
	require.ErrorContains(t, err, "torn.json")
}
