package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/must"
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
	regression := csvText(seed, n, p)
	numbers, labels := write(t, dir, "numbers.csv", regression), write(t, dir, "labels.csv", labelled(seed, n, p))
	times := write(t, dir, "times.csv", timed(regression))
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
	lines := strings.SplitAfter(csvText(1, 30, 4), "\n")
	write(t, ".", "header.csv", lines[0])
	lines[4] = "1,2,three,4,5\n"
	write(t, ".", "word.csv", strings.Join(lines, ""))
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
			for name, want := range map[string]string{"word.csv": "word.csv:5: column 3", "missing.csv": "no such file",
				"header.csv": "header.csv"} {
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
	adjoint := []string{"group-lasso", "matrix-completion", "sparse-group-lasso"}
	for method, others := range map[string][]string{tune.MethodIGJO: adjoint, tune.MethodHOAG: adjoint,
		tune.MethodIFDM: nil} {
		able := model.Able(method)
		require.ElementsMatch(t, append([]string{"adaptive-lasso", "bounded-elastic-net", "cox", "elastic-net", "lasso",
			"logistic", "poisson", "ridge", "svm", "weighted-lasso", "weighted-logistic", "weighted-poisson"}, others...), able)
		for _, m := range models {
			args := m.command("--method", method, "--evaluations", "3", "--folds", "3")
			if slices.Contains(able, m.Name) {
				conetune(t, args...).ok(t)
			} else {
				refuse(t, args, method+" cannot do the model "+m.Name, "which there is for "+strings.Join(able, ", "))
			}
			if m.Name == "group-lasso" && others != nil {
				write(t, ".", "overlapping.csv", "feature,group\nf1,1\nf2,1\nf3,2\nf4,2\nf4,1\n")
				refuse(t, append(args, "--groups", "overlapping.csv"), "for groups that do not overlap")
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
			design := "3 folds, 2 repeats, seed 1" // 45 rows are few
			if m.Folds {
				design = "3 folds, seed 1"
			}
			for _, words := range []string{design, "45 cross-validation, 30 test rows",
				"the model is trained on all rows but those of the test"} {
				require.Contains(t, text, words)
			}
		})
	}
}

