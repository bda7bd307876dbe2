package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/root"
	"github.com/conetune/conetune/internal/must"
)

// Each mistake of testdata/refused.txt, which says its form, gives exit status 2 and one line that says what is wrong,
// prints nothing and leaves no trace in the file system.
func TestRefused(t *testing.T) {
	script := readFile(t, "testdata/refused.txt")
	small := readFile(t, solvedFile("qps", "small.qps"))
	t.Chdir(t.TempDir())
	write(t, ".", "small.qps", small)
	cases, values := 0, map[string][]string{}
	for line := range strings.Lines(script) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "", "#":
		case "folder":
			require.NoError(t, os.Mkdir(rest, 0o700))
		case "file":
			name, source, _ := strings.Cut(rest, " = ")
			write(t, ".", name, refusedFile(t, source))
		case "values":
			name, list, _ := strings.Cut(rest, " = ")
			for _, v := range strings.Fields(list) {
				if of, known := values[v]; known {
					values[name] = append(values[name], of...)
				} else {
					values[name] = append(values[name], v)
				}
			}
		case "conetune":
			command, want, found := strings.Cut(rest, " => ")
			require.True(t, found, line)
			list := []string{command}
			if before, after, several := strings.Cut(command, "{"); several {
				name, after, _ := strings.Cut(after, "}")
				require.NotEmpty(t, values[name], line)
				list = nil
				for _, v := range values[name] {
					list = append(list, before+v+after)
				}
			}
			for _, command := range list {
				t.Run(command, func(t *testing.T) {
					refuse(t, strings.Fields(strings.ReplaceAll(command, `""`, "\x01")), strings.Split(want, " | ")...)
				})
				cases++
			}
		default:
			require.Fail(t, line)
		}
	}
	require.Greater(t, cases, 700)
}

// refuse runs a command line that is refused for what is said. What tune would write must not appear.
func refuse(t *testing.T, args []string, want ...string) {
	t.Helper()
	for k := range args {
		args[k] = strings.ReplaceAll(args[k], "\x01", "")
	}
	line := strings.Join(args, " ")
	if len(args) > 1 && args[0] == "tune" {
		for flag, file := range map[string]string{"--trace": "out.jsonl", "--save": "out.json", "--plot": "out.png"} {
			if !strings.Contains(line, flag) {
				args = append(args, flag, file)
			}
		}
	}
	before := contents(t, ".")
	o := conetune(t, args...)
	require.Equal(t, cli.ExitUsage, o.code, "%s\n%s", line, o.stderr)
	require.Empty(t, o.stdout, line)
	require.True(t, strings.HasPrefix(o.stderr, "conetune: "), o.stderr)
	require.Equal(t, 1, strings.Count(o.stderr, "\n"), "%s is not refused in one line: %s", line, o.stderr)
	for _, text := range want {
		require.Contains(t, o.stderr, text, line)
	}
	require.Equal(t, before, contents(t, "."), "something was written by %s", line)
}

