package figure

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"slices"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"github.com/conetune/conetune/internal/textfile"
)

// perPoint is how many pixels a point has: 96 an inch.
const perPoint = 96.0 / 72

// typeface is the font of all texts.
var typeface = sync.OnceValue(func() *sfnt.Font {
	f, err := sfnt.Parse(liberationsansregular.TTF)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return f
})

// capital is the height of capital letters as a share of the size.
const capital = 0.72

// widthOf is how wide a text is.
func widthOf(text string, size float64) float64 {
	f, sum := typeface(), fixed.Int26_6(0)
	var room sfnt.Buffer
	const fine = 1 << 10 // pixels of a letter, so that rounding does not count
	for _, r := range textfile.Printable(text) {
		if g, err := f.GlyphIndex(&room, r); err == nil {
			if advance, err := f.GlyphAdvance(&room, g, fixed.I(fine), font.HintingNone); err == nil {
				sum += advance
			}
		}
	}
	return float64(sum) / 64 / fine * size
}

// png writes the picture as PNG.
func (c *canvas) png(w io.Writer) error {
	size := image.Rect(0, 0, int(math.Ceil(c.width*perPoint)), int(math.Ceil(c.height*perPoint)))
	p := painter{to: image.NewRGBA(size)}
	draw.Draw(p.to, size, image.White, image.Point{}, draw.Src)
	for k := range c.shapes {
		p.paint(&c.shapes[k])
	}
	return png.Encode(w, p.to)
}

// painter fills areas of an image.
type painter struct {
	to    *image.RGBA
	area  vector.Rasterizer
	parts [][]point // polygons, in pixels
	room  sfnt.Buffer
}

func (p *painter) paint(s *shape) {
	p.parts = p.parts[:0]
	points := make([]point, len(s.points))
	for k, q := range s.points {
		points[k] = point{q.x * perPoint, q.y * perPoint}
	}
	switch {
	case s.text != "":
		p.letters(s, points[0])
	case s.filled && s.radius > 0:
		p.parts = append(p.parts, circle(points[0], s.radius*perPoint))
	case s.filled:
		p.parts = append(p.parts, points)
	case s.radius > 0:
		inner := circle(points[0], (s.radius-s.width/2)*perPoint)
		slices.Reverse(inner)
		p.parts = append(p.parts, circle(points[0], (s.radius+s.width/2)*perPoint), inner)
	default:
		for _, piece := range dashed(points, s.dashes) {
			p.stroke(piece, s.width*perPoint)
		}
	}
	p.fill(s.color)
}

// fill fills the parts.
func (p *painter) fill(col color.Color) {
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, part := range p.parts {
		for _, q := range part {
			lo, hi = point{min(lo.x, q.x), min(lo.y, q.y)}, point{max(hi.x, q.x), max(hi.y, q.y)}
		}
	}
	size := p.to.Bounds()
	if !(lo.x < hi.x && lo.y <= hi.y && hi.x > 0 && hi.y > 0 && lo.x < float64(size.Max.X) && lo.y < float64(size.Max.Y)) {
		return
	}
	box := image.Rect(int(max(lo.x, 0)), int(max(lo.y, 0)), int(min(hi.x, float64(size.Max.X)))+1,
		int(min(hi.y, float64(size.Max.Y)))+1).Intersect(size)
	p.area.Reset(box.Dx(), box.Dy())
	for _, part := range p.parts {
		for k, q := range part {
			x, y := float32(q.x-float64(box.Min.X)), float32(q.y-float64(box.Min.Y))
			if k == 0 {
				p.area.MoveTo(x, y)
			} else {
				p.area.LineTo(x, y)
			}
		}
		p.area.ClosePath()
	}
	p.area.Draw(p.to, box, image.NewUniform(col), image.Point{})
}

// circle is a polygon that looks like one.
func circle(at point, r float64) []point {
	n := 12 + int(4*r)
	points := make([]point, n)
	for k := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(n))
		points[k] = point{at.x + r*cos, at.y + r*sin}
	}
	return points
}

