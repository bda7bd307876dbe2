package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
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
