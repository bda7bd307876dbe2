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

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/model"
)

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
