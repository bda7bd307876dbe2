package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/internal/cli/root"
)

// command is set in a process that is the program itself.
const command = "CONETUNE_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(command) != "" {
		main()
	}
	os.Exit(m.Run())
}

// shell runs a script in which "$0" is the program.
func shell(t *testing.T, script string) outcome {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(sh, "-c", script, os.Args[0])
	cmd.Env = append(os.Environ(), command+"=1")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

const tinyQPS = "NAME tiny\nROWS\n N c\n G r\nCOLUMNS\n x c 1 r 1\nRHS\n RHS r 1\nENDATA\n"

// everyCommand are command lines that print something, of each command.
func everyCommand(t *testing.T) []string {
	dir := t.TempDir()
	data, model := savedElasticNet(t)
	program := clitest.Write(t, dir, "tiny.qps", tinyQPS)
	return []string{
		"--help", "--version", "tune --help", "bench paper --help", "backends", "backends --json", "version", "licenses",
		"tune elastic-net --data " + data, "tune elastic-net --json --data " + data, "tune elastic-net --method grid,random --evaluations 4 --data " + data,
		"predict --model " + model + " --data " + data, "predict --json --model " + model + " --data " + data, "predict --out - --model " + model + " --data " + data,
		"solve " + program, "solve --json " + program, "solve --out - " + program,
		"generate elastic-net --preset 20-10-10-p16 --out $(mktemp -u -p " + dir + ")",
		"generate matrix-completion --preset 36-36 --out $(mktemp -u -p " + dir + ")",
	}
}

// TestLostOutput: a result that cannot be written is no success, whatever the command, and one line says so.
func TestLostOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("every command three times, in processes of their own")
	}
	outputs := map[string]string{">&-": "conetune: standard output: it is closed"}
	if _, err := os.Stat("/dev/full"); err == nil {
		outputs[">/dev/full"] = "conetune: standard output: no space left on device"
	}
	for _, args := range everyCommand(t) {
		for redirection, want := range outputs {
			o := shell(t, `"$0" `+args+" "+redirection)
			require.Equal(t, cli.ExitUnsolved, o.code, "%s %s: %s", args, redirection, o.stderr)
			require.Contains(t, o.stderr, want, args)
			require.Equal(t, 1, strings.Count(o.stderr, "conetune: "), o.stderr)
		}
		o := shell(t, `"$0" `+args+" >/dev/null <&-")
		require.Equal(t, cli.ExitDone, o.code, "%s: %s", args, o.stderr)
	}
}

// The size of files is limited (ulimit -f) to less than the trace, which the model is not part of: each file is whole
// or old.
func TestFileSizeLimit(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 60, 4))
	save, trace := clitest.Write(t, dir, "m.json", "old"), filepath.Join(dir, "t.jsonl")
	o := shell(t, `ulimit -f 1; "$0" tune elastic-net --data `+data+" --save "+save+" --trace "+trace+" | cat")
	if strings.Contains(o.stderr, "ulimit") {
		t.Skip("no limit of file sizes here:", o.stderr)
	}
	require.Contains(t, o.stderr, "conetune: --save: "+save+": cannot be written: "+syscall.EFBIG.Error())
	require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	require.Contains(t, o.stdout, "chosen by vf-idca", "the result is printed all the same")
	raw, err := os.ReadFile(save)
	require.NoError(t, err)
	require.Equal(t, "old", string(raw))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 3, "something was left behind")
}

// The name - is standard output where a file is written, and the table goes to standard error then.
func TestStandardOutput(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 60, 4))
	program := clitest.Write(t, dir, "tiny.qps", tinyQPS)
	t.Chdir(dir)
	before := contents(t, dir)

	o := conetune(t, "tune", "elastic-net", "--data", data, "--save", "-")
	model := o.ok(t)
	require.Contains(t, o.stderr, "model in standard output")
	path := clitest.Write(t, t.TempDir(), "m.json", model)
	want := conetune(t, "predict", "--model", path, "--data", data).ok(t)
	require.Equal(t, want, conetune(t, "predict", "--model", path, "--data", data, "--out", "-").ok(t))

	o = conetune(t, "tune", "elastic-net", "--data", data, "--trace", "-")
	for line := range strings.Lines(o.ok(t)) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	require.Contains(t, o.stderr, "trace in standard output")

	o = conetune(t, "solve", program, "--out", "-")
	require.Equal(t, "optimal", o.object(t)["status"])
	require.Contains(t, o.stderr, "solution in standard output")

	require.Equal(t, before, contents(t, dir), "something was written")
}

// A model may come from standard input, and an empty or closed one is one clear line.
func TestStandardInput(t *testing.T) {
	data, model := savedElasticNet(t)
	want := conetune(t, "predict", "--model", model, "--data", data).ok(t)
	o := shell(t, `"$0" predict --model - --data `+data+" <"+model)
	require.Equal(t, want, o.ok(t))
	for _, in := range []string{"</dev/null", "<&-"} {
		o = shell(t, `"$0" predict --model - --data `+data+" "+in)
		require.Equal(t, cli.ExitUsage, o.code)
		require.Equal(t, "conetune: standard input: the file is empty, expected a model that conetune saved\n", o.stderr)
	}
}

// A file that cannot be written takes nothing away from standard output.
func TestSolveKeepsWhatItHas(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no full device here")
	}
	o := conetune(t, "solve", clitest.Write(t, t.TempDir(), "tiny.qps", tinyQPS), "--json", "--out", "/dev/full")
	require.Equal(t, cli.ExitUnsolved, o.code)
	require.Equal(t, "optimal", o.object(t)["status"])
	require.Equal(t, "conetune: --out: /dev/full: cannot be written: no space left on device\n", o.stderr)
}

// brokenAfter takes some bytes and then no more.
type brokenAfter struct{ left int }

func (b *brokenAfter) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return len(p), nil
}

func TestOutputRemembers(t *testing.T) {
	var stderr bytes.Buffer
	require.Equal(t, cli.ExitDone, root.Run(context.Background(), []string{"--help"}, nil, &brokenAfter{1 << 20}, &stderr))
	require.Empty(t, stderr.String())
	require.Equal(t, cli.ExitUnsolved, root.Run(context.Background(), []string{"--help"}, nil, &brokenAfter{10}, &stderr))
	require.Equal(t, 1, strings.Count(stderr.String(), "\n"))
}
