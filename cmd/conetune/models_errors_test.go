package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/tune"
)

// TestBadInputOfModels: each mistake gives exit status 2 and one line that says where it is and what was expected, whatever the
// model, and for what single models take.
func TestBadInputOfModels(t *testing.T) {
	dir := t.TempDir()
	table := clitest.CsvText(1, 30, 4)
	kinds := labelled(1, 30, 4)
	lines := strings.SplitAfter(table, "\n")
	good, labels := clitest.Write(t, dir, "good.csv", table), clitest.Write(t, dir, "labels.csv", kinds)
	word := clitest.Write(t, dir, "word.csv", strings.Replace(table, lines[4], "1,2,three,4,5\n", 1))
	header := strings.SplitN(table, "\n", 2)[0]
	refuse := func(t *testing.T, args []string, want ...string) {
		t.Helper()
		before := contents(t, dir)
		o := conetune(t, args...)
		require.Equal(t, cli.ExitUsage, o.code, o.stderr)
		require.Empty(t, o.stdout)
		require.True(t, strings.HasPrefix(o.stderr, "conetune: "), o.stderr)
		require.Equal(t, 1, strings.Count(o.stderr, "\n"), "not one line: %s", o.stderr)
		for _, text := range want {
			require.Contains(t, o.stderr, text)
		}
		require.Equal(t, before, contents(t, dir), "something was written")
	}
	for _, spec := range model.Specs() {
		if spec.Matrix || spec.Several {
			continue // matrix_test.go, targets_test.go
		}
		t.Run(spec.Name, func(t *testing.T) {
			rows := good
			if spec.Labels {
				rows = labels
			}
			tune := func(data string, args ...string) []string {
				args = append([]string{"tune", spec.Name, "--data", data, "--save", filepath.Join(dir, "m.json")}, args...)
				if spec.Takes("Groups") {
					args = append(args, "--groups", "2")
				}
				if spec.Survival {
					args = append(args, "--event", "none")
				}
				return args
			}
			refuse(t, tune(rows, "--target", "nothing"), filepath.Base(rows), `"nothing"`)
			refuse(t, tune(word), "word.csv:5", "column 3", "three")
			refuse(t, tune(filepath.Join(dir, "missing.csv")), "missing.csv", "no such file")
			refuse(t, tune(clitest.Write(t, dir, "header.csv", header+"\n")), "header.csv")
			refuse(t, tune(rows, "--folds", "25", "--split", "rest/6"), "25 folds", "24 rows")
			refuse(t, tune(rows, "--folds", "1"), "--folds is 1")
			refuse(t, tune(rows, "--folds", "two"), `--folds: "two" found, expected an integer`)
			refuse(t, []string{"tune", spec.Name}, "no data")
			if spec.Takes("Groups") {
				refuse(t, []string{"tune", spec.Name, "--data", good}, "--groups is missing")
			} else {
				refuse(t, tune(rows, "--groups", "2"), "--groups", "--groups is not for")
			}
		})
	}

	groups := func(name, text string) string { return clitest.Write(t, dir, name, "feature,group\n"+text) }
	overlap := groups("overlap.csv", "f1,0\nf2,0\nf2,1\nf3,1\nf4,1\n")
	missing := groups("few.csv", "f1,0\nf2,0\nf4,1\n")
	unknown := groups("unknown.csv", "f1,0\nf2,0\nf3,1\nf9,1\n")
	text := groups("text.csv", "f1,0\nf2,first\nf3,1\nf4,1\n")
	relabel := func(name string, label func(i int) string) string {
		changed := strings.Split(strings.TrimSpace(kinds), "\n")
		for i := 1; i < len(changed); i++ {
			changed[i] = label(i-1) + changed[i][strings.Index(changed[i], ","):]
		}
		return clitest.Write(t, dir, name, strings.Join(changed, "\n")+"\n")
	}
	one := relabel("one.csv", func(int) string { return "7" })
	three := relabel("three.csv", func(i int) string { return string(rune('1' + i%3)) })
	rare := relabel("rare.csv", func(i int) string { return string(rune('1' + min(i, 1))) })
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"groups that overlap", []string{"sparse-group-lasso", "--data", good, "--groups", overlap}, []string{"overlap.csv:4", `"f2"`}},
		{"groups that miss a feature", []string{"group-lasso", "--data", good, "--groups", missing}, []string{"few.csv", `lacks the group of "f3"`}},
		{"groups of a feature that is not there", []string{"group-lasso", "--data", good, "--groups", unknown}, []string{"unknown.csv:5", `"f9"`}},
		{"group that is no number", []string{"sparse-group-lasso", "--data", good, "--groups", text}, []string{"text.csv:3", `"first"`}},
		{"groups whose sizes do not fit", []string{"group-lasso", "--data", good, "--groups", "3"}, []string{"--groups: 4 features cannot be divided into 3 groups"}},
		{"no group", []string{"group-lasso", "--data", good, "--groups", "0"}, []string{"--groups", "0"}},
		{"labels of one class", []string{"logistic", "--data", one}, []string{`all rows have the label 7`, "expected two labels"}},
		{"labels of three classes", []string{"logistic", "--data", three}, []string{"has 3 values (1, 2, 3), expected two labels"}},
		{"number for a label", []string{"logistic", "--data", good, "--target", "f1"}, []string{"more than 4 values", "expected two labels"}},
		{"folds with one class", []string{"logistic", "--data", rare, "--folds", "5", "--split", "rest/1"}, []string{"rare.csv", "one row has the label 1"}},
		{"level 0", []string{"quantile", "--data", good, "--level", "0"}, []string{"--level is 0, expected a number between 0 and 1"}},
		{"level above 1", []string{"quantile", "--data", good, "--level", "1.5"}, []string{"--level is 1.5"}},
		{"level NaN", []string{"quantile", "--data", good, "--level", "nan"}, []string{"--level is NaN"}},
		{"threshold negative", []string{"huber", "--data", good, "--threshold", "-1"}, []string{"--threshold is -1, expected a positive number"}},
		{"threshold infinite", []string{"huber", "--data", good, "--threshold", "inf"}, []string{"--threshold is +Inf"}},
		{"threshold of another model", []string{"quantile", "--data", good, "--threshold", "1"}, []string{"--threshold is not for quantile"}},
		{"bounds upside down", []string{"bounded-elastic-net", "--data", good, "--lower", "-1", "--upper", "-2"}, []string{"--upper is -2, expected a number that is not negative"}},
		{"bound NaN", []string{"bounded-elastic-net", "--data", good, "--lower", "nan"}, []string{"--lower is NaN"}},
		{"differences of too high an order", []string{"fused-lasso", "--data", good, "--order", "7"}, []string{"differences of order 7 of 4 coefficients"}},
	} {
		t.Run(c.name, func(t *testing.T) { refuse(t, append([]string{"tune"}, c.args...), c.want...) })
	}
}

