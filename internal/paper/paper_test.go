package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/usage"
	"github.com/conetune/conetune/internal/worklist"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/tune"
)

// tabular writes small tables under the names of real ones, and returns their folder. Labels follow a plane, with
// noise.
func tabular(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for k, name := range []string{"liver-disorders_scale", "diabetes_scale"} {
		rng := rand.New(rand.NewPCG(uint64(k), 1))
		var b strings.Builder
		for range 36 {
			x, y := rng.NormFloat64(), rng.NormFloat64()
			label := -1
			if x+0.5*y+0.4*rng.NormFloat64() > 0 {
				label = 1
			}
			fmt.Fprintf(&b, "%d 1:%.3f 2:%.3f\n", label, x, y)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o666))
	}
	return dir
}

// small is a short list of work on the tables of a folder.
func small(t *testing.T, data string, repeats int) Options {
	t.Helper()
	files := &Files{Dir: data}
	p := must.Of(NewPlan([]string{"svm3"}, []string{"random", "tpe", "vf-idca", "vf-idca-t"}, nil, repeats, files))(t)
	return Options{worklist.Options[Plan]{Dir: filepath.Join(t.TempDir(), "out"), Plan: p, Workers: 2, Version: "test"},
		files}
}

// errorTables are the tables of errors in a folder of results.
func errorTables(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"errors.md", "errors.csv"} {
		text := must.Of(os.ReadFile(filepath.Join(dir, TablesDir, name)))(t)
		out[name] = string(text)
	}
	return out
}

func do(t *testing.T, o Options) *Outcome {
	t.Helper()
	return must.Of(Run(context.Background(), o))(t)
}

func TestRun(t *testing.T) {
	o := small(t, tabular(t), 2)
	var seen []worklist.Progress
	o.Observe = func(p worklist.Progress) { seen = append(seen, p) }
	out := do(t, o)
	require.Len(t, out.Records, 2*2*4)
	require.Zero(t, out.Missing)
	require.Empty(t, out.Notes)
	require.Len(t, o.Plan.Skipped, 4)
	require.Equal(t, 16, seen[len(seen)-1].Done)
	require.Equal(t, 16, seen[len(seen)-1].All)
	require.Len(t, seen, 17)
	for _, r := range out.Records {
		require.Equal(t, "converged", r.Status, r.String())
		require.Equal(t, "test", r.Version)
		// Random search gives all bounds on coefficients the same value.
		require.Equal(t, map[bool]int{true: 2, false: 3}[r.Method == "random"], r.Dimension)
		require.Len(t, r.Hyperparameters, 3)
		require.NotNil(t, r.Iterate.Validation)
		require.NotNil(t, r.Refit.Test)
		// 36 rows: 3 floor(36/6) = 18 for the folds, 18 for the test.
		share := 18 * *r.Refit.Test
		require.InDelta(t, float64(int(share+0.5)), share, 1e-9)
		last := r.Trace[len(r.Trace)-1]
		require.Equal(t, r.Iterate, last.Iterate)
		require.Equal(t, r.Seconds, last.Seconds)
		require.LessOrEqual(t, len(r.Trace), TracePoints)
	}

	// Everything is there, so that nothing is done, and the tables stay.
	tables := errorTables(t, o.Dir)
	_, err := Run(context.Background(), o)
	require.ErrorIs(t, err, worklist.ErrExists)
	o.Resume, o.Version = true, "other"
	seen = nil
	out = do(t, o)
	require.Equal(t, tables, errorTables(t, o.Dir))
	require.Len(t, seen, 1)
	require.Len(t, out.Notes, 1)
	require.Contains(t, out.Notes[0], "16 of the results that are kept were made by version test, this is other")

	// More repeats add to what is there.
	more := small(t, o.Files.Dir, 3)
	more.Dir, more.Resume = o.Dir, true
	out = do(t, more)
	require.Len(t, out.Records, 24)
	require.Contains(t, errorTables(t, o.Dir)["errors.csv"], "svm3,diabetes,tpe,native,3,3,3,")
}

// The items do not depend on what runs beside them.
func TestWorkers(t *testing.T) {
	data := tabular(t)
	a, b := small(t, data, 2), small(t, data, 2)
	a.Workers, b.Workers = 1, 3
	for _, r := range do(t, a).Records {
		require.Equal(t, usage.Processor() > 0, r.CPU > 0)
	}
	for _, r := range do(t, b).Records {
		require.Zero(t, r.CPU)
	}
	require.Equal(t, errorTables(t, a.Dir), errorTables(t, b.Dir))
}

func TestOtherData(t *testing.T) {
	o := small(t, tabular(t), 1)
	do(t, o)
	path := filepath.Join(o.Files.Dir, "diabetes_scale")
	text := must.Of(os.ReadFile(path))(t)
	require.NoError(t, os.WriteFile(path, append(text, "1 1:3\n"...), 0o666))
	o.Files, o.Resume = &Files{Dir: o.Files.Dir}, true
	_, err := Run(context.Background(), o)
	require.ErrorContains(t, err, "the results of svm3 diabetes were made with")
}

