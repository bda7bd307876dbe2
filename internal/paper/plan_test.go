package paper

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/worklist"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

func TestPlan(t *testing.T) {
	p := must.Of(NewPlan(nil, nil, nil, 30, nil))(t)
	require.Len(t, p.Skipped, 3+6+6)
	require.Contains(t, p.Skipped[0].Reason, "--data DIR")
	items := p.Items()
	seen := map[Item]bool{}
	for k, i := range items {
		require.False(t, seen[i], i.String())
		seen[i] = true
		if k > 0 {
			require.GreaterOrEqual(t, i.Seed, items[k-1].Seed)
		}
	}
	require.Zero(t, len(items)%30)

	two := must.Of(NewPlan([]string{"en"}, []string{"igjo", "vf-idca"}, []string{"native"}, 2, nil))(t)
	two.Backends = []string{"native", "scs"}
	// IGJO solves no conic programs: 3 rows, 2 seeds, 1 + 2 lines.
	require.Len(t, two.Items(), 3*2*3)

	_, err := NewPlan([]string{"svm3"}, nil, nil, 1, nil)
	require.ErrorContains(t, err, "nothing to do: needs the file liver-disorders_scale")
	_, err = NewPlan([]string{"en"}, []string{"tpe2"}, nil, 1, nil)
	require.ErrorContains(t, err, "nothing to do: none of the methods tpe2 is in the tables en")
}

func TestOnly(t *testing.T) {
	all := must.Of(NewPlan([]string{"en", "sgl"}, nil, nil, 2, nil))(t)
	p := must.Of(all.Only([]string{"100-20-250-p250", "100-100-100-p600-m300"}))(t)
	require.Len(t, p.Skipped, 4)
	require.Empty(t, all.Skipped)
	require.Len(t, p.Items(), 2*(8+8))
	_, err := all.Only([]string{"w1a"})
	require.ErrorContains(t, err, `unknown row "w1a"; known in these tables are: 100-20-250-p250, `)
	machines := must.Of(NewPlan([]string{"en", "svm3"}, nil, nil, 2, nil))(t)
	_, err = machines.Only([]string{"w1a"})
	require.ErrorContains(t, err, "nothing to do: needs the file")
}

func TestShards(t *testing.T) {
	p := must.Of(NewPlan([]string{"en", "sgl"}, nil, nil, 7, nil))(t)
	items := p.Items()
	for _, n := range []int{1, 2, 3, 8} {
		owner := map[Item]int{}
		lines := map[[2]string]map[int]int{}
		for i := 1; i <= n; i++ {
			part := experiments.Of(worklist.Shard{Index: i, Count: n}, items)
			require.InDelta(t, float64(len(items))/float64(n), len(part), 0.1*float64(len(items)))
			for _, it := range part {
				require.Zero(t, owner[it], "in two shards")
				owner[it] = i
				key := [2]string{it.Table, it.Method}
				if lines[key] == nil {
					lines[key] = map[int]int{}
				}
				lines[key][i]++
			}
		}
		require.Len(t, owner, len(items))
		// 3 rows of 7 seeds make 21 items of a method in a table, which all shards share.
		for key, shares := range lines {
			require.Len(t, shares, n, key)
		}
	}
}

