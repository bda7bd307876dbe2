package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/model"
)

// The error by leaving out one row of a ridge regression has a closed form (Allen 1974): the residuals of the fit to all rows, with the weight for one row less, over
// one minus the diagonal of its hat matrix.
func TestLeaveOneOutOfRidge(t *testing.T) {
	const n, p = 25, 3
	text := clitest.CsvText(5, n, p)
	data := clitest.Write(t, t.TempDir(), "table.csv", text)
	m := conetune(t, "tune", "ridge", "--data", data, "--folds", "all", "--split", "all", "--standardize=false", "--intercept", "--json").object(t)
	lambda := m["hyperparameters"].(map[string]any)["lambda"].(float64)

	cells, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	x, y := mat.NewDense(n, p+1, nil), mat.NewVecDense(n, nil)
	for i, row := range cells[1:] {
		x.Set(i, 0, 1)
		for j, cell := range row {
			v, err := strconv.ParseFloat(cell, 64)
			require.NoError(t, err)
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

// Classifiers take folds that validate rows of one label.
func TestLeaveOneOutOfLabels(t *testing.T) {
	dir := t.TempDir()
	data, saved := clitest.Write(t, dir, "table.csv", labelled(1, 24, 2)), filepath.Join(dir, "m.json")
	for _, name := range []string{"logistic", "svm"} {
		out := conetune(t, "tune", name, "--data", data, "--folds", "all", "--split", "all", "--tol", "0.1", "--gap-tol", "0", "--save", saved).ok(t)
		require.Contains(t, out, "(24 folds of one row)")
		text, err := os.ReadFile(saved)
		require.NoError(t, err)
		require.Contains(t, string(text), `"folds": 24,`)
	}
}

// Folds of a column and the same folds in a folder give the same numbers, and so do rows by their numbers and by --folds all.
func TestFoldColumnAndFolder(t *testing.T) {
	dir := t.TempDir()
	text := clitest.CsvText(3, 30, 4)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	with, folds := lines[0]+",part,number\n", "fold,row,role\n"
	for i, line := range lines[1:] {
		with += fmt.Sprintf("%s,%d,%d\n", line, i*7%3, i+100)
		for k := range 3 {
			folds += fmt.Sprintf("%d,%d,%s\n", k, i, map[bool]string{true: "val", false: "train"}[k == i*7%3])
		}
	}
	data := clitest.Write(t, dir, "table.csv", with)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	clitest.Write(t, dir, "folder/data.csv", text)
	clitest.Write(t, dir, "folder/folds.csv", folds)
	numbers := func(args ...string) any {
		m := conetune(t, append([]string{"tune", "elastic-net", "--json", "--standardize", "--intercept"}, args...)...).object(t)
		return []any{m["refit"], m["coefficients"], m["hyperparameters"]}
	}
	require.Equal(t, numbers("--dir", filepath.Join(dir, "folder")), numbers("--data", data, "--fold-column", "part", "--drop", "number"))
	require.Equal(t, numbers("--data", data, "--folds", "all", "--split", "all", "--drop", "part,number"), numbers("--data", data, "--fold-column", "number", "--drop", "part"))
}

// What contradicts itself is said in one line.
func TestDesignsThatContradict(t *testing.T) {
	dir := t.TempDir()
	data, other := clitest.Write(t, dir, "wards.csv", clitest.Wards), clitest.Write(t, dir, "other.csv", clitest.Wards)
	entries := clitest.Write(t, dir, "entries.csv", "row,col,value\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n2,0,1\n2,1,3\n")
	numbers := clitest.Write(t, dir, "table.svm", "1 1:2 2:3\n2 1:1\n3 2:4\n4 1:5\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--group", "ward", "--time", "day"}, "--group and --time contradict each other"},
		{[]string{"--fold-column", "part", "--group", "ward"}, "--fold-column and --group contradict each other"},
		{[]string{"--fold-column", "part", "--folds", "3"}, "--fold-column part says how many folds there are: leave --folds out"},
		{[]string{"--fold-column", "part", "--split", "0.5/rest"}, "--fold-column part divides all rows: leave --split out"},
		{[]string{"--fold-column", "part", "--repeats", "2"}, "--repeats: chance has no part in --fold-column"},
		{[]string{"--time", "day", "--repeats", "2"}, "--repeats: chance has no part in --time"},
		{[]string{"--folds", "all", "--repeats", "2"}, "--repeats: chance has no part in --folds all"},
		{[]string{"--time", "day", "--folds", "all"}, "--folds all and --time contradict"},
		{[]string{"--time", ""}, "--time is empty"},
		{[]string{"--time", "ward"}, `expected times`},
		{[]string{"--time", "year"}, `"year"`},
		{[]string{"--group", "y"}, "the column \"y\" is wanted for --group and is the target"},
		{[]string{"--group", "ward", "--folds", "4", "--split", "all"}, `wards.csv: column "ward": split: 4 folds of 3 groups`},
		{[]string{"--time", "day", "--folds", "11", "--split", "all"}, `wards.csv: column "day": split: 11 folds of 11 different times`},
	} {
		o := conetune(t, append([]string{"tune", "elastic-net", "--data", data}, c.args...)...)
		require.Equal(t, cli.ExitUsage, o.code, "%v: %s", c.args, o.stderr)
		require.Contains(t, o.stderr, c.want)
		require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	}
	for want, args := range map[string][]string{
		"--group goes with --data FILE; the rows of --train and --val are divided": {"elastic-net", "--train", data, "--val", other, "--group", "ward"},
		"--group goes with --data or --train; the tables of a folder":              {"elastic-net", "--dir", dir, "--group", "ward"},
		"--time goes with tables of features":                                      {"matrix-completion", "--data", entries, "--time", "row"},
		"--time goes with a table of columns":                                      {"elastic-net", "--data", numbers, "--time", "x1"},
		"--split all is for folds":                                                 {"matrix-completion", "--data", entries, "--split", "all"},
	} {
		o := conetune(t, append([]string{"tune"}, args...)...)
		require.Equal(t, cli.ExitUsage, o.code)
		require.Contains(t, o.stderr, want)
	}
}

// The report says how rows were divided without a word about it.
func TestReportOfDefaultDesign(t *testing.T) {
	out := conetune(t, "tune", "elastic-net", "--data", clitest.Write(t, t.TempDir(), "wards.csv", clitest.Wards), "--features", "x").ok(t)
	for _, words := range []string{"(5 folds, 3 repeats, seed 1)", "12 cross-validation rows", "The hyperparameters were chosen by these rows", "the model is trained on all rows\n"} {
		require.Contains(t, out, words)
	}
}

// Every regression model and the logistic one are chosen by folds, of a table or of a folder; what is saved predicts the test rows with
// the test error that was reported.
func TestTuneByFolds(t *testing.T) {
	dir := t.TempDir()
	data, test := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 45, 6)), clitest.Write(t, dir, "test.csv", clitest.CsvText(2, 30, 6))
	labels, fresh := clitest.Write(t, dir, "labels.csv", labelled(1, 45, 6)), clitest.Write(t, dir, "fresh.csv", labelled(2, 30, 6))
	times, later := clitest.Write(t, dir, "times.csv", timed(clitest.CsvText(1, 45, 6))), clitest.Write(t, dir, "later.csv", timed(clitest.CsvText(2, 30, 6)))
	for _, spec := range model.Specs() {
		if spec.Folds || spec.Matrix {
			continue // svm_test.go; none for a matrix
		}
		t.Run(spec.Name, func(t *testing.T) {
			table, rows := data, test
			if spec.Labels {
				table, rows = labels, fresh
			}
			if spec.Survival {
				table, rows = times, later
			}
			model := filepath.Join(dir, spec.Name+".json")
			args := []string{"tune", spec.Name, "--data", table, "--test", rows, "--folds", "3", "--gap-tol", "0", "--tol", "0.1"}
			if spec.Several {
				args = append(args, "--target", "y,f2")
			}
			if spec.Takes("Groups") {
				args = append(args, "--groups", "3")
			}
			m := conetune(t, append(args, "--json", "--save", model)...).object(t)
			refit := m["refit"].(map[string]any)
			require.Equal(t, m["test_error"], refit["test_error"])
			require.Positive(t, refit["validation_error"])
			if strings.HasPrefix(spec.Unit(), "half the mean squared") || spec.Survival {
				p := conetune(t, "predict", "--model", model, "--data", rows, "--json").object(t)
				require.InEpsilon(t, refit["test_error"], p["error"], 1e-9)
			}
			text := conetune(t, args...).ok(t)
			deals := "3 folds, 3 repeats, seed 1" // 45 rows are few
			if spec.Folds {
				deals = "3 folds, seed 1"
			}
			require.Contains(t, text, deals)
			require.Contains(t, text, "45 cross-validation, 30 test rows")
			require.Contains(t, text, "the model is trained on all rows but those of the test")
		})
	}
}

