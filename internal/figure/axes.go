package figure

import (
	"image/color"
	"math"
	"strconv"
)

// axes are the plot of a panel: two axes, what stands between them, and beside them a legend or the scale of colours.
type axes struct {
	panel          int // its index
	xLabel, yLabel string
	x, y           axis
	grid           bool
	band           [2]float64 // of x, with a grey ground
	content        []func(c *canvas, at func(p point) point)
	legend         []Line
	scale          *blocks
}

// axis is one of the two; one that goes down has its largest value as min.
type axis struct {
	min, max float64
	log      bool
	ticks    ticker
	bare     bool // without labels
	upright  bool // with labels that read upwards
}

// deep is by how much labels that read upwards are deeper than others.
func (a *axis) deep() (deep float64) {
	if a.upright {
		for _, t := range a.marks() {
			deep = max(deep, widthOf(t.label, textSize)-textSize)
		}
	}
	return deep
}

// ticker puts ticks between two values.
type ticker func(lo, hi float64) []tick

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

var gridColor, bandColor = color.Gray{Y: 0xe0}, color.Gray{Y: 0xf0}

// marks are the ticks of an axis.
func (a *axis) marks() []tick { return a.ticks(min(a.min, a.max), max(a.min, a.max)) }

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

// add makes the ranges hold points, and has them drawn.
func (a *axes) add(points []point, draw func(c *canvas, placed []point)) {
	for _, p := range points {
		a.x.min, a.x.max = min(a.x.min, p.x), max(a.x.max, p.x)
		a.y.min, a.y.max = min(a.y.min, p.y), max(a.y.max, p.y)
	}
	a.content = append(a.content, func(c *canvas, at func(point) point) {
		placed := make([]point, len(points))
		for k, p := range points {
			placed[k] = at(p)
		}
		draw(c, placed)
	})
}

// line adds a line.
func (a *axes) line(points []point, col color.Color, width float64, dashes []float64) {
	a.add(points, func(c *canvas, placed []point) { c.line(placed, col, width, dashes...) })
}