// refusedFile is the text of a source with its edits.
func refusedFile(t *testing.T, source string) string {
	t.Helper()
	steps := strings.Split(source, "; ")
	words := append(strings.Fields(steps[0]), "0", "0", "0")
	number := func(k int) int {
		n, err := strconv.Atoi(words[k])
		require.NoError(t, err, source)
		return n
	}
	quoted := func(text string) string {
		out, err := strconv.Unquote(text)
		require.NoError(t, err, source)
		return out
	}
	var text string
	switch {
	case strings.HasPrefix(source, `"`):
		return quoted(source)
	case words[0] == "regression":
		text = csvText(uint64(number(1)), number(2), number(3))
	case words[0] == "labels":
		text = labelled(uint64(number(1)), number(2), number(3))
	case words[0] == "cars":
		text = cars(number(1))
	case words[0] == "flowers":
		text = flowersText(number(1))
	case words[0] == "household":
		text = householdText(number(1))
	case words[0] == "ratings":
		text = ratings(uint64(number(1)), number(2), number(3))
	case words[0] == "weighted":
		text, _ = weightedText(uint64(number(1)), number(2))
	case words[0] == "times":
		text = eventsText()
	case words[0] == "wards":
		text = wards
	default:
		text = readFile(t, words[0])
	}
	for _, step := range steps[1:] {
		verb, rest, _ := strings.Cut(step, " ")
		lines := strings.SplitAfter(text, "\n")
		switch verb {
		case "line":
			n, line, _ := strings.Cut(rest, " ")
			words[0] = n
			lines[number(0)-1] = line + "\n"
		case "head":
			words[0] = rest
			lines = lines[:number(0)]
		case "again":
			words[0] = rest
			lines = append(lines, lines[number(0)-1])
		case "add":
			lines = append(lines, quoted(rest))
		case "label":
			list := strings.Fields(rest)
			for i := 1; i < len(lines)-1; i++ {
				_, cells, _ := strings.Cut(lines[i], ",")
				label := list[min(i, len(list))-1]
				if n := len(list) - 1; list[n] == ".." {
					label = list[(i-1)%n]
				}
				lines[i] = label + "," + cells
			}
		case "for":
			a, b, _ := strings.Cut(rest, " = ")
			lines = []string{strings.ReplaceAll(text, quoted(`"`+a+`"`), quoted(`"`+b+`"`))}
		}
		text = strings.Join(lines, "")
	}
	return text
}

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
	program := write(t, dir, "tiny.qps", tinyQPS)
	return []string{
		"--help", "--version", "tune --help", "bench paper --help", "backends", "backends --json", "version", "licenses",
		"tune elastic-net --data " + data, "tune elastic-net --json --data " + data,
		"tune elastic-net --method grid,random --evaluations 4 --data " + data,
		"predict --model " + model + " --data " + data, "predict --json --model " + model + " --data " + data,
		"predict --out - --model " + model + " --data " + data,
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
	data := write(t, dir, "table.csv", csvText(1, 60, 4))
	save, trace := write(t, dir, "m.json", "old"), filepath.Join(dir, "t.jsonl")
	o := shell(t, `ulimit -f 1; "$0" tune elastic-net --data `+data+" --save "+save+" --trace "+trace+" | cat")
	if strings.Contains(o.stderr, "ulimit") {
		t.Skip("no limit of file sizes here:", o.stderr)
	}
	require.Contains(t, o.stderr, "conetune: --save: "+save+": cannot be written: "+syscall.EFBIG.Error())
	require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	require.Contains(t, o.stdout, "chosen by vf-idca", "the result is printed all the same")
	require.Equal(t, "old", readFile(t, save))
	require.Len(t, must.Of(os.ReadDir(dir))(t), 3, "something was left behind")
}

// The name - is standard output where a file is written, and the table goes to standard error then.
func TestStandardOutput(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "table.csv", csvText(1, 60, 4))
	program := write(t, dir, "tiny.qps", tinyQPS)
	t.Chdir(dir)
	before := contents(t, dir)

	o := conetune(t, "tune", "elastic-net", "--data", data, "--save", "-")
	model := o.ok(t)
	require.Contains(t, o.stderr, "model in standard output")
	path := write(t, t.TempDir(), "m.json", model)
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
	o := conetune(t, "solve", write(t, t.TempDir(), "tiny.qps", tinyQPS), "--json", "--out", "/dev/full")
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

