package figure

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"github.com/conetune/conetune/internal/textfile"
)

// point is a place in the picture, in points from its upper left corner; or a value of a line.
type point struct{ x, y float64 }

// rectangle is a part of the picture.
type rectangle struct{ left, top, right, bottom float64 }

func (r rectangle) corners() []point {
	return []point{{r.left, r.top}, {r.right, r.top}, {r.right, r.bottom}, {r.left, r.bottom}}
}

// shape is one thing of a picture: a polygon or a circle that is filled, a line or a circle that is drawn, or a text.
type shape struct {
	points []point // of a circle its centre, of a text where it stands
	radius float64 // of a circle
	filled bool
	color  color.Color
	width  float64   // of a line
	dashes []float64 // of a line, lengths of dashes and gaps in turn

	text    string
	size    float64
	anchor  float64 // the share of the text that stands before its place
	upright bool    // turned to the left by 90 degrees
}

// canvas is a picture as its shapes, the last one on top.
type canvas struct {
	width, height float64
	shapes        []shape
}

func (c *canvas) add(s shape) { c.shapes = append(c.shapes, s) }

func (c *canvas) fill(points []point, col color.Color) {
	c.add(shape{points: points, filled: true, color: col})
}

func (c *canvas) line(points []point, col color.Color, width float64, dashes ...float64) {
	c.add(shape{points: points, color: col, width: width, dashes: dashes})
}

// write writes a text whose middle, as high as its capitals, is at the height of its place.
func (c *canvas) write(text string, at point, size, anchor float64) {
	c.add(shape{text: textfile.Printable(text), points: []point{{at.x, at.y + capital/2*size}}, size: size, anchor: anchor, color: color.Black})
}

// writeUp is write for a text that reads upwards, the middle of which is at its place.
func (c *canvas) writeUp(text string, at point, size float64) {
	c.add(shape{text: textfile.Printable(text), points: []point{{at.x + capital/2*size, at.y}}, size: size, anchor: 0.5, upright: true, color: color.Black})
}

// encode writes the picture in the format "png" or "svg".
func (c *canvas) encode(w io.Writer, format string) error {
	switch format {
	case "svg":
		return c.svg(w)
	case "png":
		return c.png(w)
	}
	return fmt.Errorf("figure: the format is %q, expected png or svg", format)
}

// marker is the form of a mark.
type marker func(c *canvas, at point, r float64, col color.Color)

// outline is how thick marks are that are not filled.
const outline = 0.75

func disc(c *canvas, at point, r float64, col color.Color) {
	c.add(shape{points: []point{at}, radius: r, filled: true, color: col})
}

func ring(c *canvas, at point, r float64, col color.Color) {
	c.add(shape{points: []point{at}, radius: r, color: col, width: outline})
}

// triangle has its corners on the circle around the place.
func triangle(at point, r float64) []point {
	x, y := r*math.Sqrt(3)/2, r/2
	return []point{{at.x, at.y - r}, {at.x + x, at.y + y}, {at.x - x, at.y + y}}
}

func square(at point, r float64) []point {
	return rectangle{at.x - r, at.y - r, at.x + r, at.y + r}.corners()
}

// solid and hollow are marks of a form.
func solid(form func(point, float64) []point, size float64) marker {
	return func(c *canvas, at point, r float64, col color.Color) { c.fill(form(at, size*r), col) }
}

func hollow(form func(point, float64) []point, size float64) marker {
	return func(c *canvas, at point, r float64, col color.Color) {
		points := form(at, size*r)
		middle := point{(points[0].x + points[1].x) / 2, (points[0].y + points[1].y) / 2} // of a side: all corners are turns
		c.line(append(append([]point{middle}, points[1:]...), points[0], middle), col, outline)
	}
}

// strokes are marks of two lines through the place, each given by half of it.
func strokes(halves ...point) marker {
	return func(c *canvas, at point, r float64, col color.Color) {
		for _, h := range halves {
			c.line([]point{{at.x - r*h.x, at.y - r*h.y}, {at.x + r*h.x, at.y + r*h.y}}, col, outline)
		}
	}
}
