package main

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/must"
)

// ills is a table of patients, of whom the 6 % with y > 280 are ill: yes and no, or 0 and 1.
func ills(t *testing.T, yes, no string) (path string) {
	rows := must.Of(csv.NewReader(strings.NewReader(readFile(t, "../../examples/diabetes.csv"))).ReadAll())(t)
	var b strings.Builder
	fmt.Fprintf(&b, "ill,fold,%s\n", strings.Join(rows[0][1:], ","))
	for i, row := range rows[1:] {
		ill := no
		if number(t, row[0]) > 280 {
			ill = yes
		}
		fmt.Fprintf(&b, "%s,%d,%s\n", ill, i%5, strings.Join(row[1:], ","))
	}
	return write(t, t.TempDir(), "ills.csv", b.String())
}

// ridge fits at a given weight.
var ridge = []string{"--target", "ill", "--fold-column", "fold", "--method", "grid", "--evaluations", "1", "--range",
	"lambda1=1e-12:1e-11,lambda2=0.01:0.010001", "--json"}

// The threshold of the rows out of their folds, and the measures of the rows of each fold by that of the other folds,
// are those of scikit-learn by testdata/decide.py; which label is the larger makes no difference.
func TestDecide(t *testing.T) {
	for _, labels := range [][2]string{{"yes", "no"}, {"0", "1"}, {"1", "0"}} {
		table := ills(t, labels[0], labels[1])
		for rule, want := range map[string]map[string]float64{
			"f1":             {"": 0.17155621442152372, "f1": 1 - 0.6944444444444444, "error_rate": 50. / 442},
			"balanced-error": {"": 0.034109744529727634, "balanced_error": 0.27376171352074974, "error_rate": 141. / 442},
			"1:10":           {"": 0.07594295963630332, "cost": 0.416289592760181, "error_rate": 85. / 442},
		} {
			args := append([]string{"tune", "logistic", "--data", table, "--positive", labels[0], "--decide", rule}, ridge...)
			m := conetune(t, args...).object(t)
			require.InDelta(t, want[""], m["threshold"], 1e-6)
			for name, v := range want {
				if name != "" {
					require.InDelta(t, v, m["metrics"].(map[string]any)[name].(map[string]any)["value"], 1e-9, name)
				}
			}
		}
	}
}

// Where 6 % of the rows are ill, the first sentence is about the area under the ROC curve, and the average precision is
// that of scikit-learn by testdata/decide.py.
func TestRareLabels(t *testing.T) {
	for _, c := range []struct{ yes, no, positive, says string }{
		{"yes", "no", "", "The average precision for yes is 0.2"}, {"a", "b", "a", "The average precision for a is 0.2"},
		{"a", "b", "", "Rows of a have a share of 0.0611; --positive a measures how they are found."},
	} {
		args := append([]string{"tune", "logistic", "--data", ills(t, c.yes, c.no)}, ridge...)
		if c.positive != "" {
			args = append(args, "--positive", c.positive)
		}
		o := conetune(t, append(args, "--json=false")...)
		text := strings.Join(strings.Fields(o.ok(t)), " ")
		require.Contains(t, text, "area under the ROC curve 0.843 ± 0.030, against 0.500 by chance; 1 is the best.")
		require.Contains(t, text, c.says)
		require.NotContains(t, text, "do not help")
		if c.says[0] == 'T' {
			metrics := conetune(t, args...).object(t)["metrics"].(map[string]any)
			require.InDelta(t, 0.21183351739332676, metrics[evaluate.AveragePrecision].(map[string]any)["value"], 1e-9)
		}
	}
}

// Weights of labels are weights of rows in fits and units, by testdata/decide.py, and not in measures; the error of the
// rows of a test has them in tune and predict.
func TestClassWeights(t *testing.T) {
	table, model := ills(t, "yes", "no"), t.TempDir()+"/m.json"
	for weights, want := range map[string][]float64{"balanced": {0.204690252979659, 1.2899366133143373},
		"yes=12": {0.19965716523126598, 1.2360114291910538}, "1,12": {0.19965716523126598, 1.2360114291910538}} {
		args := append([]string{"tune", "logistic", "--data", table, "--class-weights", weights}, ridge...)
		m := conetune(t, args...).object(t)
		require.InDelta(t, want[0], m["coefficients"].(map[string]any)["bmi"], 1e-6)
		require.InDelta(t, want[1], m["coefficients"].(map[string]any)["s5"], 1e-6)
		require.InDelta(t, 27./442, m["metrics"].(map[string]any)["error_rate"].(map[string]any)["baseline"], 1e-9)
	}
	for _, name := range []string{"logistic", "weighted-logistic", "multinomial", "svm"} {
		for _, weights := range []string{"balanced", "yes=5"} {
			m := conetune(t, "tune", name, "--data", table, "--target", "ill", "--drop", "fold", "--test", table, "--save",
				model, "--class-weights", weights, "--json").object(t)
			p := conetune(t, "predict", "--model", model, "--data", table, "--json").object(t)
			require.InEpsilon(t, m["refit"].(map[string]any)["test_error"], p["error"], 1e-9, name)
		}
	}
}

