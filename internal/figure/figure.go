// Package figure draws figures below each other, each of stacked panels that share their
// horizontal axis, and writes them as PNG or SVG.
//
// The eight line styles differ in dash, marker and grey level as well as in
// colour, so that a figure can be read in black and white. Points that a panel
// cannot show (not a number, infinite, or not positive on a logarithmic axis)
// are left out, never moved.
package figure

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// Figure is a title, stacked panels, and the label of their common axis, which
// begins at 0 or is logarithmic on request.
type Figure struct {
	Title, XLabel   string
	XFromZero, LogX bool
	// Start is where a reader of its numbers begins; 0 for the last place.
	Start  float64
	Panels []Panel
	// PanelHeight is the height of each panel in points, with its axis; 0 means 130.
	PanelHeight float64
	// Below are figures in the same picture, of which those without a point are left out.
	Below []Figure
	// ID, Caption and About are for a page: its identifier there, what stands beside it, and what it says in words.
	ID, Caption, About string
}

// Area is where the data of a panel stand in the picture, in points from its upper left corner, which are the units of
// the SVG.
type Area struct {
	// Panel is the index of the panel: one without points is not drawn.
	Panel                    int
	Left, Right, Top, Bottom float64

	x axis
}

// X is the horizontal place of a value.
func (a Area) X(v float64) float64 { return a.Left + a.x.share(v)*(a.Right-a.Left) }

// Panel is one plot of the stack: lines, or the cells of a matrix.
type Panel struct {
	YLabel string
	LogY   bool
	Lines  []Line
	Cells  *Cells
	// Band are two abscissae between which the ground is grey, behind all lines; none where they are equal.
	Band [2]float64
	// NoLegend says that the names of the lines are in the legend of another panel.
	NoLegend bool
}

// Add adds a point to the line of a name, which is the last one where it is new, of the style.
func (panel *Panel) Add(name string, style int, x, y float64) {
	at := slices.IndexFunc(panel.Lines, func(l Line) bool { return l.Name == name })
	if at < 0 {
		at, panel.Lines = len(panel.Lines), append(panel.Lines, Line{Name: name, Style: style})
	}
	l := &panel.Lines[at]
	l.X, l.Y = append(l.X, x), append(l.Y, y)
}

// Line is a sequence of points, X and Y of equal length. Its name goes into the
// legend, unless it is empty. Style is the index of its dash, marker and colour,
// modulo their number. Points leaves the line out and marks all points. Steps keep
// each value until the next abscissa. Error, if any, has half the length of a vertical bar
// for each point. Thin lines have no markers, and stand behind the others.
type Line struct {
	Name   string
	X, Y   []float64
	Style  int
	Points bool
	Thin   bool
	Steps  bool
	Error  []float64
}

// Sizes in points. The margin holds the legends, so that they hide no data.
const (
	width        = 620
	titleHeight  = 26
	panelHeight  = 130
	tallPanel    = 200 // from which on there is room for more ticks
	xLabelHeight = 24  // below the last panel
	legendMargin = 118
	textSize     = 9
	maxMarkers   = 24 // on a line of more points, only every so many are marked
)

// style is how a line looks.
type style struct {
	color  color.Color
	dashes []float64
	marker marker
}

// The grey levels of the first two colours are 0.22 and 0.60 (Rec. 709), far enough apart in print; the others
// differ from these, and from each other, by dashes and markers.
var styles = []style{
	{color.RGBA{R: 0x0b, G: 0x3c, B: 0x6f, A: 0xff}, nil, disc},
	{color.RGBA{R: 0x0b, G: 0x3c, B: 0x6f, A: 0xff}, []float64{5, 3}, ring},
	{color.RGBA{R: 0xe0, G: 0x84, B: 0x2a, A: 0xff}, nil, solid(triangle, 1.2)},
	{color.RGBA{R: 0xe0, G: 0x84, B: 0x2a, A: 0xff}, []float64{5, 3}, hollow(triangle, 1.2)},
	{color.RGBA{R: 0x2f, G: 0x7d, B: 0x4f, A: 0xff}, []float64{1.5, 2}, solid(square, 0.9)},
	{color.RGBA{R: 0xa0, G: 0x40, B: 0x90, A: 0xff}, []float64{8, 2, 1.5, 2}, hollow(square, 0.9)},
	{color.RGBA{R: 0x20, G: 0x20, B: 0x20, A: 0xff}, []float64{1.5, 4}, strokes(point{0.8, 0.8}, point{0.8, -0.8})},
	{color.RGBA{R: 0x80, G: 0x80, B: 0x80, A: 0xff}, nil, strokes(point{1, 0}, point{0, 1})},
}

