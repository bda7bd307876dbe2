package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/root"
	"github.com/conetune/conetune/internal/must"
)

// cars is a table as R writes it: row names, texts, gaps, a column of numbers that names the gear box.
func cars(n int) string {
	var b strings.Builder
	b.WriteString("\"\",\"mpg\",\"wt\",\"maker\",\"gear\",\"am\"\n")
	for i := range n {
		wt, maker, gear := fmt.Sprint(2+float64(i*7%13)/8), []string{"Fiat", "Volvo", "Opel"}[i*5%3], 3+i*3%4
		mpg := 30 - 3*(2+float64(i*7%13)/8) + float64(i*5%3) + float64(i*11%7)/10
		if i%6 == 1 {
			wt = "NA"
		}
		am := map[bool]string{true: "manual", false: "automatic"}[mpg > 22]
		fmt.Fprintf(&b, "\"car %d\",%v,%s,\"%s\",%d,\"%s\"\n", i, mpg, wt, maker, gear, am)
	}
	return b.String()
}

// A table as it comes is tuned by its target alone, by a split, by tables of their own and by folds, and the saved
// model predicts tables with other columns, another order and another dialect.
func TestTableAsItComes(t *testing.T) {
	dir := t.TempDir()
	data, model := write(t, dir, "cars.csv", cars(60)), filepath.Join(dir, "m.json")
	features := []any{"wt", "wt=(missing)", "maker=Opel", "maker=Volvo", "gear"}
	for name, args := range map[string][]string{
		"split":  {"--data", data, "--split", threeParts},
		"files":  {"--train", data, "--val", data, "--test", data},
		"folds":  {"--data", data, "--folds", "3"},
		"tested": {"--data", data, "--folds", "3", "--test", data},
	} {
		o := conetune(t, append([]string{"tune", "elastic-net", "--target", "mpg", "--drop", "am", "--json", "--save", model},
			args...)...)
		m := o.object(t)
		require.Equal(t, "converged", m["status"], name)
		require.Less(t, m["refit"].(map[string]any)["validation_error"], 1.0, name)
		require.Contains(t, o.stderr, `cars.csv: column "Unnamed: 0": names or numbers of rows`)
		require.Contains(t, o.stderr, `cars.csv: missing values in column "wt" (10, lines 3, 9, 15, ..): the median`)
		first := m["findings"].([]any)[0].(map[string]any)
		require.Equal(t, "columns", first["kind"], name)
		require.Equal(t, data, first["file"])
		var saved map[string]any
		require.NoError(t, json.Unmarshal([]byte(readFile(t, model)), &saved))
		require.Equal(t, features, saved["features"], name)
	}
	all := strings.Fields(conetune(t, "predict", "--model", model, "--data", data).ok(t))
	require.Len(t, all, 60)

	// The first row again, by name, with a decimal comma; a row without a weight, and one of a maker that is not known.
	other := write(t, dir, "new.tsv",
		"gear\tmaker\tcolour\twt\n3\tFiat\tred\t2,0\n6\tOpel\tred\tNULL\n3\tLada\tred\t2,0\n")
	o := conetune(t, "predict", "--model", model, "--data", other)
	got := strings.Fields(o.ok(t))
	require.Equal(t, all[0], got[0])
	require.Equal(t, all[0], got[2], "a level that is not known is the reference, Fiat")
	require.Contains(t, o.stderr, `column "maker" (1, line 4): levels that the training rows do not have`)

	conetune(t, "predict", "--model", model, "--data", write(t, dir, "less.csv", "gear,maker\n3,Fiat\n")).fails(t,
		cli.ExitUsage, `less.csv:1: lacks column "wt"; there are: "gear", "maker"`)
}

