package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/internal/cli/predict"
	"github.com/conetune/conetune/model"
)

// show prints what is in the file: levels with their reference, the choice, errors, and effects by the spread of the table's columns.
func TestShow(t *testing.T) {
	dir := t.TempDir()
	data, saved := clitest.Write(t, dir, "cars.csv", cars(60)), filepath.Join(dir, "m.json")
	conetune(t, "tune", "ridge", "--data", data, "--target", "mpg", "--drop", "am", "--folds", "3", "--test", data, "--save", saved).ok(t)
	m, err := model.Read(saved)
	require.NoError(t, err)
	text := conetune(t, "show", saved).ok(t)
	for _, want := range []string{
		"ridge, target mpg", "trained on  " + data, "60 training, 60 test rows, 3 folds", "converged, seed 1",
		"validation " + fmt.Sprintf("%.6g", *m.ValidationError) + ", test " + fmt.Sprintf("%.6g", *m.TestError), "in the units of the standardised features and target",
	} {
		require.Contains(t, text, want)
	}
	require.Regexp(t, `(?m)^wt +number +become \S+, with a feature of their own$`, text)
	require.Regexp(t, `(?m)^maker +category +Fiat, Opel, Volvo +are the reference$`, text)
	require.Len(t, m.Hyperparameters, 1)
	for name, lambda := range m.Hyperparameters {
		require.Regexp(t, `(?m)^`+name+` +`+fmt.Sprintf("%.6g", lambda)+`$`, text)
	}
	require.Regexp(t, `(?m)^intercept +`+fmt.Sprintf("%.6g", m.Intercept)+`$`, text)

	// The gears are 3, 6, 5, 4 in turns: their standard deviation is that of four numbers in a row.
	shown := conetune(t, "show", saved, "--json").object(t)
	gear := shown["coefficients"].(map[string]any)["gear"].(float64)
	require.InEpsilon(t, math.Abs(gear)*math.Sqrt(1.25), shown["effects"].(map[string]any)["gear"], 1e-12)
	require.Equal(t, m.Intercept, shown["intercept"])
	require.Equal(t, "mpg", shown["target"])
	lines := strings.Split(text[strings.Index(text, "features with a coefficient"):], "\n")
	last := math.Inf(1)
	for _, line := range lines[2:] {
		words := strings.Fields(line)
		if words[0] == "intercept" {
			break
		}
		size, err := strconv.ParseFloat(words[2], 64)
		require.NoError(t, err)
		require.LessOrEqual(t, math.Abs(size), last)
		last = math.Abs(size)
	}

	conetune(t, "tune", "logistic", "--data", data, "--target", "am", "--features", "wt,gear", "--save", saved).ok(t)
	text = conetune(t, "show", saved).ok(t)
	require.Contains(t, text, "the label is manual where the sum is positive, and automatic elsewhere")
	require.Contains(t, text, "loss        logistic")
	conetune(t, "tune", "multi-task", "--data", data, "--target", "mpg,gear", "--save", saved).ok(t)
	require.Regexp(t, `(?m)^feature +mpg +gear +effect of one standard deviation$`, conetune(t, "show", saved).ok(t))
	require.Contains(t, conetune(t, "show", saved, "--json").object(t)["coefficients"].(map[string]any)["wt"], "gear")

	require.Equal(t, cli.ExitUsage, conetune(t, "show").code)
	o := conetune(t, "show", data)
	require.Equal(t, cli.ExitUsage, o.code)
	require.Contains(t, o.stderr, "expected a model that conetune saved")
}

