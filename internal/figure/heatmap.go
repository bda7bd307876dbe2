package figure

import (
	"image/color"
	"math"
	"strings"
)

// Map is a matrix drawn in colours below the panels, row 0 at the top. Entries that are not finite stay white.
type Map struct {
	Title, XLabel, YLabel string
	Rows, Cols            int
	At                    func(i, j int) float64
}

const (
	mapHeight = 330
	// mapCells bounds the rows and columns that are drawn; larger matrices are averaged over blocks.
	mapCells = 150
	// The scale of colours beside the map, with its labels.
	scaleMargin = 70
	shades      = 64
)

// cells is a matrix whose entry (i, j) is drawn in the rectangle from (left + j wide, top - i high) to the right and
// down.
type cells struct {
	rows, cols            int
	left, top, wide, high float64
	values                []float64
	lowest, largest       float64
}

// cells averages the matrix over at most mapCells x mapCells blocks. Row i has its middle at height -i.
func (m *Map) cells() *cells {
	c := &cells{rows: min(m.Rows, mapCells), cols: min(m.Cols, mapCells), left: -0.5, top: 0.5, lowest: math.Inf(1), largest: math.Inf(-1)}
	c.wide, c.high = float64(m.Cols)/float64(c.cols), float64(m.Rows)/float64(c.rows)
	c.values = make([]float64, c.rows*c.cols)
	counts := make([]int, len(c.values))
	for i := range m.Rows {
		for j := range m.Cols {
			if v := m.At(i, j); !math.IsNaN(v) && !math.IsInf(v, 0) {
				at := i*c.rows/m.Rows*c.cols + j*c.cols/m.Cols
				c.values[at] += v
				counts[at]++
			}
		}
	}
	for k, n := range counts {
		c.values[k] /= float64(n) // NaN where there is nothing to draw
		if n > 0 {
			c.lowest, c.largest = min(c.lowest, c.values[k]), max(c.largest, c.values[k])
		}
	}
	if c.lowest == c.largest {
		c.largest += max(1e-9, 1e-3*math.Abs(c.largest))
	}
	return c
}

// anchors are colours that go from dark to light, so that values can be told apart in grey too.
var anchors = []color.RGBA{{0x0a, 0x14, 0x2c, 0xff}, {0x0b, 0x3c, 0x6f, 0xff}, {0x2a, 0x6f, 0x6a, 0xff}, {0x6c, 0x9a, 0x3e, 0xff}, {0xe8, 0xa8, 0x4a, 0xff}, {0xff, 0xf4, 0xd2, 0xff}}

// shade is the colour of one of so many shades, between the two anchors next to it.
func shade(k int) color.RGBA {
	at := (float64(k) + 0.5) / shades * float64(len(anchors)-1)
	low := int(at)
	a, b, t := anchors[low], anchors[low+1], at-float64(low)
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + t*(float64(y)-float64(x)))) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

// on puts the cells on axes.
func (m *cells) on(a *axes) {
	a.hold(point{m.left, m.top}, point{m.left + float64(m.cols)*m.wide, m.top - float64(m.rows)*m.high})
	a.content = append(a.content, func(c *canvas, at func(point) point) {
		for i := range m.rows {
			for j := range m.cols {
				v := m.values[i*m.cols+j]
				if math.IsNaN(v) {
					continue
				}
				k := min(shades-1, int(shades*(v-m.lowest)/(m.largest-m.lowest)))
				p := at(point{m.left + float64(j)*m.wide, m.top - float64(i)*m.high})
				q := at(point{m.left + float64(j+1)*m.wide, m.top - float64(i+1)*m.high})
				const over = 0.25 // the next cell, so that no white shows between the two
				c.fill(rectangle{p.x, p.y, q.x + over, q.y + over}.corners(), shade(k))
			}
		}
	})
}

// draw draws the map and its scale of colours; nothing where no entry can be shown.
func (m *Map) draw(c *canvas, frame rectangle) {
	values := m.cells()
	if !(values.lowest <= values.largest) {
		return
	}
	body := newAxes(m.Title, m.XLabel, m.YLabel)
	values.on(body)
	body.x.ticks, body.y.ticks = decimalTicks{count: 6}, negated{decimalTicks{count: 6}}
	left := frame
	left.right -= scaleMargin
	area := body.draw(c, left, body.margins())

	step := (values.largest - values.lowest) / shades
	bar := &cells{rows: shades, cols: 1, top: values.largest, wide: 1, high: step, lowest: values.lowest, largest: values.largest}
	for k := range shades {
		bar.values = append(bar.values, values.largest-(float64(k)+0.5)*step)
	}
	scale := newAxes("", "", "")
	scale.x.hidden = true
	bar.on(scale)
	scale.y.ticks = decimalTicks{count: 5}
	side := scale.margins()
	side.top, side.bottom = 0, 0
	scale.draw(c, rectangle{frame.right - scaleMargin + 10, area.top, frame.right - 6, area.bottom}, side)
}

// negated labels an axis that goes down.
type negated struct{ ticker }

func (t negated) Ticks(lo, hi float64) []tick {
	ticks := t.ticker.Ticks(lo, hi)
	for i := range ticks {
		if text, minus := strings.CutPrefix(ticks[i].label, "-"); minus || text == "0" {
			ticks[i].label = text
		} else {
			ticks[i].label = ""
		}
	}
	return ticks
}
