package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/tune"
)

// schema reads a schema of docs/schema, whose form is checked too.
func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	return must.Of(jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "schema", name)))(t)
}

// jsonValue decodes a document as the validator takes it.
func jsonValue(t *testing.T, text string) any {
	t.Helper()
	return must.Of(jsonschema.UnmarshalJSON(strings.NewReader(text)))(t)
}

// mixedTable has texts of two kinds, dates, gaps, row names and a column of one value; the target is outcome, or sick.
func mixedTable(n int) string {
	var b strings.Builder
	b.WriteString("id,born,dose,place,same,outcome,sick\n")
	for i := range n {
		dose := fmt.Sprint(i%7, ".5")
		if i%9 == 4 {
			dose = "NA"
		}
		outcome := float64(i%7) + 2*float64(i%3) + float64(i*i%5)/3
		fmt.Fprintf(&b, "p%d,19%02d-03-%02d,%s,%s,k,%.3f,%s\n", i, 50+i%40, 1+i%28, dose, []string{"ward", "home",
			"day care"}[i%3], outcome, map[bool]string{true: "yes", false: "no"}[outcome+float64(i%4) > 6])
	}
	return b.String()
}

// jobOfEveryModel goes to a folder of its own, makes small tables there, and returns the arguments of a run of tune for
// each model.
func jobOfEveryModel(t *testing.T) [][]string {
	t.Helper()
	lung := readFile(t, filepath.FromSlash(lungFile))
	t.Chdir(t.TempDir())
	write(t, ".", "lung.csv", lung)
	write(t, ".", "t.csv", csvText(1, 60, 8))
	write(t, ".", "mixed.csv", mixedTable(80))
	wide := strings.Builder{}
	for i := range 40 {
		fmt.Fprintf(&wide, "%d %d:1 %d:%d 400:0.5\n", i%7, 1+i%7, 20+i*9, 1+i%3)
	}
	write(t, ".", "wide.svm", wide.String())
	labels := strings.Builder{}
	for i := range 60 {
		fmt.Fprintf(&labels, "%d 1:%d 2:%d\n", 1-2*(i%2), i%2*3+i%5, i%7)
	}
	write(t, ".", "labels.svm", labels.String())
	counts := "y,a,b\n"
	for i := range 60 {
		counts += fmt.Sprintf("%d,%d,%d\n", i%5+i%3, i%5, i%7)
	}
	write(t, ".", "counts.csv", counts)
	for name, preset := range map[string]string{"multi-task": "30-30-30-p20", "matrix-completion": "24-24"} {
		conetune(t, "generate", name, "--preset", preset, "--out", name).ok(t)
	}
	of := map[string][]string{
		"multi-task": {"--dir", "multi-task"}, "matrix-completion": {"--dir", "matrix-completion"},
		"poisson": {"--data", "counts.csv"}, "weighted-poisson": {"--data", "counts.csv"},
		"weighted-logistic": {"--data", "labels.svm"},
		"svm":               {"--data", "labels.svm", "--folds", "3"}, "logistic": {"--data", "labels.svm"},
		"multinomial":        {"--data", "labels.svm"},
		"cox":                {"--data", "lung.csv", "--target", "time", "--ties", "efron", "--folds", "3", "--repeats", "1"},
		"sparse-group-lasso": {"--data", "t.csv", "--groups", "4"}, "group-lasso": {"--data", "t.csv", "--groups", "4"},
	}
	var jobs [][]string
	for _, model := range model.Names() {
		args, ok := of[model]
		if !ok {
			args = []string{"--data", "t.csv"}
		}
		jobs = append(jobs, append([]string{model, "--max-iter", "8"}, args...))
	}
	return jobs
}