// styleOf is the style of an index.
func styleOf(index int) style { return styles[((index%len(styles))+len(styles))%len(styles)] }

// Format returns the format that the name of a file asks for, "png" or "svg".
func Format(path string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".png", ".svg":
		return ext[1:], nil
	default:
		return "", fmt.Errorf("%s: a figure is written as .png or .svg", path)
	}
}

// ErrNothing says that a figure has no point that can be shown.
var ErrNothing = errors.New("figure: there is nothing to draw")

// As writes the figure in the format that the name of a file asks for.
func (f Figure) As(path string) func(w io.Writer) error {
	return func(w io.Writer) error {
		format, err := Format(path)
		if err == nil {
			_, err = f.Draw(w, format)
		}
		return err
	}
}

// Draw draws the figure in the format "png", or else as SVG, and says where the data of the panels stand. Panels
// without a point that can be shown are left out; a figure without any is an error. Lines whose parts have not the same
// length, and cells with another number of names, are a mistake of the caller, and panic.
func (f Figure) Draw(w io.Writer, format string) ([]Area, error) {
	c := &canvas{width: width}
	areas, err := f.on(c)
	if err != nil {
		return nil, err
	}
	for _, below := range f.Below {
		if _, err := below.on(c); err != nil && !errors.Is(err, ErrNothing) {
			return nil, err
		}
	}
	if format == "png" {
		return areas, c.png(w)
	}
	return areas, c.svg(w)
}

// on draws the figure below what is on a canvas.
func (f Figure) on(c *canvas) ([]Area, error) {
	panels := f.plots()
	if panels == nil {
		return nil, ErrNothing
	}
	each := cmp.Or(f.PanelHeight, panelHeight)
	f.drawTitle(c)
	top := c.height + titleHeight
	c.height = top + each*float64(len(panels)) + xLabelHeight + panels[len(panels)-1].x.deep()
	shared := rectangle{}
	for _, p := range panels {
		m := p.margins()
		shared.left, shared.right = max(shared.left, m.left), max(shared.right, m.right)
	}
	var areas []Area
	for i, p := range panels {
		frame := rectangle{6, top + each*float64(i), width - legendMargin, top + each*float64(i+1) - 8}
		if i == len(panels)-1 {
			frame.bottom = c.height - 2
		}
		m := p.margins()
		m.left, m.right = shared.left, shared.right
		area := p.draw(c, frame, m)
		areas = append(areas, Area{p.panel, area.left, area.right, area.top, area.bottom, p.x})
		p.drawLegend(c, point{width - legendMargin + 8, frame.top})
		if p.scale != nil {
			p.scale.drawScale(c, area)
		}
	}
	return areas, nil
}

// plots returns those of the panels that have something to draw, over the same range of x, labelled below the last.
func (f Figure) plots() (plots []*axes) {
	xmin, xmax := math.Inf(1), math.Inf(-1)
	for i, panel := range f.Panels {
		p := panel.plot(f.LogX)
		if p == nil {
			continue
		}
		p.panel = i
		if f.PanelHeight >= tallPanel && !panel.LogY && panel.Cells == nil {
			p.y.ticks = decimalTicks(8)
		}
		xmin, xmax = min(xmin, p.x.min), max(xmax, p.x.max)
		plots = append(plots, p)
	}
	if f.XFromZero && !f.LogX {
		xmin, xmax = min(xmin, 0), max(xmax, 0)
	}
	if xmax == xmin { // a single point: give it room
		xmin, xmax = xmin-0.5*max(1e-3, math.Abs(xmin)), xmax+0.5*max(1e-3, math.Abs(xmax))
		if f.LogX {
			xmin, xmax = max(xmin, xmax/4), min(xmax, math.MaxFloat64)
		}
	}
	for i, p := range plots {
		p.x.min, p.x.max = xmin, xmax
		if i == len(plots)-1 {
			p.xLabel = f.XLabel
		} else {
			p.x.bare = true
		}
	}
	return plots
}

// drawTitle writes the title in the middle of the panels, over the legends too, and smaller if that is not enough.
func (f Figure) drawTitle(c *canvas) {
	const size = textSize + 2
	middle := float64(width-legendMargin) / 2
	if widthOf(f.Title, size) > width-legendMargin-12 {
		middle = width / 2
	}
	if f.Title != "" {
		c.write(f.Title, point{middle, c.height + titleHeight/2}, fitting(f.Title, size, width-12), 0.5)
	}
}

