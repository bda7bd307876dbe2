package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/model"
)

// regressions are the models whose target is a number.
func regressions() []string {
	return slices.DeleteFunc(model.Names(), func(name string) bool {
		spec, err := cli.FindModel(name)
		return err != nil || spec.Labels || spec.LogLink || spec.Survival || spec.Matrix || spec.Several
	})
}

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
	bad := conetune(t, "tune", "logistic", "--data", clitest.Write(t, dir, "bad.csv", clitest.CsvText(1, 30, 4)))
	require.Equal(t, cli.ExitUsage, bad.code)
	require.Contains(t, bad.stderr, "expected two labels")
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

// Tables that no support vector machine can be trained on are refused in one line.
func TestBadLabels(t *testing.T) {
	dir := t.TempDir()
	table := func(name string, labels ...int) string {
		var b strings.Builder
		for i, y := range labels {
			fmt.Fprintf(&b, "%d 1:%d 2:%d\n", y, i, i*i%7)
		}
		return clitest.Write(t, dir, name, b.String())
	}
	rare := table("rare.svm", -1, -1, -1, -1, -1, 1)
	few := table("few.svm", -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 1)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--data", table("one.svm", 5, 5, 5, 5), "--test", few, "--folds", "2"}, "one.svm: all rows have the label 5"},
		{[]string{"--data", rare, "--test", few, "--folds", "3"}, "rare.svm: one row has the label 1, which the fold that it validates would lack"},
		{[]string{"--data", few, "--folds", "2", "--split", "2/rest"}, "few.svm: of the rows that --split 2/rest leaves for the folds, one row has the label -1, "},
		{[]string{"--data", table("three.svm", 1, 2, 3, 1, 2, 3), "--test", few, "--folds", "2"}, "three.svm: \"y\" has 3 values (1, 2, 3), expected two labels"},
		{[]string{"--data", few, "--test", few, "--folds", "13"}, "few.svm: 13 folds, but there are 12 rows"},
	} {
		o := conetune(t, append([]string{"tune", "svm"}, c.args...)...)
		require.Equal(t, cli.ExitUsage, o.code)
		require.Contains(t, o.stderr, c.want)
		require.Len(t, strings.Split(strings.TrimSpace(o.stderr), "\n"), 1)
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

func TestBadInputSVM(t *testing.T) {
	dir := t.TempDir()
	table := labelled(1, 30, 3)
	good := clitest.Write(t, dir, "good.csv", table)
	lines := strings.Split(strings.TrimSpace(table), "\n")
	relabel := func(name string, label func(row int) string) string {
		changed := slices.Clone(lines)
		for i := 1; i < len(changed); i++ {
			changed[i] = label(i-1) + changed[i][1:]
		}
		return clitest.Write(t, dir, name, strings.Join(changed, "\n")+"\n")
	}
	one := relabel("one.csv", func(int) string { return "2" })
	three := relabel("three.csv", func(i int) string { return strconv.Itoa(i % 3) })
	many := relabel("many.csv", func(i int) string { return strconv.Itoa(i) })
	rare := relabel("rare.csv", func(i int) string { return strconv.Itoa(1 - min(i, 1)) })
	otherTest := clitest.Write(t, dir, "test.csv", strings.Replace(table, "\n4,", "\n5,", 1))
	folder := func(name string, line func(int) string) string {
		return svmDir(t, filepath.Join(dir, name), table, table, line)
	}
	positives := func(i int) string { // no row of label 4 trains
		if lines[i+1][0] == '4' {
			return fmt.Sprintf("0,%d,val\n1,%d,val\n", i, i)
		}
		return twoFolds(i)
	}
	bare := filepath.Join(dir, "bare")
	require.NoError(t, os.Mkdir(bare, 0o700))

	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"one label", []string{"--data", one}, []string{"one.csv", "label 2"}},
		{"three labels", []string{"--data", three}, []string{"three.csv", `"y" has 3 values (0, 1, 2)`}},
		{"many labels", []string{"--data", many}, []string{"many.csv", "more than 4 values"}},
		{"more folds than rows", []string{"--data", good, "--folds", "31", "--split", "rest/1"}, []string{"good.csv", "31 folds", "29 rows"}},
		{"one row of a label", []string{"--data", rare, "--split", "29/1"}, []string{"rare.csv", "one row has the label 1"}},
		{"one fold", []string{"--data", good, "--folds", "1"}, []string{"--folds is 1"}},
		{"training table", []string{"--train", good, "--val", good}, []string{"cross-validation", "--folds"}},
		{"folds of a folder", []string{"--dir", folder("fine", twoFolds), "--folds", "3"}, []string{"--folds goes with --data"}},
		{"three parts", []string{"--data", good, "--split", "10/10/rest"}, []string{"10/10/rest", "two parts"}},
		{"two tests", []string{"--data", good, "--split", "10/rest", "--test", good}, []string{"--split", "--test"}},
		{"another label in the test", []string{"--data", good, "--test", otherTest}, []string{"test rows", "label 5", "2 or 4"}},
		{"no intercept", []string{"--data", good, "--intercept=false"}, []string{"--intercept=false"}},
		{"weights", []string{"--data", good, "--class-weights", "1,-1"}, []string{"--class-weights", `weight 2 is "-1"`}},
		{"no folder", []string{"--dir", bare}, []string{"bare", "data.csv"}},
		{"fold without positive label", []string{"--dir", folder("positives", positives)}, []string{"fold 0", "training", "label 4"}},
		{"row outside", []string{"--dir", folder("outside", func(i int) string { return fmt.Sprintf("0,%d,val\n", i+1) })}, []string{"folds.csv:31", `"30"`}},
		{"fold without training rows", []string{"--dir", folder("untrained", func(i int) string { return fmt.Sprintf("%d,%d,val\n", i%2, i) })}, []string{"folds.csv", "fold 0 has no training rows"}},
		{"row twice", []string{"--dir", folder("twice", func(i int) string { return twoFolds(i) + twoFolds(i) })}, []string{"folds.csv", "row 0 twice"}},
		{"role", []string{"--dir", folder("role", func(i int) string { return fmt.Sprintf("0,%d,test\n", i) })}, []string{"folds.csv:2", `"test"`, "train or val"}},
		{"fold is text", []string{"--dir", folder("text", func(i int) string { return "a,1,val\n" })}, []string{"folds.csv:2: fold:", `"a"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := conetune(t, append([]string{"tune", "svm"}, c.args...)...)
			require.Equal(t, cli.ExitUsage, o.code, o.stderr)
			require.Empty(t, o.stdout)
			require.Equal(t, 1, strings.Count(o.stderr, "\n"), "not one line: %s", o.stderr)
			for _, text := range c.want {
				require.Contains(t, o.stderr, text)
			}
		})
	}
	o := conetune(t, "tune", "elastic-net", "--data", good, "--class-weights", "1,2")
	require.Equal(t, cli.ExitUsage, o.code)
	require.Contains(t, o.stderr, "--class-weights is not for elastic-net")
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
	o := conetune(t, "generate", "svm", "--preset", "60-40-p5", "--out", filepath.Join(dir, "other"))
	require.Equal(t, cli.ExitUsage, o.code)
	require.Contains(t, o.stderr, "ROWS-TEST-pFEATURES-tFOLDS")
}