// The figures that the paper's text and tables are quoted with most often.
func TestPaper(t *testing.T) {
	require.Len(t, published(), 128)
	for _, c := range []struct {
		table, row, method  string
		seconds, validation float64
		test                Figure
	}{
		{"en", "100-20-250-p250", "vf-idca", 0.91, 1.95, Figure{3.99, 0.69}},
		{"en", "100-100-100-p2500", "ifdm", 4.38, 7.97, Figure{8.53, 1.53}},
		{"sgl", "100-100-100-p600-m300", "vf-idca", 56.73, 19.61, Figure{33.55, 4.71}},
		{"mc", "60-60", "igjo", 1268.65, 0.68, Figure{0.72, 0.18}},
		{"en-real", "sensit", "grid", 1.26, 1.30, Figure{1.31, 0.48}},
		{"svm3", "w1a", "vf-idca-t", 4.87, 0.01, Figure{0.02, 0}},
		{"svm6", "a1a", "tpe2", 161.68, 0.40, Figure{0.24, 0.02}},
	} {
		f, ok := Paper(c.table, c.row, c.method)
		require.True(t, ok)
		require.Equal(t, c.seconds, f.Seconds.Mean)
		require.Equal(t, c.validation, f.Validation.Mean)
		require.Equal(t, c.test, f.Test)
	}
	_, ok := Paper("en", "100-20-250-p250", OurDefaults)
	require.False(t, ok)
	// Every figure has a line in one of our tables, apart from tables that are not there.
	for _, table := range Tables() {
		n := 0
		for c := range published() {
			if c[0] != table.Name {
				continue
			}
			n++
			must.Of(table.row(c[1]))(t)
			require.Contains(t, table.Methods, c[2])
		}
		require.NotZero(t, n, table.Name)
	}
}

// An item gives what the library gives with the same data and settings.
func TestExecute(t *testing.T) {
	c := must.Of(dataset.InSets.Preset("100-20-250-p250"))(t)
	split := must.First(dataset.Generate(c, 5))(t)
	m := must.Of(regression.ElasticNet(split, regression.Options{}))(t)
	for method, config := range map[string]tune.Config{
		"vf-idca":   {Preset: tune.PresetPaper},
		"igjo":      {Method: "igjo", Preset: tune.PresetPaper},
		OurDefaults: {},
	} {
		want := must.Of(tune.Run(context.Background(), m, config))(t)
		got, err := Execute(context.Background(), Item{Table: "en", Row: "100-20-250-p250", Method: method, Backend: "native",
			Seed: 5}, nil)
		require.NoError(t, err)
		require.Equal(t, want.Validation, *got.Iterate.Validation)
		require.Equal(t, *want.Errors.Test, *got.Iterate.Test)
		require.Equal(t, want.LowerLevel.Validation, *got.Refit.Validation)
		require.Equal(t, *want.LowerLevel.Test, *got.Refit.Test)
		require.Equal(t, want.Lambda, got.Hyperparameters)
		require.Equal(t, want.Iterations, got.Iterations)
		require.Equal(t, 2, got.Dimension)
		if method == OurDefaults {
			require.Equal(t, *want.Refit.Test, *got.Deployed) // trained on validation rows, too
			require.NotEqual(t, *got.Refit.Test, *got.Deployed)
		} else {
			require.Nil(t, got.Deployed)
		}
		if method == "igjo" {
			require.Equal(t, got.Iterate, got.Refit)
		}
	}
}

// The sizes of the paper's tables.
func TestShapes(t *testing.T) {
	row := func(table, name string) Row {
		tab := must.Of(FindTable(table))(t)
		return must.Of(tab.row(name))(t)
	}
	dimension := func(r Row, method string, file *dataset.Data) int {
		make := must.Of(r.data(file, 1))(t)
		model := must.Of(make())(t)
		m := must.Of(FindMethod(method))(t)
		return must.Of(m.dimension(model))(t)
	}
	for _, c := range []struct {
		table, row, method string
		want               int
	}{
		{"en", "100-100-250-p250", "tpe", 2},
		{"sgl", "100-100-100-p600-m30", "grid", 2}, {"sgl", "100-100-100-p600-m30", "random", 31},
		{"sgl", "100-100-100-p600-m300", "vf-idca", 301},
		{"mc", "60-60", "grid", 2}, {"mc", "60-60", "vf-idca", 25},
	} {
		require.Equal(t, c.want, dimension(row(c.table, c.row), c.method, nil), c)
	}

	// liver-disorders has 145 rows and 5 features, of which 72 make 3 or 6 folds of 24 or 12.
	var b strings.Builder
	for i := range 145 {
		fmt.Fprintf(&b, "%d 1:%d 5:1\n", i%2, i%7)
	}
	path := filepath.Join(t.TempDir(), "liver-disorders_scale")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o666))
	file := must.Of(input.ReadFile(path, ""))(t)
	for _, table := range []string{"svm3", "svm6"} {
		r := row(table, "liver-disorders")
		require.Equal(t, 2, dimension(r, "grid", file))
		require.Equal(t, 2, dimension(r, "tpe2", file))
		require.Equal(t, 6, dimension(r, "tpe", file))
		require.Equal(t, 6, dimension(r, "vf-idca-t", file))
	}
}

