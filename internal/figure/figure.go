// Package figure draws one figure of stacked panels that share their
// horizontal axis, and writes it as PNG or SVG.
//
// The eight line styles differ in dash, marker and grey level as well as in
// colour, so that a figure can be read in black and white. Points that a panel
// cannot show (not a number, infinite, or not positive on a logarithmic axis)
// are left out, never moved.
package figure

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/conetune/conetune/internal/textfile"
)

// Figure is a title, stacked panels, and the label of their common axis, which
// begins at 0 or is logarithmic on request. A map and tiles stand below the panels.
type Figure struct {
	Title, XLabel   string
	XFromZero, LogX bool
	Panels          []Panel
	Map             *Map
	Tiles           []Tile
	// PanelHeight is the height of each panel in points, with its axis; 0 means 130.
	PanelHeight float64
}

// Area is where the data of a panel stand in the picture, in points from its upper left corner, which are the units of
// the SVG. LogX is that of the figure.
type Area struct {
	// Panel is the index of the panel: one without points is not drawn.
	Panel                    int
	Left, Right, Top, Bottom float64
	// XMin and XMax are the values at Left and Right.
	XMin, XMax float64
	LogX       bool
}

// X is the horizontal place of a value.
func (a Area) X(v float64) float64 {
	lo, hi := a.XMin, a.XMax
	if a.LogX {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	return a.Left + (v-lo)/(hi-lo)*(a.Right-a.Left)
}

// Panel is one plot of the stack.
type Panel struct {
	YLabel string
	LogY   bool
	Lines  []Line
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
	dashes []vg.Length
	marker draw.GlyphDrawer
}

// The grey levels of the first two colours are 0.22 and 0.60 (Rec. 709), far enough apart in print; the others
// differ from these, and from each other, by dashes and markers.
var styles = []style{
	{color.RGBA{R: 0x0b, G: 0x3c, B: 0x6f, A: 0xff}, nil, draw.CircleGlyph{}},
	{color.RGBA{R: 0x0b, G: 0x3c, B: 0x6f, A: 0xff}, []vg.Length{5, 3}, draw.RingGlyph{}},
	{color.RGBA{R: 0xe0, G: 0x84, B: 0x2a, A: 0xff}, nil, draw.PyramidGlyph{}},
	{color.RGBA{R: 0xe0, G: 0x84, B: 0x2a, A: 0xff}, []vg.Length{5, 3}, draw.TriangleGlyph{}},
	{color.RGBA{R: 0x2f, G: 0x7d, B: 0x4f, A: 0xff}, []vg.Length{1.5, 2}, draw.SquareGlyph{}},
	{color.RGBA{R: 0xa0, G: 0x40, B: 0x90, A: 0xff}, []vg.Length{8, 2, 1.5, 2}, draw.BoxGlyph{}},
	{color.RGBA{R: 0x20, G: 0x20, B: 0x20, A: 0xff}, []vg.Length{1.5, 4}, draw.CrossGlyph{}},
	{color.RGBA{R: 0x80, G: 0x80, B: 0x80, A: 0xff}, nil, draw.PlusGlyph{}},
}

// Format returns the format that the name of a file asks for, "png" or "svg".
func Format(path string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".png", ".svg":
		return ext[1:], nil
	default:
		return "", fmt.Errorf("%s: a figure is written as .png or .svg", path)
	}
}

// Write draws the figure in the format "png" or "svg". Panels without a point
// that can be shown are left out; a figure without any is an error.
func (f Figure) Write(w io.Writer, format string) error {
	_, err := f.Draw(w, format)
	return err
}

