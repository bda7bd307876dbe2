package paper

import (
	"bytes"
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
)

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

// No table has two methods of one line style, and none of them is without.
func TestStyles(t *testing.T) {
	for _, table := range Tables() {
		seen := map[int]string{}
		for _, m := range table.Methods {
			s, ok := styles[m]
			require.True(t, ok, m)
			require.Empty(t, seen[s], fmt.Sprintf("%s: %s and %s look alike", table.Name, m, seen[s]))
			seen[s] = m
		}
	}
}

func value(v float64) *float64 { return &v }

func point(s, v float64) Point {
	return Point{Seconds: s, Iterate: Errors{Validation: value(v)}}
}

var iterates = validation(func(p *Point) *Errors { return &p.Iterate })

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
	require.InDeltaSlice(t, []float64{0.01, 0.1, 1, 10}, logarithmic(0.01, 10, 4), 1e-12)
	require.Equal(t, []float64{3}, logarithmic(3, 3, 4))
	require.Equal(t, []float64{3}, logarithmic(0, 3, 4))
	require.Equal(t, []float64{1, 2, 3}, whole(1, 3, 40))
	require.Equal(t, []float64{1, 4, 7, 10}, whole(1, 10, 4))
	require.Equal(t, []float64{5}, whole(5, 5, 40))
}
