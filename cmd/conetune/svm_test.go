package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/model"
)

// TestLogistic: a classifier on divided rows, from a table to labels and back.
func TestLogistic(t *testing.T) {
	dir := t.TempDir()
	data, fresh := clitest.Write(t, dir, "table.csv", labelled(1, 90, 5)), clitest.Write(t, dir, "new.csv", labelled(2, 100, 5))
	path := filepath.Join(dir, "m.json")
	o := conetune(t, "tune", "logistic", "--data", data, "--save", path, "--json")
	o.ok(t)
	m := o.object(t)
	require.Equal(t, "converged", m["status"])
	require.Less(t, m["validation_error"], 0.5) // log 2 without features
	require.Contains(t, conetune(t, "tune", "logistic", "--data", data).ok(t), "Mean logistic loss")
	out := conetune(t, "predict", "--model", path, "--data", fresh)
	out.ok(t)
	labels := strings.Fields(out.stdout)
	require.Len(t, labels, 100)
	for _, label := range labels {
		require.Contains(t, []string{"2", "4"}, label)
	}
	require.Contains(t, out.stderr, "share of wrong labels")

	made := filepath.Join(dir, "made")
	conetune(t, "generate", "logistic", "--preset", "60-30-30-p20", "--out", made).ok(t)
	o = conetune(t, "tune", "logistic", "--dir", made, "--preset", "paper", "--json")
	o.ok(t)
}

// labelled makes a table of two labels, 2 and 4, that the first two of p features tell apart but for some rows.
func labelled(seed uint64, n, p int) string {
	random := rand.New(rand.NewPCG(seed, 8))
	var b strings.Builder
	b.WriteString("y")
	for j := range p {
		fmt.Fprintf(&b, ",f%d", j+1)
	}
	b.WriteString("\n")
	for range n {
		x := make([]float64, p)
		for j := range x {
			x[j] = random.NormFloat64()
		}
		label := 2
		if x[0]+x[1]+0.3*random.NormFloat64() > 0 {
			label = 4
		}
		b.WriteString(strconv.Itoa(label))
		for _, v := range x {
			fmt.Fprintf(&b, ",%.6g", v)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// svmDir writes the table as a prepared folder with two folds.
func svmDir(t *testing.T, dir, table, test string, folds func(row int) string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	clitest.Write(t, dir, "data.csv", table)
	clitest.Write(t, dir, "test.csv", test)
	var b strings.Builder
	b.WriteString("fold,row,role\n")
	for i := range strings.Count(table, "\n") - 1 {
		b.WriteString(folds(i))
	}
	clitest.Write(t, dir, "folds.csv", b.String())
	return dir
}

func twoFolds(i int) string {
	return fmt.Sprintf("0,%d,%s\n1,%d,%s\n", i, []string{"train", "val"}[i%2], i, []string{"val", "train"}[i%2])
}

func TestTuneSVM(t *testing.T) {
	dir := t.TempDir()
	table, fresh := labelled(1, 80, 5), labelled(2, 60, 5)
	data, test := clitest.Write(t, dir, "table.csv", table), clitest.Write(t, dir, "test.csv", fresh)
	folder := svmDir(t, filepath.Join(dir, "folder"), table, fresh, twoFolds)
	for name, args := range map[string][]string{
		"data":    {"--data", data, "--folds", "3", "--split", "0.75/rest"},
		"tested":  {"--data", data, "--test", test, "--class-weights", "balanced"},
		"split":   {"--data", data, "--split", "60/rest", "--class-weights", "1,2", "--max-iter", "5"},
		"folder":  {"--dir", folder},
		"paper":   {"--dir", folder, "--preset", "paper", "--tol", "0.1"},
		"closing": {"--dir", folder, "--gap-tol", "1e-3"},
	} {
		t.Run(name, func(t *testing.T) {
			o := conetune(t, append([]string{"tune", "svm", "--json"}, args...)...)
			m := o.object(t)
			for _, field := range documented {
				require.Contains(t, keys(m), field)
			}
			require.Len(t, m["hyperparameters"], 6)
			require.Len(t, m["radii"], 1)
			require.Contains(t, m["hyperparameters"], "lambda")
			require.Contains(t, m["hyperparameters"], "wbar_f5")
			require.Less(t, m["test_error"], 0.25, o.stdout)
			require.Equal(t, m["test_error"], m["refit"].(map[string]any)["test_error"])
		})
	}
}

// The labels that predict writes are wrong as often as tune said.
func TestPredictSVM(t *testing.T) {
	dir := t.TempDir()
	data, test := clitest.Write(t, dir, "table.csv", labelled(1, 80, 5)), clitest.Write(t, dir, "test.csv", labelled(2, 60, 5))
	path, figure := filepath.Join(dir, "m.json"), filepath.Join(dir, "f.svg")
	o := conetune(t, "tune", "svm", "--data", data, "--test", test, "--save", path, "--plot", figure)
	text := o.ok(t)
	for _, words := range []string{"80 cross-validation, 60 test rows", "5 folds", "error rate", "wbar_f1", "The label is 4 where"} {
		require.Contains(t, text, words)
	}
	require.FileExists(t, figure)
	saved, err := model.Read(path)
	require.NoError(t, err)
	require.Equal(t, []float64{2, 4}, saved.Labels)

	o = conetune(t, "predict", "--model", path, "--data", test)
	lines := strings.Fields(o.ok(t))
	require.Len(t, lines, 60)
	wrong := 0
	for i, line := range strings.Split(strings.TrimSpace(labelled(2, 60, 5)), "\n")[1:] {
		require.Contains(t, []string{"2", "4"}, lines[i])
		if lines[i] != line[:1] {
			wrong++
		}
	}
	require.InDelta(t, *saved.TestError, float64(wrong)/60, 1e-12)
	require.Contains(t, o.stderr, fmt.Sprintf("%.6g", *saved.TestError)+" on 60 rows (share of wrong labels)")
}

// Generated data are read back, tuned, and drawn with ROC and confusion.
func TestGenerateSVM(t *testing.T) {
	dir := t.TempDir()
	out, figure := filepath.Join(dir, "data"), filepath.Join(dir, "f.svg")
	require.Contains(t, conetune(t, "generate", "svm", "--preset", "60-40-p5-t3", "--out", out).ok(t), "60 rows in 3 folds, 40 test rows of 5 features")
	conetune(t, "tune", "svm", "--dir", out, "--preset", "paper", "--tol", "0.1", "--plot", figure).ok(t)
	text, err := os.ReadFile(figure)
	require.NoError(t, err)
	for _, words := range []string{"ROC curve, area ", "confusion, test rows", ">error<"} {
		require.Contains(t, string(text), words)
	}
}
