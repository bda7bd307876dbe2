package paper

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/usage"
	"github.com/conetune/conetune/internal/worklist"
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
