package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/must"
)

// lungFile is R's data set of that name, as it writes it.
const lungFile = "../../problems/regression/testdata/lung.csv"

// From a table to hazards, relative risks and survival, and back: what predict tells is what the file says by the
// definitions.
func TestCox(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "m.json")
	out := conetune(t, "tune", "cox", "--data", lungFile, "--target", "time", "--event", "status", "--features",
		"age,sex,ph.ecog", "--missing", "drop", "--save", model,
		"--report", filepath.Join(dir, "r.html"), "--plot", filepath.Join(dir, "p.svg"))
	text := out.ok(t)
	require.Contains(t, out.stderr, `column "status": an event where it is 2; censored: 1`)
	for _, part := range []string{"Partial-likelihood deviance for each event", "target time, 164 events by status",
		"breslow ties", "Effects are on the logarithm of the hazard"} {
		require.Contains(t, text, part)
	}
	page := readFile(t, filepath.Join(dir, "r.html"))
	for _, part := range []string{"concordance, share of pairs in the right order", "Kaplan and Meier",
		`family = &#34;cox&#34;`} {
		require.Contains(t, page, part)
	}
	require.Contains(t, conetune(t, "show", model).ok(t), "events: where status is 2; censored: 1")

	var saved struct {
		Coefficients []float64
		Intercept    float64
		Baseline     survival.Baseline
	}
	require.NoError(t, json.Unmarshal([]byte(readFile(t, model)), &saved))
	o := conetune(t, "predict", "--model", model, "--data", lungFile, "--id", "inst", "--survival", "100,365.5")
	lines := must.Of(csv.NewReader(strings.NewReader(o.ok(t))).ReadAll())(t)
	require.Equal(t, []string{"id", "target", "event", "prediction", "survival_100", "survival_365.5"}, lines[0])
	require.Equal(t, []string{"3", "306", "1"}, lines[1][:3])
	require.Equal(t, []string{"3", "1010", "0"}, lines[3][:3])
	value := func(line []string, k int) float64 {
		v := number(t, line[k])
		return v
	}
	// age 74, sex 1, ph.ecog 1
	f := saved.Intercept + 74*saved.Coefficients[0] + saved.Coefficients[1] + saved.Coefficients[2]
	require.InDelta(t, f, value(lines[1], 3), 1e-12)
	for k, at := range []float64{100, 365.5} {
		hazard := 0.0
		for i, v := range saved.Baseline.Times {
			if v <= at {
				hazard = saved.Baseline.Hazard[i]
			}
		}
		require.InDelta(t, math.Exp(-hazard*math.Exp(f)), value(lines[1], 4+k), 1e-12)
	}
	risks := strings.Fields(conetune(t, "predict", "--model", model, "--data", lungFile, "--prob").ok(t))
	require.InDelta(t, math.Exp(f), value(risks, 0), 1e-12)

	// The error is the deviance of the rows for each event, with --json as without; no model, no error where nobody is
	// censored or dies.
	var y, values []float64
	for _, line := range lines[1:] {
		y, values = append(y, survival.Row(value(line, 1), line[2] == "1")), append(values, value(line, 3))
	}
	want := 2 * survival.New(y, nil, survival.Breslow).HalfDeviance(values) / float64(survival.Events(y))
	object := conetune(t, "predict", "--model", model, "--data", lungFile, "--json").object(t)
	require.InDelta(t, want, object["error"], 1e-9)
	c, _ := survival.Concordance(survival.Part{Y: y, F: values})
	require.InDelta(t, c, object["concordance"], 1e-12)
	one := conetune(t, "predict", "--model", model, "--data",
		write(t, dir, "one.csv", "age,sex,ph.ecog,time,status\n50,1,1,10,2\n"))
	require.Equal(t, fmt.Sprintf("%.9g",
		saved.Intercept+50*saved.Coefficients[0]+saved.Coefficients[1]+saved.Coefficients[2]),
		fmt.Sprintf("%.9g", value(strings.Fields(one.ok(t)), 0)))
	require.Contains(t, one.stderr, "no error: no event of the 1 row has others at risk")
	require.NotContains(t, conetune(t, "predict", "--model", model, "--data",
		write(t, dir, "bare.csv", "age,sex,ph.ecog\n50,1,1\n")).stderr, "error")
}

