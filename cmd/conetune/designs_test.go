package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

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