// On real data the paper's searches look further, and IFDM stops earlier.
func TestSettingsOnRealData(t *testing.T) {
	table := must.Of(FindTable("en-real"))(t)
	r := must.Of(table.row("duke"))(t)
	for name, want := range map[string]tune.Config{
		"grid":      {Ranges: []tune.Range{{Low: 1e-5, High: 1e2}}},
		"ifdm":      {MaxIter: 10},
		"vf-idca":   {},
		OurDefaults: {},
	} {
		m := must.Of(FindMethod(name))(t)
		c := m.config(Item{}, r)
		require.Equal(t, want.Ranges, c.Ranges)
		require.Equal(t, want.MaxIter, c.MaxIter)
	}
}

// BenchmarkItem does the first seed of every line of the tables with drawn data, and reports the errors of the refit
// beside the time.
func BenchmarkItem(b *testing.B) {
	p := must.Of(NewPlan(nil, nil, nil, 1, nil))(b)
	for _, i := range p.Items() {
		b.Run(fmt.Sprintf("table=%s/row=%s/method=%s/backend=%s", i.Table, i.Row, i.Method, i.Backend), func(b *testing.B) {
			var r *Record
			for b.Loop() {
				r = must.Of(Execute(context.Background(), i, nil))(b)
				require.NotEqual(b, failed, r.Status, r.Message)
			}
			if r.Refit.Validation != nil && r.Refit.Test != nil {
				b.ReportMetric(*r.Refit.Validation, "validation-of-refit")
				b.ReportMetric(*r.Refit.Test, "test-of-refit")
			}
			b.ReportMetric(float64(r.Iterations), "iterations")
		})
	}
}

// outcome is made up: the error of a method falls from twice its last value, seed by seed a little higher.
func outcome() *Outcome {
	plan := Plan{Tables: []string{"en", "svm3"}, Methods: []string{"grid", "tpe2", "igjo", "vf-idca", OurDefaults},
		Backends: []string{"native"}, Repeats: 2}
	for _, row := range []string{"100-100-250-p250", "100-100-100-p2500"} {
		plan.Skipped = append(plan.Skipped, Skipped{Table: "en", Row: row, Reason: "not <now>"})
	}
	for _, row := range []string{"diabetes", "breast-cancer", "sonar", "a1a", "w1a"} {
		plan.Skipped = append(plan.Skipped, Skipped{Table: "svm3", Row: row, Reason: "no file"})
	}
	o := &Outcome{Missing: 1, Notes: []string{"a & b"}, Manifest: Manifest{
		Plan: plan, Shards: []string{"1/2", "2/2"}, Machines: []string{"a machine"},
		Commands: []string{"conetune bench paper --repeats 2"}}}
	last := map[string]float64{"grid": 6, "tpe2": 5, "igjo": 4, "vf-idca": 2, OurDefaults: 3}
	for _, i := range plan.Items() {
		v := last[i.Method] + 0.1*float64(i.Seed)
		r := Record{Item: i, Version: "1.2.3", Settings: "file 123abc", Status: "converged", Seconds: v, Iterations: 5,
			Dimension: 2}
		for k := range 5 {
			e := Errors{Validation: value(v * (2 - float64(k)/4)), Test: value(1 + v*(2-float64(k)/4))}
			p := Point{Seconds: v * float64(k+1) / 5, Iteration: k + 1, Iterate: e, Best: e}
			if strings.HasPrefix(i.Method, "vf-idca") {
				p.Alpha = 1 + 5*float64(k)
			}
			r.Trace = append(r.Trace, p)
			r.Iterate, r.Refit = e, e
		}
		if i.Method == "igjo" && i.Seed == 2 {
			r.Status, r.Trace, r.Iterate, r.Refit = "failed", nil, Errors{}, Errors{}
		}
		o.Records = append(o.Records, r)
	}
	return o
}

