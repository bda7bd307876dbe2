package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// synthetic returns a figure as a long run would give it.
func synthetic(n int) Figure {
	x := make([]float64, n)
	y := map[string][]float64{}
	for i := range n {
		k := float64(i)
		x[i] = 0.02 + 0.01*k
		y["val"] = append(y["val"], 3+1.2*math.Exp(-k/10))
		y["valrefit"] = append(y["valrefit"], 3.3+0.9*math.Exp(-k/8))
		y["test"] = append(y["test"], 3.5+math.Exp(-k/9))
		y["testrefit"] = append(y["testrefit"], 3.6+0.9*math.Exp(-k/7))
		y["alpha"] = append(y["alpha"], 1+5*math.Floor(k/3))
		y["gap"] = append(y["gap"], 0.5*math.Exp(-k/6))
		y["step"] = append(y["step"], 2*math.Exp(-k/12)*(1.2+math.Sin(k)))
	}
	return Figure{Title: "elastic-net by vf-idca: converged after 60 iterations", XLabel: "seconds", XFromZero: true,
		Panels: []Panel{
			{YLabel: "error", Lines: []Line{{Name: "validation", X: x, Y: y["val"]}, {Name: "validation, refit", X: x,
				Y: y["valrefit"], Style: 1}, {Name: "test", X: x, Y: y["test"], Style: 2}, {Name: "test, refit", X: x,
				Y: y["testrefit"], Style: 3}}},
			{YLabel: "alpha", Lines: []Line{{X: x, Y: y["alpha"]}}},
			{YLabel: "lower gap (log)", LogY: true, Lines: []Line{{X: x, Y: y["gap"]}}},
			{YLabel: "relative step (log)", LogY: true, Lines: []Line{{X: x, Y: y["step"]}}},
		}}
}

func TestWritePNG(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, synthetic(60).As("a.png")(&b))
	img := must.Of(png.Decode(bytes.NewReader(b.Bytes())))(t)
	require.Greater(t, img.Bounds().Dx(), 600)
	// Ink in every quarter of the height: each panel was drawn.
	for q := range 4 {
		dark := 0
		for y := q * img.Bounds().Dy() / 4; y < (q+1)*img.Bounds().Dy()/4; y++ {
			for x := range img.Bounds().Dx() {
				if r, _, _, _ := img.At(x, y).RGBA(); r < 0x4000 {
					dark++
				}
			}
		}
		require.Greater(t, dark, 500, "quarter %d", q)
	}
	var again bytes.Buffer
	require.NoError(t, synthetic(60).As("a.png")(&again))
	require.True(t, bytes.Equal(b.Bytes(), again.Bytes()), "the same data gives another picture")
}

func TestWriteSVG(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, synthetic(5).As("a.svg")(&b))
	for _, text := range []string{"<svg", "validation, refit", "lower gap", "relative step", "seconds",
		"elastic-net by vf-idca"} {
		require.Contains(t, b.String(), text)
	}
}

// Points without a line have a mark each, bars of one standard error stand where the axes say, and panels are as high
// as asked.
func TestPointsAndBars(t *testing.T) {
	draw := func(l Line) (string, Area) {
		var b bytes.Buffer
		areas := must.Of(Figure{PanelHeight: 250,
			Panels: []Panel{{Lines: []Line{l, {X: []float64{1, 2}, Y: []float64{0, 9}}}}}}.Draw(&b, "svg"))(t)
		return b.String(), areas[0]
	}
	n := 3 * maxMarkers
	l := Line{Name: "many", Points: true}
	for i := range n {
		l.X, l.Y = append(l.X, float64(i)), append(l.Y, float64(i%7))
	}
	text, area := draw(l)
	require.InDelta(t, 250, area.Bottom-area.Top, 40)
	plain, _ := draw(Line{X: l.X, Y: l.Y})
	require.Greater(t, strings.Count(text, "<path"), strings.Count(plain, "<path")+n/2)

	two := Line{X: []float64{1, 2}, Y: []float64{3, 4}}
	without, _ := draw(two)
	two.Error = []float64{0.5, 0.25}
	with, _ := draw(two)
	require.Equal(t, strings.Count(without, "<path")+2, strings.Count(with, "<path"))
	two.Error = two.Error[:1]
	require.Panics(t, func() { draw(two) }, "two abscissae and one bar")
}

