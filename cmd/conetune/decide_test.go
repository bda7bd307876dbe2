package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/model"
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
		require.Equal(t, "yes", tuned["positive"])
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

// foldedDiabetes is the table with the folds of testdata/intervals.py, and some of its rows.
func foldedDiabetes(t *testing.T) (table, new string) {
	rows := must.Of(csv.NewReader(strings.NewReader(readFile(t, "../../examples/diabetes.csv"))).ReadAll())(t)
	var all, some strings.Builder
	for i, row := range rows {
		line := fmt.Sprintf("%d,%s\n", (i+4)%5, strings.Join(row, ","))
		if i == 0 {
			line = "fold," + strings.Join(row, ",") + "\n"
		}
		all.WriteString(line)
		if i == 0 || i == 1 || i == 2 || i == 201 {
			some.WriteString(line)
		}
	}
	dir := t.TempDir()
	return write(t, dir, "all.csv", all.String()), write(t, dir, "some.csv", some.String())
}

// The bounds of CV+ are those of scikit-learn and NumPy by testdata/intervals.py, in lines, tables and JSON.
func TestIntervals(t *testing.T) {
	table, some := foldedDiabetes(t)
	saved := t.TempDir() + "/m.json"
	conetune(t, "tune", "ridge", "--data", table, "--fold-column", "fold", "--lambda", "0.02", "--save", saved).ok(t)
	for level, want := range map[string][][2]float64{
		"0.5": {{165.22016238765093, 242.56013592230406}, {33.57279361789142, 109.62040383457725},
			{57.24220963197055, 134.5114589511466}},
		"0.9": {{111.95795995959483, 294.73192082954995}, {-21.46843577298948, 163.01288372836413},
			{4.0687545658391855, 188.49903181776676}},
	} {
		lines := strings.Fields(conetune(t, "predict", "--model", saved, "--data", some, "--interval", level).ok(t))
		named := strings.Fields(conetune(t, "predict", "--model", saved, "--data", some, "--interval", level, "--id",
			"fold").ok(t))
		require.Equal(t, "id,target,prediction,lower,upper", named[0])
		m := conetune(t, "predict", "--model", saved, "--data", some, "--interval", level, "--json").object(t)
		require.Equal(t, number(t, level), m["interval"])
		for i, bounds := range want {
			cells := strings.Split(lines[i], ",")
			require.Len(t, cells, 3)
			require.True(t, strings.HasSuffix(named[i+1], ","+lines[i]), named[i+1])
			for k, name := range []string{"lower", "upper"} {
				require.InDelta(t, bounds[k], number(t, cells[k+1]), 1e-10)
				require.Equal(t, number(t, cells[k+1]), m[name].([]any)[i])
			}
		}
	}
	require.NotContains(t, conetune(t, "predict", "--model", saved, "--data", some, "--json").ok(t), "lower")

	old := must.Of(model.Read(saved))(t)
	old.Conformal = nil
	var text bytes.Buffer
	require.NoError(t, old.Write(&text))
	earlier := write(t, t.TempDir(), "old.json", text.String())
	for model, says := range map[string]string{
		saved + " 1":     "--interval is 1, expected a share of rows between 0 and 1, such as 0.9",
		saved + " 0.999": "--interval: level 0.999 takes at least 999 rows, but there are 442 residuals",
		earlier + " 0.9": "the file has no residuals of rows left out, which an earlier version did not save: make it once " +
			"more by conetune tune --save",
	} {
		path, level, _ := strings.Cut(model, " ")
		conetune(t, "predict", "--model", path, "--data", some, "--interval", level).fails(t, 2, says)
	}
	for _, name := range []string{"logistic", "multinomial", "svm"} {
		path := t.TempDir() + "/m.json"
		ill := ills(t, "yes", "no")
		conetune(t, "tune", name, "--data", ill, "--target", "ill", "--drop", "fold", "--save", path).ok(t)
		conetune(t, "predict", "--model", path, "--data", ill, "--interval", "0.9").fails(t, 2,
			"--interval: "+name+" predicts labels, and intervals are of numbers")
	}
}

