package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/process"
	"github.com/conetune/conetune/internal/must"
)

// batchOf writes tables and a list of jobs, in the working folder of the test, and returns how many jobs there are. Two
// of them fail.
func batchOf(t *testing.T, tables int) int {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv(command, "1") // jobs are processes of the test's own program
	var list strings.Builder
	list.WriteString("job,data,model,method,target\n")
	for k := range tables {
		name := fmt.Sprintf("t%d.csv", k)
		write(t, ".", name, csvText(uint64(k), 30, 4))
		fmt.Fprintf(&list, "grid-%d,%s,elastic-net,grid,\nridge-%d,%s,ridge,,f1\n", k, name, k, name)
	}
	list.WriteString("absent,absent.csv,lasso,,y\nwrong,t0.csv,lasso,,price\n")
	write(t, ".", "jobs.csv", list.String())
	return 2*tables + 2
}

func batchArgs(out string, more ...string) []string {
	return append([]string{"batch", "jobs.csv", "--out", out, "--folds", "3", "--evaluations", "4", "--save"}, more...)
}

// batchRecords are the lines of results.jsonl by job, without times.
func batchRecords(t *testing.T, dir string) map[string]map[string]any {
	t.Helper()
	text := readFile(t, filepath.Join(dir, "results.jsonl"))
	all := map[string]map[string]any{}
	for line := range strings.Lines(text) {
		var r map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		for _, name := range []string{"seconds", "cpu_seconds", "checksum"} {
			require.Contains(t, r, name)
			delete(r, name)
		}
		all[r["job"].(string)] = r
	}
	return all
}

// files are the contents of the files of a folder that must not differ between runs.
func batchFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for path, text := range contents(t, dir) {
		name := must.Of(filepath.Rel(dir, path))(t)
		require.NotContains(t, name, ".tmp")
		if name == "summary.csv" || strings.HasPrefix(name, "models") {
			out[name] = text
		}
	}
	return out
}

// A batch gives what conetune tune gives for each job, whatever runs beside; what fails is a line.
func TestBatch(t *testing.T) {
	n := batchOf(t, 2)
	o := conetune(t, batchArgs("one", "--jobs", "1")...)
	require.Equal(t, cli.ExitUnsolved, o.code, o.stderr)
	require.Contains(t, o.stdout, "6 jobs: 4 converged, 2 failed\nabsent: absent.csv: no such file\nwrong: ")
	require.Contains(t, o.stderr, "2 jobs failed; --resume --retry-failed does them once more")
	records := batchRecords(t, "one")
	require.Len(t, records, n)
	require.Equal(t, map[string]any{
		"schema": 1.0, "job": "absent", "version": cli.Version(), "status": "failed", "message": "absent.csv: no such file",
		"exit_status": 2.0,
		"settings": map[string]any{"data": "absent.csv", "evaluations": "4", "folds": "3", "model": "lasso",
			"target": "y"},
	}, records["absent"])

	alone := conetune(t, "tune", "elastic-net", "--data", "t1.csv", "--method", "grid", "--folds", "3", "--evaluations",
		"4", "--json", "--save", "alone.json").object(t)
	r := records["grid-1"]
	refit := alone["refit"].(map[string]any)
	require.Equal(t, refit["validation_error"], r["validation_error"])
	require.Equal(t, refit["test_error"], r["test_error"])
	require.Equal(t, alone["hyperparameters"], r["hyperparameters"])
	require.Equal(t, alone["metrics"], r["metrics"])
	require.Equal(t, len(alone["coefficients"].(map[string]any)), int(r["features"].(float64)))
	require.Equal(t, readFile(t, "alone.json"), batchFiles(t, "one")[filepath.Join("models", "grid-1.json")])

	require.Equal(t, cli.ExitUnsolved, conetune(t, batchArgs("three", "--jobs", "3")...).code)
	require.Equal(t, records, batchRecords(t, "three"))
	require.Equal(t, batchFiles(t, "one"), batchFiles(t, "three"))

	conetune(t, batchArgs("one")...).fails(t, cli.ExitUsage, "go on with --resume, or choose another folder")
}