func TestHardData(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, f := range map[string]Figure{
		"one point":  synthetic(1),
		"two points": synthetic(2),
		"constant": {Panels: []Panel{{Lines: []Line{{X: []float64{1, 2}, Y: []float64{0, 0}}}},
			{LogY: true, Lines: []Line{{X: []float64{1, 2}, Y: []float64{3, 3}}}}}},
		"same time":   {Panels: []Panel{{Lines: []Line{{X: []float64{1, 1}, Y: []float64{0, 5}}}}}},
		"wide range":  {Panels: []Panel{{LogY: true, Lines: []Line{{X: []float64{0, 2}, Y: []float64{1e-300, 1e300}}}}}},
		"large":       {Panels: []Panel{{Lines: []Line{{X: []float64{0, 2}, Y: []float64{-1e300, 1e300}}}}}},
		"tiny change": {Panels: []Panel{{Lines: []Line{{X: []float64{0, 2}, Y: []float64{1, 1 + 1e-15}}}}}},
		"holes": {Panels: []Panel{{LogY: true,
			Lines: []Line{{X: []float64{0, 1, 2, 3, 4}, Y: []float64{nan, -1, 0, inf, 2}}}}}},
		"negative time": {Panels: []Panel{{Lines: []Line{{Style: -1, X: []float64{-3, 0}, Y: []float64{0, 5}}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, f.As("a.png")(&b))
			require.NotContains(t, b.String(), "NaN")
		})
	}
}

func TestErrors(t *testing.T) {
	var b bytes.Buffer
	require.ErrorContains(t, Figure{}.As("a.png")(&b), "nothing to draw")
	require.ErrorContains(t, Figure{Panels: []Panel{{LogY: true,
		Lines: []Line{{X: []float64{1}, Y: []float64{-1}}}}}}.As("a.png")(&b), "nothing to draw")
	require.PanicsWithValue(t, "figure: line \"a\" has 1 abscissae and 0 ordinates", func() {
		_ = Figure{Panels: []Panel{{Lines: []Line{{Name: "a", X: []float64{1}}}}}}.As("a.png")(&b)
	})
	require.Error(t, synthetic(3).As("a.gif3")(&b))
	require.Zero(t, b.Len())
	_, err := Format("a.pdf")
	require.ErrorContains(t, err, ".png or .svg")
	format := must.Of(Format("dir.x/A.PNG"))(t)
	require.Equal(t, "png", format)
}

func labels(ticks []tick) string {
	var s []string
	for _, t := range ticks {
		if t.label != "" {
			s = append(s, t.label)
		}
	}
	return strings.Join(s, " ")
}

func TestTicks(t *testing.T) {
	require.Equal(t, "0 0.1 0.2 0.3", labels(decimalTicks(3)(0, 0.3)))
	require.Equal(t, "-4 -2 0 2", labels(decimalTicks(4)(-4.5, 3)))
	require.Equal(t, "0.001 0.01 0.1 1", labels(logTicks(0.001, 2)))
	require.Equal(t, "1 2 5 10", labels(logTicks(0.9, 12)))
	require.Equal(t, "4.2 4.4 4.6 4.8", labels(logTicks(4.1, 4.8)))
	require.Equal(t, "1e-08 1e-06 0.0001 0.01 1", labels(logTicks(1e-9, 9)))
}

// Figures stand below each other and make the picture higher: curves on axes of their own, and the cells of a table.
func TestBelow(t *testing.T) {
	f, counts := synthetic(10), [][]float64{{40, 41}, {14, 97.5}}
	cells := &Cells{Rows: 2, Cols: 2, At: func(i, j int) float64 { return counts[i][j] }, RowNames: []string{"no", "yes"},
		ColNames: []string{"no", "yes"}}
	f.Below = []Figure{
		{Title: "curve", XLabel: "x",
			Panels: []Panel{{YLabel: "y", Lines: []Line{{X: []float64{-500, 250}, Y: []float64{3, 3}}}}}},
		{Title: "counts", Panels: []Panel{{Cells: cells}}},
		{Title: "nothing"},
	}
	var b, plain bytes.Buffer
	require.NoError(t, f.As("a.svg")(&b))
	require.NoError(t, synthetic(10).As("a.svg")(&plain))
	for _, text := range []string{"curve", "counts", ">41<", ">97.5<", ">yes<", ">-400<", ">200<"} {
		require.Contains(t, b.String(), text)
		require.NotContains(t, plain.String(), text)
	}
	require.NotContains(t, b.String(), "nothing")
	cells.ColNames = []string{"one"}
	require.PanicsWithValue(t, "figure: 2 x 2 cells, but 2 names of rows and 1 of columns",
		func() { _ = f.As("a.svg")(&b) })
}

// A matrix is in colours, larger ones in blocks, with a scale of the values; entries that are not finite stay white.
func TestCells(t *testing.T) {
	cells := &Cells{Rows: 300, Cols: 2, At: func(i, j int) float64 {
		if j == 1 {
			return math.NaN()
		}
		return float64(i)
	}}
	f := Figure{XLabel: "column", Panels: []Panel{{YLabel: "row", Cells: cells}}}
	var b bytes.Buffer
	require.NoError(t, f.As("a.svg")(&b))
	require.Equal(t, 1+mostBlocks+shades, strings.Count(b.String(), "Z\""), "the page, cells and scale")
	for _, text := range []string{">row<", ">column<", ">0<", ">200<"} {
		require.Contains(t, b.String(), text)
	}
	cells.Rows = 0
	require.ErrorIs(t, f.As("a.svg")(&b), ErrNothing)
}

// The areas are those of the picture: the vertical line of a marker stands where X says.
func TestAreas(t *testing.T) {
	f := Figure{LogX: true, Panels: []Panel{
		{Lines: []Line{{X: []float64{0, -1}, Y: []float64{1, 2}}}}, // nothing to see on a logarithmic axis
		{Lines: []Line{{X: []float64{0.01, 0.1, 10}, Y: []float64{3, 1, 2}}}},
		{LogY: true, Lines: []Line{{X: []float64{0.1, 1}, Y: []float64{1, 10}}}},
	}}
	var b bytes.Buffer
	areas := must.Of(f.Draw(&b, "svg"))(t)
	require.Len(t, areas, 2)
	require.Equal(t, 1, areas[0].Panel)
	require.Equal(t, 2, areas[1].Panel)
	a := areas[0]
	require.Equal(t, a.Left, a.X(0.01))
	require.InDelta(t, (2*a.Left+a.Right)/3, a.X(0.1), 1e-9, "a third of three decades")
	require.Equal(t, a.Left, areas[1].Left)
	require.Less(t, a.Top, a.Bottom)
	require.Less(t, a.Bottom, areas[1].Top)
	// The line of the first drawn panel: its three points, of which the data leave 6 parts of 112 free above and below.
	room := (a.Bottom - a.Top) * 0.06 / 1.12
	path := fmt.Sprintf(`<path d="M%s,%sL%s,%sL%s,`, short(a.Left), short(a.Top+room), short(a.X(0.1)),
		short(a.Bottom-room), short(a.Right))
	require.Contains(t, b.String(), path)
}

// A long title stays inside: no ink at the edges.
func TestLongTitle(t *testing.T) {
	for _, words := range []int{1, 12, 14, 30} {
		f := synthetic(3)
		f.Title = strings.Repeat("long title ", words)
		var b bytes.Buffer
		require.NoError(t, f.As("a.png")(&b))
		img := must.Of(png.Decode(&b))(t)
		ink := 0
		for y := range titleHeight {
			for x := range img.Bounds().Dx() {
				if r, _, _, _ := img.At(x, y).RGBA(); r < 0x8000 {
					ink++
					require.Greater(t, x, 2, "%d words", words)
					require.Less(t, x, img.Bounds().Dx()-3, "%d words", words)
				}
			}
		}
		require.Positive(t, ink)
	}
}

// A line of steps keeps its value until the next abscissa, where a point cannot be shown, too.
func TestSteps(t *testing.T) {
	points := Line{X: []float64{0, 2, 3, 5}, Y: []float64{1, 0.5, math.NaN(), 0.25}, Steps: true}.points(false, false)
	require.Equal(t, []point{{0, 1}, {2, 1}, {2, 0.5}, {5, 0.5}, {5, 0.25}}, points)
}

// ink is the area that is drawn in a picture, in square points.
func ink(t *testing.T, draw func(c *canvas)) float64 {
	t.Helper()
	c := &canvas{width: 120, height: 90}
	draw(c)
	var b bytes.Buffer
	require.NoError(t, c.png(&b))
	img := must.Of(png.Decode(&b))(t)
	require.Equal(t, 160, img.Bounds().Dx())
	sum := 0.0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, _, _, _ := img.At(x, y).RGBA()
			sum += 1 - float64(r)/0xffff
		}
	}
	return sum / (perPoint * perPoint)
}

