package figure

import (
	"bufio"
	"fmt"
	"html"
	"image/color"
	"io"
	"strconv"
	"strings"
)

// svg writes the picture as SVG.
func (c *canvas) svg(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "<?xml version=\"1.0\"?>\n<svg width=\"%spt\" height=\"%spt\" viewBox=\"0 0 %s %s\" xmlns=\"http://www.w3.org/2000/svg\">\n<g font-family=\"Liberation Sans, Arial, Helvetica, sans-serif\">\n",
		short(c.width), short(c.height), short(c.width), short(c.height))
	page := shape{points: rectangle{0, 0, c.width, c.height}.corners(), filled: true, color: color.White}
	for _, s := range append([]shape{page}, c.shapes...) {
		switch {
		case s.text != "":
			s.svgText(out)
		case s.filled:
			fmt.Fprintf(out, "<path d=\"%s\" fill=\"%s\"/>\n", s.path(), hex(s.color))
		default:
			fmt.Fprintf(out, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"", s.path(), hex(s.color), short(s.width))
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
		return "M" + short(at.x-s.radius) + "," + short(at.y) + arc + short(2*s.radius) + ",0" + arc + short(-2*s.radius) + ",0Z"
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
