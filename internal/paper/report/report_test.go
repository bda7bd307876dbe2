package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/paper"
)

// outcome is made up: the error of a method falls from twice its last value, seed by seed a little higher.
func outcome() *paper.Outcome {
	plan := paper.Plan{Tables: []string{"en", "svm3"}, Methods: []string{"grid", "tpe2", "igjo", "vf-idca", paper.OurDefaults}, Backends: []string{"native"}, Repeats: 2}
	for _, row := range []string{"100-100-250-p250", "100-100-100-p2500"} {
		plan.Skipped = append(plan.Skipped, paper.Skipped{Table: "en", Row: row, Reason: "not <now>"})
	}
	for _, row := range []string{"diabetes", "breast-cancer", "sonar", "a1a", "w1a"} {
		plan.Skipped = append(plan.Skipped, paper.Skipped{Table: "svm3", Row: row, Reason: "no file"})
	}
	o := &paper.Outcome{Missing: 1, Notes: []string{"a & b"}, Manifest: paper.Manifest{
		Plan: plan, Shards: []string{"1/2", "2/2"}, Machines: []string{"a machine"}, Commands: []string{"conetune bench paper --repeats 2"}}}
	last := map[string]float64{"grid": 6, "tpe2": 5, "igjo": 4, "vf-idca": 2, paper.OurDefaults: 3}
	for _, i := range plan.Items() {
		v := last[i.Method] + 0.1*float64(i.Seed)
		r := paper.Record{Item: i, Version: "1.2.3", Settings: "file 123abc", Status: "converged", Seconds: v, Iterations: 5, Dimension: 2}
		for k := range 5 {
			e := paper.Errors{Validation: value(v * (2 - float64(k)/4)), Test: value(1 + v*(2-float64(k)/4))}
			p := paper.Point{Seconds: v * float64(k+1) / 5, Iteration: k + 1, Iterate: e, Best: e}
			if strings.HasPrefix(i.Method, "vf-idca") {
				p.Alpha = 1 + 5*float64(k)
			}
			r.Trace = append(r.Trace, p)
			r.Iterate, r.Refit = e, e
		}
		if i.Method == "igjo" && i.Seed == 2 {
			r.Status, r.Trace, r.Iterate, r.Refit = "failed", nil, paper.Errors{}, paper.Errors{}
		}
		o.Records = append(o.Records, r)
	}
	return o
}

func pageOf(t *testing.T, o *paper.Outcome) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WritePage(&b, o))
	return b.String()
}

// element is a start tag or a text of the page.
type element struct {
	name, text string
	attributes map[string]string
}

// elements reads the page as XML, which it is apart from void elements and the script.
func elements(t *testing.T, page string) []element {
	t.Helper()
	page = regexp.MustCompile(`(?s)<script>.*</script>`).ReplaceAllString(page, "")
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var out []element
	for {
		token, err := d.Token()
		if err == io.EOF {
			return out
		}
		require.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			attributes := map[string]string{}
			for _, a := range e.Attr {
				attributes[a.Name.Local] = a.Value
			}
			out = append(out, element{name: e.Name.Local, attributes: attributes})
		case xml.CharData:
			out = append(out, element{text: string(e)})
		}
	}
}