// What tune prints and saves is as the schemas say, with no field that they do not know, for every model, for every
// method, and however a run ends.
func TestSchema(t *testing.T) {
	if testing.Short() {
		t.Skip("all models and methods")
	}
	results, models := schema(t, "tune.json"), schema(t, "model.json")
	cases := jobOfEveryModel(t)
	write(t, ".", "formed.csv", formedTable(90))
	seen := map[string]bool{}
	for _, method := range tune.Methods() {
		cases = append(cases, []string{"elastic-net", "--data", "t.csv", "--method", method, "--evaluations", "4", "--folds",
			"3"})
	}
	cases = append(cases,
		[]string{"elastic-net", "--data", "t.csv", "--method", "grid,vf-idca,tpe", "--evaluations", "4"},
		[]string{"elastic-net", "--data", "mixed.csv", "--target", "outcome", "--drop", "sick", "--folds", "3"},
		[]string{"logistic", "--data", "mixed.csv", "--target", "sick", "--drop", "outcome", "--split", "0.6/0.4",
			"--missing", "mean"},
		[]string{"svm", "--data", "mixed.csv", "--target", "sick", "--drop", "outcome", "--folds", "3", "--class-weights",
			"1,2", "--loss", "squared-hinge"},
		[]string{"logistic", "--data", "mixed.csv", "--target", "sick", "--drop", "outcome", "--decide", "f1"},
		[]string{"multinomial", "--data", "mixed.csv", "--target", "sick", "--drop", "outcome", "--decide", "1:2",
			"--positive", "no"},
		[]string{"ridge", "--data", "mixed.csv", "--target", "outcome", "--drop", "sick", "--group", "place", "--folds", "3",
			"--test", "mixed.csv"},
		[]string{"lasso", "--data", "t.csv", "--nested=3", "--folds", "3"},
		append([]string{"ridge", "--data", "formed.csv"}, forms...),
		[]string{"elastic-net", "--data", "mixed.csv", "--target", "outcome", "--test", "mixed.csv", "--bootstrap", "3"},
		[]string{"multi-task", "--data", "mixed.csv", "--target", "outcome,dose", "--bootstrap", "3"},
		[]string{"ridge", "--data", "t.csv", "--weights", "f1", "--method", "grid,vf-idca", "--evaluations", "4"},
		[]string{"lasso", "--data", "wide.svm", "--split", "0.5/0.5"},
		[]string{"quantile", "--data", "t.csv", "--engine", "conic", "--level", "0.8", "--preset", "paper"},
		[]string{"weighted-lasso", "--data", "t.csv", "--time-limit", "1ns"},
		[]string{"weighted-lasso", "--data", "t.csv", "--max-iter", "1", "--engine", "conic"},
		[]string{"elastic-net", "--data", "t.csv", "--seed", "9", "--standardize=false", "--intercept=false", "--final",
			"train", "--split", "0.5/0.25/rest"},
	)
	for _, args := range cases {
		os.Remove("m.json")
		o := conetune(t, append([]string{"tune", "--json", "--save", "m.json"}, args...)...)
		require.LessOrEqual(t, o.code, cli.ExitUnsolved, "%v: %s", args, o.stderr)
		require.NoError(t, results.Validate(jsonValue(t, o.stdout)), args)
		if k := slices.Index(args, "--method"); k == 3 && !strings.HasPrefix(args[4], tune.MethodVFiDCA) &&
			o.stdout[0] == '{' {
			// Of a search the refit is the iterate, and the budget is kept.
			m := o.object(t)
			require.Equal(t, args[4], m["method"])
			require.LessOrEqual(t, m["iterations"], 4.0, args)
			require.Positive(t, m["iterations"], args)
			require.Equal(t, m["refit"].(map[string]any)["validation_error"], m["validation_error"], args)
			require.Zero(t, m["lower_gap"], args)
		}
		gather(seen, "", jsonValue(t, o.stdout))
		if text, err := os.ReadFile("m.json"); err == nil {
			require.NoError(t, models.Validate(jsonValue(t, string(text))), args)
			gather(seen, "model ", jsonValue(t, string(text)))
		} else {
			require.Equal(t, cli.ExitUnsolved, o.code, args)
		}
	}
	// The cases are such that fields which are not always there have been seen.
	for _, name := range []string{"message", "findings", "metrics_on", "nested", "auc", "log_loss", "brier", "pinball",
		"threshold", "f1", "cost", "balanced_error", "average_precision", "coverage", "deviance", "concordance", "lines",
		"positive", "bootstrap", "median", "mean_width", "model residuals",
		"model compact", "model labels", "model loss", "model level", "model threshold", "model class_weights",
		"model deviations", "model encoding", "model layout", "model levels",
		"model basis", "model others", "model ordered", "model interactions", "model missing", "model log_link", "model targets", "model intercepts", "model matrix", "model preset", "model split",
		"model folds", "model repeats", "model division", "model weights", "model baseline", "model ties", "model event"} {
		require.True(t, seen[name], name)
	}
}