// fitting is a size, or what is left of it where a text has only so much room.
func fitting(text string, size, room float64) float64 {
	return size * min(1, room/max(widthOf(text, size), 1))
}

// drawLegend writes the names of the lines below each other, each after a piece of its line, smaller where there is no
// room.
func (a *axes) drawLegend(c *canvas, at point) {
	const piece, row = 26, textSize + 3
	for k, l := range a.legend {
		s, y := styleOf(l.Style), at.y+row*(float64(k)+0.5)
		switch {
		case l.Thin:
			c.line([]point{{at.x, y}, {at.x + piece, y}}, s.color, thin, s.dashes...)
		case !l.Points:
			c.line([]point{{at.x, y}, {at.x + piece, y}}, s.color, thick, s.dashes...)
		}
		if !l.Thin {
			s.marker(c, point{at.x + piece/2, y}, l.markSize(), s.color)
		}
		from := at.x + piece + 4
		c.write(l.Name, point{from, y}, fitting(l.Name, textSize, width-2-from), 0)
	}
}

// Widths of lines and the size of marks.
const (
	thick, thin, barWidth = 1.2, 0.6, 0.7
	markRadius            = 2.5
)

// markSize is that of the marks of a line: a single point is large.
func (l *Line) markSize() float64 {
	if l.Points && len(l.X) == 1 {
		return 2 * markRadius
	}
	return markRadius
}

// plot is the plot of a panel; nil when it has no points.
func (panel Panel) plot(logX bool) *axes {
	nothing := axis{min: math.Inf(1), max: math.Inf(-1)}
	p := &axes{yLabel: panel.YLabel, x: nothing, y: nothing}
	if panel.Cells != nil {
		return panel.Cells.plot(p)
	}
	p.grid = true
	p.band = panel.Band
	for _, line := range thinFirst(panel.Lines) {
		points := line.points(logX, panel.LogY)
		if len(points) == 0 {
			continue
		}
		s := styleOf(line.Style)
		switch {
		case line.Thin:
			p.line(points, s.color, thin, s.dashes)
		case line.Points:
			p.marks(points, s.marker, line.markSize(), s.color)
		default:
			p.line(points, s.color, thick, s.dashes)
			step := (len(points) + maxMarkers - 1) / maxMarkers
			var marked []point
			for i := len(points) - 1; i >= 0; i -= step { // from the last one, which is the result
				marked = append(marked, points[i])
			}
			p.marks(marked, s.marker, markRadius, s.color)
		}
		for _, bar := range line.bars(logX, panel.LogY) {
			p.line(bar, s.color, barWidth, nil)
		}
		if line.Name != "" && !panel.NoLegend {
			p.legend = append(p.legend, line)
		}
	}
	if p.content == nil {
		return nil
	}
	p.x.ticks = decimalTicks(6)
	if logX {
		p.x.log, p.x.ticks = true, logTicks
	}
	if panel.LogY {
		p.y.logRange()
	} else {
		p.y.linearRange()
	}
	return p
}

// thinFirst puts thin lines in front, which others are drawn over.
func thinFirst(lines []Line) (out []Line) {
	for _, thin := range []bool{true, false} {
		for _, l := range lines {
			if l.Thin == thin {
				out = append(out, l)
			}
		}
	}
	return out
}

// points returns the points that can be shown.
func (l Line) points(logX, logY bool) (points []point) {
	if len(l.X) != len(l.Y) {
		panic(fmt.Sprintf("figure: line %q has %d abscissae and %d ordinates", l.Name, len(l.X), len(l.Y)))
	}
	for i, x := range l.X {
		y := l.Y[i]
		if math.IsNaN(x+y) || math.IsInf(x, 0) || math.IsInf(y, 0) || logX && x <= 0 || logY && y <= 0 {
			continue
		}
		if n := len(points); l.Steps && n > 0 {
			points = append(points, point{x, points[n-1].y})
		}
		points = append(points, point{x, y})
	}
	return points
}

// bars returns the vertical bars of the points that can be shown; on a logarithmic axis those that reach below 0 are
// left out.
func (l Line) bars(logX, logY bool) (bars [][]point) {
	for i, x := range l.X {
		if l.Error == nil {
			break
		}
		end := Line{X: []float64{x, x}, Y: []float64{l.Y[i] - l.Error[i], l.Y[i] + l.Error[i]}}
		if points := end.points(logX, logY); len(points) == 2 {
			bars = append(bars, points)
		}
	}
	return bars
}