// Labels are texts on the way in and on the way out.
func TestTextLabels(t *testing.T) {
	dir := t.TempDir()
	data, model := write(t, dir, "cars.csv", cars(60)), filepath.Join(dir, "m.json")
	for _, name := range []string{"logistic", "svm"} {
		o := conetune(t, "tune", name, "--data", data, "--target", "am", "--drop", "mpg", "--categorical", "gear", "--folds",
			"3", "--save", model)
		require.Contains(t, strings.Join(strings.Fields(o.ok(t)), " "), "The label is manual where")
		o = conetune(t, "predict", "--model", model, "--data", data)
		words := strings.Fields(o.ok(t))
		require.Len(t, words, 60)
		wrong := 0
		for i, line := range strings.Split(strings.TrimSpace(cars(60)), "\n")[1:] {
			require.Contains(t, []string{"manual", "automatic"}, words[i])
			if !strings.HasSuffix(line, `"`+words[i]+`"`) {
				wrong++
			}
		}
		require.Less(t, wrong, 15, name)
		share := fmt.Sprintf("%.6g", float64(wrong)/60)
		require.Contains(t, o.stderr, map[string]string{"svm": "error " + share + " on 60 rows (share of wrong labels)",
			"logistic": "on 60 rows (mean logistic loss), share of wrong labels " + share}[name])
		shown := conetune(t, "predict", "--model", model, "--data", data, "--json").object(t)["predictions"].([]any)
		require.Equal(t, words[0], shown[0])
	}
	conetune(t, "tune", "elastic-net", "--data", data, "--target", "am").fails(t, cli.ExitUsage,
		`the target holds texts ("automatic", "manual"), expected numbers; logistic and svm`)
	o := conetune(t, "tune", "logistic", "--data", data, "--target", "maker")
	require.Contains(t, o.stderr, `the target has 3 labels ("Fiat", "Opel", "Volvo"), expected two`)
}

// Several targets are taken out of such a table, divided and by folds.
func TestSeveralTargetsWithGaps(t *testing.T) {
	dir := t.TempDir()
	data, model := write(t, dir, "cars.csv", cars(60)), filepath.Join(dir, "m.json")
	for _, args := range [][]string{{}, {"--folds", "3"}} {
		m := conetune(t, append([]string{"tune", "multi-task", "--data", data, "--target", "mpg,gear", "--json", "--save",
			model}, args...)...).object(t)
		require.Equal(t, "converged", m["status"])
		o := conetune(t, "predict", "--model", model, "--data", data)
		require.Len(t, strings.Fields(o.ok(t)), 60)
		require.Contains(t, o.stderr, "on 60 rows (half the mean squared error)")
	}
}