// A row of weight 2 is two rows, with an offset, penalty factors and bounds, in the choice, the measures and predict.
func TestCoxWeights(t *testing.T) {
	dir := t.TempDir()
	weighted, repeated := "a,b,c,o,part,w,time,event\n", "a,b,c,o,part,time,event\n"
	for i := range 90 {
		a, b, c := math.Sin(float64(i)), math.Cos(float64(3*i)), math.Sin(float64(7*i+1))
		head := fmt.Sprintf("%.6f,%.6f,%.6f,%.4f,%d", a, b, c, math.Sin(float64(5*i)), i%4)
		tail := fmt.Sprintf(",%d,%d\n", 1+int(10*math.Exp(b-a+0.3*math.Sin(float64(11*i)))), min(1, i%5))
		weighted += fmt.Sprintf("%s,%d%s", head, 1+i%3, tail)
		repeated += strings.Repeat(head+tail, 1+i%3)
	}
	with, without := write(t, dir, "with.csv", weighted), write(t, dir, "without.csv", repeated)
	saved, page := filepath.Join(dir, "m.json"), filepath.Join(dir, "r.html")
	for _, design := range []func(file string) []string{
		func(file string) []string { return []string{"--fold-column", "part", "--data", file} },
		func(file string) []string {
			return []string{"--drop", "part", "--method", "hoag", "--train", file, "--val", file, "--test", file}
		},
	} {
		run := func(file string, args ...string) map[string]any {
			args = append([]string{"tune", "cox", "--json", "--save", saved, "--report", page, "--offset", "o",
				"--penalty-factors", "b=0,c=2", "--upper", "a=0.5"}, args...)
			return conetune(t, append(args, design(file)...)...).object(t)
		}
		b := run(without)
		expected := conetune(t, "predict", "--model", saved, "--data", without, "--json").object(t)
		a := run(with, "--weights", "w")
		for _, field := range []string{"validation_error", "refit", "coefficients"} {
			near(t, b[field], a[field], field)
		}
		measures := func(of map[string]any) float64 {
			return of["metrics"].(map[string]any)["concordance"].(map[string]any)["value"].(float64)
		}
		require.InDelta(t, measures(b), measures(a), 1e-9)
		got := conetune(t, "predict", "--model", saved, "--data", with, "--json").object(t)
		require.InEpsilon(t, expected["error"], got["error"], 1e-5)
		require.InEpsilon(t, expected["concordance"], got["concordance"], 1e-9)
		require.Contains(t, contents(t, dir)[page], ", weights = w")
	}
}

// eventsText are times of 60 rows, and whether they are those of an event.
func eventsText() string {
	rows := "a,b,time,event\n"
	for i := range 60 {
		rows += fmt.Sprintf("%d,%d,%d,%d\n", i%7, i*i%11, 1+(i*13)%29+3*(i%7), (i*i)%3/2+i%2)
	}
	return strings.ReplaceAll(rows, ",2\n", ",1\n")
}