// Small files that ask for gigabytes are refused, with file, line and the budget, before anything is allocated.
func TestMemoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	sdpa := write(t, dir, "one.dat-s", "1\n1\n23000\n1\n0 1 1 1 1\n1 1 1 1 1\n")
	wide := write(t, dir, "wide.svm", strings.Repeat("1 20000000:1\n", 13))
	entries := write(t, dir, "entries.csv", "row,col,value\n0,0,1\n0,1,2\n1,0,3\n1048575,1048575,4\n1,1,5\n2,2,2\n")
	const cbfHead = "VER\n1\nOBJSENSE\nMIN\n"
	long := write(t, dir, "long.cbf", cbfHead+"VAR\n200000000 1\nL+ 200000000\n")
	large := write(t, dir, "large.cbf", cbfHead+"PSDVAR\n1\n20000\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, c := range []struct {
		args string
		want string
	}{
		{"solve " + sdpa, sdpa + ":3: the size of block 1: 23000 found: a block with 264511500 entries takes about 67.7 GB " +
			"of memory, but the budget is 4 GB (--memory SIZE or GOMEMLIMIT gives more)"},
		{"solve " + long, long + ":6: VAR: 200000000 found: so many entries takes about 51.2 GB of memory"},
		{"solve " + large, large + ":7: PSDVAR: 20000 found: a matrix with 200010000 entries takes about 80 GB of memory"},
		{"tune elastic-net --data " + wide, wide + ":1: index 20000000: a sparse table of 13 rows, 20000000 features and " +
			"13 nonzeros takes about 10.2 GB of memory"},
		{"tune matrix-completion --data " + entries,
			entries + ":5: a matrix of 1048576 x 1048576 takes about 70.4 TB of memory"},
	} {
		o := conetune(t, append(strings.Fields(c.args), "--memory", "4GB")...)
		require.Equal(t, cli.ExitUsage, o.code, c.args)
		require.Empty(t, o.stdout)
		require.Contains(t, o.stderr, "conetune: "+c.want)
		require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
	require.EqualValues(t, int64(math.MaxInt64), debug.SetMemoryLimit(-1), "the flag is for its command line")
}

// A line of blanks other than the space, anywhere, is passed over.
func TestBlankLines(t *testing.T) {
	dir := t.TempDir()
	for _, blank := range []string{"\f", "\v", "\u00a0", "\r", "\ufeff", "\u2003\t"} {
		lines := []string{"NAME t", "ROWS", " N c", " G r", "COLUMNS", " x c 1 r 1", "RHS", " r 3", "ENDATA", ""}
		o := conetune(t, "solve", write(t, dir, "t.qps", blank+"\n"+strings.Join(lines, "\n"+blank+"\n")), "--json")
		require.InDelta(t, 3, o.object(t)["objective"], 1e-6, "%q", blank)
	}
}

// What a run has when memory ends is reported, with a status of its own.
func TestOutOfMemory(t *testing.T) {
	data := write(t, t.TempDir(), "table.csv", csvText(1, 60, 5))
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var out stopAfterLine
	out.stop = func() { cancel(cli.ErrMemory) }
	var stderr bytes.Buffer
	code := root.Run(ctx, []string{"tune", "weighted-lasso", "--data", data, "--tol", "1e-300", "--gap-tol", "1e-300",
		"--max-iter", "1000000", "--trace", "-"}, nil, &out, &stderr)
	require.Equal(t, cli.ExitMemory, code)
	require.Contains(t, out.text.String(), `"validation_error"`)
	require.Contains(t, stderr.String(), "what was reached is reported and kept")

	stderr.Reset()
	code = root.Run(ctx, []string{"tune", "weighted-lasso", "--data", data}, nil, &out, &stderr)
	require.Equal(t, cli.ExitMemory, code)
	require.Empty(t, stderr.String(), "the watchdog has said it")
}

// stopAfterLine calls stop after the first line.
type stopAfterLine struct {
	text bytes.Buffer
	stop func()
}

func (s *stopAfterLine) Write(p []byte) (int, error) {
	s.stop()
	return s.text.Write(p)
}

// A panic is a failure of the program, and not of its input.
func TestInternalFailure(t *testing.T) {
	var stderr bytes.Buffer
	code := root.Run(context.Background(), []string{"backends"}, nil, panicWriter{}, &stderr)
	require.Equal(t, cli.ExitInternal, code)
	require.Contains(t, stderr.String(), "conetune: internal error: bug")
}

type panicWriter struct{}

func (panicWriter) Write([]byte) (int, error) { panic("bug") }
