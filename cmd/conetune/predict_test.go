package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/predict"
	"github.com/conetune/conetune/internal/cli/root"
	"github.com/conetune/conetune/internal/must"
)

// savedElasticNet returns the paths of a small table and of a model that was tuned on it.
func savedElasticNet(t *testing.T) (data, model string) {
	t.Helper()
	dir := t.TempDir()
	data, model = write(t, dir, "table.csv", csvText(1, 40, 4)), filepath.Join(dir, "m.json")
	conetune(t, "tune", "elastic-net", "--data", data, "--save", model).ok(t)
	return data, model
}

// resaved is a saved model with other coefficients, and without an intercept.
func resaved(t *testing.T, path, name string, coefficients ...float64) string {
	t.Helper()
	m := readModel(t, path)
	m.Coefficients, m.Intercept = coefficients, 0
	var b bytes.Buffer
	require.NoError(t, m.Write(&b))
	return write(t, t.TempDir(), name, b.String())
}

// A prediction that is too large for a number is an error that names the row; an error that is, is null.
func TestPredictOverflow(t *testing.T) {
	_, saved := savedElasticNet(t)
	model, dir := resaved(t, saved, "huge.json", 0, 1e150, 0, 1e300), t.TempDir()
	large := write(t, dir, "large.csv", "f1,f2,f3,f4\n1,2,3,4\n1,2,3,1e60\n")
	conetune(t, "predict", "--model", model, "--data", large, "--out", filepath.Join(dir, "p.txt")).fails(t, cli.ExitUsage,
		"large.csv: row 2: the prediction is not a finite number")
	require.NoFileExists(t, filepath.Join(dir, "p.txt"))

	target := write(t, dir, "target.csv", "y,f1,f2,f3,f4\n1,2,1e20,4,0\n")
	o := conetune(t, "predict", "--model", model, "--data", target, "--json")
	o.ok(t)
	require.Nil(t, o.object(t)["error"])
	require.Contains(t, conetune(t, "predict", "--model", model, "--data", target).stderr,
		"error too large for a number on 1 row")
}

// The logistic loss of values that are too large to be added is no number, and the share of wrong labels is told all
// the same.
func TestPredictLossOverflow(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "l.csv", transformed(t, csvText(1, 60, 2),
		func(y float64) float64 { return map[bool]float64{true: 1, false: 0}[y > 100] }))
	saved := filepath.Join(dir, "m.json")
	conetune(t, "tune", "logistic", "--data", data, "--save", saved).ok(t)
	huge := resaved(t, saved, "huge.json", 1e250, 0)
	rows := write(t, dir, "rows.csv", "y,f1,f2\n0,1e58,1\n0,1e58,1\n0,1e58,1\n0,-1,1\n")
	o := conetune(t, "predict", "--model", huge, "--data", rows)
	require.Equal(t, []string{"1", "1", "1", "0"}, strings.Fields(o.ok(t)))
	require.Contains(t, o.stderr,
		"error too large for a number on 4 rows (mean logistic loss), share of wrong labels 0.75")
	require.Nil(t, conetune(t, "predict", "--model", huge, "--data", rows, "--json").object(t)["error"])
}

// IDs are as they stand in the file, unless the column is a feature, and predictions do not depend on where parts of
// the table end.
func TestPredictVerbatimIDs(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".", "t.csv", csvText(1, 60, 2))
	conetune(t, "tune", "ridge", "--data", "t.csv", "--save", "m.json").ok(t)
	write(t, ".", "new.csv", "code,f2,f1\n007,1,2\n1e3,3,4\nNA,5,6\n")
	lines := strings.Split(strings.TrimSpace(conetune(t, "predict", "--model", "m.json", "--data", "new.csv", "--id",
		"code").ok(t)), "\n")
	require.Len(t, lines, 4)
	for i, id := range []string{"id", "007", "1e3", "NA"} {
		require.True(t, strings.HasPrefix(lines[i], id+","), lines[i])
	}
	require.Contains(t, conetune(t, "predict", "--model", "m.json", "--data", "new.csv", "--id", "f1").ok(t), "\n2,")

	var long strings.Builder
	long.WriteString("code,f1,f2\n")
	for i := range 300_000 { // two parts
		fmt.Fprintf(&long, "%07d,%d,%d\n", i, i%7, i%11)
	}
	write(t, ".", "long.csv", long.String())
	lines = strings.Split(strings.TrimSpace(conetune(t, "predict", "--model", "m.json", "--data", "long.csv", "--id",
		"code").ok(t)), "\n")
	require.Len(t, lines, 300_001)
	m := readModel(t, "m.json")
	for _, i := range []int{0, 1, 262_143, 262_144, 299_999} {
		_, text, _ := strings.Cut(lines[i+1], fmt.Sprintf("%07d,", i))
		got := number(t, text)
		require.InDelta(t, m.Intercept+m.Coefficients[0]*float64(i%7)+m.Coefficients[1]*float64(i%11), got, 1e-9)
	}

	// The same without a temporary file, and nothing at all where the last row is wrong.
	want := strings.Join(lines, "\n") + "\n"
	plain := conetune(t, "predict", "--model", "m.json", "--data", "long.csv").ok(t)
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, filepath.Join(".", "absent"))
	}
	require.True(t, want == conetune(t, "predict", "--model", "m.json", "--data", "long.csv", "--id", "code").ok(t))
	require.True(t, plain == conetune(t, "predict", "--model", "m.json", "--data", "long.csv").ok(t))
	write(t, ".", "wrong.csv", long.String()+"1,2,many\n")
	o := conetune(t, "predict", "--model", "m.json", "--data", "wrong.csv", "--out", "p.txt").fails(t, cli.ExitUsage,
		`wrong.csv:300002: column 3 ("f2"): "many" found, expected a number`)
	require.Empty(t, o.stdout)
	require.NoFileExists(t, "p.txt")
}