// stroke makes a line a part: the polygon around it, whose corners are mitred up to turns of 120 degrees and else cut.
// Parts that cover each other would be too dark at their edges.
func (p *painter) stroke(points []point, width float64) {
	points = slices.Compact(slices.Clone(points))
	n := len(points) - 1
	if n < 1 {
		return
	}
	normals := make([]point, n) // of the pieces, half as long as the line is wide
	for k := range normals {
		dx, dy := points[k+1].x-points[k].x, points[k+1].y-points[k].y
		scale := width / 2 / math.Hypot(dx, dy)
		normals[k] = point{-dy * scale, dx * scale}
	}
	var left, right []point
	side := func(at, to point) {
		left, right = append(left, point{at.x + to.x, at.y + to.y}), append(right, point{at.x - to.x, at.y - to.y})
	}
	side(points[0], normals[0])
	for k := 1; k < n; k++ {
		a, b := normals[k-1], normals[k]
		if cos := (a.x*b.x + a.y*b.y) / (width * width / 4); cos > -0.5 {
			side(points[k], point{(a.x + b.x) / (1 + cos), (a.y + b.y) / (1 + cos)})
		} else {
			side(points[k], a)
			side(points[k], b)
		}
	}
	side(points[n], normals[n-1])
	slices.Reverse(right)
	p.parts = append(p.parts, append(left, right...))
}

// dashed are the dashes of a line, in pixels; all of it without.
func dashed(points []point, dashes []float64) (out [][]point) {
	if len(dashes) == 0 || len(points) == 0 {
		return [][]point{points}
	}
	piece, k, left := []point{points[0]}, 0, dashes[0]*perPoint
	for i := range len(points) - 1 {
		a, b := points[i], points[i+1]
		length := math.Hypot(b.x-a.x, b.y-a.y)
		done := 0.0
		for length-done > left {
			done += left
			at := point{a.x + (b.x-a.x)*done/length, a.y + (b.y-a.y)*done/length}
			if k%2 == 0 {
				out = append(out, append(piece, at))
			}
			k++
			piece, left = []point{at}, dashes[k%len(dashes)]*perPoint
		}
		left -= length - done
		piece = append(piece, b)
	}
	if k%2 == 0 {
		out = append(out, piece)
	}
	return out
}

// letters makes a text parts: curves become lines.
func (p *painter) letters(s *shape, at point) {
	f, scale := typeface(), s.size*perPoint
	pen := -s.anchor * widthOf(s.text, scale)
	for _, r := range s.text {
		g, err := f.GlyphIndex(&p.room, r)
		if err != nil {
			continue
		}
		place := func(q fixed.Point26_6) point {
			x, y := pen+float64(q.X)/64, float64(q.Y)/64
			if s.upright {
				return point{at.x + y, at.y - x}
			}
			return point{at.x + x, at.y + y}
		}
		segments, err := f.LoadGlyph(&p.room, g, fixed.Int26_6(math.Round(64*scale)), nil)
		if err != nil {
			continue
		}
		var part []point
		for _, piece := range segments {
			switch piece.Op {
			case sfnt.SegmentOpMoveTo:
				if part != nil {
					p.parts = append(p.parts, part)
				}
				part = []point{place(piece.Args[0])}
			case sfnt.SegmentOpLineTo:
				part = append(part, place(piece.Args[0]))
			case sfnt.SegmentOpQuadTo: // all curves of a TrueType font
				a, b, c := part[len(part)-1], place(piece.Args[0]), place(piece.Args[1])
				const steps = 6
				for k := 1; k <= steps; k++ {
					t := float64(k) / steps
					u := 1 - t
					part = append(part, point{u*u*a.x + 2*u*t*b.x + t*t*c.x, u*u*a.y + 2*u*t*b.y + t*t*c.y})
				}
			}
		}
		if part != nil {
			p.parts = append(p.parts, part)
		}
		if advance, err := f.GlyphAdvance(&p.room, g, fixed.I(1<<10), font.HintingNone); err == nil {
			pen += float64(advance) / 64 / (1 << 10) * scale
		}
	}
}
