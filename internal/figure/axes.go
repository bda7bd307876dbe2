package figure

import (
	"image/color"
	"math"
)

// axes are a plot: two axes and what stands between them.
type axes struct {
	xLabel, yLabel string
	x, y           axis
	grid           bool
	content        []func(c *canvas, at func(p point) point)
}

// axis is one of the two; one that goes down has its largest value as min.
type axis struct {
	min, max float64
	log      bool
	ticks    ticker
	bare     bool // without labels
}

// ticker puts ticks between two values.
type ticker interface{ Ticks(lo, hi float64) []tick }

// tick is a mark on an axis; a minor one has no label.
type tick struct {
	value float64
	label string
}

// Sizes in points.
const (
	tickLength = 4
	axisGap    = 4 // between the data and the axis
	labelGap   = 3
	axisWidth  = 0.5
)

var gridColor = color.Gray{Y: 0xe0}

// newAxes are axes whose ranges hold nothing yet.
func newAxes(yLabel string) *axes {
	none := axis{min: math.Inf(1), max: math.Inf(-1)}
	return &axes{yLabel: yLabel, x: none, y: none}
}

// marks are the ticks of an axis.
func (a *axis) marks() []tick { return a.ticks.Ticks(min(a.min, a.max), max(a.min, a.max)) }

// share is where a value stands between the ends of the axis.
func (a *axis) share(v float64) float64 {
	lo, hi := a.min, a.max
	if a.log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	if s := (v - lo) / (hi - lo); !math.IsNaN(s) && !math.IsInf(hi-lo, 0) {
		return s
	}
	return (v/2 - lo/2) / (hi/2 - lo/2) // beyond the largest number
}

// hold makes the ranges hold points.
func (a *axes) hold(points ...point) {
	for _, p := range points {
		a.x.min, a.x.max = min(a.x.min, p.x), max(a.x.max, p.x)
		a.y.min, a.y.max = min(a.y.min, p.y), max(a.y.max, p.y)
	}
}

// line adds a line.
func (a *axes) line(points []point, col color.Color, width float64, dashes []float64) {
	a.hold(points...)
	a.content = append(a.content, func(c *canvas, at func(point) point) {
		placed := make([]point, len(points))
		for k, p := range points {
			placed[k] = at(p)
		}
		c.line(placed, col, width, dashes...)
	})
}

// marks adds a mark at each point.
func (a *axes) marks(points []point, m marker, r float64, col color.Color) {
	a.hold(points...)
	a.content = append(a.content, func(c *canvas, at func(point) point) {
		for _, p := range points {
			m(c, at(p), r, col)
		}
	})
}

// margins are what the axes take around the data.
func (a *axes) margins() rectangle {
	m := rectangle{left: axisGap + tickLength + labelGap, top: textSize / 2, right: axisGap, bottom: axisGap + tickLength}
	widest := 0.0
	for _, t := range a.y.marks() {
		widest = max(widest, widthOf(t.label, textSize))
	}
	m.left += widest
	if a.yLabel != "" {
		m.left += textSize + 4
	}
	if !a.x.bare {
		m.bottom += textSize + labelGap
		for _, t := range a.x.marks() {
			half := widthOf(t.label, textSize) / 2
			m.right = max(m.right, half*a.x.share(t.value)) // a label at the end stands beyond it by half
		}
	}
	if a.xLabel != "" {
		m.bottom += textSize + 4
	}
	return m
}

// draw draws the axes into a frame with these margins, and returns where the data stand.
func (a *axes) draw(c *canvas, frame, margins rectangle) rectangle {
	area := rectangle{frame.left + margins.left, frame.top + margins.top, frame.right - margins.right, frame.bottom - margins.bottom}
	at := func(p point) point {
		return point{area.left + a.x.share(p.x)*(area.right-area.left), area.bottom - a.y.share(p.y)*(area.bottom-area.top)}
	}
	middle := point{(area.left + area.right) / 2, (area.top + area.bottom) / 2}
	a.x.draw(c, a.grid, area.bottom-area.top, func(v, out float64) point {
		return point{at(point{v, a.y.min}).x, area.bottom + axisGap + out}
	}, func(text string, p point) { c.write(text, point{p.x, p.y + textSize/2}, textSize, 0.5) })
	if a.xLabel != "" {
		c.write(a.xLabel, point{middle.x, area.bottom + margins.bottom - textSize/2}, textSize, 0.5)
	}
	a.y.draw(c, a.grid, area.right-area.left, func(v, out float64) point {
		return point{area.left - axisGap - out, at(point{a.x.min, v}).y}
	}, func(text string, p point) { c.write(text, p, textSize, 1) })
	if a.yLabel != "" {
		c.writeUp(a.yLabel, point{frame.left + textSize/2, middle.y}, textSize)
	}
	for _, draw := range a.content {
		draw(c, at)
	}
	return area
}

// draw draws an axis with its ticks and labels, and a grid across the data where there is one. place is the point at a
// value, so far out from the axis.
func (a *axis) draw(c *canvas, grid bool, across float64, place func(v, out float64) point, write func(label string, at point)) {
	for _, t := range a.marks() {
		length := float64(tickLength)
		switch {
		case t.label == "":
			length /= 2
		case grid:
			c.line([]point{place(t.value, -axisGap-across), place(t.value, -axisGap)}, gridColor, axisWidth)
		}
		c.line([]point{place(t.value, 0), place(t.value, length)}, color.Black, axisWidth)
		if !a.bare && t.label != "" {
			write(t.label, place(t.value, length+labelGap))
		}
	}
	c.line([]point{place(a.min, 0), place(a.max, 0)}, color.Black, axisWidth)
}
