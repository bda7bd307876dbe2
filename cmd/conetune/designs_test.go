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

	"github.com/conetune/conetune/internal/cli/clitest"
)

// The error by leaving out one row of a ridge regression has a closed form (Allen 1974): the residuals of the fit to
// all rows, with the weight for one row less, over one minus the diagonal of its hat matrix.
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

// Folds of a column and the same folds in a folder give the same numbers, and so do rows by their numbers and by
// --folds all.
func TestFoldColumnAndFolder(t *testing.T) {
	dir := t.TempDir()
	text := clitest.CsvText(3, 30, 4)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	with := lines[0] + ",part,number\n"
	for i, line := range lines[1:] {
		with += fmt.Sprintf("%s,%d,%d\n", line, i%3, i+100)
	}
	data := clitest.Write(t, dir, "table.csv", with)
	numbers := func(args ...string) any {
		m := conetune(t, append([]string{"tune", "elastic-net", "--json", "--standardize", "--intercept"}, args...)...).object(t)
		return []any{m["refit"], m["coefficients"], m["hyperparameters"]}
	}
	require.Equal(t, numbers("--dir", foldsDir(t, text, 3)), numbers("--data", data, "--fold-column", "part", "--drop", "number"))
	require.Equal(t, numbers("--data", data, "--folds", "all", "--split", "all", "--drop", "part,number"), numbers("--data", data, "--fold-column", "number", "--drop", "part"))
}

// The report says how rows were divided without a word about it.
func TestReportOfDefaultDesign(t *testing.T) {
	out := conetune(t, "tune", "elastic-net", "--data", clitest.Write(t, t.TempDir(), "wards.csv", clitest.Wards), "--features", "x").ok(t)
	for _, words := range []string{"(5 folds, 3 repeats, seed 1)", "12 cross-validation rows", "The hyperparameters were chosen by these rows", "the model is trained on all rows\n"} {
		require.Contains(t, out, words)
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