// longInput is the number of bytes from which on a stream is put aside in a temporary file.
const longInput = 32 << 20

// A long table from standard input gives what it gives from a file, of numbers in the form of LIBSVM, too, and leaves
// no temporary file.
func TestPredictLongInput(t *testing.T) {
	data, model := savedElasticNet(t)
	head, rows, _ := strings.Cut(readFile(t, data), "\n")
	long := head + "\n" + strings.Repeat(rows, longInput/len(rows)+1)
	var libsvm strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&libsvm, "%d.5 1:%d.25 3:-2.%s\n", i%7, i%5, strings.Repeat("0", 600))
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for name, text := range map[string]string{"CSV": long, "LIBSVM": libsvm.String()} {
		require.Greater(t, len(text), longInput, name)
		path := write(t, t.TempDir(), "long", text)
		want := conetune(t, "predict", "--model", model, "--data", path)
		want.ok(t)
		var stdout, stderr bytes.Buffer
		require.Zero(t, root.Run(t.Context(), []string{"predict", "--model", model, "--data", "-"}, strings.NewReader(text),
			&stdout, &stderr), stderr.String())
		require.True(t, want.stdout == stdout.String(), name)
		require.Equal(t, want.stderr, stderr.String())
	}
	require.Empty(t, must.Of(os.ReadDir(temporary))(t))
}

// show prints what is in the file: levels with their reference, the choice, errors, and effects by the spread of the
// table's columns.
func TestShow(t *testing.T) {
	dir := t.TempDir()
	data, saved := write(t, dir, "cars.csv", cars(60)), filepath.Join(dir, "m.json")
	conetune(t, "tune", "ridge", "--data", data, "--target", "mpg", "--drop", "am", "--folds", "3", "--test", data,
		"--save", saved).ok(t)
	m := readModel(t, saved)
	text := conetune(t, "show", saved).ok(t)
	for _, want := range []string{
		"ridge, target mpg", "trained on  " + data, "60 training, 60 test rows, 3 folds", "converged, seed 1",
		"validation " + fmt.Sprintf("%.6g", *m.ValidationError) + ", test " + fmt.Sprintf("%.6g", *m.TestError),
		"in the units of the standardised features and target",
	} {
		require.Contains(t, text, want)
	}
	require.Regexp(t, `(?m)^wt +number +become \S+, with a feature of their own$`, text)
	require.Regexp(t, `(?m)^maker +category +Fiat, Opel, Volvo +are the reference$`, text)
	require.Len(t, m.Hyperparameters, 1)
	for name, lambda := range m.Hyperparameters {
		require.Regexp(t, `(?m)^`+name+` +`+fmt.Sprintf("%.6g", lambda)+`$`, text)
	}
	require.Regexp(t, `(?m)^intercept +`+fmt.Sprintf("%.6g", m.Intercept)+`$`, text)

	// The gears are 3, 6, 5, 4 in turns: their standard deviation is that of four numbers in a row.
	shown := conetune(t, "show", saved, "--json").object(t)
	gear := shown["coefficients"].(map[string]any)["gear"].(float64)
	require.InEpsilon(t, math.Abs(gear)*math.Sqrt(1.25), shown["effects"].(map[string]any)["gear"], 1e-12)
	require.Equal(t, m.Intercept, shown["intercept"])
	require.Equal(t, "mpg", shown["target"])
	lines := strings.Split(text[strings.Index(text, "features with a coefficient"):], "\n")
	last := math.Inf(1)
	for _, line := range lines[2:] {
		words := strings.Fields(line)
		if words[0] == "intercept" {
			break
		}
		size := number(t, words[2])
		require.LessOrEqual(t, math.Abs(size), last)
		last = math.Abs(size)
	}

	conetune(t, "tune", "logistic", "--data", data, "--target", "am", "--features", "wt,gear", "--save", saved).ok(t)
	text = conetune(t, "show", saved).ok(t)
	require.Contains(t, text, "the label is manual where the sum is positive, and automatic elsewhere")
	require.Contains(t, text, "loss        logistic")
	conetune(t, "tune", "multi-task", "--data", data, "--target", "mpg,gear", "--save", saved).ok(t)
	require.Regexp(t, `(?m)^feature +mpg +gear +effect of one standard deviation$`, conetune(t, "show", saved).ok(t))
	require.Contains(t, conetune(t, "show", saved, "--json").object(t)["coefficients"].(map[string]any)["wt"], "gear")
}

