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
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/root"
	"github.com/conetune/conetune/internal/must"
)

// The error by leaving out one row of a ridge regression has a closed form (Allen 1974): the residuals of the fit to
// all rows, with the weight for one row less, over one minus the diagonal of its hat matrix.
func TestLeaveOneOutOfRidge(t *testing.T) {
	const n, p = 25, 3
	text := csvText(5, n, p)
	data := write(t, t.TempDir(), "table.csv", text)
	m := conetune(t, "tune", "ridge", "--data", data, "--folds", "all", "--split", "all", "--standardize=false",
		"--intercept", "--json").object(t)
	lambda := m["hyperparameters"].(map[string]any)["lambda"].(float64)

	cells := must.Of(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	x, y := mat.NewDense(n, p+1, nil), mat.NewVecDense(n, nil)
	for i, row := range cells[1:] {
		x.Set(i, 0, 1)
		for j, cell := range row {
			v := number(t, cell)
			if j == 0 {
				y.SetVec(i, v)
			} else {
				x.Set(i, j, v)
			}
		}
	}
	// 1/2 mean of squares over n - 1 rows + lambda/2 |b|^2.
	var gram, inverse, hat mat.Dense
	gram.Mul(x.T(), x)
	for j := 1; j <= p; j++ {
		gram.Set(j, j, gram.At(j, j)+(n-1)*lambda)
	}
	require.NoError(t, inverse.Inverse(&gram))
	hat.Product(x, &inverse, x.T())
	var fitted mat.VecDense
	fitted.MulVec(&hat, y)
	want := 0.0
	for i := range n {
		want += math.Pow((y.AtVec(i)-fitted.AtVec(i))/(1-hat.At(i, i)), 2) / (2 * n)
	}
	require.InEpsilon(t, want, m["refit"].(map[string]any)["validation_error"], 1e-6)
}

// Folds of a column and the same folds in a folder give the same numbers, and so do rows by their numbers and by
// --folds all.
func TestFoldColumnAndFolder(t *testing.T) {
	dir := t.TempDir()
	text := csvText(3, 30, 4)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	with := lines[0] + ",part,number\n"
	for i, line := range lines[1:] {
		with += fmt.Sprintf("%s,%d,%d\n", line, i%3, i+100)
	}
	data := write(t, dir, "table.csv", with)
	numbers := func(args ...string) any {
		m := conetune(t, append([]string{"tune", "elastic-net", "--json", "--standardize", "--intercept"},
			args...)...).object(t)
		return []any{m["refit"], m["coefficients"], m["hyperparameters"]}
	}
	require.Equal(t, numbers("--dir", foldsDir(t, text, 3)), numbers("--data", data, "--fold-column", "part", "--drop",
		"number"))
	require.Equal(t, numbers("--data", data, "--folds", "all", "--split", "all", "--drop", "part,number"),
		numbers("--data", data, "--fold-column", "number", "--drop", "part"))
}

// The report says how rows were divided without a word about it.
func TestReportOfDefaultDesign(t *testing.T) {
	out := conetune(t, "tune", "elastic-net", "--data", write(t, t.TempDir(), "wards.csv", wards), "--features", "x").ok(t)
	for _, words := range []string{"(10 folds, 2 repeats, seed 1)", "12 cross-validation rows",
		"The hyperparameters were chosen by these rows", "the model is trained on all rows\n"} {
		require.Contains(t, out, words)
	}
}

// As many folds as rows are one repeat, not several of the same: those of --folds all.
func TestAsManyFoldsAsRows(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "data.csv", csvText(1, 14, 3))
	error := func(folds string) any {
		return conetune(t, "tune", "elastic-net", "--data", data, "--folds", folds,
			"--json").told(t)["refit"].(map[string]any)["validation_error"]
	}
	require.Equal(t, error("all"), error("14"))
	require.Contains(t, conetune(t, "tune", "elastic-net", "--data", data, "--folds", "14").ok(t), "(14 folds, seed 1)")
}

