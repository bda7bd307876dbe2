package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/root"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/tune"
)

// threeParts is a --split into rows for training, validation and test.
const threeParts = "0.5/0.25/rest"

// A model has the coefficients that made the table, and predicts rows whatever form they come in.
func TestSaveAndPredict(t *testing.T) {
	dir := t.TempDir()
	train, val, test := write(t, dir, "train.csv", csvText(1, 60, 6)), write(t, dir, "val.csv", csvText(2, 30, 6)),
		write(t, dir, "test.csv", csvText(3, 20, 6))
	path := filepath.Join(dir, "model.json")
	refit := conetune(t, "tune", "elastic-net", "--train", train, "--val", val, "--test", test, "--json", "--save",
		path).told(t)["refit"].(map[string]any)

	m := readModel(t, path)
	require.Equal(t, "y", m.Target)
	require.Equal(t, []string{"f1", "f2", "f3", "f4", "f5", "f6"}, m.Features)
	require.Equal(t, refit["test_error"], *m.TestError)
	require.True(t, m.Provenance.Standardize && m.Provenance.Intercept)
	require.Equal(t, []int{60, 30, 20}, []int{m.Provenance.TrainingRows, m.Provenance.ValidationRows,
		m.Provenance.TestRows})
	// The data are y = 100 + 3 x1 + 2 x2 + x3 + noise with f_j = j x_j + 5.
	for j, want := range []float64{3, 1, 1.0 / 3, 0, 0, 0} {
		require.InDelta(t, want, m.Coefficients[j], 0.5/float64(1+j), m.Features[j])
	}

	p := conetune(t, "predict", "--model", path, "--data", test)
	lines := strings.Fields(p.ok(t))
	require.Len(t, lines, 20)
	first := strings.Split(strings.Split(csvText(3, 20, 6), "\n")[1], ",")

	// The same rows with other columns first, another one among them, and no target.
	shuffled := write(t, dir, "shuffled.csv", "f3,f1,name,f2,f6,f5,f4\n"+strings.Join([]string{first[3], first[1], "7",
		first[2], first[6], first[5], first[4]}, ",")+"\n")
	p = conetune(t, "predict", "--model", path, "--data", shuffled)
	require.Equal(t, lines[0]+"\n", p.ok(t))
	require.Equal(t, shuffled+": column \"f3\" (1, line 2): values outside of the range of the training rows\n", p.stderr)

	// A LIBSVM file has the features by index.
	var svm strings.Builder
	svm.WriteString(first[0])
	for j := range 6 {
		svm.WriteString(" " + strconv.Itoa(j+1) + ":" + first[1+j])
	}
	p = conetune(t, "predict", "--model", path, "--data", write(t, dir, "row.svm", svm.String()+"\n"))
	require.Equal(t, lines[0]+"\n", p.ok(t))

	out := filepath.Join(dir, "predictions.txt")
	require.Empty(t, conetune(t, "predict", "--model", path, "--data", test, "--out", out).ok(t))
	require.Equal(t, lines, strings.Fields(readFile(t, out)))

	lacking := write(t, dir, "lacking.csv", "f1,f2,f3,f4\n1,2,3,4\n")
	p = conetune(t, "predict", "--model", path, "--data", lacking)
	require.Equal(t, cli.ExitUsage, p.code)
	require.Contains(t, p.stderr, `"f5"`)
	require.Empty(t, p.stdout)
}

// TestSameBytes: a seed decides everything but the times.
func TestSameBytes(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "table.csv", csvText(1, 60, 8))
	times := regexp.MustCompile(`("[a-z]*_?seconds"):[0-9.e+-]+`)
	once := func(seed string) [3]string {
		trace, save := filepath.Join(dir, "trace.jsonl"), filepath.Join(dir, "model.json")
		o := conetune(t, "tune", "elastic-net", "--data", data, "--json", "--seed", seed, "--trace", trace, "--save", save)
		o.ok(t)
		files := contents(t, dir)
		return [3]string{times.ReplaceAllString(o.stdout, "$1:0"), times.ReplaceAllString(files[trace], "$1:0"), files[save]}
	}
	first := once("5")
	require.Equal(t, first, once("5"))
	require.NotEqual(t, first[2], once("6")[2])
}