// The same rows with other words for events, with the value named, and with the defaults of --target and --event have
// the same result.
func TestCoxEvents(t *testing.T) {
	dir := t.TempDir()
	rows := eventsText()
	tuned := func(text string, args ...string) any {
		return conetune(t, append([]string{"tune", "cox", "--json", "--data", write(t, dir, "t.csv", text)},
			args...)...).told(t)["validation_error"]
	}
	want := tuned(rows)
	for name, words := range map[string][2]string{"R": {"1", "2"}, "logical": {"FALSE", "TRUE"},
		"words": {"alive", "dead"}, "half": {"censored", "moved"}} {
		require.Equal(t, want, tuned(strings.NewReplacer(",0\n", ","+words[0]+"\n", ",1\n", ","+words[1]+"\n").Replace(rows)),
			name)
	}
	var signed strings.Builder // and with negative times for censored rows
	for i, line := range strings.Split(strings.TrimSpace(rows), "\n") {
		cells := strings.Split(line, ",")
		if cells[3] == "0" {
			cells[2] = "-" + cells[2]
		}
		fmt.Fprintf(&signed, "%s,%s,%s\n", cells[0], cells[1], strings.Replace(cells[2], "time", []string{"y", ""}[min(i, 1)],
			1))
	}
	require.Equal(t, want, tuned(signed.String()))
	require.Equal(t, tuned(strings.ReplaceAll(rows, ",0\n", ",1\n")), tuned(strings.ReplaceAll(rows, ",0\n", ",1\n"),
		"--event", "none", "--drop", "event"))
	texts := strings.NewReplacer(",0\n", ",x\n", ",1\n", ",z\n").Replace(rows)
	require.Equal(t, want, tuned(texts, "--event", "event=z"))
	require.Equal(t, want, tuned(strings.Replace(rows, "time,event", "days,end", 1), "--target", "days", "--event", "end"))

	// The same with all times later, or with some at 0.
	moved := func(by int) string {
		lines := strings.Split(strings.TrimSpace(rows), "\n")
		for i, line := range lines[1:] {
			cells := strings.Split(line, ",")
			at := must.Of(strconv.Atoi(cells[2]))(t)
			cells[2] = strconv.Itoa(max(at, 4) + by)
			lines[i+1] = strings.Join(cells, ",")
		}
		return strings.Join(lines, "\n") + "\n"
	}
	saved := filepath.Join(dir, "m.json")
	require.Equal(t, tuned(moved(5)), tuned(moved(-4), "--save", saved))
	require.NotEmpty(t, conetune(t, "predict", "--model", saved, "--data", write(t, dir, "t.csv", moved(-4)), "--survival",
		"5").ok(t))

	// A table for validation and one to predict have to mean the same by it.
	train, model := write(t, dir, "t.csv", rows), filepath.Join(dir, "m.json")
	conetune(t, "tune", "cox", "--train", train, "--val", train, "--test", train, "--save", model).ok(t)
	other := write(t, dir, "o.csv", strings.NewReplacer(",0\n", ",1\n", ",1\n", ",2\n").Replace(rows))
	for _, args := range [][]string{{"tune", "cox", "--train", train, "--val", other}, {"predict", "--model", model,
		"--data", other}} {
		conetune(t, args...).fails(t, cli.ExitUsage, `"2" found, expected one of "1", "0"`)
	}
	require.Contains(t, conetune(t, "predict", "--model", model, "--data", train, "--survival", "1,-2").stderr,
		`--survival: time 2 is "-2", expected positive numbers`)
}

// weightedText is a table with the folds and the weights, 0 to 3, of its rows, and the table with each row as often as
// its weight says.
func weightedText(seed uint64, rows int) (weighted, repeated string) {
	lines := strings.Split(strings.TrimSpace(csvText(seed, rows, 4)), "\n")
	weighted, repeated = lines[0]+",part,times\n", lines[0]+",part\n"
	for i, line := range lines[1:] {
		row, times := fmt.Sprintf("%s,%d", line, i*7%3), i*5%4
		weighted += fmt.Sprintf("%s,%d\n", row, times)
		repeated += strings.Repeat(row+"\n", times)
	}
	return weighted, repeated
}

