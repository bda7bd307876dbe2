package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// Workbooks, Parquet and Arrow files are tuned and predicted as the same table in CSV, also from standard input.
func TestFormatsOfTables(t *testing.T) {
	dir := t.TempDir()
	testdata := func(name string) string { return filepath.Join("..", "..", "table", "testdata", name) }
	model := filepath.Join(dir, "m.json")
	tune := func(data string, more ...string) []string {
		return append([]string{"tune", "ridge", "--data", data, "--target", "y", "--drop", "member", "--json"}, more...)
	}
	want := conetune(t, tune(testdata("mixed.csv"), "--save", model)...).object(t)["refit"]
	predicted := conetune(t, "predict", "--model", model, "--data", testdata("mixed.csv")).ok(t)
	require.Equal(t, 40, strings.Count(predicted, "\n"))
	for _, name := range []string{"mixed.xlsx", "mixed.arrow", "mixed-lz4.feather", "mixed.parquet"} {
		require.Equal(t, want, conetune(t, tune(testdata(name))...).object(t)["refit"], name)
		require.Equal(t, predicted, conetune(t, "predict", "--model", model, "--data", testdata(name)).ok(t), name)
	}
	ids := conetune(t, "predict", "--model", model, "--data", testdata("mixed.xlsx"), "--sheet", "data", "--id",
		"zip").ok(t)
	require.Contains(t, ids, "\n02692,")
	o := conetune(t, tune(testdata("mixed.xlsx"), "--sheet", "third")...)
	require.NotZero(t, o.code)
	require.Contains(t, o.stderr, `has no sheet "third"; there are: "data", "other"`)
	o = conetune(t, tune(testdata("mixed.csv"), "--sheet", "third")...)
	require.NotZero(t, o.code)
	require.Contains(t, o.stderr, "is no workbook")
	text := readFile(t, testdata("mixed.xlsx"))
	broken := write(t, dir, "broken.xlsx", text[:len(text)-200])
	o = conetune(t, tune(broken)...)
	require.NotZero(t, o.code)
	require.Equal(t, 1, strings.Count(o.stderr, broken), o.stderr)
}

// fifo is a named pipe that gives a text to the first who opens it, and nothing to the second.
func fifo(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, part := range []string{text, ""} {
			if w, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
				_, _ = w.WriteString(part)
				w.Close()
			}
		}
	}()
	t.Cleanup(func() { // nobody waits for the second
		r := must.Of(os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))(t)
		<-done
		r.Close()
	})
	return path
}

// Pipes are read once, and give what files give: tables of columns, packed ones, workbooks and files of LIBSVM, for
// training, test and prediction, and programs.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	bytesOf := func(path ...string) string {
		return readFile(t, filepath.Join(path...))
	}
	mixed, model := filepath.Join("..", "..", "table", "testdata"), filepath.Join(dir, "m.json")
	ridge := func(data string, more ...string) any {
		return conetune(t, append([]string{"tune", "ridge", "--data", data, "--target", "y", "--drop", "member", "--json"},
			more...)...).object(t)["refit"]
	}
	want := ridge(filepath.Join(mixed, "mixed.csv"), "--save", model)
	for _, name := range []string{"mixed.csv", "mixed.xlsx", "mixed.arrow"} {
		require.Equal(t, want, ridge(fifo(t, name, bytesOf(mixed, name))), name)
	}
	predicted := conetune(t, "predict", "--model", model, "--data", filepath.Join(mixed, "mixed.csv")).ok(t)
	require.Equal(t, predicted, conetune(t, "predict", "--model", model, "--data",
		fifo(t, "table", bytesOf(mixed, "mixed.csv"))).ok(t))
	split := []string{"--split", "0.6/rest", "--test"}
	require.Equal(t, ridge(filepath.Join(mixed, "mixed.csv"), append(split, filepath.Join(mixed, "mixed.csv"))...),
		ridge(fifo(t, "a", bytesOf(mixed, "mixed.csv")), append(split, fifo(t, "b", bytesOf(mixed, "mixed.csv")))...))

	numbers := ""
	for i := range 40 {
		numbers += fmt.Sprintf("%d 1:%d 2:%d\n", i%7+i%5, i%5, i%3)
	}
	file := write(t, dir, "numbers.svm", numbers)
	lasso := func(data, test string) any {
		return conetune(t, "tune", "lasso", "--data", data, "--test", test, "--json").object(t)["refit"]
	}
	require.Equal(t, lasso(file, file), lasso(fifo(t, "numbers", numbers), fifo(t, "more", numbers)))

	r, w := must.Both(os.Pipe())(t) // as <(..) of a shell gives it
	must.Of(w.WriteString(bytesOf(mixed, "mixed.csv")))(t)
	require.NoError(t, w.Close())
	defer r.Close()
	require.Equal(t, want, ridge(fmt.Sprintf("/dev/fd/%d", r.Fd())))

	qps := "NAME\nROWS\n N c\n G r\nCOLUMNS\n x c 2 r 1\nRHS\n rhs r 3\nENDATA\n"
	require.InDelta(t, 6, conetune(t, "solve", fifo(t, "program.qps", qps), "--json").object(t)["objective"], 1e-6)
}

