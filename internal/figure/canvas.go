package figure

import (
	"bufio"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

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
	c.add(shape{text: textfile.Printable(text), points: []point{{at.x, at.y + capital/2*size}}, size: size, anchor: anchor,
		color: color.Black})
}

// writeUp is write for a text that reads upwards, the middle of which is at its place.
func (c *canvas) writeUp(text string, at point, size float64) {
	c.add(shape{text: textfile.Printable(text), points: []point{{at.x + capital/2*size, at.y}}, size: size, anchor: 0.5,
		upright: true, color: color.Black})
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

// svg writes the picture as SVG.
func (c *canvas) svg(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "<?xml version=\"1.0\"?>\n<svg width=\"%spt\" height=\"%spt\" viewBox=\"0 0 %s %s\" "+
		"xmlns=\"http://www.w3.org/2000/svg\">\n<g font-family=\"Liberation Sans, Arial, Helvetica, sans-serif\">\n",
		short(c.width), short(c.height), short(c.width), short(c.height))
	page := shape{points: rectangle{0, 0, c.width, c.height}.corners(), filled: true, color: color.White}
	for _, s := range append([]shape{page}, c.shapes...) {
		switch {
		case s.text != "":
			s.svgText(out)
		case s.filled:
			fmt.Fprintf(out, "<path d=\"%s\" fill=\"%s\"/>\n", s.path(), hex(s.color))
		default:
			fmt.Fprintf(out, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"", s.path(), hex(s.color),
				short(s.width))
			if len(s.dashes) > 0 {
				var list []string
				for _, d := range s.dashes {
					list = append(list, short(d))
				}
				fmt.Fprintf(out, " stroke-dasharray=\"%s\"", strings.Join(list, ","))
			}
			io.WriteString(out, "/>\n")
		}
	}
	io.WriteString(out, "</g>\n</svg>\n")
	return out.Flush()
}

func (s *shape) svgText(out io.Writer) {
	at := s.points[0]
	fmt.Fprintf(out, "<text x=\"%s\" y=\"%s\" font-size=\"%spx\"", short(at.x), short(at.y), short(s.size))
	switch s.anchor {
	case 0.5:
		io.WriteString(out, " text-anchor=\"middle\"")
	case 1:
		io.WriteString(out, " text-anchor=\"end\"")
	}
	if s.upright {
		fmt.Fprintf(out, " transform=\"rotate(-90 %s %s)\"", short(at.x), short(at.y))
	}
	fmt.Fprintf(out, ">%s</text>\n", html.EscapeString(s.text))
}

// path is the line or the polygon.
func (s *shape) path() string {
	if s.radius > 0 {
		r, at := short(s.radius), s.points[0]
		arc := "a" + r + "," + r + " 0 1 0 "
		return "M" + short(at.x-s.radius) + "," + short(at.y) + arc + short(2*s.radius) + ",0" + arc + short(-2*s.radius) +
			",0Z"
	}
	var b strings.Builder
	for k, p := range s.points {
		b.WriteByte("ML"[min(k, 1)])
		b.WriteString(short(p.x) + "," + short(p.y))
	}
	if s.filled {
		b.WriteByte('Z')
	}
	return b.String()
}

// short writes a length to a hundredth of a point.
func short(v float64) string {
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