// A row of weight 2 is two rows: in the choice, in errors and measures, in the test and in predict.
func TestWeightsAreRows(t *testing.T) {
	dir := t.TempDir()
	weighted, repeated := weightedText(1, 60)
	testWeighted, testRepeated := weightedText(2, 40)
	with, without := write(t, dir, "with.csv", weighted), write(t, dir, "without.csv", repeated)
	testWith, testWithout := write(t, dir, "test.csv", testWeighted), write(t, dir, "test2.csv", testRepeated)
	for _, c := range []struct {
		model      string
		args       []string
		with, same []string
	}{
		{"elastic-net", []string{"--fold-column", "part", "--nested"}, []string{"--data", with}, []string{"--data", without}},
		{"elastic-net", []string{"--fold-column", "part", "--method", "grid", "--evaluations", "16", "--test"},
			[]string{testWith, "--data", with}, []string{testWithout, "--data", without}},
		{"ridge", []string{"--drop", "part", "--train"}, []string{with, "--val", testWith, "--test", testWith},
			[]string{without, "--val", testWithout, "--test", testWithout}},
		{"group-lasso", []string{"--groups", "2", "--fold-column", "part", "--test"}, []string{testWith, "--data", with},
			[]string{testWithout, "--data", without}},
		{"bounded-elastic-net", []string{"--fold-column", "part", "--test"}, []string{testWith, "--data", with},
			[]string{testWithout, "--data", without}},
	} {
		saved := filepath.Join(dir, "m.json")
		run := func(more ...string) map[string]any {
			return conetune(t, slices.Concat([]string{"tune", c.model, "--json", "--save", saved}, c.args, more)...).told(t)
		}
		b := run(c.same...)
		a := run(append(slices.Clone(c.with), "--weights", "times")...)
		for _, field := range []string{"refit", "coefficients", "metrics", "nested"} {
			if field != "nested" || c.model == "elastic-net" && slices.Contains(c.args, "--nested") {
				near(t, b[field], a[field], c.model+" "+field)
			}
		}
		require.Contains(t, readFile(t, saved), `"weights": "times"`)
		if refit := a["refit"].(map[string]any); refit["test_error"] != nil {
			p := conetune(t, "predict", "--model", saved, "--data", testWith, "--json").object(t)
			require.InEpsilon(t, refit["test_error"], p["error"], 1e-9)
		}
	}
	saved, page := filepath.Join(dir, "m.json"), filepath.Join(dir, "r.html")
	text := conetune(t, "tune", "lasso", "--data", with, "--weights", "times", "--group", "part", "--repeats", "2",
		"--save", saved, "--report", page).ok(t)
	require.Contains(t, text, "(3 folds by group part, 2 repeats, seed 1)")
	require.Contains(t, text, "target y, rows weighed by times\n")
	require.Contains(t, contents(t, dir)[page], ", weights = w, standardize = FALSE)")
	require.Contains(t, contents(t, dir)[page], ".fit(X, y, sample_weight=w)")
	require.Contains(t, conetune(t, "show", saved).ok(t),
		"45 training rows, 3 folds, 2 repeats, by group part, weighed by times\n")
}

// near compares the numbers of two values of JSON; standard errors are of as many rows as there are.
func near(t *testing.T, want, got any, where string) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		for name, v := range want {
			if name != "standard_error" && name != "rows" {
				near(t, v, got.(map[string]any)[name], where+" "+name)
			}
		}
	case []any:
		for k, v := range want {
			near(t, v, got.([]any)[k], where)
		}
	case float64:
		require.InDelta(t, want, got, 1e-4*(1+math.Abs(want)), where)
	default:
		require.Equal(t, want, got, where)
	}
}

// rates is a table of counts of two groups over exposures.
func rates() (table string, exposure, counts [2]float64) {
	var b strings.Builder
	b.WriteString("claims,group,noise,log_exposure\n")
	for i := range 40 {
		months, claims := float64(5+i*13%60), float64(i*i%7)+float64(i%2)
		exposure[i%2], counts[i%2] = exposure[i%2]+months, counts[i%2]+claims
		fmt.Fprintf(&b, "%g,%d,%d,%.17g\n", claims, i%2, i*5%3, math.Log(months))
	}
	return b.String(), exposure, counts
}