// A regression has the noise of its table, of variance 1, for its error, of which half the
// mean square is near 0.5 where the variance of the target is 15; constant and repeated columns change nothing.
func TestEveryRegression(t *testing.T) {
	dir := t.TempDir()
	models := everyModel(t, dir, 1, 90, 6)
	lines := strings.Split(strings.TrimSpace(csvText(1, 90, 6)), "\n")
	for i := range lines {
		more := ",constant,again"
		if i > 0 {
			more = ",7," + strings.Split(lines[i], ",")[1]
		}
		lines[i] += more
	}
	hard := write(t, dir, "hard.csv", strings.Join(lines, "\n")+"\n")
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
			for name, want := range map[string]any{"model": m.Name, "method": "vf-idca", "backend": "native",
				"status": "converged", "seed": 4.0, "version": cli.Version()} {
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
	require.Contains(t, conetune(t, append(args, "--rung", "free")...).stderr,
		"warning: 8 hyperparameters are chosen on 5 validation rows")
	left := write(t, dir, "left.csv", csvText(1, 130, 3))
	for split, told := range map[string]string{"70/30": ": --split 70/30 uses 100 of 130 rows, as its numbers are rows; " +
		"shares of all are 70%/30%\n", "70/30/10": ": --split 70/30/10 uses 110 of 130 rows\n", "all": ""} {
		o := conetune(t, "tune", "elastic-net", "--data", left, "--json", "--split", split)
		require.Equal(t, split == "70/30/10", o.object(t)["test_error"] != nil)
		require.True(t, strings.HasSuffix(o.stderr, told) && (told != "" || o.stderr == ""), o.stderr)
	}
}

// columnsOf reads a table of numbers with names, without the package that the command reads it by.
func columnsOf(t *testing.T, text string) map[string][]float64 {
	t.Helper()
	rows := must.Of(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	out := map[string][]float64{}
	for _, row := range rows[1:] {
		for j, cell := range row {
			v := number(t, cell)
			out[rows[0][j]] = append(out[rows[0][j]], v)
		}
	}
	return out
}

// transformed are a table's lines with another target.
func transformed(t *testing.T, text string, target func(y float64) float64) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := 1; i < len(lines); i++ {
		first, rest, _ := strings.Cut(lines[i], ",")
		y := number(t, first)
		lines[i] = fmt.Sprintf("%v,%s", target(y), rest)
	}
	return strings.Join(lines, "\n") + "\n"
}

// What predict says of the test rows is what tune says of them, for every model, and what the loss gives by hand.
func TestScoreIsThatOfTune(t *testing.T) {
	same := func(y float64) float64 { return y }
	label := func(y float64) float64 { return map[bool]float64{true: 7, false: 3}[y > 100] }
	side := func(y float64) float64 { return map[bool]float64{true: 1, false: -1}[y == 7] }
	squares := func(f, y float64) float64 { return (f - y) * (f - y) / 2 }
	for _, c := range []struct {
		model  string
		flags  []string
		target func(y float64) float64
		loss   func(f, y float64) float64
	}{
		{"elastic-net", nil, same, squares},
		{"lasso", []string{"--final", "train"}, same, squares},
		{"ridge", nil, same, squares},
		{"weighted-lasso", nil, same, squares},
		{"weighted-lasso", []string{"--engine", "conic"}, same, squares},
		{"sparse-group-lasso", []string{"--groups", "4"}, same, squares},
		{"group-lasso", []string{"--groups", "4", "--engine", "conic"}, same, squares},
		{"fused-lasso", nil, same, squares},
		{"bounded-elastic-net", nil, same, squares},
		{"huber", []string{"--threshold", "0.75"}, same, func(f, y float64) float64 {
			if r := math.Abs(f - y); r > 0.75 {
				return 0.75*r - 0.75*0.75/2
			}
			return squares(f, y)
		}},
		{"quantile", []string{"--level", "0.8"}, same, func(f, y float64) float64 {
			if y > f {
				return 0.8 * (y - f)
			}
			return 0.2 * (f - y)
		}},
		{"logistic", nil, label, func(f, y float64) float64 { return math.Log(1 + math.Exp(-side(y)*f)) }},
		{"poisson", nil, func(y float64) float64 { return math.Max(0, math.Round(y-97)) }, func(f, y float64) float64 {
			if y == 0 {
				return math.Exp(f)
			}
			return y*math.Log(y/math.Exp(f)) - y + math.Exp(f)
		}},
		{"svm", []string{"--class-weights", "1,3"}, label, func(f, y float64) float64 {
			return map[bool]float64{true: 0, false: 1}[side(y) > 0 == (f > 0)]
		}},
	} {
		t.Run(c.model+strings.Join(c.flags, " "), func(t *testing.T) {
			dir := t.TempDir()
			train, test := transformed(t, csvText(1, 60, 8), c.target), transformed(t, csvText(2, 25, 8), c.target)
			paths := []string{"--train", write(t, dir, "train.csv", train), "--val",
				write(t, dir, "val.csv", transformed(t, csvText(3, 30, 8), c.target))}
			if c.model == "svm" {
				paths = []string{"--data", write(t, dir, "train.csv", train), "--folds", "3"}
			}
			testPath, saved := write(t, dir, "test.csv", test), filepath.Join(dir, "m.json")
			told := conetune(t, append(append([]string{"tune", c.model, "--test", testPath, "--save", saved, "--json"},
				paths...), c.flags...)...).told(t)
			tuned := told["refit"].(map[string]any)["test_error"].(float64)
			p := conetune(t, "predict", "--model", saved, "--data", testPath, "--json")
			p.ok(t)
			require.InEpsilon(t, tuned, p.object(t)["error"], 1e-9)

			m := readModel(t, saved)
			columns, sum := columnsOf(t, test), 0.0
			for i, y := range columns["y"] {
				f := m.Intercept
				for j, name := range m.Features {
					f += m.Coefficients[j] * columns[name][i]
				}
				sum += c.loss(f, y)
			}
			require.InEpsilon(t, tuned, sum/float64(len(columns["y"])), 1e-9)

			// Report, JSON and file have the same coefficients.
			listed := told["coefficients"].(map[string]any)
			for j, v := range m.Coefficients {
				if v != 0 {
					require.Equal(t, v, listed[m.Features[j]])
				} else {
					require.NotContains(t, listed, m.Features[j])
				}
			}
		})
	}
}

// The numbers of a loss are kept with the model.
func TestLossIsSaved(t *testing.T) {
	dir := t.TempDir()
	data, saved := write(t, dir, "t.csv", csvText(1, 60, 4)), filepath.Join(dir, "m.json")
	labels := write(t, dir, "l.csv", labelled(1, 60, 4))
	for _, c := range []struct {
		args []string
		want model.Loss
	}{
		{[]string{"huber", "--data", data, "--threshold", "2.5"}, model.Loss{Kind: "huber", Threshold: 2.5}},
		{[]string{"quantile", "--data", data, "--level", "0.25"}, model.Loss{Kind: "pinball", Level: 0.25}},
		{[]string{"svm", "--data", labels, "--class-weights", "2,5"},
			model.Loss{Kind: "hinge", ClassWeights: []float64{2, 5}}},
		{[]string{"svm", "--data", labels, "--loss", "squared-hinge"}, model.Loss{Kind: "hinge", Squared: true}},
	} {
		conetune(t, append([]string{"tune", "--save", saved}, c.args...)...).ok(t)
		require.Equal(t, c.want, *readModel(t, saved).Loss, c.args)
	}
}

// What the report leaves out is zero in the file, in JSON and in predictions, whatever solver leaves noise.
func TestDroppedFeaturesAreZero(t *testing.T) {
	dir := t.TempDir()
	data, saved, list := write(t, dir, "t.csv", csvText(4, 120, 10)), filepath.Join(dir, "m.json"),
		filepath.Join(dir, "c.csv")
	for _, engine := range []string{"auto", "conic"} {
		report := conetune(t, "tune", "lasso", "--data", data, "--engine", engine, "--save", saved, "--coefficients",
			list).ok(t)
		m := readModel(t, saved)
		used := 0
		for _, v := range m.Coefficients {
			if v != 0 {
				used++
				require.Greater(t, math.Abs(v), 1e-6)
			}
		}
		require.Less(t, used, 10)
		require.GreaterOrEqual(t, used, 3)
		require.Contains(t, report, fmt.Sprintf("\n%d of 10 features are in the model.", used))
		rows := must.Of(csv.NewReader(strings.NewReader(readFile(t, list))).ReadAll())(t)
		require.Equal(t, []string{"feature", "coefficient", "effect", "column", "level", "reference", "chosen_by_folds"},
			rows[0])
		require.Equal(t, "(intercept)", rows[1][0])
		require.Len(t, rows, 2+used)
		last := math.Inf(1)
		for _, row := range rows[2:] {
			b := number(t, row[1])
			require.Equal(t, m.Coefficients[slices.Index(m.Features, row[0])], b)
			size := number(t, row[2])
			require.Equal(t, math.Signbit(b), math.Signbit(size))
			require.LessOrEqual(t, math.Abs(size), last)
			last = math.Abs(size)
		}
	}
}

// Where iterate and refit could not be brought together the refit is reported for both, and a message says so beside
// the equal errors.
func TestFlatLowerLevel(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "made")
	conetune(t, "generate", "weighted-lasso", "--out", folder).ok(t)
	m := conetune(t, "tune", "weighted-lasso", "--dir", folder, "--engine", "conic", "--gap-tol", "1e-4",
		"--json").object(t)
	require.Regexp(t, `iterate and refit were [0-9.]+ % apart, .*; the refit is reported for both$`, m["message"])
	require.InDelta(t, m["refit"].(map[string]any)["validation_error"], m["validation_error"], 1e-9)
}