// All methods take folds and choose one lambda for all of them. They agree, and none finds a better one than vf-idca.
func TestMethodsOnFolds(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "data")
	require.Contains(t, conetune(t, "generate", "elastic-net", "--preset", "60-40-p8-t3", "--out", out).ok(t), "60 rows in 3 folds, 40 test rows of 8 features")
	o := conetune(t, "tune", "elastic-net", "--dir", out, "--json", "--method", "vf-idca,grid,random,tpe,igjo,ifdm,hoag", "--plot", filepath.Join(dir, "f.svg"))
	var list []map[string]any
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &list), o.stderr)
	require.Len(t, list, 7)
	least := list[0]["refit"].(map[string]any)["validation_error"].(float64)
	for _, m := range list[1:] {
		e := m["refit"].(map[string]any)["validation_error"]
		require.InEpsilon(t, list[4]["refit"].(map[string]any)["validation_error"], e, 0.02, m["method"])
		require.Less(t, least, 1.0001*e.(float64))
	}
	text, err := os.ReadFile(filepath.Join(out, "folds.csv"))
	require.NoError(t, err)
	require.Equal(t, 1+3*60, strings.Count(string(text), "\n"))
}

// As many folds as rows are one deal, not several of the same: those of --folds all.
func TestAsManyFoldsAsRows(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "data.csv", clitest.CsvText(1, 14, 3))
	error := func(folds string) any {
		o := conetune(t, "tune", "elastic-net", "--data", data, "--folds", folds, "--json")
		o.ok(t)
		return o.object(t)["refit"].(map[string]any)["validation_error"]
	}
	require.Equal(t, error("all"), error("14"))
	require.Contains(t, conetune(t, "tune", "elastic-net", "--data", data, "--folds", "14").ok(t), "(14 folds, seed 1)")
}