// gather notes the names of all fields in a document.
func gather(seen map[string]bool, prefix string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			seen[prefix+name] = true
			gather(seen, prefix, item)
		}
	case []any:
		for _, item := range v {
			gather(seen, prefix, item)
		}
	}
}

// A field that is not documented, one that is missing, and a value of another kind are found.
func TestSchemaRefuses(t *testing.T) {
	schemas := map[string]*jsonschema.Schema{"tune.json": schema(t, "tune.json"), "model.json": schema(t, "model.json")}
	t.Chdir(t.TempDir())
	write(t, ".", "t.csv", csvText(1, 60, 4))
	text := conetune(t, "tune", "lasso", "--data", "t.csv", "--save", "m.json", "--json").ok(t)
	saved := readFile(t, "m.json")
	for name, document := range map[string]string{"tune.json": text, "model.json": saved} {
		s := schemas[name]
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(document), &fields))
		refused := func(change func(m map[string]any)) {
			t.Helper()
			m := maps.Clone(fields)
			change(m)
			out := must.Of(json.Marshal(m))(t)
			require.Error(t, s.Validate(jsonValue(t, string(out))))
		}
		refused(func(m map[string]any) { m["extra"] = 1 })
		refused(func(m map[string]any) { delete(m, "radii") })
		refused(func(m map[string]any) { m["model"] = "lasoo" })
		refused(func(m map[string]any) { m["hyperparameters"] = map[string]any{"lambda": "1"} })
	}
}

// Every property of the schemas has a description, lists of names are those of the program, and JSON Schema is of the
// draft that is said.
func TestSchemaDocuments(t *testing.T) {
	for _, name := range []string{"tune.json", "model.json"} {
		text := readFile(t, filepath.Join("..", "..", "docs", "schema", name))
		var root map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &root))
		require.Equal(t, "https://json-schema.org/draft/2020-12/schema", root["$schema"])
		properties := 0
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case map[string]any:
				if list, ok := v["properties"].(map[string]any); ok && v["additionalProperties"] != nil {
					require.Equal(t, false, v["additionalProperties"])
					for name, p := range list {
						properties++
						require.NotEmpty(t, p.(map[string]any)["description"], name)
						switch names := p.(map[string]any)["enum"]; name {
						case "model":
							require.Equal(t, slices.Sorted(slices.Values(model.Names())), texts(names))
						case "method":
							require.Equal(t, slices.Sorted(slices.Values(tune.Methods())), texts(names))
						}
					}
				}
				for _, item := range v {
					walk(item)
				}
			case []any:
				for _, item := range v {
					walk(item)
				}
			}
		}
		walk(root)
		require.Greater(t, properties, 30)
	}
}

// texts are the texts of a list, sorted.
func texts(v any) (list []string) {
	for _, item := range v.([]any) {
		list = append(list, item.(string))
	}
	slices.Sort(list)
	return list
}

