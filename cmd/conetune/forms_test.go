package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/must"
)

// formedTable has all that forms are for: numbers, categories, dates, gaps, groups that span times.
func formedTable(rows int) string {
	var b strings.Builder
	b.WriteString("y,age,income,town,size,when,rooms,balcony,ward,week\n")
	for i := range rows {
		cell := func(v int, gap bool) string {
			if gap {
				return ""
			}
			return fmt.Sprint(v)
		}
		age, rooms, size := 18+i*37%63, 1+i*i%6, i%3
		y := 3*math.Sin(float64(age)/12) + 0.5*float64(rooms*(i/2%2)) + float64(min(size, 1)) + math.Sin(float64(i*i))/4
		fmt.Fprintf(&b, "%.4f,%d,%s,%s,%s,20%02d-%02d-%02d,%s,%s,w%d,%d\n", y, age, cell(20+age/3+i%5, i%9 == 0),
			[]string{"Ulm", "Bonn", "Kiel"}[i/3%3], []string{"low", "mid", "high"}[size], 10+i%4, 1+i*5%12, 1+i*7%28,
			cell(rooms, i%23 == 0), []string{"no", "yes"}[i/2%2], i%7, i/5)
	}
	return b.String()
}

// forms are flags for all that columns can become.
var forms = []string{"--spline", "age=4", "--poly", "income=2", "--interact", "rooms:balcony,town:size", "--ordered",
	"size=low:mid:high", "--reference", "town=Kiel", "--dates", "auto", "--missing", "regression", "--drop", "ward,week"}

// What tune makes of columns predict makes again: the error of the test rows is the same from the model file, and from
// rows whose columns stand in another order.
func TestFormsArePredicted(t *testing.T) {
	t.Chdir(t.TempDir())
	lines := strings.Split(strings.TrimSpace(formedTable(260)), "\n")
	test := lines[201:]
	write(t, ".", "t.csv", strings.Join(lines[:201], "\n")+"\n")
	table := must.Of(csv.NewReader(strings.NewReader(strings.Join(append(lines[:1:1], test...), "\n"))).ReadAll())(t)
	var turned strings.Builder
	w := csv.NewWriter(&turned)
	for _, cells := range table {
		for i, j := 0, len(cells)-1; i < j; i, j = i+1, j-1 {
			cells[i], cells[j] = cells[j], cells[i]
		}
		require.NoError(t, w.Write(cells))
	}
	w.Flush()
	write(t, ".", "test.csv", turned.String())
	for _, model := range []string{"elastic-net", "group-lasso"} {
		m := conetune(t, append([]string{"tune", model, "--data", "t.csv", "--test", "test.csv", "--save", "m.json", "--json",
			"--nested=2"}, forms...)...).object(t)
		error := conetune(t, "predict", "--model", "m.json", "--data", "test.csv", "--json").object(t)["error"]
		require.InEpsilon(t, m["refit"].(map[string]any)["test_error"], error, 1e-12)
		require.Less(t, error.(float64), 0.2)
	}
	show := conetune(t, "show", "m.json").ok(t)
	for _, text := range []string{"natural cubic spline, 4 degrees of freedom, knots 18 ", "polynomial of degree 2",
		"Kiel, Bonn, Ulm", "low, mid, high; ordered", "year, season, weekday", "interaction rooms:balcony",
		"become regressions on the other columns", "rooms:balcony=yes", "size>=mid"} {
		require.Contains(t, show, text)
	}
	look := conetune(t, append([]string{"look", "t.csv"}, forms[:12]...)...).ok(t)
	require.Regexp(t, `(?m)^age +feature +number +0 +from 18 to 80, whole; natural cubic spline, 4 degrees of freedom$`, look)
	require.Regexp(t, `(?m)^town +feature +category +0 +3 levels: Kiel, Bonn, Ulm$`, look)
	require.Contains(t, look, "interaction town:size\n")
	// A group for each column: of its hyperparameters, and penalty factors of all features of one.
	m := conetune(t, append([]string{"tune", "group-lasso", "--data", "t.csv", "--rung", "free", "--json"},
		forms...)...).object(t)
	require.Contains(t, m["hyperparameters"], "group(rooms:balcony)")
	require.Contains(t, m["hyperparameters"], "group(when)")
	// A factor for a column is one for all of its features, and not of interactions.
	conetune(t, append([]string{"tune", "lasso", "--data", "t.csv", "--penalty-factors", "when=0,size=0", "--lambda", "9",
		"--coefficients", "c.csv"}, forms...)...).ok(t)
	lines = strings.Split(readFile(t, "c.csv"), "\n")
	require.Len(t, lines, 1+1+9+2+1) // year, season, weekday, and two steps
	require.Regexp(t, `(?m)^size>=high,[^,]*,[^,]*,size,high,mid,`, readFile(t, "c.csv"))
}

// With --group and --time no group is on both sides of a fold and nothing is trained on what comes later, also in
// --split, --nested and repeats, which are drawn anew.
func TestGroupsInTime(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".", "t.csv", formedTable(300))
	args := []string{"tune", "lasso", "--data", "t.csv", "--group", "ward", "--time", "week"}
	text := conetune(t, append(args, "--split", "0.7/rest", "--folds", "3", "--nested=2", "--save", "m.json")...).ok(t)
	require.Contains(t, text, "3 folds by group ward, time week")
	require.Contains(t, readFile(t, "m.json"), `"division": "group ward, time week"`)
	numbers := func(seed string) any {
		return conetune(t, append(args, "--seed", seed, "--repeats", "1", "--json")...).object(t)["refit"]
	}
	require.Equal(t, numbers("1"), numbers("1"))
	require.NotEqual(t, numbers("1"), numbers("2"))
	conetune(t, append(args, "--bootstrap", "5")...).fails(t, cli.ExitUsage, "those of --time are not")
}

// The commands of the page about the command run.
func TestCommandsOfThePage(t *testing.T) {
	page := readFile(t, "../../docs/command.md")
	rents := readFile(t, "../../examples/rents.csv")
	t.Chdir(t.TempDir())
	write(t, ".", "rents.csv", rents)
	commands := regexp.MustCompile(`(?m)^    conetune (.*)$`).FindAllStringSubmatch(page, -1)
	require.Len(t, commands, 4)
	for _, c := range commands {
		require.Contains(t, conetune(t, strings.Fields(c[1])...).ok(t), "Cross-validated")
	}
}
