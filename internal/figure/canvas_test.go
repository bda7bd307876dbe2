package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/color"
	"image/png"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// ink is the area that is drawn in a picture, in square points.
func ink(t *testing.T, draw func(c *canvas)) float64 {
	t.Helper()
	c := &canvas{width: 120, height: 90}
	draw(c)
	var b bytes.Buffer
	require.NoError(t, c.png(&b))
	img, err := png.Decode(&b)
	require.NoError(t, err)
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
	for text, want := range map[string]float64{"A": 667, "i": 222, "M": 833, "0": 556, " ": 278, "l1_ratio": 222 + 556 + 556 + 333 + 556 + 278 + 222 + 556} {
		require.InDelta(t, want, widthOf(text, 1000), 2*float64(len(text)), text)
	}
}

// Whatever texts hold, the SVG is XML and says them.
func TestSVGOfHostileTexts(t *testing.T) {
	f := synthetic(3)
	f.Title = "a<b> & \"c\" \x00\x1b[31m\a\u202e \xff é"
	f.Panels[0].Lines[0].Name = "</text><script>"
	var b bytes.Buffer
	require.NoError(t, f.Write(&b, "svg"))
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