// What predict prints is as its schema says, of models of each kind.
func TestSchemaOfPredictions(t *testing.T) {
	if testing.Short() {
		t.Skip("a model of each kind")
	}
	s := schema(t, "predict.json")
	lung := readFile(t, lungFile)
	t.Chdir(t.TempDir())
	write(t, ".", "mixed.csv", mixedTable(80))
	write(t, ".", "cars.csv", cars(60))
	write(t, ".", "times.csv", lung)
	conetune(t, "generate", "matrix-completion", "--preset", "24-24", "--out", "entries").ok(t)
	write(t, ".", "entries.csv", "row,col,value\n0,1,0.5\n3,2,1\n")
	seen := map[string]bool{}
	for _, c := range []struct {
		tune    []string
		predict [][]string
	}{
		{[]string{"lasso", "--data", "mixed.csv", "--target", "outcome"}, [][]string{{"--data", "mixed.csv"},
			{"--data", "mixed.csv", "--id", "id"}, {"--data", "mixed.csv", "--interval", "0.8"}}},
		{[]string{"logistic", "--data", "mixed.csv", "--target", "sick"},
			[][]string{{"--data", "mixed.csv", "--prob", "--labels"}}},
		{[]string{"multinomial", "--data", "mixed.csv", "--target", "place"}, [][]string{{"--data", "mixed.csv", "--prob"}}},
		{[]string{"svm", "--data", "mixed.csv", "--target", "sick"}, [][]string{{"--data", "mixed.csv"}}},
		{[]string{"cox", "--data", "times.csv", "--target", "time", "--event", "status", "--missing", "drop"},
			[][]string{{"--data", "times.csv"}, {"--data", "times.csv", "--survival", "100,200"}}},
		{[]string{"multi-task", "--data", "cars.csv", "--target", "mpg,gear"}, [][]string{{"--data", "cars.csv"}}},
		{[]string{"matrix-completion", "--dir", "entries"}, [][]string{{}, {"--data", "entries.csv"}}},
	} {
		conetune(t, append(append([]string{"tune"}, c.tune...), "--save", "m.json")...).ok(t)
		for _, args := range c.predict {
			text := conetune(t, append([]string{"predict", "--model", "m.json", "--json"}, args...)...).ok(t)
			v := jsonValue(t, text)
			require.NoError(t, s.Validate(v), "%v %v", c.tune, args)
			for field := range v.(map[string]any) {
				seen[field] = true
			}
		}
	}
	require.Len(t, seen, 22, slices.Sorted(maps.Keys(seen)))
}

// updateTutorials is set to write what the commands of the tutorials print into the pages; read the difference.
const updateTutorials = "CONETUNE_UPDATE_TUTORIALS"

// shown is a command of a tutorial with the output that the page shows below it.
type shown struct {
	command, output string
	line            int
}

// readTutorial are the commands of a page: in its blocks of the kind console, lines that begin with "$ ", with those
// that follow with "> ". The page is parts of text with an output between each two.
func readTutorial(page string) (commands []shown, parts []string) {
	var part, output strings.Builder
	inside := false
	end := func() {
		if len(commands) > len(parts) {
			commands[len(commands)-1].output = output.String()
			parts = append(parts, part.String())
			part.Reset()
			output.Reset()
		}
	}
	for n, line := range strings.SplitAfter(page, "\n") {
		switch {
		case strings.HasPrefix(line, "```console"):
			inside = true
			part.WriteString(line)
		case inside && strings.HasPrefix(line, "```"):
			inside = false
			end()
			part.WriteString(line)
		case inside && strings.HasPrefix(line, "$ "):
			end()
			commands = append(commands, shown{command: line[2:], line: n + 1})
			part.WriteString(line)
		case inside && strings.HasPrefix(line, "> ") && output.Len() == 0:
			commands[len(commands)-1].command += line[2:]
			part.WriteString(line)
		case inside:
			output.WriteString(line)
		default:
			part.WriteString(line)
		}
	}
	return commands, append(parts, part.String())
}

