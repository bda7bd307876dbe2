package tune

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/report"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/table/split"
	"github.com/conetune/conetune/tune"
)

// endedRun is one of two iterations.
func endedRun() (*report.Run, *tune.Result) {
	train := &dataset.Data{X: mat.NewDense(2, 2, []float64{-1, 1, 1, -1}), Y: []float64{1, 2},
		Features: []string{"a", "b"}, Target: "y"}
	r := &tune.Result{
		Model: "elastic-net", Method: "vf-idca", Backend: "native", Status: outcome.Converged, Iterations: 2,
		Refit:    &problems.Errors{Validation: 2.5},
		RefitFit: problems.Fit{Features: train.Features, Coefficients: []float64{2, 0}}, Radii: []float64{0, 1},
	}
	return &report.Run{Source: &input.Source{Dir: "data"}, Options: &model.Options{}, Results: []*tune.Result{r},
		Rows: &input.Rows{Split: &dataset.Split{Train: train, Val: train}}}, r
}

func TestOutcome(t *testing.T) {
	for status, want := range map[outcome.Stop]struct {
		code int
		text string
	}{
		outcome.Converged:      {cli.ExitDone, ""},
		outcome.IterationLimit: {cli.ExitUnsolved, "stopped by the iteration limit after 2 iterations"},
		outcome.TimeLimit:      {cli.ExitUnsolved, "stopped by the time limit"},
		dca.Inaccurate:         {cli.ExitUnsolved, "missed their tolerances"},
		outcome.NumericalError: {cli.ExitUnsolved, "stopped by a numerical error"},
		dca.LowerInfeasible:    {cli.ExitUnsolved, "the lower level became infeasible"},
		outcome.Cancelled:      {cli.ExitInterrupted, "interrupted after 2 iterations"},
	} {
		run, r := endedRun()
		r.Status = status
		var stderr bytes.Buffer
		err := exitStatus(&cli.App{Stderr: &stderr}, &tuneJob{tuneFlags: &tuneFlags{}, run: run})
		if want.code == cli.ExitDone {
			require.NoError(t, err)
			require.Empty(t, stderr.String())
			continue
		}
		var e *cli.ExitError
		require.ErrorAs(t, err, &e)
		require.Equal(t, want.code, e.Code)
		require.Contains(t, stderr.String(), want.text)
		require.Equal(t, 1, strings.Count(stderr.String(), "\n"))
	}
	// A run without a refit has no model to save.
	run, r := endedRun()
	r.Refit, r.Status = nil, outcome.Cancelled
	var stderr bytes.Buffer
	job := &tuneJob{tuneFlags: &tuneFlags{save: "m.json"}, run: run}
	require.Error(t, exitStatus(&cli.App{Stderr: &stderr}, job))
	require.Contains(t, stderr.String(), "no model to write to m.json")
}

func TestSavedModel(t *testing.T) {
	run, r := endedRun()
	job := &tuneJob{tuneFlags: &tuneFlags{Data: dataFlags{Source: *run.Source}}, run: run}
	r.Hyperparameters = map[string]float64{"lambda1": 0, "lambda2": 0.5}
	m := job.saved(r)
	require.Equal(t, 2.5, *m.ValidationError)
	require.Equal(t, r.RefitFit.Coefficients, m.Coefficients)
	require.Equal(t, []string{"data"}, m.Provenance.Files)
	require.Equal(t, 0, m.Provenance.TestRows)
}

// read reads the rows as conetune tune does with these flags.
func readDesign(t *testing.T, labels bool, args ...string) (*input.Rows, error) {
	f, fs := JobFlags()
	d := &f.Data
	require.NoError(t, fs.Parse(args))
	d.Repeats, d.Seed, d.Wanted.Classes = cmp.Or(d.Repeats, 1), 1, labels
	if err := d.check(fs); err != nil {
		return nil, err
	}
	return d.Read()
}

// write writes a file, and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// wards are twelve visits: three wards, days that are not in order with one twice, and folds that are given by name.
const wards = "../../../cmd/conetune/testdata/wards.csv"

