package figure

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
)

// Tile is a small square figure below the panels, with axes of its own: lines, or
// a table of counts.
type Tile struct {
	Title, XLabel, YLabel string
	// Lines are drawn on axes from 0 to 1, or, if Free, on axes that hold their points.
	Lines []Line
	Free  bool
	// Counts, in the place of lines, are rows of cells, of numbers that are not negative, the darker the larger their
	// share of the row; Columns and Rows are their names.
	Counts        [][]float64
	Columns, Rows []string
}

// Sizes in points.
const (
	tileHeight = 200 // of all tiles, with their titles and labels
	tileWidth  = 230
)

// drawTiles draws the tiles next to each other.
func drawTiles(c *canvas, frame rectangle, tiles []Tile) error {
	for i, t := range tiles {
		r := frame
		r.left += float64(i * tileWidth)
		r.right = min(r.left+tileWidth-10, frame.right)
		var err error
		if t.Counts != nil {
			err = t.table(c, r)
		} else {
			err = t.lines(c, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t Tile) lines(c *canvas, frame rectangle) error {
	p := newAxes(t.Title, t.XLabel, t.YLabel)
	p.grid = true
	for _, line := range t.Lines {
		points, err := line.points(false, false)
		if err != nil {
			return err
		}
		s := styleOf(line.Style)
		if line.Points {
			p.marks(points, s.marker, 1.5, s.color)
		} else {
			p.line(points, s.color, thick, s.dashes)
		}
	}
	if t.Free && p.x.min <= p.x.max { // there is a point
		if p.x.min == p.x.max {
			room := 0.5 * max(1e-3, math.Abs(p.x.min))
			p.x.min, p.x.max = p.x.min-room, p.x.max+room
		}
		p.y.linearRange()
	} else {
		p.x.min, p.x.max, p.y.min, p.y.max = 0, 1, 0, 1
	}
	p.x.ticks, p.y.ticks = decimalTicks{count: 5}, decimalTicks{count: 5}
	p.draw(c, frame, p.margins())
	return nil
}

// names are ticks at names, from a place on.
type names struct {
	list       []string
	from, step float64
}

func (n names) Ticks(float64, float64) (ticks []tick) {
	for k, name := range n.list {
		ticks = append(ticks, tick{n.from + n.step*float64(k), name})
	}
	return ticks
}

// countDigits are the digits of a cell: all of an integer, four of other numbers.
func countDigits(n float64) int {
	if n == math.Trunc(n) {
		return -1
	}
	return 4
}

func (t Tile) table(c *canvas, frame rectangle) error {
	if len(t.Counts) != len(t.Rows) {
		return fmt.Errorf("figure: %d rows of counts, but %d names of rows", len(t.Counts), len(t.Rows))
	}
	p := newAxes(t.Title, t.XLabel, t.YLabel)
	rows, columns := float64(len(t.Rows)), float64(len(t.Columns))
	p.hold(point{0, 0}, point{columns, rows})
	p.x.ticks, p.y.ticks = names{t.Columns, 0.5, 1}, names{t.Rows, rows - 0.5, -1} // the first row on top
	p.x.plain, p.y.plain = true, true
	area := p.draw(c, frame, p.margins())
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
			w, h := (area.right-area.left)/columns, (area.bottom-area.top)/rows
			x, y := area.left+w*float64(j), area.top+h*float64(i)
			c.fill(rectangle{x, y, x + w, y + h}.corners(), color.Gray{Y: uint8(255 - 110*share)})
			c.write(strconv.FormatFloat(n, 'g', countDigits(n), 64), point{x + w/2, y + h/2}, textSize+2, 0.5)
		}
	}
	return nil
}