// Probabilities, labels, and a table with an ID and the target, whose rows are worked out by hand.
func TestPredictTable(t *testing.T) {
	dir := t.TempDir()
	data, saved := clitest.Write(t, dir, "cars.csv", cars(60)), filepath.Join(dir, "m.json")
	conetune(t, "tune", "logistic", "--data", data, "--target", "am", "--features", "maker,gear", "--folds", "3", "--save", saved).ok(t)
	m, err := model.Read(saved)
	require.NoError(t, err)
	b := map[string]float64{}
	for j, name := range m.Features {
		b[name] = m.Coefficients[j]
	}
	probability := func(maker string, gear float64) float64 {
		return 1 / (1 + math.Exp(-m.Intercept-b["maker="+maker]-b["gear"]*gear))
	}
	rows := clitest.Write(t, dir, "new.csv", "name;maker;gear;am\n\"a, first\";Fiat;3;manual\nb;Volvo;6;\nc;Opel;4,0;automatic\n")
	out := strings.Split(strings.TrimSpace(conetune(t, "predict", "--model", saved, "--data", rows, "--id", "name", "--prob").ok(t)), "\n")
	require.Equal(t, "id,target,prediction,probability", out[0])
	require.Len(t, out, 4)
	for i, want := range []struct {
		begin string
		p     float64
	}{{`"a, first",manual,`, probability("Fiat", 3)}, {"b,,", probability("Volvo", 6)}, {"c,automatic,", probability("Opel", 4)}} {
		require.True(t, strings.HasPrefix(out[i+1], want.begin), out[i+1])
		label, p, _ := strings.Cut(out[i+1][len(want.begin):], ",")
		require.Equal(t, map[bool]string{true: "manual", false: "automatic"}[want.p > 0.5], label)
		got, err := strconv.ParseFloat(p, 64)
		require.NoError(t, err)
		require.InDelta(t, want.p, got, 1e-12)
	}
	plain := strings.Fields(conetune(t, "predict", "--model", saved, "--data", rows, "--prob").ok(t))
	require.Equal(t, out[2][strings.LastIndex(out[2], ",")+1:], plain[1])
	both := strings.Fields(conetune(t, "predict", "--model", saved, "--data", rows, "--prob", "--labels").ok(t))
	require.True(t, strings.HasSuffix(out[2], both[1]))
	told := conetune(t, "predict", "--model", saved, "--data", rows, "--prob", "--id", "name", "--json").object(t)
	require.Equal(t, []any{"a, first", "b", "c"}, told["ids"])
	require.Equal(t, []string{"manual", "automatic"}[0], told["predictions"].([]any)[0])
	require.InDelta(t, probability("Opel", 4), told["probabilities"].([]any)[2], 1e-12)
	loss := -(math.Log(probability("Fiat", 3)) + math.Log(1-probability("Opel", 4))) / 2
	require.InEpsilon(t, loss, told["error"], 1e-9)

	o := conetune(t, "predict", "--model", saved, "--data", rows, "--id", "nme")
	require.Equal(t, cli.ExitUsage, o.code)
	require.Contains(t, o.stderr, `new.csv: has no column "nme" for --id; the columns are: name, maker, gear, am`)
	conetune(t, "tune", "elastic-net", "--data", data, "--target", "mpg", "--drop", "am", "--save", saved).ok(t)
	require.Contains(t, conetune(t, "predict", "--model", saved, "--data", data, "--prob").stderr, "--prob: elastic-net gives no probabilities")
	require.Contains(t, conetune(t, "predict", "--model", saved, "--data", data, "--labels").stderr, "--labels: elastic-net predicts numbers")

	// More rows than a block has, in the order of the table.
	many := clitest.Write(t, dir, "many.csv", cars(2*predict.RowsInBlock+17))
	all := strings.Split(strings.TrimSpace(conetune(t, "predict", "--model", saved, "--data", many, "--id", "Unnamed: 0").ok(t)), "\n")
	require.Len(t, all, 2*predict.RowsInBlock+18)
	few := strings.Fields(conetune(t, "predict", "--model", saved, "--data", data).ok(t))
	for i, want := range few {
		require.True(t, strings.HasPrefix(all[i+1], "car "+strconv.Itoa(i)+","), all[i+1])
		require.True(t, strings.HasSuffix(all[i+1], ","+want))
	}
	require.True(t, strings.HasPrefix(all[predict.RowsInBlock+5], "car "+strconv.Itoa(predict.RowsInBlock+4)+","))
}
