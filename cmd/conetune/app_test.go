package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/root"
	"github.com/conetune/conetune/internal/licenses"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// outcome is what a command line gave.
type outcome struct {
	code           int
	stdout, stderr string
}

func conetune(t *testing.T, args ...string) outcome {
	t.Helper()
	return conetuneUntil(t, context.Background(), args...)
}

func conetuneUntil(t *testing.T, ctx context.Context, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := root.Run(ctx, args, nil, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// ok fails the test unless the command succeeded, and returns its standard output.
func (o outcome) ok(t *testing.T) string {
	t.Helper()
	require.Zero(t, o.code, o.stderr)
	return o.stdout
}

// fails fails the test unless the command ended with a status and said some words.
func (o outcome) fails(t *testing.T, code int, words ...string) outcome {
	t.Helper()
	require.Equal(t, code, o.code, o.stderr)
	for _, w := range words {
		require.Contains(t, o.stderr, w)
	}
	return o
}

// object decodes the one JSON object of standard output.
func (o outcome) object(t *testing.T) map[string]any {
	t.Helper()
	require.Equal(t, 1, strings.Count(o.stdout, "\n"), o.stdout)
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &m), o.stdout)
	return m
}

// wards are twelve visits: three wards, days that are not in order with one twice, and folds that are given by name.
//
//go:embed testdata/wards.csv
var wards string

// headOf names a target and p features.
func headOf(p int) string {
	var b strings.Builder
	b.WriteString("y")
	for j := range p {
		fmt.Fprintf(&b, ",f%d", j+1)
	}
	b.WriteString("\n")
	return b.String()
}

// csvText makes a regression table: p normal features, of which the first three
// count, in different units.
func csvText(seed uint64, n, p int) string {
	random := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	b.WriteString(headOf(p))
	for range n {
		x := make([]float64, p)
		y := 100 + random.NormFloat64()
		for j := range x {
			x[j] = random.NormFloat64()
			if j < 3 {
				y += float64(3-j) * x[j]
			}
		}
		fmt.Fprintf(&b, "%.6g", y)
		for j, v := range x {
			fmt.Fprintf(&b, ",%.6g", v*float64(1+j)+5)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// write writes a file, and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// told is that object of a command that succeeded.
func (o outcome) told(t *testing.T) map[string]any {
	t.Helper()
	o.ok(t)
	return o.object(t)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must.Of(os.ReadFile(path))(t))
}

func readModel(t *testing.T, path string) *model.Model {
	t.Helper()
	return must.Of(model.Read(path))(t)
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	return must.Of(strconv.ParseFloat(text, 64))(t)
}

// contents maps the files of a folder to what is in them.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	}))
	return files
}

func keys(m map[string]any) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	sort.Strings(list)
	return list
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"tune", "--help"}, {"predict", "--help"}, {"generate", "--help"},
		{"backends", "--help"}} {
		o := conetune(t, args...)
		require.Contains(t, o.ok(t), "Usage:")
		require.Empty(t, o.stderr)
	}
	require.Contains(t, conetune(t, "tune", "--help").stdout, "weighted-lasso")
	require.True(t, strings.HasPrefix(conetune(t, "--version").ok(t), "conetune "+cli.Release))
}

func TestBackends(t *testing.T) {
	text := conetune(t, "backends").ok(t)
	require.Contains(t, text, "native")
	require.Contains(t, text, "second-order")
	var list []struct {
		Name, Version   string
		Available       bool
		Cones, Features []string
		HowToGet        string `json:"how_to_get"`
	}
	require.NoError(t, json.Unmarshal([]byte(conetune(t, "backends", "--json").ok(t)), &list))
	require.NotEmpty(t, list)
	for _, b := range list {
		require.NotEqual(t, b.Available, b.HowToGet != "", b.Name)
		if b.Name == "native" {
			require.True(t, b.Available)
			require.Contains(t, b.Cones, "second-order")
			require.NotEmpty(t, b.Version)
		}
		if b.Available {
			require.Equal(t, b.Name == "osqp" || b.Name == "highs", slices.Contains(b.Features,
				"by the method of multipliers: second-order, exponential, dual exponential"), b.Name)
		}
	}
}