func validating(cv *dataset.CrossValidation) (rows [][]int) {
	for _, f := range cv.Folds {
		rows = append(rows, f.Val)
	}
	return rows
}

// The folds of a small table are those that a person writes down.
func TestFoldsByColumns(t *testing.T) {
	data := wards
	north, south, east := []int{0, 2, 11}, []int{1, 5, 6, 8, 9}, []int{3, 4, 7, 10}
	others := func(val []int) (train []int) {
		for i := range 12 {
			if !slices.Contains(val, i) {
				train = append(train, i)
			}
		}
		return train
	}
	for _, c := range []struct {
		name string
		args []string
		val  [][]int
	}{
		{"fold column", []string{"--fold-column", "part"}, [][]int{{1, 2, 6, 9}, {0, 5, 8, 10}, {3, 4, 7, 11}}},
		{"fold column and all rows", []string{"--fold-column", "part", "--split", "all"}, [][]int{{1, 2, 6, 9}, {0, 5, 8, 10},
			{3, 4, 7, 11}}},
		{"a group in each fold", []string{"--group", "ward", "--folds", "all", "--split", "all"},
			[][]int{east, north, south}},
		{"groups in two folds", []string{"--group", "ward", "--folds", "2", "--split", "all"},
			[][]int{append(slices.Clone(north), east...), south}},
		{"rows", []string{"--folds", "all", "--split", "all"}, [][]int{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10},
			{11}}},
	} {
		rows, err := readDesign(t, false, append([]string{"--data", data}, c.args...)...)
		require.NoError(t, err, c.name)
		for k := range c.val {
			slices.Sort(c.val[k])
		}
		require.Equal(t, c.val, validating(rows.CV), c.name)
		for k, f := range rows.CV.Folds {
			require.Equal(t, others(c.val[k]), f.Training(len(rows.CV.Data.Y)), c.name)
		}
		require.Nil(t, rows.CV.Test)
		for _, name := range []string{"ward", "day", "part"} { // of another purpose they are features
			require.Equal(t, slices.Contains(c.args, name), !slices.ContainsFunc(rows.CV.Data.Features,
				func(f string) bool { return strings.HasPrefix(f, name) }), c.name)
		}
	}

	// By days: 3, 1, 5, 9, 7, 10, {4, 11}, 6, 0, 8, 2. In four blocks of three these are the rows
	// 3 1 5 | 9 7 10 | 4 11 6 | 0 8 2.
	rows := must.Of(readDesign(t, false, "--data", data, "--time", "day", "--folds", "3", "--split", "all"))(t)
	require.Equal(t, []split.Fold{
		{Train: []int{1, 3, 5}, Val: []int{7, 9, 10}},
		{Train: []int{1, 3, 5, 7, 9, 10}, Val: []int{4, 6, 11}},
		{Val: []int{0, 2, 8}, Others: true},
	}, rows.CV.Folds)

	// The last quarter is for the test, and of the others the last two thirds validate.
	rows, err := readDesign(t, false, "--data", data, "--time", "day", "--folds", "2", "--split", "0.75/rest", "--features",
		"x")
	require.NoError(t, err)
	require.Equal(t, []float64{1, 4, 9}, rows.CV.Test.Y)
	require.Equal(t, []float64{2, 3, 5, 7, 6, 8, 1, 2, 3}, rows.CV.Data.Y)
	require.Equal(t, []split.Fold{{Train: []int{0, 1, 3}, Val: []int{5, 6, 7}}, {Val: []int{2, 4, 8}, Others: true}},
		rows.CV.Folds)

	// Without folds --split goes by columns as well.
	rows = must.Of(readDesign(t, false, "--data", data, "--time", "day", "--split", "6/3/rest"))(t)
	require.Equal(t, []float64{2, 3, 7, 8, 1, 2}, rows.Split.Train.Y)
	require.Equal(t, []float64{5, 6, 3}, rows.Split.Val.Y)
	require.Equal(t, []float64{1, 4, 9}, rows.Split.Test.Y)
	rows = must.Of(readDesign(t, false, "--data", data, "--group", "ward", "--split", "5/4/3"))(t)
	require.Equal(t, []float64{2, 7, 6, 9, 1}, rows.Split.Train.Y)
	require.Equal(t, []float64{3, 5, 8, 2}, rows.Split.Val.Y)
	require.Equal(t, []float64{1, 4, 3}, rows.Split.Test.Y)
}

