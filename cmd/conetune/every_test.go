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

// tunedModel is a model with a table that it takes and the flags that it needs for it.
type tunedModel struct {
	model.Spec
	table string
	flags []string
}

// command is a run of conetune tune with more flags.
func (m tunedModel) command(more ...string) []string {
	return slices.Concat([]string{"tune", m.Name, "--data", m.table}, m.flags, more)
}

// everyModel are all models but that of a matrix, with tables of n rows of p features.
func everyModel(t *testing.T, dir string, seed uint64, n, p int) (list []tunedModel) {
	t.Helper()
	regression := clitest.CsvText(seed, n, p)
	numbers, labels := clitest.Write(t, dir, "numbers.csv", regression), clitest.Write(t, dir, "labels.csv", labelled(seed, n, p))
	times := clitest.Write(t, dir, "times.csv", timed(regression))
	for _, spec := range model.Specs() {
		m := tunedModel{Spec: spec, table: numbers}
		switch {
		case spec.Matrix:
			continue
		case spec.Labels:
			m.table = labels
		case spec.Survival:
			m.table = times
		case spec.Several:
			m.flags = []string{"--target", "y,f2"}
		case spec.Takes("Groups"):
			m.flags = []string{"--groups", "2"}
		}
		list = append(list, m)
	}
	return list
}

// Whatever the model, a mistake is said where it is.
func TestRefusedByEveryModel(t *testing.T) {
	t.Chdir(t.TempDir())
	lines := strings.SplitAfter(clitest.CsvText(1, 30, 4), "\n")
	clitest.Write(t, ".", "header.csv", lines[0])
	lines[4] = "1,2,three,4,5\n"
	clitest.Write(t, ".", "word.csv", strings.Join(lines, ""))
	for _, m := range everyModel(t, ".", 1, 30, 4) {
		t.Run(m.Name, func(t *testing.T) {
			if !m.Several {
				refuse(t, m.command("--target", "nothing"), m.table, `"nothing"`)
			}
			refuse(t, m.command("--folds", "25", "--split", "rest/6"), "25 folds", "24 rows")
			refuse(t, []string{"tune", m.Name}, "no data")
			if m.Survival { // whose events are a column that the others lack
				m.flags = []string{"--event", "none"}
			}
			for name, want := range map[string]string{"word.csv": "word.csv:5: column 3", "missing.csv": "no such file", "header.csv": "header.csv"} {
				m.table = name
				refuse(t, m.command(), want)
			}
		})
	}
}

// A method along a hypergradient takes the models that the help names, and refuses the others with that list.
func TestModelsOfHypergradients(t *testing.T) {
	t.Chdir(t.TempDir())
	models := everyModel(t, ".", 1, 30, 4)
	for method, others := range map[string][]string{tune.MethodIGJO: {"matrix-completion", "sparse-group-lasso"}, tune.MethodHOAG: {"matrix-completion", "sparse-group-lasso"}, tune.MethodIFDM: nil} {
		able := model.Able(method)
		require.ElementsMatch(t, append([]string{"adaptive-lasso", "bounded-elastic-net", "cox", "elastic-net", "lasso", "logistic", "poisson", "ridge", "svm", "weighted-lasso"}, others...), able)
		for _, m := range models {
			args := m.command("--method", method, "--evaluations", "3", "--folds", "3")
			if slices.Contains(able, m.Name) {
				conetune(t, args...).ok(t)
			} else {
				refuse(t, args, method+" cannot do the model "+m.Name, "which there is for "+strings.Join(able, ", "))
			}
		}
	}
}

// Every model is chosen by folds; what is saved predicts the test rows with the test error that was reported.
func TestEveryModelByFolds(t *testing.T) {
	dir := t.TempDir()
	fresh := everyModel(t, t.TempDir(), 2, 30, 6)
	for k, m := range everyModel(t, dir, 1, 45, 6) {
		t.Run(m.Name, func(t *testing.T) {
			saved, test := filepath.Join(dir, m.Name+".json"), fresh[k].table
			args := m.command("--test", test, "--folds", "3", "--gap-tol", "0", "--tol", "0.1")
			told := conetune(t, append(args, "--json", "--save", saved)...).object(t)
			refit := told["refit"].(map[string]any)
			require.Equal(t, told["test_error"], refit["test_error"])
			require.Positive(t, refit["validation_error"])
			p := conetune(t, "predict", "--model", saved, "--data", test, "--json").object(t)
			require.InEpsilon(t, refit["test_error"], p["error"], 1e-9)
			text := conetune(t, args...).ok(t)
			deals := "3 folds, 3 repeats, seed 1" // 45 rows are few
			if m.Folds {
				deals = "3 folds, seed 1"
			}
			for _, words := range []string{deals, "45 cross-validation, 30 test rows", "the model is trained on all rows but those of the test"} {
				require.Contains(t, text, words)
			}
		})
	}
}

// A regression has the documented fields and the noise of its table, of variance 1, for its error, of which half the
// mean square is near 0.5 where the variance of the target is 15; constant and repeated columns change nothing.
func TestEveryRegression(t *testing.T) {
	dir := t.TempDir()
	models := everyModel(t, dir, 1, 90, 6)
	lines := strings.Split(strings.TrimSpace(clitest.CsvText(1, 90, 6)), "\n")
	for i := range lines {
		more := ",constant,again"
		if i > 0 {
			more = ",7," + strings.Split(lines[i], ",")[1]
		}
		lines[i] += more
	}
	hard := clitest.Write(t, dir, "hard.csv", strings.Join(lines, "\n")+"\n")
	for _, m := range models {
		if m.Labels || m.LogLink || m.Survival || m.Several {
			continue
		}
		for _, table := range []string{m.table, hard} {
			m.table = table
			o := conetune(t, m.command("--split", threeParts, "--json", "--seed", "4")...)
			o.ok(t)
			require.True(t, table == hard || o.stderr == "", o.stderr)
			told := o.object(t)
			for _, name := range documented {
				require.Contains(t, keys(told), name)
			}
			for name, want := range map[string]any{"model": m.Name, "method": "vf-idca", "backend": "native", "status": "converged", "seed": 4.0, "version": cli.Version()} {
				require.Equal(t, want, told[name])
			}
			require.Len(t, told["hyperparameters"], len(told["radii"].([]any)))
			refit := told["refit"].(map[string]any)
			require.Equal(t, []string{"test_error", "validation_error"}, keys(refit))
			require.InDelta(t, 0.5, refit["test_error"], 0.35)
			require.Positive(t, told["time_seconds"])
			if rungs, climbed := told["ladder"].([]any); climbed { // on paths
				require.Len(t, rungs, 3)
			} else {
				require.Positive(t, told["solver_iterations"])
			}
		}
	}
	// More features than validation rows.
	args := []string{"tune", "weighted-lasso", "--data", hard, "--split", "70/5/rest", "--json"}
	require.NotContains(t, conetune(t, args...).stderr, "warning")
	require.Contains(t, conetune(t, append(args, "--rung", "free")...).stderr, "warning: 8 hyperparameters are chosen on 5 validation rows")
	for _, split := range []string{"60/30", "all"} {
		require.Nil(t, conetune(t, "tune", "elastic-net", "--data", models[0].table, "--json", "--split", split).object(t)["test_error"])
	}
}