// Parts together are the whole, byte for byte but for times; a part with jobs that failed is done all the same.
func TestBatchShards(t *testing.T) {
	batchOf(t, 3)
	require.Equal(t, cli.ExitUnsolved, conetune(t, batchArgs("whole")...).code)
	conetune(t, batchArgs("a", "--shard", "1/2")...).ok(t)
	conetune(t, "batch", "merge", "a", "--out", "half").fails(t, cli.ExitUnsolved,
		"still missing: 4 jobs of the list; the shards here are 1/2")
	conetune(t, batchArgs("b", "--shard", "2/2")...).ok(t)
	conetune(t, "batch", "merge", "b", "a", "--out", "both").ok(t)
	require.Equal(t, batchRecords(t, "whole"), batchRecords(t, "both"))
	require.Equal(t, batchFiles(t, "whole"), batchFiles(t, "both"))
	conetune(t, "batch", "merge", "b", "nowhere", "--out", "other").fails(t, cli.ExitUsage,
		"expected folders of conetune batch")
	write(t, ".", "jobs.csv", "job,data,model\na,t0.csv,ridge\n")
	conetune(t, batchArgs("c")...).ok(t)
	o := conetune(t, "batch", "merge", "a", "c", "--out", "other")
	require.Contains(t, o.stderr, "not parts of the same work: 8 jobs and 1")
}

// What is done is not done again, unless it failed and that is asked for, or lacks a file; other settings or data are
// an error.
func TestBatchResume(t *testing.T) {
	batchOf(t, 1)
	text := conetune(t, "batch", "jobs.csv", "--out", "out", "--folds", "3", "--evaluations", "4")
	require.Equal(t, cli.ExitUnsolved, text.code)
	lines := func() int {
		return len(slices.Collect(strings.Lines(contents(t, "out")[filepath.Join("out", "results.jsonl")])))
	}
	require.Equal(t, 4, lines())
	conetune(t, batchArgs("out", "--resume")...) // now with models
	require.Equal(t, 6, lines())
	require.Len(t, batchFiles(t, "out"), 3)
	conetune(t, batchArgs("out", "--resume")...)
	require.Equal(t, 6, lines())

	write(t, ".", "absent.csv", csvText(9, 30, 2))
	write(t, ".", "jobs.csv", strings.Replace(contents(t, ".")["jobs.csv"], "price", "y", 1))
	conetune(t, batchArgs("out", "--resume")...).fails(t, cli.ExitUsage,
		`job wrong is done already with other settings, target "price" and "y"`)
	o := conetune(t, batchArgs("out", "--resume", "--retry-failed")...)
	require.Contains(t, o.ok(t), "4 jobs: 4 converged\n")
	require.Equal(t, 8, lines())

	write(t, ".", "t0.csv", csvText(77, 30, 4))
	conetune(t, batchArgs("out", "--resume")...).fails(t, cli.ExitUsage,
		"job grid-0 is done already with other data under the same name")
}

// times are the parts of a line that differ from run to run.
var times = regexp.MustCompile(`,"(seconds|cpu_seconds|checksum)":("[^"]*"|[0-9.e+-]*)`)