// marks adds a mark at each point.
func (a *axes) marks(points []point, m marker, r float64, col color.Color) {
	a.add(points, func(c *canvas, placed []point) {
		for _, p := range placed {
			m(c, p, r, col)
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
		m.bottom += textSize + labelGap + a.x.deep()
		for _, t := range a.x.marks() {
			half := widthOf(t.label, textSize) / 2
			if a.x.upright {
				half = textSize / 2
			}
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
	area := rectangle{frame.left + margins.left, frame.top + margins.top, frame.right - margins.right,
		frame.bottom - margins.bottom}
	at := func(p point) point {
		return point{area.left + a.x.share(p.x)*(area.right-area.left), area.bottom - a.y.share(p.y)*(area.bottom-area.top)}
	}
	if a.band[0] != a.band[1] {
		c.fill(rectangle{at(point{a.band[0], 0}).x, area.top, at(point{a.band[1], 0}).x, area.bottom}.corners(), bandColor)
	}
	middle := point{(area.left + area.right) / 2, (area.top + area.bottom) / 2}
	a.x.draw(c, a.grid, area.bottom-area.top, func(v, out float64) point {
		return point{at(point{v, a.y.min}).x, area.bottom + axisGap + out}
	}, func(text string, p point) {
		if a.x.upright {
			c.writeUp(text, point{p.x, p.y + widthOf(text, textSize)/2}, textSize)
		} else {
			c.write(text, point{p.x, p.y + textSize/2}, textSize, 0.5)
		}
	})
	if a.xLabel != "" {
		c.write(a.xLabel, point{middle.x, area.bottom + margins.bottom - textSize/2},
			fitting(a.xLabel, textSize, 2*min(middle.x, width-middle.x)), 0.5)
	}
	a.y.draw(c, a.grid, area.right-area.left, func(v, out float64) point {
		return point{area.left - axisGap - out, at(point{a.x.min, v}).y}
	}, func(text string, p point) { c.write(text, p, textSize, 1) })
	if a.yLabel != "" {
		c.writeUp(a.yLabel, point{frame.left + textSize/2, middle.y},
			fitting(a.yLabel, textSize, 2*min(middle.y-frame.top, frame.bottom-middle.y)))
	}
	for _, draw := range a.content {
		draw(c, at)
	}
	return area
}

// draw draws an axis with its ticks and labels, and a grid across the data where there is one. place is the point at a
// value, so far out from the axis.
func (a *axis) draw(c *canvas, grid bool, across float64, place func(v, out float64) point,
	write func(label string, at point)) {
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

// linearRange gives a linear axis room above and below the data.
func (a *axis) linearRange() {
	room := 0.06 * (a.max - a.min)
	if room <= 1e-12*max(math.Abs(a.max), math.Abs(a.min)) { // constant
		room = max(0.1*math.Abs(a.max), 1e-12)
	}
	a.min, a.max = a.min-room, a.max+room
	a.ticks = decimalTicks(4)
}

// logRange gives a logarithmic axis room above and below the data.
func (a *axis) logRange() {
	room := math.Pow(a.max/a.min, 0.08)
	if !(room > 1.001) { // constant
		room = 2
	}
	a.min, a.max = max(a.min/room, math.SmallestNonzeroFloat64), min(a.max*room, math.MaxFloat64)
	a.log, a.ticks = true, logTicks
}

// decimalTicks puts about count ticks at multiples of 1, 2 or 5 times a power of ten.
func decimalTicks(count int) ticker {
	return func(lo, hi float64) (ticks []tick) {
		step := niceStep((hi - lo) / float64(count))
		if !(step > 0) || math.IsInf(step, 0) || lo+step == lo || hi+step == hi {
			return []tick{{lo, label(lo)}}
		}
		first := math.Ceil(lo/step - 1e-9)
		for i := range 2 * count {
			if v := (first + float64(i)) * step; v <= hi+1e-9*step {
				ticks = append(ticks, tick{v, label(v)})
			}
		}
		return ticks
	}
}

// names are ticks at 0, 1, and so on.
func names(list []string) ticker {
	return func(float64, float64) (ticks []tick) {
		for k, name := range list {
			ticks = append(ticks, tick{float64(k), name})
		}
		return ticks
	}
}

// niceStep returns the smallest of 1, 2, 5 times a power of ten that is at least x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= x*(1-1e-9) {
			return f * power
		}
	}
	return 10 * power
}

// logTicks labels powers of ten: all, or every so many when there are more than
// five. Below two decades it labels 1, 2 and 5 times the powers, and within a
// part of one it falls back to decimal steps.
func logTicks(lo, hi float64) []tick {
	first, last := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	decades := math.Log10(hi) - math.Log10(lo)
	every := 1 + int(decades/5)
	var ticks []tick
	labelled := 0
	for e := first; e <= last; e++ {
		for f := 1; f <= 9; f++ {
			v := float64(f) * math.Pow10(e)
			if v < lo*(1-1e-12) || v > hi*(1+1e-12) {
				continue
			}
			mark := tick{value: v}
			switch {
			case f == 1 && ((e%every)+every)%every == 0:
				mark.label = label(v)
			case decades < 2 && (f == 2 || f == 5):
				mark.label = label(v)
			case decades > 4 && f != 1:
				continue // small ticks would run into each other
			}
			if mark.label != "" {
				labelled++
			}
			ticks = append(ticks, mark)
		}
	}
	if labelled < 3 && decades < 2 {
		return decimalTicks(5)(lo, hi)
	}
	return ticks
}

// label writes a tick value shortly: 0.001, 25, 1e-06.
func label(v float64) string {
	if v == 0 {
		return "0"
	}
	if a := math.Abs(v); a >= 1e5 || a < 1e-3 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 5, 64) // so that 3*0.1 reads 0.3
}
