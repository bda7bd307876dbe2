package webpage

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/must"
)

func example() (string, error) {
	key := "0.001"
	numbers := Table{ID: "n", Caption: "numbers",
		Columns: []Column{{Title: "s", Number: true}, {Title: "<a>", Spoken: "b", Group: "time & place", Number: true}},
		Rows:    []Row{{X: 12.344, Cells: []Cell{{Text: "1 ms", Key: &key}, {Text: "2", Strong: true}}}}, Sortable: true}
	f := figure.Figure{ID: "f", Title: `a "figure"`, Caption: "short", About: "what < it shows"}
	picture := svg("<?xml version=\"1.0\"?>\n<!-- x -->\n<svg width=\"4pt\" height=\"3pt\" viewBox=\"0 0 4 "+
		"3\"\n\txmlns=\"http://www.w3.org/2000/svg\">\n<g></g>\n</svg>\n", f)
	var b bytes.Buffer
	err := Write(&b, New("x", `<p>{{.Text}}</p>{{template "drawn" .Figure}}`), "Title & more", struct {
		Text   string
		Figure drawing
	}{"<script>", drawing{f, picture, &numbers}})
	return b.String(), err
}

func TestPage(t *testing.T) {
	page := must.Of(example())(t)
	again := must.Of(example())(t)
	require.Equal(t, page, again)
	for _, want := range []string{
		`<html lang="en">`, "<title>Title &amp; more</title>", "<h1>Title &amp; more</h1>", "<p>&lt;script&gt;</p>",
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3" role="img" aria-labelledby="f-title f-desc"><title id="f-title">a &#34;figure&#34;</title>` +
			`<desc id="f-desc">what &lt; it shows</desc><g></g>`,
		`<th scope="colgroup" colspan="1">time &amp; place</th>`,
		`<th scope="col" class="number">&lt;a&gt;<span class="unseen">, b</span></th>`,
		`<tr data-x="12.34"><th scope="row" class="number" data-sort="0.001">1 ms</th><td class="number"><strong>2</strong></td></tr>`,
		`<table id="n" data-sortable>`, `<caption id="n-caption"><span>numbers</span></caption>`,
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "<?xml")
	require.NotContains(t, page, "ZgotmplZ")
	for _, ids := range regexp.MustCompile(`aria-labelledby="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		for _, id := range strings.Fields(ids[1]) {
			require.Equal(t, 1, strings.Count(page, ` id="`+id+`"`), id)
		}
	}
}

// Nothing is loaded: the only addresses are the names of XML.
func TestSelfContained(t *testing.T) {
	page := must.Of(example())(t)
	for _, address := range regexp.MustCompile(`https?://[^"' )]*`).FindAllString(page, -1) {
		require.Equal(t, "http://www.w3.org/2000/svg", address)
	}
	require.NotRegexp(t, `@import|url\(|src=|<link|fetch\(|XMLHttpRequest`, page)
	require.Contains(t, page, `content="default-src 'none';`)
}

// contrast is the contrast ratio of WCAG 2.2.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// Text has a contrast of at least 4.5 on both backgrounds, in both schemes and in print (WCAG 2.2, 1.4.3).
func TestContrast(t *testing.T) {
	schemes := regexp.MustCompile(`(?s):root \{([^}]*)\}`).FindAllStringSubmatch(style, -1)
	require.Len(t, schemes, 3)
	colours := map[string]string{}
	for _, s := range schemes {
		for _, m := range regexp.MustCompile(`--(\w+): (#\w+)`).FindAllStringSubmatch(s[1], -1) {
			colours[m[1]] = m[2]
		}
		for _, text := range []string{"ink", "quiet", "accent"} {
			for _, ground := range []string{"paper", "strip"} {
				if colours["paper"] == "#fff" && text == "accent" && colours["ink"] == "#000" {
					continue // nothing in this colour is printed
				}
				require.Greater(t, contrast(t, colours[text], colours[ground]), 4.5, "%s on %s", text, ground)
			}
		}
	}
}

// luminance is the relative luminance of #rrggbb or #rgb by WCAG 2.2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	hex := colour[1:]
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	require.Len(t, hex, 6)
	sum := 0.0
	for k, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := must.Of(strconv.ParseUint(hex[2*k:2*k+2], 16, 8))(t)
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestLuminance(t *testing.T) {
	require.InDelta(t, 21, contrast(t, "#000", "#ffffff"), 1e-9)
	require.InDelta(t, 4.54, contrast(t, "#767676", "#fff"), 0.005) // the published threshold grey
}