var (
	tutorialTime   = regexp.MustCompile(`\b\d+(\.\d+)? s\b`)
	tutorialNumber = regexp.MustCompile(`-?\d+(\.\d+)?(e[-+]?\d+)?`)
)

// sameOutput compares what is printed with what is shown, but for times: numbers to a millionth, which is all of those
// with six digits, and on machines with other rounding of products than those that the pages are made on, to a
// thousandth.
func sameOutput(got, want string) bool {
	got, want = tutorialTime.ReplaceAllString(got, "TIME"), tutorialTime.ReplaceAllString(want, "TIME")
	tolerance := 1e-6
	if runtime.GOARCH != "amd64" {
		tolerance = 1e-3
	}
	if tutorialNumber.ReplaceAllString(got, "N") != tutorialNumber.ReplaceAllString(want, "N") {
		return false
	}
	numbers := tutorialNumber.FindAllString(want, -1)
	for k, text := range tutorialNumber.FindAllString(got, -1) {
		x, _ := strconv.ParseFloat(text, 64)
		y, _ := strconv.ParseFloat(numbers[k], 64)
		if math.Abs(x-y) > tolerance*math.Abs(y) {
			return false
		}
	}
	return true
}

// The tutorials are what happens, word for word.
func TestTutorials(t *testing.T) {
	if testing.Short() {
		t.Skip("the commands have tests of their own")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	if _, err := exec.LookPath("timeout"); err != nil {
		t.Skip("no GNU tools here")
	}
	for _, name := range []string{"tutorial.md", "tutorial-batch.md"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("..", "..", "docs", name)
			page := readFile(t, path)
			commands, parts := readTutorial(page)
			require.NotEmpty(t, commands)
			dir := t.TempDir()
			tables := must.Of(filepath.Glob(filepath.Join("..", "..", "examples", "rents*.csv")))(t)
			for _, table := range tables {
				write(t, dir, filepath.Base(table), readFile(t, table))
			}
			program := filepath.Join(t.TempDir(), "conetune")
			require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nexec "+os.Args[0]+` "$@"`+"\n"), 0o777))
			var made bytes.Buffer
			for k, c := range commands {
				cmd := exec.Command(sh, "-c", c.command)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), command+"=1", "LC_ALL=C",
					"PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
				got, err := cmd.CombinedOutput()
				fmt.Fprintf(&made, "%s%s", parts[k], got)
				if os.Getenv(updateTutorials) == "" {
					require.NoError(t, err, "%s, line %d: %s\n%s", name, c.line, c.command, got)
					require.True(t, sameOutput(string(got), c.output),
						"%s, line %d: %s\nprinted:\n%s\nshown:\n%s\n%s=1 writes it to the page", name, c.line, c.command, got, c.output,
						updateTutorials)
				}
			}
			if os.Getenv(updateTutorials) != "" {
				made.WriteString(parts[len(commands)])
				require.NoError(t, os.WriteFile(path, made.Bytes(), 0o666))
			}
		})
	}
}

func TestReadTutorial(t *testing.T) {
	page := "a\n```console\n$ one\n1\n$ two \\\n> more\n2\n3\n```\nb\n```\n$ no\n```\n```console\n$ three\n```\nc\n"
	commands, parts := readTutorial(page)
	require.Equal(t, []shown{{"one\n", "1\n", 3}, {"two \\\nmore\n", "2\n3\n", 5}, {"three\n", "", 15}}, commands)
	require.Equal(t, []string{"a\n```console\n$ one\n", "$ two \\\n> more\n",
		"```\nb\n```\n$ no\n```\n```console\n$ three\n", "```\nc\n"}, parts)
	require.True(t, sameOutput("done, 0.5 s 3\n", "done, 12 s 3\n"))
	require.False(t, sameOutput("done, 0.5 s 3\n", "done, 0.5 s 4\n"))
	require.False(t, sameOutput("0.123457", "0.123456"))
	require.False(t, sameOutput("a 1", "b 1"))
	require.False(t, sameOutput("1 2", "1"))
}