// What is drawn has the area that geometry says: lines, whole and in dashes, polygons, circles and their outlines,
// inside of the picture alone.
func TestInk(t *testing.T) {
	for name, c := range map[string]struct {
		draw func(c *canvas)
		want float64
	}{
		"line":    {func(c *canvas) { c.line([]point{{10, 10}, {110, 70}}, color.Black, 3) }, 3 * math.Hypot(100, 60)},
		"corner":  {func(c *canvas) { c.line([]point{{10, 10}, {50, 10}, {50, 60}}, color.Black, 2) }, 2 * 90},
		"dashes":  {func(c *canvas) { c.line([]point{{10, 10}, {60, 10}, {110, 10}}, color.Black, 2, 6, 4) }, 2 * 60},
		"polygon": {func(c *canvas) { c.fill([]point{{10, 10}, {70, 10}, {10, 50}}, color.Black) }, 60 * 40 / 2},
		"disc":    {func(c *canvas) { disc(c, point{40, 40}, 20, color.Black) }, math.Pi * 400},
		"ring":    {func(c *canvas) { ring(c, point{40, 40}, 20, color.Black) }, 2 * math.Pi * 20 * outline},
		"square":  {func(c *canvas) { hollow(square, 1)(c, point{40, 40}, 20, color.Black) }, 4 * 40 * outline},
		"curve":   {func(c *canvas) { c.line(circle(point{60, 45}, 30), color.Black, 2) }, 2 * 2 * math.Pi * 30 * 131 / 132},
		"half":    {func(c *canvas) { c.fill(rectangle{-40, 20, 10, 30}.corners(), color.Black) }, 10 * 10},
		"outside": {func(c *canvas) { disc(c, point{-40, 400}, 20, color.Black) }, 0},
	} {
		require.InDelta(t, c.want, ink(t, c.draw), 0.01*c.want+0.3, name)
	}
	// Letters are as dark upright as they are across.
	across := ink(t, func(c *canvas) { c.write("Rotated", point{60, 45}, 14, 0.5) })
	require.InDelta(t, across, ink(t, func(c *canvas) { c.writeUp("Rotated", point{60, 45}, 14) }), 0.02*across)
	require.Greater(t, across, 40.0)
}