// numbersText are rows of a target and p features, of which a third is not zero, in the format of LIBSVM with indices
// from first, or in CSV with the query in the first column where first is negative.
func numbersText(n, p, first int, query func(i int) string) string {
	random := rand.New(rand.NewPCG(3, 3))
	var b strings.Builder
	if first < 0 {
		b.WriteString("qid,y")
		for j := range p {
			fmt.Fprintf(&b, ",x%d", j+1)
		}
		b.WriteString("\n")
	}
	for i := range n {
		x := make([]float64, p)
		for j := range x {
			if random.IntN(3) > 0 {
				x[j] = float64(random.IntN(200)-100) / 50
			}
		}
		y := 2*x[0] - x[1] + x[p-1] + random.NormFloat64()
		if first < 0 {
			fmt.Fprintf(&b, "%s,%.3f", query(i), y)
			for j := range x {
				fmt.Fprintf(&b, ",%g", x[j])
			}
		} else {
			fmt.Fprintf(&b, "%.3f", y)
			if query != nil {
				b.WriteString(" qid:" + query(i))
			}
			for j := range x {
				if x[j] != 0 {
					fmt.Fprintf(&b, " %d:%g", j+first, x[j])
				}
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// A file with indices from 0 is the one with indices from 1, in training, beside other files and in predictions; it is
// told.
func TestIndicesFromZero(t *testing.T) {
	dir := t.TempDir()
	zero, one := write(t, dir, "zero.svm", numbersText(60, 6, 0, nil)),
		write(t, dir, "one.svm", numbersText(60, 6, 1, nil))
	saved := filepath.Join(dir, "m.json")
	run := func(args ...string) map[string]any {
		return conetune(t, append([]string{"tune", "elastic-net", "--method", "grid", "--evaluations", "9", "--json"},
			args...)...).object(t)
	}
	a, b := run("--data", zero, "--save", saved), run("--data", one)
	require.Equal(t, b["refit"], a["refit"])
	require.Nil(t, b["findings"])
	require.Contains(t, a["findings"].([]any)[0].(map[string]any)["text"], "the index 0 occurs")
	renamed := map[string]any{}
	for name, v := range a["coefficients"].(map[string]any) {
		renamed[fmt.Sprintf("x%d", int(name[1]-'0')+1)] = v
	}
	require.Equal(t, b["coefficients"], renamed)

	// Rows without the index 0 belong to a file that has it.
	lines := strings.SplitAfter(numbersText(60, 6, 0, nil), "\n")
	lacks := func(line string) bool { return !strings.Contains(line, " 0:") }
	rest := write(t, dir, "rest.svm",
		strings.Join(slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return !lacks(s) }), ""))
	whole := strings.Split(conetune(t, "predict", "--model", saved, "--data", zero).ok(t), "\n")
	var want []string
	for k, line := range lines[:60] {
		if lacks(line) {
			want = append(want, whole[k])
		}
	}
	require.Greater(t, len(want), 5)
	require.Equal(t, strings.Join(want, "\n")+"\n", conetune(t, "predict", "--model", saved, "--data", rest).ok(t))
	c, d := run("--train", rest, "--val", zero), run("--train", zero, "--val", rest)
	for _, r := range []map[string]any{c, d} {
		require.Contains(t, r["findings"].([]any)[0].(map[string]any)["text"], "the index 0 occurs")
		require.NotContains(t, r["coefficients"], "x6")
	}
	require.Contains(t, d["coefficients"], "x0")
	require.NotContains(t, c["coefficients"], "x0", "which no training row has")
}

// Rows of a query stay together as those of a group of a table of columns do.
func TestQueries(t *testing.T) {
	dir := t.TempDir()
	query := func(i int) string { return fmt.Sprint(3 + i*7%11) }
	svm, csv := write(t, dir, "q.svm", numbersText(66, 6, 1, query)), write(t, dir, "q.csv", numbersText(66, 6, -1, query))
	for _, more := range [][]string{nil, {"--folds", "all"}, {"--split", "0.5/0.25/rest"},
		{"--split", "0.7/rest", "--folds", "3"}, {"--nested=3"}} {
		run := func(args ...string) map[string]any {
			return conetune(t, append(append([]string{"tune", "elastic-net", "--method", "grid", "--evaluations", "4", "--json"},
				args...), more...)...).object(t)
		}
		a, b := run("--data", svm), run("--data", csv, "--group", "qid")
		require.Equal(t, b["refit"], a["refit"], more)
		require.Equal(t, b["nested"], a["nested"], more)
		require.Contains(t, a["findings"].([]any)[0].(map[string]any)["text"], "rows of the same qid: stay together")
	}
	require.Contains(t, conetune(t, "tune", "ridge", "--data", svm).ok(t), "by group qid")
}

// sparseText is a table in the format of LIBSVM of the given rows and 20 000 features, with eight nonzeros a row.
func sparseText(seed uint64, rows int, target func(f float64) float64) string {
	const features = 20_000
	rng := rand.New(rand.NewPCG(seed, 31))
	var b strings.Builder
	for range rows {
		f, pairs := 0.1*rng.NormFloat64(), ""
		for k := range 8 {
			index, v := k*2400+1+rng.IntN(1+rng.IntN(12)), 0.5+rng.Float64()
			f += v * float64(k%3-1)
			pairs += fmt.Sprintf(" %d:%.17g", index, v)
		}
		fmt.Fprintf(&b, "%.17g%s %d:%.17g\n", target(f), pairs, features-rng.IntN(3), rng.Float64())
	}
	return b.String()
}

// A table of many features, few of which a row has, goes through fits, the file of the model and predictions, with the
// error that its rows give by hand.
func TestSparseTable(t *testing.T) {
	for name, target := range map[string]func(f float64) float64{
		"elastic-net":    func(f float64) float64 { return 3 + f },
		"weighted-lasso": func(f float64) float64 { return 3 + f },
		"logistic":       func(f float64) float64 { return math.Copysign(1, f) },
		"poisson":        func(f float64) float64 { return math.Round(math.Exp(f / 2)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			train := write(t, dir, "train.svm", "0 20000:0 # names the number of features\n"+sparseText(1, 80, target))
			if name == "logistic" {
				train = write(t, dir, "train.svm", "1 20000:0\n"+sparseText(1, 80, target))
			}
			val, test := write(t, dir, "val.svm", sparseText(2, 40, target)),
				write(t, dir, "test.svm", sparseText(3, 40, target))
			saved := dir + "/model.json"
			refit := conetune(t, "tune", name, "--train", train, "--val", val, "--test", test, "--method", "grid",
				"--evaluations", "9", "--save", saved, "--json").told(t)["refit"].(map[string]any)
			m := readModel(t, saved)
			require.Len(t, m.Coefficients, 20_000)
			require.Equal(t, "x20000", m.Features[19_999])

			p := conetune(t, "predict", "--model", saved, "--data", test, "--json").object(t)
			predicted := p["predictions"].([]any)
			sum := 0.0
			for i, line := range strings.Split(strings.TrimSpace(sparseText(3, 40, target)), "\n") {
				var y float64
				words := strings.Fields(line)
				must.Of(fmt.Sscan(words[0], &y))(t)
				f := m.Intercept
				for _, pair := range words[1:] {
					var j int
					var v float64
					must.Of(fmt.Sscanf(pair, "%d:%g", &j, &v))(t)
					f += m.Coefficients[j-1] * v
				}
				switch name {
				case "logistic":
					sum += math.Log1p(math.Exp(-y * f))
					f = math.Copysign(1, f)
				case "poisson":
					sum += math.Exp(f) - y*f
					if y > 0 {
						sum += y*math.Log(y) - y
					}
					f = math.Exp(f)
				default:
					sum += (f - y) * (f - y) / 2
				}
				require.InDelta(t, f, predicted[i], 1e-9*math.Max(1, math.Abs(f)))
			}
			require.InDelta(t, sum/40, refit["test_error"], 1e-9)
		})
	}
}

// The unit of the features of a sparse table: what is asked for, or the largest absolute values; radii are in that
// unit.
func TestScale(t *testing.T) {
	dir := t.TempDir()
	target := func(f float64) float64 { return 3 + f }
	data := write(t, dir, "data.svm", sparseText(1, 80, target))
	args := []string{"tune", "elastic-net", "--data", data, "--split", threeParts, "--method", "grid", "--evaluations",
		"4", "--json"}
	radii := func(more ...string) any {
		return conetune(t, append(slices.Clone(args), more...)...).told(t)["radii"]
	}
	require.Equal(t, radii("--scale", "largest"), radii())
	require.NotEqual(t, radii("--scale", "deviation"), radii())
	require.NotEqual(t, radii("--standardize=false"), radii())
	text := conetune(t, args[:len(args)-1]...)
	text.ok(t)
	require.Contains(t, text.stdout, "features divided by their largest absolute values on the training rows")
	text = conetune(t, append(args[:len(args)-1:len(args)-1], "--scale", "deviation")...)
	text.ok(t)
	require.Contains(t, text.stdout, "features standardised on the training rows")

	labels := write(t, dir, "labels.svm", sparseText(1, 80, func(f float64) float64 { return math.Copysign(1, f) }))
	text = conetune(t, "tune", "svm", "--data", labels, "--method", "grid", "--evaluations", "4")
	text.ok(t)
	require.Contains(t, text.stdout, "features divided by one number")

}