// Probabilities, labels, and a table with an ID and the target, whose rows are worked out by hand.
func TestPredictTable(t *testing.T) {
	dir := t.TempDir()
	data, saved := write(t, dir, "cars.csv", cars(60)), filepath.Join(dir, "m.json")
	conetune(t, "tune", "logistic", "--data", data, "--target", "am", "--features", "maker,gear", "--folds", "3", "--save",
		saved).ok(t)
	m := readModel(t, saved)
	b := map[string]float64{}
	for j, name := range m.Features {
		b[name] = m.Coefficients[j]
	}
	probability := func(maker string, gear float64) float64 {
		return 1 / (1 + math.Exp(-m.Intercept-b["maker="+maker]-b["gear"]*gear))
	}
	rows := write(t, dir, "new.csv", "name;maker;gear;am\n\"a, first\";Fiat;3;manual\nb;Volvo;6;\nc;Opel;4,0;automatic\n")
	out := strings.Split(strings.TrimSpace(conetune(t, "predict", "--model", saved, "--data", rows, "--id", "name",
		"--prob").ok(t)), "\n")
	require.Equal(t, "id,target,prediction,probability", out[0])
	require.Len(t, out, 4)
	for i, want := range []struct {
		begin string
		p     float64
	}{{`"a, first",manual,`, probability("Fiat", 3)}, {"b,,", probability("Volvo", 6)},
		{"c,automatic,", probability("Opel", 4)}} {
		require.True(t, strings.HasPrefix(out[i+1], want.begin), out[i+1])
		label, p, _ := strings.Cut(out[i+1][len(want.begin):], ",")
		require.Equal(t, map[bool]string{true: "manual", false: "automatic"}[want.p > 0.5], label)
		got := number(t, p)
		require.InDelta(t, want.p, got, 1e-12)
	}
	plain := strings.Fields(conetune(t, "predict", "--model", saved, "--data", rows, "--prob").ok(t))
	require.Equal(t, out[2][strings.LastIndex(out[2], ",")+1:], plain[1])
	both := strings.Fields(conetune(t, "predict", "--model", saved, "--data", rows, "--prob", "--labels").ok(t))
	require.True(t, strings.HasSuffix(out[2], both[1]))
	told := conetune(t, "predict", "--model", saved, "--data", rows, "--prob", "--id", "name", "--json").object(t)
	require.Equal(t, []any{"a, first", "b", "c"}, told["ids"])
	require.Equal(t, []string{"manual", "automatic"}[0], told["predictions"].([]any)[0])
	require.InDelta(t, probability("Opel", 4), told["probabilities"].([]any)[2], 1e-12)
	loss := -(math.Log(probability("Fiat", 3)) + math.Log(1-probability("Opel", 4))) / 2
	require.InEpsilon(t, loss, told["error"], 1e-9)

	conetune(t, "predict", "--model", saved, "--data", rows, "--id", "nme").fails(t, cli.ExitUsage,
		`new.csv: has no column "nme" for --id; the columns are: name, maker, gear, am`)
	conetune(t, "tune", "elastic-net", "--data", data, "--target", "mpg", "--drop", "am", "--save", saved).ok(t)
	require.Contains(t, conetune(t, "predict", "--model", saved, "--data", data, "--prob").stderr,
		"--prob: elastic-net gives no probabilities")
	require.Contains(t, conetune(t, "predict", "--model", saved, "--data", data, "--labels").stderr,
		"--labels: elastic-net predicts numbers")

	// More rows than a block has, in the order of the table.
	many := write(t, dir, "many.csv", cars(2*predict.RowsInBlock+17))
	all := strings.Split(strings.TrimSpace(conetune(t, "predict", "--model", saved, "--data", many, "--id",
		"Unnamed: 0").ok(t)), "\n")
	require.Len(t, all, 2*predict.RowsInBlock+18)
	few := strings.Fields(conetune(t, "predict", "--model", saved, "--data", data).ok(t))
	for i, want := range few {
		require.True(t, strings.HasPrefix(all[i+1], "car "+strconv.Itoa(i)+","), all[i+1])
		require.True(t, strings.HasSuffix(all[i+1], ","+want))
	}
	require.True(t, strings.HasPrefix(all[predict.RowsInBlock+5], "car "+strconv.Itoa(predict.RowsInBlock+4)+","))
}