func TestTableTraceAndFigure(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "table.csv", csvText(1, 90, 6))
	trace, plot, save := filepath.Join(dir, "t.jsonl"), filepath.Join(dir, "p.png"), filepath.Join(dir, "m.json")
	text := conetune(t, "tune", "elastic-net", "--data", data, "--split", threeParts, "--trace", trace, "--plot", plot,
		"--save", save).ok(t)
	for _, want := range []string{
		"elastic-net for y, chosen by vf-idca: ", "vf-idca on the native backend, converged after",
		"6 features; 45 training, 23 validation, 22 test rows; target y",
		"split 0.5/0.25/rest, seed 1", "features standardised", "On the test (22 rows, used for nothing else): ",
		"root mean squared error", "Least squares, without a penalty, has", "features are in the model", "intercept",
		"trace in " + trace, "figure in " + plot, "model in " + save,
	} {
		require.Contains(t, text, want)
	}
	// f1 has the largest effect and comes first.
	require.Regexp(t, `(?m)^feature .*\nf1 `, text)

	lines := strings.Split(strings.TrimSpace(contents(t, dir)[trace]), "\n")
	for k, line := range lines {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		require.Equal(t, float64(k+1), m["k"])
		for _, name := range []string{"validation_error", "test_error", "refit", "alpha", "gap", "step", "elapsed_seconds"} {
			require.Contains(t, keys(m), name)
		}
	}
	must.Of(png.Decode(strings.NewReader(contents(t, dir)[plot])))(t)
	conetune(t, "tune", "elastic-net", "--data", data, "--plot", filepath.Join(dir, "p.svg"), "--plot-trace",
		filepath.Join(dir, "t.svg")).ok(t)
	require.Contains(t, contents(t, dir)[filepath.Join(dir, "t.svg")], "validation, refit")
	require.Contains(t, contents(t, dir)[filepath.Join(dir, "p.svg")], "mean ± s.e.")
}

// TestLimits: a run that a limit ends has status 1, says so, and keeps what it has.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "table.csv", csvText(1, 90, 6))
	save := filepath.Join(dir, "m.json")
	for status, limit := range map[string][]string{
		"iteration_limit": {"--max-iter", "1"},
		"time_limit":      {"--time-limit", "1ns"},
	} {
		o := conetune(t, append([]string{"tune", "elastic-net", "--data", data, "--json", "--tol", "1e-12", "--save", save},
			limit...)...)
		require.Equal(t, cli.ExitUnsolved, o.code)
		require.Equal(t, status, o.object(t)["status"])
		require.Contains(t, o.stderr, "limit after")
		require.Equal(t, 1, strings.Count(o.stderr, "\n"))
	}
	require.Equal(t, "iteration_limit", readModel(t, save).Provenance.Status)
}

// TestInterrupt cancels a run that would go on for long after its first line of trace.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "table.csv", csvText(1, 300, 100))
	trace := filepath.Join(dir, "t.jsonl")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopped := make(chan int, 1) // lines of the trace when it was cancelled
	go func() {
		for {
			if text, err := os.ReadFile(trace); err == nil && len(text) > 0 {
				cancel()
				text, _ = os.ReadFile(trace)
				stopped <- bytes.Count(text, []byte("\n"))
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	o := conetuneUntil(t, ctx, "tune", "weighted-lasso", "--data", data, "--json", "--tol", "1e-300", "--gap-tol",
		"1e-300", "--max-iter", "1000000", "--trace", trace).fails(t, cli.ExitInterrupted, "interrupted after")
	m := o.object(t)
	require.Equal(t, "cancelled", m["status"])
	lines := strings.Count(contents(t, dir)[trace], "\n")
	require.Equal(t, int(m["iterations"].(float64)), lines)
	require.LessOrEqual(t, lines, <-stopped+1, "it went on after the iteration in which it was cancelled")

	// Interrupted before it begins, it says so and writes nothing.
	before := contents(t, dir)
	conetuneUntil(t, ctx, "tune", "elastic-net", "--data", data, "--save", filepath.Join(dir, "m.json")).fails(t,
		cli.ExitInterrupted, "interrupted")
	require.Equal(t, before, contents(t, dir))
}

// The order of differences reaches the fused lasso. Flags of losses: TestScoreIsThatOfTune.
func TestOrderFlag(t *testing.T) {
	data := write(t, t.TempDir(), "table.csv", csvText(1, 90, 6))
	radii := func(more ...string) any {
		return conetune(t, append([]string{"tune", "fused-lasso", "--data", data, "--json"}, more...)...).told(t)["radii"]
	}
	require.NotEqual(t, radii(), radii("--order", "2"))
}

// The settings of a tune, written and read again, give the same choice; the command line goes first.
func TestConfig(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".", "t.csv", csvText(3, 60, 6))
	args := []string{"tune", "elastic-net", "--data", "t.csv", "--drop", "f5,f6", "--method", "grid,random",
		"--evaluations", "9", "--folds", "3", "--range", "1e-4:1",
		"--time-limit", "1m30s", "--standardize=true", "--memory", "1234567890", "--target", "y"}
	o := conetune(t, append(args, "--save-config", "s.yaml", "--save", "a.json", "--report", "a.html")...)
	require.Contains(t, o.ok(t), "settings in s.yaml")
	head, rest, _ := strings.Cut(readFile(t, "s.yaml"), "\n")
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
	require.Contains(t, readFile(t, "a.html"), "drop: [f5, f6]\nfolds: 3\n")

	conetune(t, "tune", "--config", "s.yaml", "--save", "b.json", "--save-config", "again.yaml").ok(t)
	require.Equal(t, readFile(t, "s.yaml"), readFile(t, "again.yaml"))
	a, b := contents(t, ".")["a.json"], contents(t, ".")["b.json"]
	require.True(t, a == b && a != "")

	r := conetune(t, "tune", "ridge", "--config", "s.yaml", "--method", "vf-idca", "--seed", "4", "--json").object(t)
	require.Equal(t, "ridge", r["model"])
	require.Equal(t, "vf-idca", r["method"])
	require.Equal(t, 4.0, r["seed"])

	write(t, ".", "jobs.csv", "job,seed,method\na,,\nb,2,vf-idca\n")
	t.Setenv(command, "1")
	conetune(t, "batch", "jobs.csv", "--config", "s.yaml", "--folds", "4", "--out", "out").ok(t)
	records := batchRecords(t, "out")
	require.Equal(t, map[string]any{"model": "elastic-net", "data": "t.csv", "target": "y", "drop": "f5,f6", "folds": "4",
		"standardize": "true", "method": "vf-idca", "evaluations": "9",
		"range": "1e-4:1", "time-limit": "1m30s", "memory": "1234567890", "seed": "2"}, records["b"]["settings"])
}

// A name with a comma stands in quotes where a flag has a list.
func TestNamesWithCommas(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".", "t.csv", strings.Replace(csvText(3, 60, 4), "f1,f2", `"f, 1",f2`, 1))
	r := conetune(t, "tune", "lasso", "--data", "t.csv", "--features", `f2,"f, 1"`, "--upper", `"f, 1=0.5"`, "--json",
		"--save-config", "s.yaml").told(t)
	require.InDelta(t, 0.5, r["coefficients"].(map[string]any)["f, 1"], 1e-9)
	require.Contains(t, readFile(t, "s.yaml"), "features: [f2, 'f, 1']\nseed: 1\nupper: '\"f, 1=0.5\"'\n")
	require.Equal(t, r["coefficients"], conetune(t, "tune", "--config", "s.yaml", "--json").told(t)["coefficients"])
}