// Texts are as wide as the tables of Helvetica say (Adobe, Core 14 AFM), whose widths the font has.
func TestWidths(t *testing.T) {
	for text, want := range map[string]float64{"A": 667, "i": 222, "M": 833, "0": 556, " ": 278,
		"l1_ratio": 222 + 556 + 556 + 333 + 556 + 278 + 222 + 556} {
		require.InDelta(t, want, widthOf(text, 1000), 2*float64(len(text)), text)
	}
}

// Whatever texts hold, the SVG is XML and says them.
func TestSVGOfHostileTexts(t *testing.T) {
	f := synthetic(3)
	f.Title = "a<b> & \"c\" \x00\x1b[31m\a\u202e \xff é"
	f.Panels[0].Lines[0].Name = "</text><script>"
	var b bytes.Buffer
	require.NoError(t, f.As("a.svg")(&b))
	texts := ""
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if chars, ok := token.(xml.CharData); ok {
			texts += string(chars)
		}
	}
	require.Contains(t, texts, `a<b> & "c" \x00\x1b[31m\a\u202e \xff é`)
	require.Contains(t, texts, "</text><script>")
}

// Shades are lighter for larger values, in grey (Rec. 709), too.
func TestShades(t *testing.T) {
	last := -1.0
	for k := range shades {
		c := shade(k)
		grey := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
		require.Greater(t, grey, last+1, k)
		last = grey
	}
}

// The grey ground is between two abscissae, as high as the data, and before all that is drawn.
func TestBand(t *testing.T) {
	var b bytes.Buffer
	f := Figure{LogX: true, Panels: []Panel{{Band: [2]float64{0.1, 10}, Lines: []Line{{X: []float64{0.01, 1, 100},
		Y: []float64{1, 2, 3}}}}}}
	a := must.Of(f.Draw(&b, "svg"))(t)[0]
	left, right := a.Left+(a.Right-a.Left)/4, a.Left+3*(a.Right-a.Left)/4
	band := strings.Index(b.String(), fmt.Sprintf("M%s,%sL%s,%[2]sL%[3]s,%sL%[1]s,%[4]sZ", short(left), short(a.Top),
		short(right), short(a.Bottom)))
	require.Positive(t, band, b.String())
	require.Less(t, band, strings.Index(b.String(), "#e0e0e0"))
}