func TestTableOnStandardInput(t *testing.T) {
	pipe := func(text string, args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		code = root.Run(context.Background(), args, strings.NewReader(text), &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	model := filepath.Join(t.TempDir(), "m.json")
	code, _, errs := pipe(cars(60), "tune", "elastic-net", "--data", "-", "--target", "mpg", "--save", model)
	require.Zero(t, code, errs)
	code, out, errs := pipe(cars(7), "predict", "--model", model, "--data", "-")
	require.Zero(t, code, errs)
	require.Len(t, strings.Fields(out), 7)
	code, _, errs = pipe("1 1:2 2:3\n0 1:1\n1 2:2\n3 1:1 2:1\n2 1:4\n0 2:4\n1 1:2\n2 2:2\n", "tune", "elastic-net",
		"--data", "-")
	require.Zero(t, code, errs)
	code, _, errs = pipe("", "tune", "elastic-net", "--train", "-", "--val", "-")
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, errs, "standard input, -, is named 2 times")
}

// What is piped in counts against the budget of memory, as files do.
func TestBudgetOfStandardInput(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{"tune", "elastic-net", "--data", "-", "--target", "mpg", "--memory", "500kB"}
	require.Equal(t, cli.ExitUsage, root.Run(context.Background(), args, strings.NewReader(cars(20000)), &stdout, &stderr))
	require.Regexp(t, `standard input:\d+: what was read up to here takes about .* of memory, but the budget is`,
		stderr.String())
}

// A table whose gaps are spelled -999 and trace is, with --na, the table with empty cells, when tuned and when
// predicted.
func TestSpelledGaps(t *testing.T) {
	dir := t.TempDir()
	table := func(gap string) string { return strings.ReplaceAll(cars(60), ",NA,", ","+gap+",") }
	tuned := func(name, text string, more ...string) (coefficients, model, data string) {
		data, model = write(t, dir, name+".csv", text), filepath.Join(dir, name+".json")
		o := conetune(t, append([]string{"tune", "elastic-net", "--target", "mpg", "--drop", "am", "--json", "--data", data,
			"--save", model}, more...)...)
		return fmt.Sprint(o.object(t)["refit"].(map[string]any)["coefficients"]), model, data
	}
	want, empty, emptied := tuned("empty", table(""))
	for name, gap := range map[string]string{"number": "-999.0", "text": "trace"} {
		got, model, data := tuned(name, table(gap), "--na", "trace,-999")
		require.Equal(t, want, got, name)
		require.Equal(t, conetune(t, "predict", "--model", empty, "--data", emptied).ok(t), conetune(t, "predict", "--model",
			model, "--data", data).ok(t), name)
		require.Contains(t, conetune(t, "show", model).ok(t), "missing, beside the usual: trace, -999")
	}
}

// formedTable has all that forms are for: numbers, categories, dates, gaps, groups that span times.
func formedTable(rows int) string {
	var b strings.Builder
	b.WriteString("y,age,income,town,size,when,rooms,balcony,ward,week\n")
	for i := range rows {
		cell := func(v int, gap bool) string {
			if gap {
				return ""
			}
			return fmt.Sprint(v)
		}
		age, rooms, size := 18+i*37%63, 1+i*i%6, i%3
		y := 3*math.Sin(float64(age)/12) + 0.5*float64(rooms*(i/2%2)) + float64(min(size, 1)) + math.Sin(float64(i*i))/4
		fmt.Fprintf(&b, "%.4f,%d,%s,%s,%s,20%02d-%02d-%02d,%s,%s,w%d,%d\n", y, age, cell(20+age/3+i%5, i%9 == 0),
			[]string{"Ulm", "Bonn", "Kiel"}[i/3%3], []string{"low", "mid", "high"}[size], 10+i%4, 1+i*5%12, 1+i*7%28,
			cell(rooms, i%23 == 0), []string{"no", "yes"}[i/2%2], i%7, i/5)
	}
	return b.String()
}

// forms are flags for all that columns can become.
var forms = []string{"--spline", "age=4", "--poly", "income=2", "--interact", "rooms:balcony,town:size", "--ordered",
	"size=low:mid:high", "--reference", "town=Kiel", "--dates", "auto", "--missing", "regression", "--drop", "ward,week"}

// What tune makes of columns predict makes again: the error of the test rows is the same from the model file, and from
// rows whose columns stand in another order.
func TestFormsArePredicted(t *testing.T) {
	t.Chdir(t.TempDir())
	lines := strings.Split(strings.TrimSpace(formedTable(260)), "\n")
	test := lines[201:]
	write(t, ".", "t.csv", strings.Join(lines[:201], "\n")+"\n")
	table := must.Of(csv.NewReader(strings.NewReader(strings.Join(append(lines[:1:1], test...), "\n"))).ReadAll())(t)
	var turned strings.Builder
	w := csv.NewWriter(&turned)
	for _, cells := range table {
		for i, j := 0, len(cells)-1; i < j; i, j = i+1, j-1 {
			cells[i], cells[j] = cells[j], cells[i]
		}
		require.NoError(t, w.Write(cells))
	}
	w.Flush()
	write(t, ".", "test.csv", turned.String())
	for _, model := range []string{"elastic-net", "group-lasso"} {
		m := conetune(t, append([]string{"tune", model, "--data", "t.csv", "--test", "test.csv", "--save", "m.json", "--json",
			"--nested=2"}, forms...)...).object(t)
		error := conetune(t, "predict", "--model", "m.json", "--data", "test.csv", "--json").object(t)["error"]
		require.InEpsilon(t, m["refit"].(map[string]any)["test_error"], error, 1e-12)
		require.Less(t, error.(float64), 0.2)
	}
	show := conetune(t, "show", "m.json").ok(t)
	for _, text := range []string{"natural cubic spline, 4 degrees of freedom, knots 18 ", "polynomial of degree 2",
		"Kiel, Bonn, Ulm", "low, mid, high; ordered", "year, season, weekday", "interaction rooms:balcony",
		"become regressions on the other columns", "rooms:balcony=yes", "size>=mid"} {
		require.Contains(t, show, text)
	}
	look := conetune(t, append([]string{"look", "t.csv"}, forms[:12]...)...).ok(t)
	require.Regexp(t, `(?m)^age +feature +number +0 +from 18 to 80, whole; natural cubic spline, 4 degrees of freedom$`, look)
	require.Regexp(t, `(?m)^town +feature +category +0 +3 levels: Kiel, Bonn, Ulm$`, look)
	require.Contains(t, look, "interaction town:size\n")
	// A group for each column: of its hyperparameters, and penalty factors of all features of one.
	m := conetune(t, append([]string{"tune", "group-lasso", "--data", "t.csv", "--rung", "free", "--json"},
		forms...)...).object(t)
	require.Contains(t, m["hyperparameters"], "group(rooms:balcony)")
	require.Contains(t, m["hyperparameters"], "group(when)")
	// A factor for a column is one for all of its features, and not of interactions.
	conetune(t, append([]string{"tune", "lasso", "--data", "t.csv", "--penalty-factors", "when=0,size=0", "--lambda", "9",
		"--coefficients", "c.csv"}, forms...)...).ok(t)
	lines = strings.Split(readFile(t, "c.csv"), "\n")
	require.Len(t, lines, 1+1+9+2+1) // year, season, weekday, and two steps
	require.Regexp(t, `(?m)^size>=high,[^,]*,[^,]*,size,high,mid,`, readFile(t, "c.csv"))
}

// With --group and --time no group is on both sides of a fold and nothing is trained on what comes later, also in
// --split, --nested and repeats, which are drawn anew.
func TestGroupsInTime(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".", "t.csv", formedTable(300))
	args := []string{"tune", "lasso", "--data", "t.csv", "--group", "ward", "--time", "week"}
	text := conetune(t, append(args, "--split", "0.7/rest", "--folds", "3", "--nested=2", "--save", "m.json")...).ok(t)
	require.Contains(t, text, "3 folds by group ward, time week")
	require.Contains(t, readFile(t, "m.json"), `"division": "group ward, time week"`)
	numbers := func(seed string) any {
		return conetune(t, append(args, "--seed", seed, "--repeats", "1", "--json")...).object(t)["refit"]
	}
	require.Equal(t, numbers("1"), numbers("1"))
	require.NotEqual(t, numbers("1"), numbers("2"))
	conetune(t, append(args, "--bootstrap", "5")...).fails(t, cli.ExitUsage, "those of --time are not")
}

// The commands of the page about the command run.
func TestCommandsOfThePage(t *testing.T) {
	page := readFile(t, "../../docs/command.md")
	rents := readFile(t, "../../examples/rents.csv")
	t.Chdir(t.TempDir())
	write(t, ".", "rents.csv", rents)
	commands := regexp.MustCompile(`(?m)^    conetune (.*)$`).FindAllStringSubmatch(page, -1)
	require.Len(t, commands, 4)
	for _, c := range commands {
		require.Contains(t, conetune(t, strings.Fields(c[1])...).ok(t), "Cross-validated")
	}
}