// A process that is killed without warning at random moments, and once in the middle of a line, leaves the results of
// an undisturbed one.
func TestBatchKill(t *testing.T) {
	n := batchOf(t, 6)
	begin := time.Now()
	conetune(t, batchArgs("whole")...)
	random, killed := rand.New(rand.NewPCG(5, 5)), 0
	for span := time.Since(begin); killed == 0; span /= 2 { // earlier, where all have ended before
		require.NoError(t, os.RemoveAll("killed"))
		for range 8 {
			cmd := exec.Command(os.Args[0], batchArgs("killed", "--resume")...)
			require.NoError(t, cmd.Start())
			time.Sleep(time.Duration(random.Int64N(int64(span) + 1)))
			_ = cmd.Process.Kill() // it may have ended
			if cmd.Wait(); !cmd.ProcessState.Exited() {
				killed++
			}
		}
	}
	require.NoError(t, os.MkdirAll("killed", 0o777)) // killed before it could
	f := must.Of(os.OpenFile(filepath.Join("killed", "results.jsonl"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666))(t)
	must.Of(f.WriteString(`{"schema":1,"job":"gr`))(t)
	require.NoError(t, f.Close())
	conetune(t, batchArgs("killed", "--resume")...).fails(t, cli.ExitUnsolved, "2 jobs failed")
	require.Equal(t, batchFiles(t, "whole"), batchFiles(t, "killed"))
	sorted := func(dir string) []string {
		text := times.ReplaceAllString(contents(t, dir)[filepath.Join(dir, "results.jsonl")], "")
		return slices.Sorted(strings.Lines(text))
	}
	require.Len(t, sorted("whole"), n)
	require.True(t, slices.Equal(sorted("whole"), slices.Compact(sorted("killed"))))
	t.Logf("killed %d times", killed)
}

// Jobs end with the process that started them.
func TestBatchOrphan(t *testing.T) {
	t.Setenv(command, "1")
	cmd := exec.Command(os.Args[0], "generate", "elastic-net", "--help")
	cmd.Env = append(os.Environ(), process.JobProcess+"=1")
	hold := must.Of(cmd.StdinPipe())(t)
	require.NoError(t, cmd.Run()) // alone, it does its work
	hold.Close()

	dir := t.TempDir()
	write(t, dir, "t.csv", csvText(1, 4000, 60))
	var stderr bytes.Buffer
	cmd = exec.Command(os.Args[0], "tune", "weighted-lasso", "--data", filepath.Join(dir, "t.csv"), "--engine", "conic",
		"--method", "random", "--evaluations", "1000000")
	cmd.Env, cmd.Stderr = append(os.Environ(), process.JobProcess+"=1"), &stderr
	hold = must.Of(cmd.StdinPipe())(t)
	require.NoError(t, cmd.Start())
	time.Sleep(100 * time.Millisecond)
	require.NoError(t, hold.Close()) // as the end of a process does
	_ = cmd.Wait()
	require.Equal(t, cli.ExitInterrupted, cmd.ProcessState.ExitCode(), stderr.String())
}

// Each job has its own limits of memory and time.
func TestBatchLimits(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(command, "1")
	write(t, ".", "t.csv", csvText(1, 2000, 30))
	// As many points as these take minutes: on a busy machine the limit may be noticed late.
	write(t, ".", "jobs.csv", "job,memory,time-limit,method,evaluations\nsmall,200KB,,,\nshort,,1ms,random,30000\nfine,,,,\n")
	o := conetune(t, "batch", "jobs.csv", "--data", "t.csv", "--model", "elastic-net", "--out", "out")
	require.Equal(t, cli.ExitUnsolved, o.code)
	records := batchRecords(t, "out")
	require.Contains(t, []any{"out_of_memory", "failed"}, records["small"]["status"]) // by the watch, or by the reader
	require.Contains(t, records["small"]["message"], "200 kB")
	require.Equal(t, "time_limit", records["short"]["status"])
	require.Equal(t, "converged", records["fine"]["status"])
}

func TestBatchInterrupted(t *testing.T) {
	batchOf(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	conetuneUntil(t, ctx, batchArgs("out")...).fails(t, cli.ExitInterrupted, "--resume goes on")
	require.Equal(t, cli.ExitUnsolved, conetune(t, batchArgs("out", "--resume")...).code)
	require.Len(t, batchRecords(t, "out"), 4)
}

func TestBatchPattern(t *testing.T) {
	batchOf(t, 3)
	o := conetune(t, "batch", "t*.csv", "--model", "ridge", "--out", "out", "--report", "--coefficients")
	require.Contains(t, o.ok(t), "3 jobs: 3 converged\n")
	require.Contains(t, batchRecords(t, "out"), "t2")
	files := contents(t, "out")
	require.Contains(t, files[filepath.Join("out", "reports", "t1.html")], "<html")
	require.Contains(t, files[filepath.Join("out", "coefficients", "t1.csv")], "intercept")
	conetune(t, "batch", "t0.csv", "t1.csv", "--model", "ridge", "--out", "two").ok(t)
}

// The scripts for Slurm do a batch in parts and merge it; a stand-in for sbatch starts the tasks one after the other,
// the second with a number that was stopped before.
func TestBatchSlurm(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell here")
	}
	scripts := must.Of(filepath.Abs(filepath.Join("..", "..", "deploy", "slurm")))(t)
	batchOf(t, 2)
	conetune(t, batchArgs("whole")...)
	require.NoError(t, os.Mkdir("bin", 0o777))
	require.NoError(t, os.WriteFile(filepath.Join("bin", "sbatch"), []byte(`#!/bin/sh
set -eu
tasks=1
while :; do
    case $1 in
    --array=1-*) tasks=${1#--array=1-} ;;
    --*) ;;
    *) break ;;
    esac
    shift
done
i=1
while [ "$i" -le "$tasks" ]; do
    SLURM_ARRAY_TASK_ID=$i SLURM_CPUS_PER_TASK=2 sh "$@" >&2
    i=$((i + 1))
done
echo 17
`), 0o777))
	t.Setenv("PATH", filepath.Join(mustGetwd(t), "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("CONETUNE", os.Args[0])
	for _, again := range []bool{false, true} {
		cmd := exec.Command("sh", filepath.Join(scripts, "submit.sh"), "3", "out", "batch", "jobs.csv", "--folds", "3",
			"--evaluations", "4", "--save")
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, string(text))
		require.Contains(t, string(text), "array job 17, merge job 17")
		require.True(t, slices.Equal(mapsOf(batchFiles(t, "whole")), mapsOf(batchFiles(t, filepath.Join("out", "all")))),
			again)
		require.NoError(t, os.Remove(filepath.Join("out", "shard-2", "results.jsonl")))
	}
}

func mustGetwd(t *testing.T) string {
	t.Helper()
	return must.Of(os.Getwd())(t)
}

// mapsOf are the entries of a map in order.
func mapsOf(m map[string]string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, name+": "+m[name])
	}
	return list
}