// Columns without a coefficient need not be there, gaps, levels and ranges are counted, and a CSV file names the
// probabilities.
func TestPredictFile(t *testing.T) {
	t.Chdir(t.TempDir())
	_, saved := savedElasticNet(t)
	model := resaved(t, saved, "some.json", 2, 0, -1, 0)
	write(t, ".", "new.csv", "f3,f1\n1,2\n")
	require.Equal(t, "3\n", conetune(t, "predict", "--model", model, "--data", "new.csv").ok(t))
	write(t, ".", "new.svm", "0 1:2 3:1 4:7 5:1\n0 1:1 7:2 9:3\n")
	o := conetune(t, "predict", "--model", model, "--data", "new.svm")
	require.Equal(t, "3\n2\n", o.ok(t))
	require.Contains(t, o.stderr,
		"new.svm: 3 values of features that the model does not know, with indices from 5 to 9, left out")
	none := resaved(t, saved, "none.json", 0, 0, 0, 0)
	require.Equal(t, "0\n", conetune(t, "predict", "--model", none, "--data", "new.csv").ok(t))

	write(t, ".", "cars.csv", cars(60))
	conetune(t, "tune", "logistic", "--data", "cars.csv", "--target", "am", "--features", "maker,mpg", "--save",
		"m.json").ok(t)
	write(t, ".", "gaps.csv", "maker,mpg\nFiat,23\nYugo,\nOpel,99\n,24\n")
	o = conetune(t, "predict", "--model", "m.json", "--data", "gaps.csv", "--out", "p.csv")
	require.Empty(t, o.ok(t))
	for _, want := range []string{`missing values in columns "mpg" (1, line 3), "maker" (1, line 5): the median or the`,
		`column "maker" (1, line 3): levels that`, `column "mpg" (1, line 4): values outside of the range`} {
		require.Contains(t, o.stderr, "gaps.csv: "+want)
	}
	lines := strings.Split(readFile(t, "p.csv"), "\n")
	require.Equal(t, "prediction,probability_automatic,probability_manual", lines[0])
	plain := strings.Fields(conetune(t, "predict", "--model", "m.json", "--data", "gaps.csv", "--prob").ok(t))
	labels := strings.Fields(conetune(t, "predict", "--model", "m.json", "--data", "gaps.csv").ok(t))
	for i, p := range plain {
		cells := strings.Split(lines[i+1], ",")
		require.Equal(t, []string{labels[i], p}, []string{cells[0], cells[2]})
		require.InDelta(t, 1, number(t, cells[1])+number(t, cells[2]), 1e-15)
	}
	conetune(t, "predict", "--model", "m.json", "--data", "gaps.csv", "--out", "p.txt").ok(t)
	require.Equal(t, strings.Join(labels, "\n")+"\n", readFile(t, "p.txt"))
	conetune(t, "predict", "--model", "m.json", "--data", "gaps.csv", "--out", "p.csv", "--id", "maker").ok(t)
	require.True(t, strings.HasPrefix(readFile(t, "p.csv"), "id,prediction,probability_automatic,"))

	// A file without ranges, as older programs wrote it, is silent about them.
	m := readModel(t, "m.json")
	for k := range m.Encoding.Columns {
		m.Encoding.Columns[k].Range = nil
	}
	var b bytes.Buffer
	require.NoError(t, m.Write(&b))
	write(t, ".", "old.json", b.String())
	require.NotContains(t, conetune(t, "predict", "--model", "old.json", "--data", "gaps.csv").stderr, "range")
}