// The pages name all models, and which of them take an offset.
func TestPagesNameModels(t *testing.T) {
	page := func(path string) string {
		return readFile(t, "../../"+path)
	}
	words := map[int]string{17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty"}
	require.Contains(t, page("README.md"), "There are "+words[len(model.Specs())]+" models")
	_, refusing, _ := strings.Cut(page("docs/command.md"),
		"The column has no missing values, is no feature and is not scaled; `predict` needs it. ")
	refusing, _, _ = strings.Cut(refusing, " refuse.")
	table := page("docs/models.md")
	_, features, _ := strings.Cut(table, "| models | `--weights` | `--offset` |")
	features, _, _ = strings.Cut(features, "\n\n")
	for _, m := range model.Specs() {
		require.Contains(t, table, "\n| `"+m.Name+"`, ")
		require.Equal(t, !m.Takes("Offset"), strings.Contains(refusing, "`"+m.Name+"`"), m.Name)
		for line := range strings.Lines(features) {
			if cells := strings.Split(line, "|"); len(cells) > 3 && strings.Contains(cells[1], "`"+m.Name+"`") {
				require.Equal(t, m.Takes("Weights"), strings.TrimSpace(cells[2]) == "yes", m.Name)
				require.Equal(t, m.Takes("Offset"), strings.TrimSpace(cells[3]) == "yes", m.Name)
			}
		}
	}
}

// The first command of the README compiles all that it links: without build tags it links no network, and beside
// those of the command itself no more packages than this.
func TestPackagesOfFirstCommand(t *testing.T) {
	const most = 334
	out, err := exec.Command("go", "list", "-deps", "-tags=", ".").Output()
	if err != nil {
		t.Skip("no go command here:", err)
	}
	packages := slices.DeleteFunc(strings.Fields(string(out)),
		func(p string) bool { return strings.Contains(p, "/internal/cli/") })
	require.NotContains(t, packages, "net/http")
	require.NotContains(t, packages, "crypto/tls")
	require.LessOrEqual(t, len(packages), most)
}

// The texts reach whoever has the program, those of the C libraries in builds that have them.
func TestLicenses(t *testing.T) {
	text := conetune(t, "licenses").ok(t)
	require.Equal(t, licenses.Text(), text)
	for _, words := range []string{"=== conetune\n", "Apache License", "=== Go, runtime", "=== gonum.org/v1/gonum v",
		"The Gonum Authors"} {
		require.Contains(t, text, words)
	}
	for name, words := range map[string]string{"scs": "=== C library: SCS\n", "osqp": "=== C library: OSQP\n",
		"clarabel": "=== C library: Clarabel\n", "highs": "=== C library: HiGHS\n"} {
		require.Equal(t, backends.Missing(name) == "", strings.Contains(text, words), name)
	}
	if backends.Missing("clarabel") == "" {
		require.Contains(t, text, "=== C library: OpenBLAS\n")
	}
	require.Equal(t, conetune(t, "--version").ok(t), conetune(t, "version").ok(t))
}

// A Go program gets the model that the command saves, of every kind, to the last bit.
func TestProgramAsCommand(t *testing.T) {
	dir := t.TempDir()
	for _, m := range everyModel(t, dir, 1, 45, 6) {
		t.Run(m.Name, func(t *testing.T) {
			spec := m.Spec
			source := input.Source{Data: m.table, Seed: 1}
			options := model.Options{Standardize: true, Intercept: !spec.Survival}
			if spec.Several {
				source.Wanted.Targets = []string{"y", "f2"}
			}
			options.Groups = func(features []string, _ bool) (*groups.Groups, error) { return groups.Equal(len(features), 2) }
			saved := filepath.Join(dir, spec.Name+".json")
			conetune(t, m.command("--save", saved)...).ok(t)
			want := readModel(t, saved)

			spec.Prepare(&source)
			rows := must.Of(source.Read())(t)
			built := must.Of(spec.Build(rows, options))(t)
			result := must.Of(tune.Run(t.Context(), built, tune.Config{Seed: 1}))(t)
			result.Version = cli.Version()
			var file bytes.Buffer
			require.NoError(t, model.New(&source, rows, built, options, result).Write(&file))
			got := must.Of(model.ReadFrom(&file, "model.json"))(t)
			require.Equal(t, want, got)
		})
	}
}

// The programs of the README are examples of the packages model and convex.
func TestProgramOfReadme(t *testing.T) {
	text := func(path, after, before string) string {
		_, text, _ := strings.Cut(readFile(t, "../../"+path), after)
		text, _, _ = strings.Cut(text, before)
		return text
	}
	want := strings.ReplaceAll(text("model/program_test.go", "func Example_program() {\n", "\t// Output"), "../examples",
		"examples")
	require.NotEmpty(t, want)
	require.Equal(t, want, text("README.md", "func main() {\n", "}\n```"))

	want = text("convex/example_test.go", "func Example_lasso() {\n\t", "\t// The columns")
	require.NotEmpty(t, want)
	require.Equal(t, strings.ReplaceAll(want, "\n\t", "\n"), text("README.md", "for two weights is\n\n```go\n", "```"))
}

// What a table is read as, with what is suspicious, and also where it could not be tuned.
func TestLook(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".", "t.csv", "id;born;size;kind;score;y\n1;2001-02-03;1,5;a;-999;no\n2;1999-12-31;;b;-999;yes\n"+
		"3;2000-02-29;2,5;a;1;no\n4;2000-03-01;3,5;NA;2;yes\n5;2000-03-02;0,5;b;3;no\n6;2000-03-03;4;b;4;yes\n")
	text := conetune(t, "look", "t.csv").ok(t)
	require.Contains(t, text, `t.csv: 6 rows, 6 columns; ";" between cells, "," in numbers`)
	require.Regexp(t, `(?m)^born +feature +date +0 +from 1999-12-31 to 2001-02-03$`, text)
	require.Regexp(t, `(?m)^size +feature +number +1 +from 0.5 to 4$`, text)
	require.Regexp(t, `(?m)^kind +feature +category +1 +2 levels: a, b$`, text)
	require.Regexp(t, `(?m)^y +target +category +0 +2 levels: no, yes$`, text)
	require.Regexp(t, `(?m)^id +number +0 +from 1 to 6, whole$`, text)
	require.Contains(t, text, `- column "id": names or numbers of rows, no feature (--id none takes it all the same)`)
	require.Contains(t, text, "--na -999")

	o := conetune(t, "look", "t.csv", "--json", "--na", "-999", "--model", "lasso").object(t)
	columns := o["columns"].([]any)
	require.Len(t, columns, 6)
	require.EqualValues(t, 2, columns[4].(map[string]any)["missing"])
	require.Equal(t, ";", o["separator"])
	findings := o["findings"].([]any)
	last := findings[len(findings)-1].(map[string]any)
	require.Equal(t, "error", last["kind"])
	require.Contains(t, last["text"], "the target holds texts")

	write(t, ".", "t.svm", "1 1:2 3:4\n-1 2:5\n")
	require.Contains(t, conetune(t, "look", "t.svm").ok(t),
		"a LIBSVM file: 3 features from x1 to x3, of whose values 50 %")
	conetune(t, "look").fails(t, cli.ExitUsage, "expected one table")
	conetune(t, "look", "absent.csv").fails(t, cli.ExitUsage, "absent.csv")
}