// nestedOf is the field nested of a JSON object.
func nestedOf(t *testing.T, o outcome) (mean, se float64, errors []float64) {
	t.Helper()
	o.ok(t)
	n := o.object(t)["nested"].(map[string]any)
	for k, f := range n["folds"].([]any) {
		fold := f.(map[string]any)
		require.Equal(t, float64(k), fold["fold"])
		require.Equal(t, "converged", fold["status"])
		errors = append(errors, fold["error"].(float64))
	}
	require.Equal(t, float64(len(errors)), n["of"])
	return n["error"].(float64), n["standard_error"].(float64), errors
}

// The choice without an outer fold is that of a table without these rows, with its own categories, gaps and folds,
// tested on them.
func TestNestedByHand(t *testing.T) {
	dir := t.TempDir()
	lines := strings.Split(strings.TrimSpace(cars(60)), "\n")
	all := lines[0] + ",\"part\"\n"
	const parts = 4
	var rest, held [parts]string
	for k := range parts {
		rest[k], held[k] = all, all
	}
	for i, line := range lines[1:] {
		row := fmt.Sprintf("%s,%d\n", line, i*7%parts)
		all += row
		for k := range parts {
			if k == i*7%parts {
				held[k] += row
			} else {
				rest[k] += row
			}
		}
	}
	data := write(t, dir, "cars.csv", all)
	for _, method := range []string{"vf-idca", "grid,random"} {
		args := []string{"tune", "elastic-net", "--target", "mpg", "--fold-column", "part", "--method", method,
			"--evaluations", "9"}
		var want []float64
		for k := range parts {
			o := conetune(t, append(slices.Clone(args), "--data", write(t, dir, "rest.csv", rest[k]), "--test",
				write(t, dir, "held.csv", held[k]), "--json")...)
			o.ok(t)
			var results []map[string]any
			if text := o.stdout; strings.HasPrefix(text, "[") {
				require.NoError(t, json.Unmarshal([]byte(text), &results))
			} else {
				results = []map[string]any{o.object(t)}
			}
			refit := slices.MinFunc(results, func(a, b map[string]any) int {
				return int(math.Copysign(1, a["refit"].(map[string]any)["validation_error"].(float64)-b["refit"].(map[string]any)["validation_error"].(float64)))
			})["refit"].(map[string]any)
			want = append(want, refit["test_error"].(float64))
		}
		o := conetune(t, append(slices.Clone(args), "--data", data, "--nested", "--json")...)
		if method != "vf-idca" {
			var results []map[string]any
			require.NoError(t, json.Unmarshal([]byte(o.ok(t)), &results))
			chosen := slices.IndexFunc(results, func(m map[string]any) bool { return m["nested"] != nil })
			require.Nil(t, results[1-chosen]["nested"])
			text := must.Of(json.Marshal(results[chosen]))(t)
			o.stdout = string(text) + "\n"
		}
		mean, se, errors := nestedOf(t, o)
		require.Equal(t, want, errors, method)
		sum, squares := 0.0, 0.0
		for _, e := range want {
			sum += e / parts
		}
		for _, e := range want {
			squares += (e - sum) * (e - sum)
		}
		require.InEpsilon(t, sum, mean, 1e-12)
		// The folds have 15 rows each, so that the mean of their errors is that of all rows, half the square of the root.
		n := o.object(t)["nested"].(map[string]any)["metrics"].(map[string]any)
		rmse := n["rmse"].(map[string]any)
		require.InEpsilon(t, sum, rmse["value"].(float64)*rmse["value"].(float64)/2, 1e-9)
		total := 0.0
		targets := targetsOfCars(t, lines)
		for _, y := range targets {
			total += (y - floats.Sum(targets)/60) * (y - floats.Sum(targets)/60) / 60
		}
		require.InEpsilon(t, 1-2*sum/total, n["r2"].(map[string]any)["value"], 1e-9)
		require.InEpsilon(t, math.Sqrt(squares/(parts-1)/parts), se, 1e-12)
	}
}

// targetsOfCars are the numbers of the second column.
func targetsOfCars(t *testing.T, lines []string) (list []float64) {
	for _, line := range lines[1:] {
		v := number(t, strings.Split(line, ",")[1])
		list = append(list, v)
	}
	return list
}