func pageOf(t *testing.T, o *Outcome) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, writePage(&b, o, figuresOf(o)))
	return b.String()
}

func TestPageStructure(t *testing.T) {
	page := pageOf(t, outcome())
	require.Equal(t, page, pageOf(t, outcome()), "the same outcome gives the same bytes")
	require.NotContains(t, page, "ZgotmplZ", "a value that the template did not trust")
	page = regexp.MustCompile(`(?s)<script>.*</script>`).ReplaceAllString(page, "")
	found := func(pattern string) (list []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(page, -1) {
			list = append(list, m[1])
		}
		return list
	}
	ids := found(`[ <]id="([^"]*)"`)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(ids))), len(ids), "an id is there twice")
	for _, name := range append(strings.Fields(strings.Join(found(`aria-labelledby="([^"]*)"`), " ")),
		found(`href="#([^"]*)"`)...) {
		require.Contains(t, ids, name)
	}
	require.Empty(t, found(`(href="[^#]|src=)`))
	require.Equal(t, []string{"en"}, found(`<html lang="(.*?)"`))
	level := 0
	for _, h := range found(`<h([1-6])`) {
		require.LessOrEqual(t, int(h[0]-'0'), level+1, "headings in order")
		level = int(h[0] - '0')
	}
	require.Len(t, found(`<(figure)`), 6, "three for each of two rows")
	titles := found(`<svg [^>]*role="img"[^>]*><title [^>]*>([^<]+)</title><desc [^>]*>[^<]*At the end[^<]*</desc>`)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(titles))), 6)
	tables := found(`<table[^>]*>\s*<(\w+)`)
	require.Equal(t, slices.Repeat([]string{"caption"}, 1+2+6), tables,
		"the one at a glance, one for each row, and the numbers of each figure")
	for _, address := range found(`(https?://[^"' )]*)`) {
		require.Equal(t, "http://www.w3.org/2000/svg", address)
	}
}

func TestPageContents(t *testing.T) {
	page := pageOf(t, outcome())
	for _, want := range []string{
		"over 2 seeds: 16 runs, and <strong>1 of the plan is missing</strong>", "<p>a &amp; b</p>",
		"Not run: not &lt;now&gt;.",
		"conetune 1.2.3", "Machine: a machine", "<code>conetune bench paper --repeats 2</code>", "Seeds: 1 to 2", "1/2, 2/2",
		"file 123abc",
		// The mean of 2.1 and 2.2 with its standard error, 0.05, the best of all; beside it the paper's figure.
		`<td class="number" data-sort="2.1500000000000004"><strong>2.15 ± 0.05</strong></td><td class="number" data-sort="1.95">`,
		`<td data-sort="0"><strong>best</strong></td>`, `<th scope="row">svm3 liver-disorders</th>`,
		`<th scope="row" class="number">5</th><td class="number">21</td>`, // alpha in the fifth iteration
	} {
		require.True(t, strings.Contains(page, want), want)
	}
	// The last row of a figure of errors has the last mean of the longest runs; those that ended before have theirs there.
	require.Regexp(
		t, `<tr data-x="[0-9.]+"><th scope="row" class="number">6.2</th><td class="number">6.15</td><td class="number"></td>`,
		page)
	require.Contains(t, page, "At the end, validation error: Grid 6.15, IGJO 4.1, VF-iDCA 2.15, VF-iDCA, ours 3.15.")
}