// Draw is Write; it says where the data stand.
func (f Figure) Draw(w io.Writer, format string) ([]Area, error) {
	plots, areas, err := f.plots()
	if err != nil {
		return nil, err
	}
	each := vg.Length(panelHeight)
	if f.PanelHeight > 0 {
		each = vg.Length(f.PanelHeight)
	}
	height := titleHeight + each*vg.Length(len(plots)) + xLabelHeight
	tiles, below := vg.Length(0), vg.Length(0)
	if len(f.Tiles) > 0 {
		tiles, below = tileHeight, tileHeight
	}
	if f.Map != nil {
		below += mapHeight
	}
	raw, err := draw.NewFormattedCanvas(width, height+below, format)
	if err != nil {
		return nil, err
	}
	canvas := printable{raw}
	dc := draw.New(canvas)
	dc.FillPolygon(color.White, []vg.Point{dc.Min, {X: dc.Max.X, Y: dc.Min.Y}, dc.Max, {X: dc.Min.X, Y: dc.Max.Y}})
	f.drawTitle(dc, plots[0].Title.TextStyle)
	if f.Map != nil {
		if err := f.Map.draw(draw.Crop(dc, 6, -legendMargin+scaleMargin, 6+tiles, -height-6)); err != nil {
			return nil, err
		}
	}
	for i, c := range align(plots, draw.Crop(dc, 6, -legendMargin, 2+below, -titleHeight), each) {
		legend := plots[i].Legend
		plots[i].Legend = plot.NewLegend()
		plots[i].Draw(c)
		data := plots[i].DataCanvas(c)
		areas[i].Left, areas[i].Right = data.Min.X.Points(), data.Max.X.Points()
		areas[i].Top, areas[i].Bottom = (height + below - data.Max.Y).Points(), (height + below - data.Min.Y).Points()
		legend.Top, legend.Left = true, true
		c.Min.X, c.Max.X = c.Max.X+8, dc.Max.X
		legend.Draw(c)
	}
	foot := dc
	foot.Max.Y = dc.Min.Y + tiles - 14
	if err := drawTiles(draw.Crop(foot, 6, -6, 4, 0), f.Tiles); err != nil {
		return nil, err
	}
	if _, err = canvas.WriteTo(w); err != nil {
		return nil, err
	}
	return areas, nil
}

// printable is a canvas on which names are drawn as [textfile.Printable]: XML has no place for control characters.
type printable struct{ vg.CanvasWriterTo }

// FillString implements [vg.Canvas].
func (p printable) FillString(f font.Face, at vg.Point, text string) {
	p.CanvasWriterTo.FillString(f, at, textfile.Printable(text))
}

// plots returns those of the panels that have something to draw, over the same range of x, labelled below the last.
func (f Figure) plots() (plots []*plot.Plot, areas []Area, err error) {
	xmin, xmax := math.Inf(1), math.Inf(-1)
	for i, panel := range f.Panels {
		p, err := panel.plot(f.LogX)
		if err != nil {
			return nil, nil, err
		}
		if p == nil {
			continue
		}
		if f.PanelHeight >= tallPanel && !panel.LogY {
			p.Y.Tick.Marker = decimalTicks{count: 8}
		}
		xmin, xmax = min(xmin, p.X.Min), max(xmax, p.X.Max)
		plots, areas = append(plots, p), append(areas, Area{Panel: i, LogX: f.LogX})
	}
	if len(plots) == 0 {
		return nil, nil, fmt.Errorf("figure: there is nothing to draw")
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
		p.X.Min, p.X.Max = xmin, xmax
		areas[i].XMin, areas[i].XMax = xmin, xmax
		if i == len(plots)-1 {
			p.X.Label.Text = f.XLabel
		} else {
			p.X.Tick.Marker = unlabelled{p.X.Tick.Marker}
			p.X.Tick.Label.Font.Size = 1
		}
	}
	return plots, areas, nil
}

// drawTitle writes the title in the middle of the panels, over the legends too, and smaller if that is not enough.
func (f Figure) drawTitle(dc draw.Canvas, style draw.TextStyle) {
	style.Font.Size = textSize + 2
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	middle := (dc.Min.X + dc.Max.X - legendMargin) / 2
	if w := style.Width(f.Title); w > width-legendMargin-12 {
		middle = (dc.Min.X + dc.Max.X) / 2
		style.Font.Size *= min(1, (width-12)/w)
	}
	dc.FillText(style, vg.Point{X: middle, Y: dc.Max.Y - titleHeight/2}, f.Title)
}

// align stacks the panels on a canvas, the last one higher by what the labels of
// the common axis take, with the ends of all horizontal axes below each other.
func align(plots []*plot.Plot, whole draw.Canvas, each vg.Length) []draw.Canvas {
	canvases := make([]draw.Canvas, len(plots))
	var left, right vg.Length
	top := whole.Max.Y
	for i, p := range plots {
		c := whole
		c.Max.Y, c.Min.Y = top, top-each+8
		if i == len(plots)-1 {
			c.Min.Y = whole.Min.Y
		}
		top -= each
		data := p.DataCanvas(c)
		left, right = max(left, data.Min.X-c.Min.X), max(right, c.Max.X-data.Max.X)
		canvases[i] = c
	}
	for i, p := range plots {
		data := p.DataCanvas(canvases[i])
		canvases[i] = draw.Crop(canvases[i], left-(data.Min.X-whole.Min.X), (whole.Max.X-data.Max.X)-right, 0, 0)
	}
	return canvases
}