func TestPageStructure(t *testing.T) {
	page := pageOf(t, outcome())
	require.Equal(t, page, pageOf(t, outcome()), "the same outcome gives the same bytes")
	require.NotContains(t, page, "ZgotmplZ", "a value that the template did not trust")
	all := elements(t, page)
	ids, level := map[string]bool{}, 0
	for _, e := range all {
		if id, ok := e.attributes["id"]; ok {
			require.False(t, ids[id], "id %s twice", id)
			ids[id] = true
		}
		if regexp.MustCompile(`^h[1-6]$`).MatchString(e.name) {
			n := int(e.name[1] - '0')
			require.LessOrEqual(t, n, level+1, "headings in order")
			level = n
		}
	}
	figures, tables, titles := 0, 0, map[string]bool{}
	for k, e := range all {
		for _, name := range strings.Fields(e.attributes["aria-labelledby"]) {
			require.True(t, ids[name], "%s is labelled by %s", e.name, name)
		}
		if link := e.attributes["href"]; link != "" {
			require.True(t, strings.HasPrefix(link, "#") && ids[link[1:]], link)
		}
		require.NotContains(t, e.attributes, "src")
		switch e.name {
		case "html":
			require.Equal(t, "en", e.attributes["lang"])
		case "table":
			tables++
			next := k + 1
			for all[next].name == "" {
				next++
			}
			require.Equal(t, "caption", all[next].name)
		case "figure":
			figures++
		case "svg":
			require.Equal(t, "img", e.attributes["role"])
			require.Equal(t, "title", all[k+1].name)
			title := all[k+2].text
			require.NotEmpty(t, title)
			require.False(t, titles[title], title)
			titles[title] = true
			require.Equal(t, "desc", all[k+3].name)
			require.Contains(t, all[k+4].text, "At the end")
		}
	}
	require.Equal(t, 6, figures, "three for each of two rows")
	require.Len(t, titles, 6)
	require.Equal(t, 1+2+6, tables, "the one at a glance, one for each row, and the numbers of each figure")
	for _, address := range regexp.MustCompile(`https?://[^"' )]*`).FindAllString(page, -1) {
		require.Contains(t, []string{"http://www.w3.org/2000/svg"}, address)
	}
}

func TestPageContents(t *testing.T) {
	page := pageOf(t, outcome())
	for _, want := range []string{
		"over 2 seeds: 16 runs, and <strong>1 of the plan is missing</strong>", "<p>a &amp; b</p>", "Not run: not &lt;now&gt;.",
		"conetune 1.2.3", "Machine: a machine", "<code>conetune bench paper --repeats 2</code>", "Seeds: 1 to 2", "1/2, 2/2", "file 123abc",
		// The mean of 2.1 and 2.2 with its standard error, 0.05, the best of all; beside it the paper's figure.
		`<td class="number" data-sort="2.1500000000000004"><strong>2.15 ± 0.05</strong></td><td class="number" data-sort="1.95">`,
		`<td data-sort="0"><strong>best</strong></td>`, `<th scope="row">svm3 liver-disorders</th>`,
		`<th scope="row" class="number">5</th><td class="number">21</td>`, // alpha in the fifth iteration
	} {
		require.True(t, strings.Contains(page, want), want)
	}
	// The last row of a figure of errors has the last mean of the longest runs; those that ended before have theirs there.
	require.Regexp(t, `<tr data-x="[0-9.]+"><th scope="row" class="number">6.2</th><td class="number">6.15</td><td class="number"></td>`, page)
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
		o.Records[k].Status, o.Records[k].Trace, o.Records[k].Iterate, o.Records[k].Refit = "failed", nil, paper.Errors{}, paper.Errors{}
	}
	require.NotContains(t, pageOf(t, o), "<figure")
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir, outcome()))
	page, err := os.ReadFile(filepath.Join(dir, File))
	require.NoError(t, err)
	require.Equal(t, pageOf(t, outcome()), string(page))
	for _, name := range []string{"en-100-20-250-p250-iterate", "en-100-20-250-p250-refit", "en-100-20-250-p250-alpha", "svm3-liver-disorders-alpha"} {
		svg, err := os.ReadFile(filepath.Join(dir, FiguresDir, name+".svg"))
		require.NoError(t, err)
		require.Contains(t, string(svg), ">VF-iDCA, ours<")
		file, err := os.Open(filepath.Join(dir, FiguresDir, name+".png"))
		require.NoError(t, err)
		_, err = png.Decode(file)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	// A folder that cannot be made.
	require.Error(t, Write(filepath.Join(dir, File), outcome()))
}

// No table has two methods of one line style, and none of them is without.
func TestStyles(t *testing.T) {
	for _, table := range paper.Tables() {
		seen := map[int]string{}
		for _, m := range table.Methods {
			s, ok := styles[m]
			require.True(t, ok, m)
			require.Empty(t, seen[s], fmt.Sprintf("%s: %s and %s look alike", table.Name, m, seen[s]))
			seen[s] = m
		}
	}
}