// Of one repeat all rows are split into five folds, or to as many as there are rows, groups and times for.
func TestDesignByDefault(t *testing.T) {
	dir := t.TempDir()
	data := wards
	all := must.Of(os.ReadFile(wards))(t)
	few := write(t, dir, "few.csv", strings.Join(strings.SplitAfter(string(all), "\n")[:4], ""))
	for _, c := range []struct {
		args  []string
		sizes []int // of the validation rows of the folds
		test  int
	}{
		{[]string{"--data", data}, []int{3, 3, 2, 2, 2}, 0},
		{[]string{"--data", data, "--split", "all"}, []int{3, 3, 2, 2, 2}, 0},
		{[]string{"--data", data, "--test", few}, []int{3, 3, 2, 2, 2}, 3},
		{[]string{"--data", data, "--split", "10/rest", "--folds", "5"}, []int{2, 2, 2, 2, 2}, 2},
		{[]string{"--data", few}, []int{1, 1, 1}, 0},
		{[]string{"--data", data, "--group", "ward"}, []int{3, 4, 5}, 0},
		{[]string{"--data", data, "--time", "day"}, []int{2, 2, 2, 2, 2}, 0},
	} {
		rows, err := readDesign(t, false, c.args...)
		require.NoError(t, err, c.args)
		var sizes []int
		var all []int
		for _, f := range rows.CV.Folds {
			sizes = append(sizes, len(f.Val))
			all = append(all, f.Val...)
		}
		if slices.Contains(c.args, "--group") {
			slices.Sort(sizes)
		}
		require.Equal(t, c.sizes, sizes, c.args)
		slices.Sort(all)
		require.Len(t, slices.Compact(all), len(all))
		n, _ := rows.CV.Test.Dims()
		require.Equal(t, c.test, n, c.args)
	}

	// A class of ten rows in thirty is split two to a fold; one of two rows to two of them.
	for size, most := range map[int]int{10: 2, 2: 1} {
		text := "y,x\n"
		for i := range 30 {
			text += fmt.Sprintf("%v,%d\n", i < size, i)
		}
		rows := must.Of(readDesign(t, true, "--data", write(t, dir, "labels.csv", text)))(t)
		for _, f := range rows.CV.Folds {
			n := 0.0
			for _, i := range f.Val {
				n += rows.CV.Data.Y[i]
			}
			require.LessOrEqual(t, int(n), most)
			require.Len(t, f.Val, 6)
		}
	}
}

// outerJob is a job with its rows, and the rows for outer folds.
func outerJob(t *testing.T, args ...string) (*tuneJob, *input.Outer) {
	t.Helper()
	spec := must.Of(cli.FindModel("elastic-net"))(t)
	f, fs := JobFlags()
	f.nested = 3
	job := &tuneJob{tuneFlags: f, run: &report.Run{Spec: spec, Options: &f.model.Options, Source: &f.Data.Source}}
	job.Build, job.Methods, job.Config.Evaluations = job.build, []string{"grid"}, 4
	require.NoError(t, fs.Parse(args))
	job.Data.Seed, job.Data.Always = 1, true
	rows := must.Of(job.read())(t)
	return job, rows.Outer
}

