package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
)

// Cells is a matrix, row 0 at the top. Without names it is in colours, with their scale beside it, and entries that are
// not finite stay white. With names, one for each row and column, its entries, which are not negative, are written, and
// stand on the darker a ground the larger their share of the row is.
type Cells struct {
	Rows, Cols         int
	At                 func(i, j int) float64
	RowNames, ColNames []string
}

const (
	// mostBlocks bounds the rows and columns that are drawn; larger matrices are averaged over blocks.
	mostBlocks = 150
	shades     = 64
	scaleWidth = 14
	// overlap is how far a cell goes over the next one, so that no white shows between the two.
	overlap = 0.25
)

// plot puts the cells on the axes of a panel; nil where none can be shown.
func (m *Cells) plot(p *axes) *axes {
	p.x.min, p.x.max = -0.5, float64(m.Cols)-0.5
	p.y.min, p.y.max = float64(m.Rows)-0.5, -0.5
	if m.RowNames == nil && m.ColNames == nil {
		if p.scale = m.blocks(); !(p.scale.lowest <= p.scale.largest) {
			return nil
		}
		p.x.ticks, p.y.ticks = decimalTicks(6), decimalTicks(6)
		p.content = append(p.content, p.scale.draw)
		return p
	}
	if len(m.RowNames) != m.Rows || len(m.ColNames) != m.Cols {
		panic(fmt.Sprintf("figure: %d x %d cells, but %d names of rows and %d of columns", m.Rows, m.Cols,
			len(m.RowNames), len(m.ColNames)))
	}
	p.x.ticks, p.y.ticks = names(m.ColNames), names(m.RowNames)
	room := float64(width-legendMargin-p.margins().left) / float64(m.Cols)
	p.x.upright = slices.ContainsFunc(m.ColNames, func(name string) bool { return widthOf(name, textSize) > room })
	p.content = append(p.content, m.drawNumbers)
	return p
}

// drawNumbers writes the entries: all digits of integers, four of other numbers.
func (m *Cells) drawNumbers(c *canvas, at func(point) point) {
	for i := range m.Rows {
		sum := 0.0
		for j := range m.Cols {
			sum += m.At(i, j)
		}
		for j := range m.Cols {
			v, x, y := m.At(i, j), float64(j), float64(i)
			ground, digits := color.Gray{Y: 255}, 4
			if sum > 0 {
				ground.Y = uint8(255 - 110*v/sum)
			}
			if v == math.Trunc(v) {
				digits = -1
			}
			low, high := at(point{x - 0.5, y - 0.5}), at(point{x + 0.5, y + 0.5})
			c.fill(rectangle{low.x, low.y, high.x, high.y}.corners(), ground)
			c.write(strconv.FormatFloat(v, 'g', digits, 64), at(point{x, y}), textSize+2, 0.5)
		}
	}
}

// blocks are the means of a matrix over blocks of its entries, NaN where there is nothing to draw.
type blocks struct {
	rows, cols      int
	high, wide      float64 // entries of a block
	values          []float64
	lowest, largest float64
}

// blocks averages the matrix over at most mostBlocks x mostBlocks blocks.
func (m *Cells) blocks() *blocks {
	b := &blocks{rows: min(m.Rows, mostBlocks), cols: min(m.Cols, mostBlocks), lowest: math.Inf(1), largest: math.Inf(-1)}
	b.wide, b.high = float64(m.Cols)/float64(b.cols), float64(m.Rows)/float64(b.rows)
	b.values = make([]float64, b.rows*b.cols)
	counts := make([]int, len(b.values))
	for i := range m.Rows {
		for j := range m.Cols {
			if v := m.At(i, j); !math.IsNaN(v) && !math.IsInf(v, 0) {
				at := i*b.rows/m.Rows*b.cols + j*b.cols/m.Cols
				b.values[at] += v
				counts[at]++
			}
		}
	}
	for k, n := range counts {
		if b.values[k] /= float64(n); n > 0 {
			b.lowest, b.largest = min(b.lowest, b.values[k]), max(b.largest, b.values[k])
		}
	}
	if b.lowest == b.largest {
		b.largest += max(1e-9, 1e-3*math.Abs(b.largest))
	}
	return b
}

// draw draws the blocks.
func (b *blocks) draw(c *canvas, at func(point) point) {
	for i := range b.rows {
		for j := range b.cols {
			v := b.values[i*b.cols+j]
			if math.IsNaN(v) {
				continue
			}
			p := at(point{float64(j)*b.wide - 0.5, float64(i)*b.high - 0.5})
			q := at(point{float64(j+1)*b.wide - 0.5, float64(i+1)*b.high - 0.5})
			k := int(shades * (v - b.lowest) / (b.largest - b.lowest))
			c.fill(rectangle{p.x, p.y, q.x + overlap, q.y + overlap}.corners(), shade(min(shades-1, k)))
		}
	}
}

// drawScale draws the colours of all values beside the data, with their numbers.
func (b *blocks) drawScale(c *canvas, data rectangle) {
	height := func(v float64) float64 {
		return data.bottom - (v-b.lowest)/(b.largest-b.lowest)*(data.bottom-data.top)
	}
	step, left := (b.largest-b.lowest)/shades, float64(width-legendMargin+8)
	for k := range shades {
		low := b.lowest + float64(k)*step
		c.fill(rectangle{left, height(low+step) - overlap, left + scaleWidth, height(low)}.corners(), shade(k))
	}
	for _, t := range decimalTicks(5)(b.lowest, b.largest) {
		c.write(t.label, point{left + scaleWidth + labelGap, height(t.value)}, textSize, 0)
	}
}

// anchors are colours that go from dark to light, so that values can be told apart in grey too.
var anchors = []color.RGBA{
	{0x0a, 0x14, 0x2c, 0xff}, {0x0b, 0x3c, 0x6f, 0xff}, {0x2a, 0x6f, 0x6a, 0xff}, {0x6c, 0x9a, 0x3e, 0xff},
	{0xe8, 0xa8, 0x4a, 0xff}, {0xff, 0xf4, 0xd2, 0xff},
}

// shade is the colour of one of so many shades, between the two anchors next to it.
func shade(k int) color.RGBA {
	at := (float64(k) + 0.5) / shades * float64(len(anchors)-1)
	low := int(at)
	a, b, t := anchors[low], anchors[low+1], at-float64(low)
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + t*(float64(y)-float64(x)))) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}
