package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
)

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
	zero, one := clitest.Write(t, dir, "zero.svm", numbersText(60, 6, 0, nil)), clitest.Write(t, dir, "one.svm", numbersText(60, 6, 1, nil))
	saved := filepath.Join(dir, "m.json")
	run := func(args ...string) map[string]any {
		return conetune(t, append([]string{"tune", "elastic-net", "--method", "grid", "--evaluations", "9", "--json"}, args...)...).object(t)
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
	rest := clitest.Write(t, dir, "rest.svm", strings.Join(slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return !lacks(s) }), ""))
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
	svm, csv := clitest.Write(t, dir, "q.svm", numbersText(66, 6, 1, query)), clitest.Write(t, dir, "q.csv", numbersText(66, 6, -1, query))
	for _, more := range [][]string{nil, {"--folds", "all"}, {"--split", "0.5/0.25/rest"}, {"--split", "0.7/rest", "--folds", "3"}, {"--nested=3"}} {
		run := func(args ...string) map[string]any {
			return conetune(t, append(append([]string{"tune", "elastic-net", "--method", "grid", "--evaluations", "4", "--json"}, args...), more...)...).object(t)
		}
		a, b := run("--data", svm), run("--data", csv, "--group", "qid")
		require.Equal(t, b["refit"], a["refit"], more)
		require.Equal(t, b["nested"], a["nested"], more)
		require.Contains(t, a["findings"].([]any)[0].(map[string]any)["text"], "rows of the same qid: stay together")
	}
	require.Contains(t, conetune(t, "tune", "ridge", "--data", svm).ok(t), "by group qid")
}

// A target that is the same in all rows cannot be predicted better by one model than by another, from whatever it is
// read.
func TestConstantTarget(t *testing.T) {
	dir := t.TempDir()
	csv, svm, two := "y,a,b\n", "", "y1,y2,a,b\n"
	for i := range 30 {
		csv += fmt.Sprintf("3.5,%d,%d\n", i*7%11, i*5%13)
		svm += fmt.Sprintf("3.5 1:%d 2:%d\n", 1+i*7%11, 1+i*5%13)
		two += fmt.Sprintf("%d,7,%d,%d\n", i*i%17, i*7%11, i*5%13)
	}
	data, several := clitest.Write(t, dir, "t.csv", csv), clitest.Write(t, dir, "two.csv", two)
	for want, args := range map[string][]string{
		"t.csv: the target \"y\" is 3.5 in all rows: there is nothing to predict":  {"tune", "elastic-net", "--data", data},
		"t.svm: the target \"y\" is 3.5 in all rows: there is nothing to predict":  {"tune", "huber", "--data", clitest.Write(t, dir, "t.svm", svm), "--split", "0.5/0.25/rest"},
		"two.csv: the target \"y2\" is 7 in all rows: there is nothing to predict": {"tune", "multi-task", "--data", several, "--target", "y1,y2"},
	} {
		o := conetune(t, args...)
		require.Equal(t, cli.ExitUsage, o.code)
		require.Contains(t, o.stderr, want)
		require.Equal(t, 1, strings.Count(o.stderr, "\n"))
	}
	// The same counts of different exposures are different rates.
	conetune(t, "tune", "poisson", "--data", data, "--offset", "a", "--method", "grid", "--evaluations", "4").ok(t)
}