// Several methods: an array, a table, one trace, a figure, and the best model in the file.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "table.csv", csvText(1, 90, 6))
	trace, plot, path := filepath.Join(dir, "t.jsonl"), filepath.Join(dir, "p.png"), filepath.Join(dir, "m.json")
	args := []string{"tune", "elastic-net", "--data", data, "--method", "grid,random,vf-idca", "--evaluations", "9",
		"--seed", "2"}
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
	saved := readModel(t, path)
	require.Equal(t, least, saved.Provenance.Method)
	require.Equal(t, validation, *saved.ValidationError)

	raw := readFile(t, trace)
	lines := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(raw), "\n") {
		var e map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		lines[e["method"].(string)]++
		require.Contains(t, e, "best_validation_error")
		require.Contains(t, e, "lambda")
	}
	require.Equal(t, 9, lines["grid"])
	require.Equal(t, 9, lines["random"])
	require.Equal(t, int(results[2]["iterations"].(float64)), lines["vf-idca"])
	f := must.Of(os.Open(plot))(t)
	defer f.Close()
	must.Of(png.Decode(f))(t)

	text := conetune(t, args...).ok(t)
	for _, want := range []string{"grid", "random", "vf-idca", "9 evaluations", "The model of " + least,
		"chosen by " + least} {
		require.Contains(t, text, want)
	}
}

// One after the other: vf-idca begins at the choice of the grid, and needs no path.
func TestChain(t *testing.T) {
	data := write(t, t.TempDir(), "table.csv", csvText(1, 90, 6))
	o := conetune(t, "tune", "elastic-net", "--data", data, "--method", "grid,vf-idca,random", "--chain", "--evaluations",
		"16", "--json")
	o.ok(t)
	var results []tune.Result
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &results))
	require.Len(t, results, 3)
	require.LessOrEqual(t, results[1].Refit.Validation, results[0].Refit.Validation*1.0001)
	require.LessOrEqual(t, results[2].Refit.Validation, results[0].Refit.Validation*1.01)
}

// The log of a run has its stages in their order; without -v nothing is written where nobody looks.
func TestStagesInTheLog(t *testing.T) {
	data := write(t, t.TempDir(), "table.csv", csvText(1, 90, 6))
	var stdout, stderr bytes.Buffer
	require.Equal(t, cli.ExitDone, root.Run(context.Background(), []string{"tune", "elastic-net", "--data", data, "-v",
		"--max-iter", "100"}, nil, &stdout, &stderr))
	text := stderr.String()
	for _, stage := range []string{
		"reading ", "building the model", `at start: point 1 of `, `at start: lower level`,
		`at iteration 1: subproblem`, `at iteration 1: lower level`, `at final fit`,
	} {
		_, rest, found := strings.Cut(text, stage)
		require.True(t, found, stage)
		text = rest
	}
	stderr.Reset()
	require.Equal(t, cli.ExitDone, root.Run(context.Background(), []string{"tune", "elastic-net", "--data", data,
		"--method", "grid"}, nil, &stdout, &stderr))
	require.Empty(t, stderr.String())
}
