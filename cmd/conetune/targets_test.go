package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
)

// A generated folder is tuned, and the saved model predicts the test rows with the error that was reported; the other forms of data
// and methods work too.
func TestTuneSeveralTargets(t *testing.T) {
	dir := t.TempDir()
	out, model := filepath.Join(dir, "data"), filepath.Join(dir, "m.json")
	text := conetune(t, "generate", "multi-task", "--preset", "60-50-40-p8", "--out", out).ok(t)
	require.Contains(t, text, "60 training, 50 validation, 40 test rows of 8 features")
	require.Contains(t, text, "3 targets use")
	m := conetune(t, "tune", "multi-task", "--dir", out, "--json", "--save", model).object(t)
	refit := m["refit"].(map[string]any)
	test := filepath.Join(out, "test.csv.gz")
	o := conetune(t, "predict", "--model", model, "--data", test, "--json")
	p := o.object(t)
	require.InEpsilon(t, refit["test_error"], p["error"], 1e-9)
	require.Equal(t, []any{"y1", "y2", "y3"}, p["targets"])
	lines := strings.Split(strings.TrimSpace(conetune(t, "predict", "--model", model, "--data", test).ok(t)), "\n")
	require.Len(t, lines, 40)
	first := strings.Split(lines[0], ",")
	require.Len(t, first, 3)
	v, err := strconv.ParseFloat(first[2], 64)
	require.NoError(t, err)
	require.Equal(t, p["predictions_of_targets"].([]any)[0].([]any)[2], v)

	text = conetune(t, "tune", "multi-task", "--dir", out, "--method", "vf-idca,grid,random", "--plot", filepath.Join(dir, "f.svg")).ok(t)
	require.Contains(t, text, "targets y1, y2, y3")

	// A table of one's own: columns by name, rows without targets to predict.
	data := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 60, 6))
	text = conetune(t, "tune", "multi-task", "--data", data, "--split", threeParts, "--target", "f2,y", "--save", model).ok(t)
	require.Contains(t, text, "5 features; 30 training, 15 validation, 15 test rows; targets f2, y")
	require.Contains(t, text, "intercept")
	bare := clitest.Write(t, dir, "bare.csv", "f6,f5,f4,f3,f1\n1,2,3,4,5\n")
	require.Len(t, strings.Split(conetune(t, "predict", "--model", model, "--data", bare).ok(t), ","), 2)
	conetune(t, "tune", "multi-task", "--train", data, "--val", data, "--test", data, "--target", "f2,y", "--final", "train").ok(t)
}

func TestBadInputOfSeveralTargets(t *testing.T) {
	dir := t.TempDir()
	good := clitest.Write(t, dir, "good.csv", clitest.CsvText(1, 30, 4))
	one := clitest.Write(t, dir, "one.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n1,3\n2,5\n")
	folder := filepath.Join(dir, "folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	clitest.Write(t, folder, "train.csv", clitest.CsvText(1, 30, 4))
	clitest.Write(t, folder, "val.csv", clitest.CsvText(2, 30, 4))
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"no target", []string{"--data", good}, []string{"--target is missing", "--target a,b"}},
		{"one target", []string{"--data", good, "--target", "y"}, []string{"one target, expected several"}},
		{"target twice", []string{"--data", good, "--target", "f1,f1"}, []string{"f1 is named twice"}},
		{"target without name", []string{"--data", good, "--target", "f1,"}, []string{`a target of "f1," has no name`}},
		{"missing first target", []string{"--data", good, "--target", "g1,f1"}, []string{"good.csv", `"g1"`}},
		{"missing second target", []string{"--data", good, "--target", "f1,g1"}, []string{"good.csv", `no column "g1" for a target`}},
		{"only targets", []string{"--data", one, "--target", "a,b"}, []string{"one.csv", "all 2 columns are targets"}},
		{"more folds than rows", []string{"--data", good, "--target", "f1,f2", "--folds", "25", "--split", "rest/6"}, []string{"25 folds", "24 rows"}},
		{"missing target with folds", []string{"--data", good, "--target", "f1,g2", "--folds", "3"}, []string{`no column "g2" for a target`}},
		{"folder without targets", []string{"--dir", folder}, []string{"folder", "y1, y2"}},
		{"target of a folder", []string{"--dir", folder, "--target", "f1,f2"}, []string{"--target goes with --data or --train", "y1, y2"}},
		{"groups", []string{"--data", good, "--target", "f1,f2", "--groups", "2"}, []string{"--groups is not for multi-task"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := conetune(t, append([]string{"tune", "multi-task"}, c.args...)...)
			require.Equal(t, cli.ExitUsage, o.code, o.stderr)
			require.Empty(t, o.stdout)
			require.Equal(t, 1, strings.Count(o.stderr, "\n"), "not one line: %s", o.stderr)
			for _, text := range c.want {
				require.Contains(t, o.stderr, text)
			}
		})
	}
}