// Split conformal prediction takes the fit to the training rows, counts have no bounds below 0, and the test rows say what
// the intervals do.
func TestIntervalsOfSplit(t *testing.T) {
	table, _ := foldedDiabetes(t)
	saved := t.TempDir() + "/m.json"
	for _, name := range []string{"lasso", "poisson", "quantile"} {
		var coverage []float64
		for seed := range 12 {
			o := conetune(t, "tune", name, "--data", table, "--drop", "fold", "--split", "0.5/0.3/rest", "--seed",
				fmt.Sprint(seed), "--save", saved, "--json")
			c := o.object(t)["intervals"].(map[string]any)
			require.Equal(t, []any{0.9, 88.}, []any{c["level"], c["rows"]})
			coverage = append(coverage, c["coverage"].(float64))
			require.InDelta(t, math.Sqrt(coverage[seed]*(1-coverage[seed])/88), c["standard_error"], 1e-12)
			require.InDelta(t, 2*1.645*55, c["mean_width"], 45) // of residuals with a standard deviation of 55
		}
		mean, sd := stat.MeanStdDev(coverage, nil)
		require.InDelta(t, 0.9, mean, 2*sd/math.Sqrt(12), name)
		p := conetune(t, "predict", "--model", saved, "--data", table, "--interval", "0.99", "--json").object(t)
		require.Len(t, p["upper"], 442)
		for i, low := range p["lower"].([]any) {
			require.Less(t, low, p["upper"].([]any)[i])
			require.True(t, name != "poisson" || low.(float64) >= 0)
		}
	}
	text := strings.Join(strings.Fields(conetune(t, "tune", "lasso", "--data", table, "--drop", "fold", "--split",
		"0.5/0.3/rest").ok(t)), " ")
	require.Regexp(t, `Prediction intervals of 90 % are 1[0-9]+ wide in the mean on the test rows, and [0-9.]+ ± [0-9.]+ % of `+
		`their targets are inside`, text)
}

// The choice on samples is in the text, in JSON, in the file of coefficients and on the page; some samples may lack a
// model, and rows in the order of time have none.
func TestBootstrap(t *testing.T) {
	table, _ := foldedDiabetes(t)
	dir := t.TempDir()
	args := []string{"tune", "lasso", "--data", table, "--drop", "fold", "--bootstrap", "20"}
	text := conetune(t, append(args, "--report", dir+"/r.html", "--coefficients", dir+"/c.csv")...).ok(t)
	require.Regexp(t, `Over 20 samples of the rows, 95 % of the choices have lambda from [-0-9.e]+ to 0\.[0-9]+, and [0-9]+ `+
		`to [0-9]+ of 10 features\.`, strings.Join(strings.Fields(text), " "))
	require.Regexp(t, `feature +effect +coefficient +2\.5 % +97\.5 % +chosen by samples\nbmi .* 100 %\n`, text)
	page := string(must.Of(os.ReadFile(dir + "/r.html"))(t))
	require.Contains(t, page, "chosen by samples")
	require.Contains(t, page, "at most one standard error above that of the choice")
	lines := must.Of(csv.NewReader(bytes.NewReader(must.Of(os.ReadFile(dir + "/c.csv"))(t))).ReadAll())(t)
	require.Equal(t, []string{"chosen_by_folds", "chosen_by_samples", "low", "high"}, lines[0][6:])
	b := conetune(t, append(args, "--json")...).object(t)["bootstrap"].(map[string]any)
	require.Equal(t, []any{20., 20., 0., 0.95}, []any{b["of"], b["samples"], b["failed"], b["level"]})
	require.Contains(t, b["hyperparameters"].(map[string]any), "lambda")
	bmi := b["coefficients"].(map[string]any)["bmi"].(map[string]any)
	for _, line := range lines[1:] {
		if line[0] == "bmi" {
			require.Equal(t, []any{1., bmi["low"], bmi["high"]}, []any{number(t, line[7]), number(t, line[8]),
				number(t, line[9])})
			require.Less(t, bmi["low"], number(t, line[1]))
			require.Greater(t, bmi["high"], number(t, line[1]))
		}
	}
	for _, name := range []string{"multi-task", "multinomial", "weighted-lasso", "fused-lasso", "cox"} {
		data := []string{"--data", table, "--drop", "fold", "--folds", "3"}
		switch name {
		case "multi-task":
			data = append(data, "--target", "y,s6")
		case "multinomial":
			data = append(data, "--target", "fold", "--drop", "y")
		case "cox":
			data = append(data, "--event", "none")
		}
		o := conetune(t, append([]string{"tune", name, "--bootstrap", "2", "--json"}, data...)...).object(t)
		require.Equal(t, 2., o["bootstrap"].(map[string]any)["samples"], name)
	}
	for flags, says := range map[string]string{
		"--bootstrap 1":                       "--bootstrap is 1, expected at least 2",
		"--bootstrap 5 --split 0.5/0.3/rest":  "--bootstrap goes with the folds of --data FILE",
		"--bootstrap 5 --time age --drop sex": "--bootstrap draws rows as if they were independent of each other",
	} {
		conetune(t, append([]string{"tune", "lasso", "--data", table}, strings.Fields(flags)...)...).fails(t, 2, says)
	}
}
