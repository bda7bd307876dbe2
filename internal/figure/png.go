package figure

import (
	"io"
	"math"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

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
	p := gg.NewContext(int(math.Ceil(c.width*perPoint)), int(math.Ceil(c.height*perPoint)))
	p.SetRGB(1, 1, 1)
	p.Clear()
	p.SetLineCapButt()
	for k := range c.shapes {
		s := &c.shapes[k]
		p.SetColor(s.color)
		if s.text != "" {
			if err := s.letters(p); err != nil {
				return err
			}
			continue
		}
		for _, q := range s.points {
			if s.radius > 0 {
				p.DrawCircle(q.x*perPoint, q.y*perPoint, s.radius*perPoint)
			} else {
				p.LineTo(q.x*perPoint, q.y*perPoint)
			}
		}
		if s.filled {
			p.Fill()
			continue
		}
		dashes := make([]float64, len(s.dashes))
		for i, length := range s.dashes {
			dashes[i] = length * perPoint
		}
		p.SetDash(dashes...)
		p.SetLineWidth(s.width * perPoint)
		p.Stroke()
	}
	return p.EncodePNG(w)
}

// letters writes a text.
func (s *shape) letters(p *gg.Context) error {
	face, err := opentype.NewFace(typeface(), &opentype.FaceOptions{Size: s.size * perPoint, DPI: 72})
	if err != nil {
		return err
	}
	x, y := s.points[0].x*perPoint, s.points[0].y*perPoint
	p.SetFontFace(face)
	p.Push()
	defer p.Pop()
	if s.upright {
		p.RotateAbout(-math.Pi/2, x, y)
	}
	p.DrawString(s.text, x-s.anchor*widthOf(s.text, s.size)*perPoint, y)
	return nil
}