// The page has the table of the rows at their thresholds, of scikit-learn by testdata/decide.py, and the point of them
// on both curves, for multinomial as for logistic.
func TestDecisionOnPage(t *testing.T) {
	table, page := ills(t, "yes", "no"), t.TempDir()+"/page.html"
	args := append([]string{"--data", table, "--positive", "yes", "--decide", "1:10", "--report", page}, ridge...)
	conetune(t, append([]string{"tune", "logistic"}, args...)...).ok(t)
	text := readFile(t, page)
	require.Contains(t, text, "Labels and predicted labels at a threshold of 0.0759")
	_, confusion, _ := strings.Cut(text, `<table id="confusion">`)
	for _, n := range []string{"341", "74", "11", "16"} {
		_, confusion, _ = strings.Cut(confusion, ">"+n+"<")
		require.NotEmpty(t, confusion)
	}
	conetune(t, append([]string{"tune", "multinomial"}, args...)...).ok(t)
	for _, text := range []string{text, readFile(t, page)} {
		for _, figure := range []string{"roc", "precision"} {
			_, after, _ := strings.Cut(text, `<desc id="`+figure+`-desc">`)
			svg, _, _ := strings.Cut(after, "</svg>")
			require.Contains(t, svg, ">threshold<")
		}
		require.Contains(t, text, `id="calibration"`)
	}
}

// A threshold is chosen without the rows of the test, is kept in the model, and predict predicts by it or by another
// one, also where multinomial and svm are asked.
func TestPredictByThreshold(t *testing.T) {
	dir, table := t.TempDir(), ills(t, "yes", "no")
	wrong := func(m map[string]any) any {
		return m["metrics"].(map[string]any)["error_rate"].(map[string]any)["value"]
	}
	for _, name := range []string{"logistic", "weighted-logistic", "multinomial", "svm"} {
		model := dir + "/" + name + ".json"
		args := []string{"tune", name, "--data", table, "--target", "ill", "--drop", "fold", "--split", "0.7/rest",
			"--folds", "5", "--positive", "yes", "--save", model, "--json"}
		if name == "svm" {
			args = append(args, "--class-weights", "1,9")
		}
		tuned := conetune(t, append(args, "--decide", "balanced-error")...).object(t)
		at := tuned["threshold"].(float64)
		calls := func(args ...string) []string {
			args = append([]string{"predict", "--model", model, "--data", table}, args...)
			return strings.Fields(conetune(t, args...).ok(t))
		}
		count := func(list []string) int { return strings.Count(strings.Join(list, " "), "yes") }
		require.Equal(t, calls(fmt.Sprint("--threshold=", at)), calls())
		score := " probability is above"
		if name == "svm" {
			require.Greater(t, count(calls("--threshold=-0.5")), count(calls("--threshold", "0")))
			score = "the sum is above"
		} else {
			n := 0
			for _, line := range calls("--prob") {
				p := strings.Split(line, ",")
				if number(t, p[len(p)-1]) > 0.2 {
					n++
				}
			}
			require.Equal(t, n, count(calls("--threshold", "0.2")))
			require.Equal(t, 442, count(calls("--threshold", "0")))
			require.Zero(t, count(calls("--threshold", "1")))
		}
		require.Contains(t, conetune(t, "show", model).ok(t), score)
		fixed := conetune(t, append(args, "--decide", fmt.Sprint(at))...).object(t)
		require.Equal(t, wrong(tuned), wrong(fixed), name)
	}
}

// Flags about decisions that say nothing are refused.
func TestRefusedDecisions(t *testing.T) {
	table := ills(t, "yes", "no")
	for _, c := range []struct{ args, message string }{
		{"ridge --target age --decide f1",
			"--decide is not for ridge; it is for logistic, weighted-logistic, multinomial, svm"},
		{"ridge --target age --positive yes", "--positive is not for ridge"},
		{"logistic --target ill --positive maybe", `no row has the label "maybe" of --positive; the labels are "no", "yes"`},
		{"logistic --target ill --decide f2", `--decide: "f2" found, expected balanced-error, f1,`},
		{"logistic --target ill --decide 2", "--decide is 2, expected a probability from 0 to 1"},
		{"multinomial --target ill --decide f1", "--positive LABEL says which one is to be found"},
	} {
		o := conetune(t, append([]string{"tune", "--data", table}, strings.Fields(c.args)...)...)
		require.Equal(t, 2, o.code, c.args)
		require.Contains(t, o.stderr, c.message)
	}
	model := t.TempDir() + "/m.json"
	for _, c := range []struct{ name, target, at, message string }{
		{"ridge", "age", "0.5",
			"--threshold: ridge predicts numbers; logistic, weighted-logistic, multinomial, svm predict labels"},
		{"multinomial", "ill", "0.5", "--threshold: the model has no label that is to be found"},
		{"logistic", "ill", "1.5", "--threshold is 1.5, expected a probability"},
		{"svm", "ill", "Inf", "--threshold is +Inf, expected a finite number"},
	} {
		conetune(t, "tune", c.name, "--data", table, "--target", c.target, "--drop", "fold", "--save", model).ok(t)
		o := conetune(t, "predict", "--model", model, "--data", table, "--threshold", c.at)
		require.Equal(t, 2, o.code)
		require.Contains(t, o.stderr, c.message)
	}
}
