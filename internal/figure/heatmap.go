package figure

import (
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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

// cells is a matrix whose entry (i, j) is drawn in the rectangle from (left + j wide, top - i high) to the right and down.
type cells struct {
	rows, cols            int
	left, top, wide, high float64
	values                []float64
	lowest, largest       float64
	colours               []color.Color
}

var (
	_ plot.Plotter    = (*cells)(nil)
	_ plot.DataRanger = (*cells)(nil)
)

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

// shade gives the cells colours that go from dark to light with the value, so that they can be told apart in grey too.
func (c *cells) shade() error {
	var p palette.ColorMap = moreland.Kindlmann()
	p.SetMin(0)
	p.SetMax(shades)
	c.colours = make([]color.Color, shades)
	for k := range c.colours {
		var err error
		if c.colours[k], err = p.At(float64(k) + 0.5); err != nil {
			return err
		}
	}
	return nil
}

// DataRange returns the corners.
func (c *cells) DataRange() (xmin, xmax, ymin, ymax float64) {
	return c.left, c.left + float64(c.cols)*c.wide, c.top - float64(c.rows)*c.high, c.top
}

// Plot fills the rectangles.
func (c *cells) Plot(dc draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&dc)
	for i := range c.rows {
		for j := range c.cols {
			v := c.values[i*c.cols+j]
			if math.IsNaN(v) {
				continue
			}
			k := min(shades-1, int(shades*(v-c.lowest)/(c.largest-c.lowest)))
			x0, x1 := x(c.left+float64(j)*c.wide), x(c.left+float64(j+1)*c.wide)
			y0, y1 := y(c.top-float64(i)*c.high), y(c.top-float64(i+1)*c.high)
			dc.FillPolygon(c.colours[k], []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
		}
	}
}

// draw draws the map and its scale of colours; nothing where no entry can be shown.
func (m *Map) draw(dc draw.Canvas) error {
	c := m.cells()
	if !(c.lowest <= c.largest) {
		return nil
	}
	if err := c.shade(); err != nil {
		return err
	}
	body := plot.New()
	small(body)
	body.Title.Text, body.X.Label.Text, body.Y.Label.Text = m.Title, m.XLabel, m.YLabel
	body.Title.TextStyle.Font.Size = textSize
	body.Add(c)
	body.X.Tick.Marker, body.Y.Tick.Marker = decimalTicks{count: 6}, negated{decimalTicks{count: 6}}
	left := draw.Crop(dc, 0, -scaleMargin, 0, 0)
	body.Draw(left)

	step := (c.largest - c.lowest) / shades
	bar := &cells{rows: shades, cols: 1, top: c.largest, wide: 1, high: step, lowest: c.lowest, largest: c.largest, colours: c.colours}
	for k := range shades {
		bar.values = append(bar.values, c.largest-(float64(k)+0.5)*step)
	}
	scale := plot.New()
	small(scale)
	scale.HideX()
	scale.Add(bar)
	scale.Y.Tick.Marker = decimalTicks{count: 5}
	area := body.DataCanvas(left)
	side := dc
	side.Min.X, side.Max.X = dc.Max.X-scaleMargin+10, dc.Max.X-6
	side.Min.Y, side.Max.Y = area.Min.Y, area.Max.Y
	scale.Draw(side)
	return nil
}

// negated labels an axis that goes down.
type negated struct{ plot.Ticker }

func (t negated) Ticks(lo, hi float64) []plot.Tick {
	ticks := t.Ticker.Ticks(lo, hi)
	for i := range ticks {
		if text, minus := strings.CutPrefix(ticks[i].Label, "-"); minus || text == "0" {
			ticks[i].Label = text
		} else {
			ticks[i].Label = ""
		}
	}
	return ticks
}