func TestMerge(t *testing.T) {
	data := tabular(t)
	whole := small(t, data, 2)
	do(t, whole)
	var parts []string
	for i := 1; i <= 3; i++ {
		o := small(t, data, 2)
		o.Shard = worklist.Shard{Index: i, Count: 3}
		o.Machine = "machine " + strconv.Itoa(i)
		out := do(t, o)
		require.NotZero(t, len(out.Records))
		parts = append(parts, o.Dir)
	}
	into := filepath.Join(t.TempDir(), "all")
	out := must.Of(Merge(parts, into))(t)
	require.Zero(t, out.Missing)
	require.Equal(t, []string{"1/3", "2/3", "3/3"}, out.Manifest.Shards)
	require.Equal(t, []string{"machine 1", "machine 2", "machine 3"}, out.Manifest.Machines)
	require.Equal(t, errorTables(t, whole.Dir), errorTables(t, into))
	other := small(t, data, 1)
	do(t, other)
	_, err := Merge([]string{parts[0], other.Dir}, filepath.Join(t.TempDir(), "bad"))
	require.ErrorContains(t, err, "repeats 2 and 1")
}

func TestUnreadableData(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a1a"), []byte("1 1:2\n-1 0:zero\n"), 0o666))
	files := &Files{Dir: dir}
	p := must.Of(NewPlan([]string{"svm6"}, nil, nil, 1, files))(t)
	_, err := Run(context.Background(), Options{worklist.Options[Plan]{Dir: filepath.Join(dir, "out"), Plan: p, Workers: 1},
		files})
	require.ErrorContains(t, err, "a1a")
	records := must.Of(experiments.Read(filepath.Join(dir, "out")))(t)
	require.Empty(t, records)

	// Rows that do not make six folds are no reason to lose other items.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a1a"), []byte(strings.Repeat("1 1:2\n1 1:1\n", 10)), 0o666))
	out := do(t, Options{worklist.Options[Plan]{Dir: filepath.Join(dir, "other"), Plan: p, Workers: 1}, &Files{Dir: dir}})
	require.Len(t, out.Records, 7)
	for _, r := range out.Records {
		require.Equal(t, failed, r.Status)
		require.Contains(t, r.Message, "expected")
	}
}

func TestStat(t *testing.T) {
	// 1, 2, 3, 4: mean 5/2, sample variance 5/3, standard error sqrt(5/12).
	s := statOf([]float64{1, 2, 3, 4})
	require.Equal(t, 2.5, s.Mean)
	require.InDelta(t, math.Sqrt(5./12), s.Error, 1e-15)
	require.Equal(t, "2.50 ± 0.65", s.String())
	require.Equal(t, "7.00", statOf([]float64{7}).String())
	require.Equal(t, "-", statOf(nil).String())
	require.Equal(t, "0.125 ± 0.125", statOf([]float64{0, 0.25}).String())
}

// made are records of two seeds on one row: grid at (4, 5) and (6, 7), VF-iDCA at (1, 2) and (3, 4) with the refit 1
// worse in both, one run by ours that failed.
func made() (Plan, []Record) {
	p := Plan{Tables: []string{"en"}, Methods: []string{"grid", "vf-idca", OurDefaults}, Backends: []string{"native"},
		Repeats: 2}
	for _, r := range []string{"100-100-250-p250", "100-100-100-p2500"} {
		p.Skipped = append(p.Skipped, Skipped{Table: "en", Row: r, Reason: "too large, 100% & more"})
	}
	pair := func(v, test float64) Errors { return Errors{Validation: &v, Test: &test} }
	item := func(method string, seed uint64) Item {
		return Item{Table: "en", Row: "100-20-250-p250", Method: method, Backend: "native", Seed: seed}
	}
	return p, []Record{
		{Item: item("vf-idca", 2), Status: "converged", Dimension: 2, Iterate: pair(3, 4), Refit: pair(4, 5), Seconds: 2,
			Iterations: 3},
		{Item: item("grid", 1), Status: "converged", Dimension: 2, Iterate: pair(4, 5), Refit: pair(4, 5), Seconds: 10,
			Iterations: 100},
		{Item: item("grid", 2), Status: "iteration_limit", Dimension: 2, Iterate: pair(6, 7), Refit: pair(6, 7), Seconds: 12,
			Iterations: 100},
		{Item: item("vf-idca", 1), Status: "converged", Dimension: 2, Iterate: pair(1, 2), Refit: pair(2, 3), Seconds: 1,
			Iterations: 3},
		{Item: item(OurDefaults, 1), Status: failed, Seconds: 1},
		{Item: item(OurDefaults, 3), Status: "converged", Iterate: pair(0, 0), Refit: pair(0, 0)}, // not of the plan
	}
}