// Wrong uses that a statistician would make end with a line that says what to do.
func TestMisuse(t *testing.T) {
	dir := t.TempDir()
	var zero, numbers strings.Builder
	zero.WriteString("y,a,w\n")
	numbers.WriteString("y,a\n")
	for i := range 30 {
		fmt.Fprintf(&zero, "%d,%d,0\n", i*i%17, i*7%23)
		fmt.Fprintf(&numbers, "%d.5,%d\n", i*i, i*7%23)
	}
	noWeight, continuous := clitest.Write(t, dir, "zero.csv", zero.String()), clitest.Write(t, dir, "numbers.csv", numbers.String())
	one := clitest.Write(t, dir, "one.csv", "y,a\n1,2\n")
	for want, args := range map[string][]string{
		`column 3 ("w"): no row has a weight above 0`:                                         {"elastic-net", "--data", noWeight, "--weights", "w"},
		`"y" has 30 values, 30 of them in one row each: these are numbers rather than labels`: {"multinomial", "--data", continuous},
		"it is for elastic-net, lasso, ridge, ":                                               {"svm", "--data", continuous, "--penalty-factors", "a=0"},
		"2 folds, but there is 1 row for them":                                                {"elastic-net", "--data", one},
		"31 folds, but there are 30 rows for them":                                            {"elastic-net", "--data", continuous, "--folds", "31"},
	} {
		o := conetune(t, append([]string{"tune"}, args...)...)
		require.Equal(t, cli.ExitUsage, o.code, o.stderr)
		require.Contains(t, o.stderr, want)
		require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	}
}