// Outer folds keep groups together and look ahead of time no more than those inside.
func TestNestedDesign(t *testing.T) {
	data := wards
	job, outer := outerJob(t, "--data", data, "--group", "ward", "--features", "x")
	folds := must.Of(job.outerFolds(outer))(t)
	val := validating(&dataset.CrossValidation{Folds: folds})
	slices.SortFunc(val, func(a, b []int) int { return len(a) - len(b) })
	require.Equal(t, [][]int{{0, 2, 11}, {3, 4, 7, 10}, {1, 5, 6, 8, 9}}, val)

	job, outer = outerJob(t, "--data", data, "--time", "day", "--features", "x")
	folds = must.Of(job.outerFolds(outer))(t)
	require.Equal(t, []split.Fold{
		{Train: []int{1, 3, 5}, Val: []int{7, 9, 10}},
		{Train: []int{1, 3, 5, 7, 9, 10}, Val: []int{4, 6, 11}},
		{Train: []int{1, 3, 4, 5, 6, 7, 9, 10, 11}, Val: []int{0, 2, 8}},
	}, folds)
	at := must.First(job.Without(outer, folds[1]))(t)
	require.Equal(t, []float64{5, 6, 3}, at.CV.Test.Y)
	require.Equal(t, []float64{2, 3, 7, 8, 1, 2}, at.CV.Data.Y)
	for k, f := range at.CV.Folds { // days 2, 1, 3, 5, 4, 6: the next day is predicted by those before
		order := []int{1, 0, 2, 4, 3, 5}
		require.Equal(t, []int{order[k+1]}, f.Val)
	}
}

// An end of the context keeps what is done.
func TestNestedInterrupted(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	text := "y,a,b\n"
	for i := range 60 {
		text += fmt.Sprintf("%d,%d,%d\n", i%7+i%5, i%5, i%11)
	}
	job, outer := outerJob(t, "--data", write(t, t.TempDir(), "table.csv", text))
	folds := must.Of(job.outerFolds(outer))(t)
	ctx, cancel := context.WithCancel(context.Background())
	without, calls := outer.Without, 0
	outer.Without = func(train, held []int) (*input.Rows, error) {
		if calls++; calls == 3 {
			cancel()
		}
		return without(train, held)
	}
	n := must.Of(job.runNested(ctx, outer, folds, &progress{Status: &cli.Status{}}))(t)
	require.True(t, n.Stopped)
	require.Len(t, n.Folds, 2)
	require.Contains(t, report.DescribeNested(job.run, n), "2 of 3 outer folds")
	var stderr strings.Builder
	a := &cli.App{Stderr: &stderr}
	require.Equal(t, cli.ExitInterrupted, tellNested(a, n))
	require.Equal(t, "conetune: --nested: interrupted after 2 of 3 outer folds\n", stderr.String())
}

// A search that takes 2 seconds for a point has 2 seconds left for each point that is left.
func TestTimeLeftOfASearch(t *testing.T) {
	start := time.Now()
	after := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	r := &rest{}
	at := func(k int) dca.Place {
		return dca.Place{Method: "grid", Stage: dca.StageSearch, Point: k, Points: 100}
	}
	r.begin(at(0), after(0))
	require.Empty(t, r.text(after(1)), "nothing is done yet")
	for k := 1; k <= 40; k++ {
		r.begin(at(k), after(2*float64(k)))
	}
	require.Equal(t, "about 2m0s left", r.text(after(80)))
	require.Equal(t, "about 1m59s left", r.text(after(81)), "it counts down between points")
	r.limit = 100 * time.Second
	require.Equal(t, "at most 20s left", r.text(after(80)))
	require.Equal(t, "less than 1s left", r.text(after(99.5)))

	// The next method has its own clock.
	r.begin(dca.Place{Method: "hoag", Stage: dca.StageDescent}, after(100))
	require.Equal(t, "at most 1m30s left", r.text(after(110)))
	r.limit = 0
	require.Empty(t, r.text(after(110)))
}

// Every flag is in the help of all flags once, and some are in the other.
func TestHelp(t *testing.T) {
	help := func(flag string) string {
		var b strings.Builder
		cmd := Command(&cli.App{})
		cmd.SetOut(&b)
		cmd.SetArgs([]string{flag})
		require.NoError(t, cmd.Execute())
		return b.String()
	}
	some, all := help("--help"), help("--help-all")
	cmd, shown := Command(&cli.App{}), 0
	cmd.InitDefaultHelpFlag()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		line := regexp.MustCompile(`(?m)^ +(-\w, |    )--` + f.Name + `[\[ ]`)
		require.Len(t, line.FindAllString(all, -1), 1, f.Name)
		shown += len(line.FindAllString(some, -1))
	})
	require.InDelta(t, 30, shown, 5)
	require.Contains(t, some, "--help-all lists all flags")
}