func TestNothingThere(t *testing.T) {
	o := outcome()
	o.Records, o.Missing = nil, 16
	page := pageOf(t, o)
	require.NotContains(t, page, "<figure")
	require.Contains(t, page, "<strong>16 of the plan are missing</strong>")
	o = outcome()
	for k := range o.Records {
		o.Records[k].Status, o.Records[k].Trace, o.Records[k].Iterate, o.Records[k].Refit = "failed", nil, Errors{}, Errors{}
	}
	require.NotContains(t, pageOf(t, o), "<figure")
}

func TestWriteReport(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, WriteReport(dir, outcome()))
	page := must.Of(os.ReadFile(filepath.Join(dir, pageFile)))(t)
	require.Equal(t, pageOf(t, outcome()), string(page))
	for _, name := range []string{"en-100-20-250-p250-iterate", "en-100-20-250-p250-refit", "en-100-20-250-p250-alpha",
		"svm3-liver-disorders-alpha"} {
		svg := must.Of(os.ReadFile(filepath.Join(dir, FiguresDir, name+".svg")))(t)
		require.Contains(t, string(svg), ">VF-iDCA, ours<")
		file := must.Of(os.Open(filepath.Join(dir, FiguresDir, name+".png")))(t)
		must.Of(png.Decode(file))(t)
		require.NoError(t, file.Close())
	}
	// A folder that cannot be made.
	require.Error(t, WriteReport(filepath.Join(dir, pageFile), outcome()))
}

// No table has two methods of one line style.
func TestStyles(t *testing.T) {
	for _, table := range Tables() {
		seen := map[int]string{}
		for _, m := range table.Methods {
			s := must.Of(FindMethod(m))(t).style
			require.Empty(t, seen[s], fmt.Sprintf("%s: %s and %s look alike", table.Name, m, seen[s]))
			seen[s] = m
		}
	}
}

func value(v float64) *float64 { return &v }

func point(s, v float64) Point {
	return Point{Seconds: s, Iterate: Errors{Validation: value(v)}}
}

var iterates = kinds[0].panels[0].value

// Two runs that reach 4 at 1 s and 2 at 3 s, and 6 at 2 s, and one that failed.
func TestMean(t *testing.T) {
	r := runs{{point(1, 4), point(3, 2)}, {{Seconds: 0.5}, point(2, 6), point(2.5, 6)}, {{Seconds: 7}}, nil}
	from, to, ok := r.span(seconds, iterates)
	require.True(t, ok)
	require.Equal(t, 2.0, from, "from where both have a value")
	require.Equal(t, 3.0, to, "to the end of the longest that has one")
	for at, want := range map[float64]float64{2: 5, 2.9: 5, 3: 4, 100: 4} {
		require.Equal(t, want, r.mean(at, seconds, iterates), "at %g", at)
	}
	require.True(t, math.IsNaN(r.mean(1, seconds, iterates)), "the second has nothing yet")
	_, _, ok = runs{{{Seconds: 7}}, nil}.span(seconds, iterates)
	require.False(t, ok)
	require.True(t, math.IsNaN(runs{}.mean(1, seconds, iterates)))
}

// Where a reading is known at the end only, the mean is there from the last end on.
func TestMeanOfEnds(t *testing.T) {
	r := runs{{{Seconds: 1}, point(2, 1)}, {{Seconds: 1}, point(4, 3)}}
	from, to, _ := r.span(seconds, iterates)
	require.Equal(t, []float64{4, 4}, []float64{from, to})
	require.Equal(t, 2.0, r.mean(4, seconds, iterates))
}

func TestPlaces(t *testing.T) {
	require.InDeltaSlice(t, []float64{0.01, 0.1, 1, 10}, placesOf(0.01, 10, 4, true), 1e-12)
	require.Equal(t, []float64{3}, placesOf(3, 3, 4, true))
	require.Equal(t, []float64{3}, placesOf(0, 3, 4, true))
	require.Equal(t, []float64{1, 2, 3}, placesOf(1, 3, 40, false))
	require.Equal(t, []float64{1, 4, 7, 10}, placesOf(1, 10, 4, false))
	require.Equal(t, []float64{5}, placesOf(5, 5, 40, false))
}
