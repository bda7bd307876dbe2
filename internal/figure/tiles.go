package figure

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Tile is a small square figure below the panels, with axes of its own: lines, or
// a table of counts.
type Tile struct {
	Title, XLabel, YLabel string
	// Lines are drawn on axes from 0 to 1, or, if Free, on axes that hold their points.
	Lines []Line
	Free  bool
	// Counts, in the place of lines, are rows of cells, of numbers that are not negative, the darker the larger their share of the row; Columns and
	// Rows are their names.
	Counts        [][]float64
	Columns, Rows []string
}

// Sizes in points.
const (
	tileHeight = 200 // of all tiles, with their titles and labels
	tileWidth  = 230
)

// drawTiles draws the tiles next to each other.
func drawTiles(dc draw.Canvas, tiles []Tile) error {
	for i, t := range tiles {
		c := dc
		c.Min.X = dc.Min.X + vg.Length(i*tileWidth)
		c.Max.X = min(c.Min.X+tileWidth-10, dc.Max.X)
		var err error
		if t.Counts != nil {
			err = t.table(c)
		} else {
			err = t.lines(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// base is the plot of a tile without its content.
func (t Tile) base() *plot.Plot {
	p := plot.New()
	small(p)
	p.Title.Text, p.Title.TextStyle.Font.Size, p.Title.Padding = t.Title, textSize, 4
	p.X.Label.Text, p.Y.Label.Text = t.XLabel, t.YLabel
	return p
}

func (t Tile) lines(c draw.Canvas) error {
	p := t.base()
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{Y: 0xe0}, color.Gray{Y: 0xe0}
	p.Add(grid)
	for _, line := range t.Lines {
		points, err := line.points(false, false)
		if err != nil {
			return err
		}
		s := styles[((line.Style%len(styles))+len(styles))%len(styles)]
		if line.Points {
			p.Add(&plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: s.color, Radius: 1.5, Shape: s.marker}})
		} else {
			p.Add(&plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: s.color, Width: 1.2, Dashes: s.dashes}})
		}
	}
	if t.Free && p.X.Min <= p.X.Max { // there is a point
		if p.X.Min == p.X.Max {
			room := 0.5 * max(1e-3, math.Abs(p.X.Min))
			p.X.Min, p.X.Max = p.X.Min-room, p.X.Max+room
		}
		linearRange(p)
	} else {
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = decimalTicks{count: 5}, decimalTicks{count: 5}
	p.Draw(c)
	return nil
}

// countDigits are the digits of a cell: all of an integer, four of other numbers.
func countDigits(n float64) int {
	if n == math.Trunc(n) {
		return -1
	}
	return 4
}

func (t Tile) table(c draw.Canvas) error {
	if len(t.Counts) != len(t.Rows) {
		return fmt.Errorf("figure: %d rows of counts, but %d names of rows", len(t.Counts), len(t.Rows))
	}
	p := t.base()
	names := func(list []string, from, step float64) plot.ConstantTicks {
		var ticks plot.ConstantTicks
		for k, name := range list {
			ticks = append(ticks, plot.Tick{Value: from + step*float64(k), Label: name})
		}
		return ticks
	}
	rows, columns := float64(len(t.Rows)), float64(len(t.Columns))
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, columns, 0, rows
	p.X.Tick.Marker = names(t.Columns, 0.5, 1)
	p.Y.Tick.Marker = names(t.Rows, rows-0.5, -1) // the first row on top
	p.X.Tick.Length, p.Y.Tick.Length = 0, 0
	p.Draw(c)
	area := p.DataCanvas(c)
	style := p.X.Tick.Label
	style.Font.Size = textSize + 2
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	for i, row := range t.Counts {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("figure: %d counts in row %d, but %d names of columns", len(row), i, len(t.Columns))
		}
		sum := 0.0
		for _, n := range row {
			sum += n
		}
		for j, n := range row {
			share := 0.0
			if sum > 0 {
				share = n / sum
			}
			w, h := (area.Max.X-area.Min.X)/vg.Length(columns), (area.Max.Y-area.Min.Y)/vg.Length(rows)
			x, y := area.Min.X+w*vg.Length(j), area.Max.Y-h*vg.Length(i+1)
			area.FillPolygon(color.Gray{Y: uint8(255 - 110*share)}, []vg.Point{{X: x, Y: y}, {X: x + w, Y: y}, {X: x + w, Y: y + h}, {X: x, Y: y + h}})
			area.FillText(style, vg.Point{X: x + w/2, Y: y + h/2}, strconv.FormatFloat(n, 'g', countDigits(n), 64))
		}
	}
	return nil
}