// plot builds the gonum plot of a panel; nil when it has no points. The legend is
// drawn by the caller, outside the axes.
func (panel Panel) plot(logX bool) (*plot.Plot, error) {
	p := plot.New()
	small(p)
	p.Y.Label.Text = panel.YLabel
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{Y: 0xe0}, color.Gray{Y: 0xe0}
	p.Add(grid)
	shown := 0
	legend := plot.NewLegend()
	legend.TextStyle.Font.Size = textSize
	legend.ThumbnailWidth, legend.Padding = 26, 4
	for _, line := range thinFirst(panel.Lines) {
		points, err := line.points(logX, panel.LogY)
		if err != nil {
			return nil, err
		}
		bars, err := line.bars(logX, panel.LogY)
		if err != nil {
			return nil, err
		}
		if len(points) == 0 {
			continue
		}
		shown++
		s := styles[((line.Style%len(styles))+len(styles))%len(styles)]
		l := &plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: s.color, Width: 1.2, Dashes: s.dashes}}
		step := (len(points) + maxMarkers - 1) / maxMarkers
		var marked plotter.XYs
		for i := len(points) - 1; i >= 0; i -= step { // from the last one, which is the result
			marked = append(marked, points[i])
		}
		m := &plotter.Scatter{XYs: marked, GlyphStyle: draw.GlyphStyle{Color: s.color, Radius: 2.5, Shape: s.marker}}
		switch {
		case line.Thin:
			l.Width = 0.6
			p.Add(l)
		case line.Points:
			m.XYs = points
			if len(points) == 1 {
				m.Radius *= 2
			}
			p.Add(m)
		default:
			p.Add(l, m)
		}
		for _, bar := range bars {
			p.Add(&plotter.Line{XYs: bar, LineStyle: draw.LineStyle{Color: s.color, Width: 0.7}})
		}
		switch {
		case line.Name == "":
		case line.Thin:
			legend.Add(line.Name, l)
		case line.Points:
			legend.Add(line.Name, m)
		default:
			legend.Add(line.Name, l, m)
		}
	}
	if shown == 0 {
		return nil, nil
	}
	p.X.Tick.Marker = decimalTicks{count: 6}
	if logX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{}
	}
	if panel.LogY {
		logRange(p)
	} else {
		linearRange(p)
	}
	p.Legend = legend
	return p, nil
}

// thinFirst puts thin lines in front, which others are drawn over.
func thinFirst(lines []Line) []Line {
	out := slices.Clone(lines)
	slices.SortStableFunc(out, func(a, b Line) int {
		switch {
		case a.Thin == b.Thin:
			return 0
		case a.Thin:
			return -1
		}
		return 1
	})
	return out
}

// points returns the points that can be shown.
func (l Line) points(logX, logY bool) (plotter.XYs, error) {
	if len(l.X) != len(l.Y) {
		return nil, fmt.Errorf("figure: line %q has %d abscissae and %d ordinates", l.Name, len(l.X), len(l.Y))
	}
	var points plotter.XYs
	for i, x := range l.X {
		y := l.Y[i]
		if math.IsNaN(x+y) || math.IsInf(x, 0) || math.IsInf(y, 0) || logX && x <= 0 || logY && y <= 0 {
			continue
		}
		if n := len(points); l.Steps && n > 0 {
			points = append(points, plotter.XY{X: x, Y: points[n-1].Y})
		}
		points = append(points, plotter.XY{X: x, Y: y})
	}
	return points, nil
}

// bars returns the vertical bars of the points that can be shown; on a logarithmic axis those that reach below 0 are left out.
func (l Line) bars(logX, logY bool) (bars []plotter.XYs, err error) {
	if l.Error != nil && len(l.Error) != len(l.X) {
		return nil, fmt.Errorf("figure: line %q has %d abscissae and %d bars", l.Name, len(l.X), len(l.Error))
	}
	for i, half := range l.Error {
		end := Line{X: []float64{l.X[i], l.X[i]}, Y: []float64{l.Y[i] - half, l.Y[i] + half}}
		if points, err := end.points(logX, logY); err == nil && len(points) == 2 {
			bars = append(bars, points)
		}
	}
	return bars, nil
}

// small sets the sizes of all text of a plot.
func small(p *plot.Plot) {
	for _, f := range []*font.Length{&p.X.Label.TextStyle.Font.Size, &p.Y.Label.TextStyle.Font.Size, &p.X.Tick.Label.Font.Size, &p.Y.Tick.Label.Font.Size} {
		*f = textSize
	}
	p.Y.Label.Padding, p.X.Label.Padding = 4, 2
	p.X.Tick.Length, p.Y.Tick.Length = 4, 4
}