// A job whose model had no room on the disk is done once more when there is some, without --retry-failed; the other is
// not.
func TestBatchFullDisk(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("no shell that bounds files")
	}
	t.Chdir(t.TempDir())
	t.Setenv(command, "1")
	write(t, ".", "wide.csv", csvText(1, 30, 300))
	write(t, ".", "slim.csv", csvText(2, 30, 4))
	args := []string{"batch", "wide.csv", "slim.csv", "absent.csv", "--model", "ridge", "--method", "grid",
		"--evaluations", "4", "--folds", "3", "--save", "--out", "out"}
	write(t, ".", "absent.csv", "no table\n")
	// files of 8 kB
	full := exec.Command("sh", append([]string{"-c", `ulimit -f 16; exec "$0" "$@"`, os.Args[0]}, args...)...)
	text, err := full.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(text), filepath.Join("out", "models", "wide.json")+": cannot be written")
	records := batchRecords(t, "out")
	require.Equal(t, []any{"failed", "converged", "failed"}, []any{records["wide"]["status"], records["slim"]["status"],
		records["absent"]["status"]}, string(text))
	lines := func() int { return strings.Count(contents(t, "out")[filepath.Join("out", "results.jsonl")], "\n") }
	require.Equal(t, 3, lines())

	o := conetune(t, append(args, "--resume")...)
	require.Contains(t, o.stdout, "3 jobs: 2 converged, 1 failed\n")
	require.Equal(t, 4, lines())
	alone := conetune(t, append(append([]string{"tune", "ridge", "--data", "wide.csv"}, args[6:12]...), "--save",
		"alone.json")...)
	alone.ok(t)
	require.Equal(t, contents(t, ".")["alone.json"], batchFiles(t, "out")[filepath.Join("models", "wide.json")])
	conetune(t, append(args, "--resume")...)
	require.Equal(t, 4, lines())
}