// Almost without a penalty, the rates of two groups are counts over exposures; predictions and baselines are those
// times the exposure of the row.
func TestOffset(t *testing.T) {
	dir := t.TempDir()
	text, exposure, counts := rates()
	data, saved, page := write(t, dir, "claims.csv", text), filepath.Join(dir, "m.json"), filepath.Join(dir, "r.html")
	run := func(args ...string) outcome {
		return conetune(t, append([]string{"tune", "poisson", "--data", data, "--target", "claims", "--offset",
			"log_exposure", "--method", "grid", "--evaluations", "1", "--range", "1e-8:1e-8"}, args...)...)
	}
	o := run("--features", "group", "--json", "--test", data, "--save", saved, "--report", page)
	o.ok(t)
	r := o.object(t)
	rate := [2]float64{counts[0] / exposure[0], counts[1] / exposure[1]}
	require.InDelta(t, math.Log(rate[1]/rate[0]), r["coefficients"].(map[string]any)["group"], 1e-5)
	require.InDelta(t, math.Log(rate[0]), r["intercept"], 1e-5)
	half := func(mean func(i int, months float64) float64) (sum float64) {
		for i := range 40 {
			m, y := mean(i, float64(5+i*13%60)), float64(i*i%7)+float64(i%2)
			if sum += m - y; y > 0 {
				sum += y * math.Log(y/m)
			}
		}
		return sum / 40
	}
	measures := r["metrics"].(map[string]any)["deviance"].(map[string]any)
	require.InEpsilon(t, 2*half(func(i int, months float64) float64 { return rate[i%2] * months }), measures["value"],
		1e-6)
	all := (counts[0] + counts[1]) / (exposure[0] + exposure[1])
	require.InEpsilon(t, 2*half(func(_ int, months float64) float64 { return all * months }), measures["baseline"], 1e-9)

	require.Contains(t, readFile(t, saved), `"offset": "log_exposure"`)
	p := conetune(t, "predict", "--model", saved, "--data", data, "--json").object(t)
	require.InEpsilon(t, r["refit"].(map[string]any)["test_error"], p["error"], 1e-9)
	require.InEpsilon(t, rate[1]*18, p["predictions"].([]any)[1], 1e-5)
	require.Contains(t, conetune(t, "show", saved).ok(t), "offset log_exposure\n")
	require.Regexp(t, `(?s) from a constant and the offset.*target claims, offset log_exposure\n`, run().ok(t))
	require.Contains(t, contents(t, dir)[page], ", offset = o, standardize = FALSE)")
	require.NotContains(t, contents(t, dir)[page], "PoissonRegressor")

	for want, args := range map[string][]string{
		`has no column "log_exposure", the offset that the model adds to the value of a row`: {"predict", "--model", saved,
			"--data", write(t, dir, "bare.csv", "claims,group\n1,0\n2,1\n")},
		`gap.csv:3: column 3 ("log_exposure"): missing value, expected a number`: {"predict", "--model", saved,
			"--data", write(t, dir, "gap.csv", "claims,group,log_exposure\n1,0,2\n2,1,NA\n")},
		`svm.libsvm: has no column "log_exposure"`: {"predict", "--model", saved,
			"--data", write(t, dir, "svm.libsvm", "1 1:2\n0 1:3\n")},
	} {
		conetune(t, args...).fails(t, cli.ExitUsage, want)
	}
}

// With squares the offset is taken from the target: errors, measures and the saved model are those of the difference,
// in all models that take it.
func TestOffsetOfSquares(t *testing.T) {
	dir := t.TempDir()
	lines := strings.Split(strings.TrimSpace(csvText(3, 60, 4)), "\n")
	with, less := lines[0]+",o\n", lines[0]+"\n"
	for i, line := range lines[1:] {
		first, rest, _ := strings.Cut(line, ",")
		var y float64
		must.Of(fmt.Sscan(first, &y))(t)
		with += fmt.Sprintf("%.17g,%s,%d\n", y+float64(i%11), rest, i%11)
		less += fmt.Sprintf("%.17g,%s\n", y, rest)
	}
	a, b := write(t, dir, "with.csv", with), write(t, dir, "less.csv", less)
	for _, args := range [][]string{
		{"elastic-net"}, {"huber", "--method", "random", "--evaluations", "5"}, {"quantile", "--method", "random",
			"--evaluations", "5"}, {"adaptive-lasso"}, {"fused-lasso", "--method", "random", "--evaluations", "3"},
	} {
		run := func(data string, more ...string) map[string]any {
			return conetune(t, append(append([]string{"tune", "--json", "--data", data, "--folds", "3"}, args...),
				more...)...).told(t)
		}
		got, want := run(a, "--offset", "o"), run(b)
		near(t, want["refit"], got["refit"], args[0])
		near(t, want["coefficients"], got["coefficients"], args[0])
		for _, name := range []string{"rmse", "mae", "pinball"} {
			if m, ok := want["metrics"].(map[string]any)[name]; ok {
				near(t, m, got["metrics"].(map[string]any)[name], args[0]+" "+name)
			}
		}
	}
}