// The same bytes on one thread and on several; the report says the error, for every kind of table and model.
func TestNestedReport(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "table.csv", csvText(1, 60, 4))
	var list []string
	for _, threads := range []string{"1", "4"} {
		o := conetune(t, "tune", "elastic-net", "--data", data, "--nested=3", "--threads", threads, "--json")
		n := must.Of(json.Marshal(o.object(t)["nested"]))(t)
		list = append(list, string(n))
	}
	require.Equal(t, list[0], list[1])

	page := filepath.Join(dir, "report.html")
	text := conetune(t, "tune", "elastic-net", "--data", data, "--nested=3", "--split", "50/rest", "--folds", "4",
		"--report", page).ok(t)
	require.Regexp(t, `Nested cross-validation: half the mean squared error of the whole choice, made anew without each `+
		`of 3 outer folds: 0\.[0-9]+ ± 0\.[0-9]+\.`, strings.Join(strings.Fields(text), " "))
	require.Regexp(t, `without features +least squares +nested\nR².* 0\.9[0-9]+ .* 0\.[89][0-9]+\n`, text)
	require.Contains(t, contents(t, dir)[page], "made anew without each of 3 outer folds")
	require.Contains(t, strings.Join(strings.Fields(conetune(t, "tune", "elastic-net", "--data", data, "--method",
		"grid,random", "--evaluations", "4", "--nested=2").ok(t)), " "), "without each of 2 outer folds")

	numbers := write(t, dir, "table.svm", sparseText(1, 60, func(f float64) float64 { return f }))
	_, _, errors := nestedOf(t, conetune(t, "tune", "lasso", "--data", numbers, "--nested", "--json"))
	require.Len(t, errors, 5)
	_, _, errors = nestedOf(t, conetune(t, "tune", "multi-task", "--data", data, "--target", "y,f4", "--nested=3",
		"--json"))
	require.Len(t, errors, 3)
	for _, name := range []string{"logistic", "svm"} {
		mean, _, _ := nestedOf(t, conetune(t, "tune", name, "--data", write(t, dir, "labels.csv", labelled(1, 60, 3)),
			"--nested=3", "--json"))
		require.Less(t, mean, 0.6)
	}

	// Of several labels the measure of all rows left out is the mean of the folds' errors by their rows, and better than
	// equal shares.
	o := conetune(t, "tune", "multinomial", "--data", write(t, dir, "flowers.csv", flowersText(90)), "--target", "kind",
		"--id", "id", "--nested=3", "--json")
	_, _, errors = nestedOf(t, o)
	n := o.object(t)["nested"].(map[string]any)
	sum := 0.0
	for k, f := range n["folds"].([]any) {
		sum += errors[k] * f.(map[string]any)["rows"].(float64)
	}
	loss := n["metrics"].(map[string]any)["log_loss"].(map[string]any)["value"].(float64)
	require.InDelta(t, sum/90, loss, 1e-9)
	require.Less(t, loss, math.Log(3)*0.75)
}

// With fewer than five groups --nested alone has an outer fold for each, as --nested=3 does.
func TestNestedFewGroups(t *testing.T) {
	dir := t.TempDir()
	weighted, _ := weightedText(1, 60) // in three parts
	data := write(t, dir, "t.csv", weighted)
	args := []string{"tune", "lasso", "--data", data, "--drop", "times", "--group", "part", "--json"}
	few, same := conetune(t, append(args, "--nested")...), conetune(t, append(args, "--nested=3")...)
	require.Equal(t, same.object(t)["nested"], few.object(t)["nested"])
	require.Contains(t, few.stderr, "--nested: 3 outer folds, one for each group of column \"part\"\n")
	require.NotContains(t, same.stderr, "outer folds, one for")
	require.Contains(t, conetune(t, append(args, "--nested=4")...).stderr, "4 folds of 3 groups")
	require.Contains(t, conetune(t, append(args, "--nested=2")...).stderr,
		"needs two groups of column \"part\" beside those left out")
}

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