func TestTables(t *testing.T) {
	p, records := made()
	dir := t.TempDir()
	require.NoError(t, WriteTables(dir, p, records))
	read := func(name string) string {
		text := must.Of(os.ReadFile(filepath.Join(dir, TablesDir, name)))(t)
		return regexp.MustCompile(` +`).ReplaceAllString(string(text), " ") // the columns of a table stand below each other
	}
	md := read("errors.md")
	for _, want := range []string{
		"### 100 training, 20 validation, 250 test rows, p = 250\n\n| method",
		"| Grid | 2 | 5.00 ± 1.00 | 6.16 ± 2.35 | 6.00 ± 1.00 | 6.68 ± 1.16 | 5.00 ± 1.00 | 6.00 ± 1.00 | iteration limit " +
			"in 1 |\n",
		"| VF-iDCA | 2 | **2.00 ± 1.00** | 1.95 ± 0.81 | **3.00 ± 1.00** | 3.99 ± 0.69 | **3.00 ± 1.00** | **4.00 ± 1.00** " +
			"| |\n",
		"| VF-iDCA (our defaults) | 0 | - | - | - | - | - | - | 1 of 2 seeds; failed in 1; iterate of 0 seeds; refit of 0 " +
			"seeds |\n",
		"p = 2500 was not run: too large, 100% & more\n",
		"- validation, iterate: VF-iDCA is the best method\n- test, iterate: VF-iDCA is the best method\n",
	} {
		require.Contains(t, md, want)
	}
	require.NotContains(t, md, "seconds", "times are in tables of their own")
	require.Contains(t, read("errors.csv"),
		"en,100-20-250-p250,vf-idca,native,2,2,2,2,1,2,3,1,2,3,1,2,4,1,2,,,0,1.95,0.81,3.99,0.69,\n")
	require.Contains(t, read("times.md"), "| VF-iDCA | **1.50 ± 0.50** | 0.91 ± 0.19 | - | 3.00 ± 0.00 | 3.0 s |\n")
	require.Contains(t, read("times.csv"), "en,100-20-250-p250,grid,native,11,1,2,,100,3.1,0.44\n")
}

func TestVerdicts(t *testing.T) {
	line := func(name string, v, se float64) Line {
		m := must.Of(FindMethod(name))(t)
		s := Stat{Mean: v, Error: se, N: 30}
		return Line{Method: m, Means: [allQuantities]Stat{s, s, s, s}}
	}
	said := func(lines ...Line) (out []string) {
		for _, v := range verdicts(lines) {
			out = append(out, v.String())
		}
		return out
	}
	got := said(line("grid", 2, 0.5), line("vf-idca", 2.4, 0.1), line(OurDefaults, 2.6, 0.1))
	require.Equal(t, []string{
		"validation, iterate: VF-iDCA is within one standard error of the best other method, Grid",
		"test, iterate: VF-iDCA is within one standard error of the best other method, Grid",
		"validation, refit: VF-iDCA (our defaults) is not within one standard error of the best other method, Grid: 2.60 ± " +
			"0.10 against 2.00 ± 0.50",
		"test, refit: VF-iDCA (our defaults) is not within one standard error of the best other method, Grid: 2.60 ± 0.10 " +
			"against 2.00 ± 0.50",
	}, got)
	require.Empty(t, said(line("grid", 2, 0.5)))
	// The run that closes the gap is asked how well it minimises, not how well it predicts.
	got = said(line("grid", 2, 0.5), line(OurDefaults, 2.6, 0.1), line(GapClosed, 1.9, 0.1))
	require.Equal(t, "validation, refit: VF-iDCA (gap closed) is the best method", got[0])
	require.Contains(t, got[1], "test, refit: VF-iDCA (our defaults) is not within")
	// Other settings of VF-iDCA are no other method.
	require.Contains(t, said(line("grid", 2, 0.5), line("vf-idca", 1.5, 0.1), line("vf-idca-t", 1, 0.1))[0],
		"the best method")
}

func TestTrace(t *testing.T) {
	event := func(k int, v float64) tune.Event {
		e := problems.Errors{Validation: v, Test: &v}
		return tune.Event{Iteration: dca.Iteration{K: k}, Errors: e, Refit: &e}
	}
	r := &tune.Result{Method: "grid", Iterations: 300}
	for k := range 200 {
		r.Trace = append(r.Trace, event(k+1, 1000-float64(k)), event(k+1, 2000)) // every other one is no improvement
	}
	got := trace(r, 3)
	require.Len(t, got, TracePoints)
	require.Equal(t, 1, got[0].Iteration)
	require.Equal(t, 200, got[TracePoints-2].Iteration)
	require.Equal(t, 300, got[TracePoints-1].Iteration)
	for k, p := range got[:TracePoints-1] {
		require.Equal(t, 1001-float64(p.Iteration), *p.Best.Validation)
		require.True(t, k == 0 || p.Iteration > got[k-1].Iteration)
	}
}