// A method along a hypergradient takes the models that the help names, and refuses the others with that list.
func TestModelsOfHypergradients(t *testing.T) {
	dir := t.TempDir()
	good, labels := clitest.Write(t, dir, "good.csv", clitest.CsvText(1, 30, 4)), clitest.Write(t, dir, "labels.csv", labelled(1, 30, 4))
	for method, others := range map[string][]string{tune.MethodIGJO: {"matrix-completion", "sparse-group-lasso"}, tune.MethodHOAG: {"matrix-completion", "sparse-group-lasso"}, tune.MethodIFDM: nil} {
		able := model.Able(method)
		require.ElementsMatch(t, append([]string{"adaptive-lasso", "bounded-elastic-net", "cox", "elastic-net", "lasso", "logistic", "poisson", "ridge", "svm", "weighted-lasso"}, others...), able)
		for _, spec := range model.Specs() {
			if spec.Matrix || spec.Several {
				continue // matrix_test.go, targets_test.go
			}
			args := []string{"tune", spec.Name, "--method", method, "--evaluations", "3", "--folds", "3", "--data", good}
			if spec.Labels {
				args[len(args)-1] = labels
			}
			if spec.Takes("Groups") {
				args = append(args, "--groups", "2")
			}
			if spec.Survival {
				args = append(args, "--event", "none")
			}
			o := conetune(t, args...)
			if slices.Contains(able, spec.Name) {
				o.ok(t)
				continue
			}
			require.Equal(t, cli.ExitUsage, o.code, o.stderr)
			require.Contains(t, o.stderr, method+" cannot do the model "+spec.Name)
			require.Contains(t, o.stderr, "which there is for "+strings.Join(able, ", "))
		}
	}
}
