package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/tune"
)

const (
	// curvePoints is how many points the curve has to each side of the selection.
	CurvePoints = 12
	// PathPoints is that of the file of a path, of about as many points as glmnet has.
	PathPoints = 48
	// namedPaths are the coefficients of a path that are drawn with a name, those of the largest effects, and morePaths
	// the next ones, thin and without.
	namedPaths, morePaths = 7, 60
	// mostNamed is the length of a name in a legend.
	mostNamed = 20
	// guideStyle is that of lines to the eye.
	guideStyle = 7
)

// curve is the validation error around the chosen weights, with bars of one standard error, and the choice; label says
// what it is over, and scale is the value there of the choice.
type curve struct {
	label        string
	scale        float64
	within       [2]float64 // from the first to the last point whose error is within one standard error of the choice
	line, chosen figure.Line
}

// CurveOf is the curve of a result, nil where there is none.
func CurveOf(r *tune.Result) *curve {
	if len(r.Curve) < 2 {
		return nil
	}
	c := &curve{
		label: "multiple of the chosen weights", scale: 1,
		line: figure.Line{Name: "mean ± s.e."}, chosen: figure.Line{Name: "chosen", Style: 2, Points: true},
	}
	if lambda, l1, ok := parametrised(r.Model, r.Lambda); ok {
		c.label, c.scale = "lambda", lambda
		if slices.Contains(mixing, r.Model) {
			c.label = "lambda, at l1_ratio " + words.Ratio(l1, 3)
		}
	}
	for _, p := range r.Curve {
		c.line.X, c.line.Y, c.line.Error = append(c.line.X, c.scale*p.Factor), append(c.line.Y, p.Validation),
			append(c.line.Error, p.StandardError)
		if p.Factor == 1 {
			c.chosen.X, c.chosen.Y = []float64{c.scale}, []float64{p.Validation}
			c.within = c.around(r.Curve, p)
		}
	}
	return c
}

// around are the ends of the points next to each other, the choice among them, whose error is above that of the choice
// by at most its standard error.
func (c *curve) around(points []tune.CurvePoint, chosen tune.CurvePoint) (ends [2]float64) {
	within := false // so far, up to the choice
	for _, p := range points {
		switch in := p.Validation <= chosen.Validation+chosen.StandardError; {
		case in && !within:
			ends[0], within = c.scale*p.Factor, true
			fallthrough
		case in:
			ends[1] = c.scale * p.Factor
		case p.Factor < chosen.Factor: // from the largest on
			return ends
		default:
			within = false
		}
	}
	return ends
}

// WritePath writes the curve of a result as CSV, from the largest weights on: the weights, of models with lambda and
// l1_ratio these, the error, and what is known of the fits that have them, in the end on request their coefficients.
func WritePath(w io.Writer, r *tune.Result, coefficients bool) error {
	weights := r.Names[:len(r.Lambda)]
	_, _, mixes := parametrised(r.Model, r.Lambda)
	if mixes {
		weights = []string{"lambda", "l1_ratio"}
	}
	head := slices.Concat([]string{"factor"}, weights, []string{"degrees_of_freedom", "validation_error", "standard_error",
		"features"})
	targets := []string{""}
	if r.RefitFit.Targets != nil {
		targets = words.Prefixed("_", r.RefitFit.Targets)
	}
	if coefficients {
		head = append(head, words.Prefixed("intercept", targets)...)
		for _, feature := range r.RefitFit.Features {
			head = append(head, words.Prefixed("coefficient_"+feature, targets)...)
		}
	}
	lines := [][]string{head}
	for _, p := range r.Curve {
		values := append([]float64{p.Factor}, p.Lambda...)
		if lambda := floats.Sum(p.Lambda); mixes {
			values = []float64{p.Factor, lambda, p.Lambda[0] / lambda}
			if r.Model == "ridge" {
				values[2] = 0
			}
		}
		freedom, features := "", ""
		values = append(values, p.Validation, p.StandardError)
		if p.Fit.Coefficients != nil {
			features = fmt.Sprint(p.Fit.Used())
			if known := p.Fit.Freedom; known != nil {
				if v := known.Of(); v != nil {
					freedom = words.Exact(*v)
				}
			}
			if coefficients {
				values = slices.Concat(values, p.Fit.Constants(), p.Fit.Coefficients)
			}
		}
		line := words.Each(values, words.Exact)
		at := 1 + len(weights)
		line = slices.Insert(slices.Insert(line, at+2, features), at, freedom)
		lines = append(lines, append(line, make([]string, len(head)-len(line))...))
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// figure draws the curve.
func (c *curve) figure() figure.Figure {
	return figure.Figure{Title: "validation error", XLabel: c.label, LogX: true, Start: c.scale, PanelHeight: 240,
		Panels: []figure.Panel{{YLabel: "validation error", Lines: []figure.Line{c.line, c.chosen}}}}
}

// curveOnPage is the validation error around the chosen weights; nil where there is no curve.
func curveOnPage(run *Run, r *tune.Result) []*figure.Figure {
	c := CurveOf(r)
	if c == nil {
		return nil
	}
	last := len(c.line.X) - 1
	f := c.figure()
	f.ID = "curve"
	f.Caption = "Validation error (" + run.Spec.Unit() + ") over " + c.label + ", with bars of one standard error"
	f.About = fmt.Sprintf("The validation error from %s %s down to %s, the other hyperparameters in proportion: %s at "+
		"the largest, %s at the smallest.", c.label, words.Short(c.line.X[0]), words.Short(c.line.X[last]),
		words.Short(c.line.Y[0]), words.Short(c.line.Y[last]))
	if len(c.chosen.X) > 0 {
		f.About += fmt.Sprintf(" At the choice, %s, it is %s.", words.Short(c.scale), words.Short(c.chosen.Y[0]))
	}
	return []*figure.Figure{&f}
}

// paths are the effects of one standard deviation of features, or the norms of those of groups, over the weights or the
// steps of a run.
type paths struct {
	x      []float64
	name   []string // the largest effect at the choice, or at the end of a run, first
	effect [][]float64
}

// newPaths are those of fits at places, in the order of the fit at one of these; nil where no effect is not zero.
// Groups are nil for single features, whose effects have signs but for several targets.
func newPaths(x []float64, fits []problems.Fit, at int, deviation []float64, g *groups.Groups) *paths {
	if len(fits) == 0 {
		return nil
	}
	names := fits[0].Features
	effect := func(f problems.Fit, k int) float64 {
		if row := f.Of(k); len(row) > 1 {
			return deviation[k] * floats.Norm(row, 2)
		}
		return deviation[k] * f.Of(k)[0]
	}
	if g != nil {
		names = g.Names
		single := effect
		effect = func(f problems.Fit, k int) (norm float64) {
			for _, j := range g.Members[k] {
				norm = math.Hypot(norm, single(f, j))
			}
			return norm
		}
	}
	lines, most := make([][]float64, len(names)), make([]float64, len(names))
	var order []int
	for k := range names {
		for _, f := range fits {
			lines[k] = append(lines[k], effect(f, k))
		}
		if most[k] = floats.Norm(lines[k], math.Inf(1)); most[k] > 0 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(math.Abs(lines[b][at]), math.Abs(lines[a][at])), cmp.Compare(most[b], most[a]))
	})
	out := &paths{x: x}
	for _, k := range order {
		out.name, out.effect = append(out.name, names[k]), append(out.effect, lines[k])
	}
	if order == nil {
		return nil
	}
	return out
}

// pathsOf are those of a result over the weights of its curve, whose label and choice they have; nil where there are
// none.
func pathsOf(run *Run, r *tune.Result) (*paths, *curve) {
	c := CurveOf(r)
	if c == nil || r.RefitFit.Coefficients == nil || r.RefitFit.Matrix != nil {
		return nil, nil
	}
	var x []float64
	var fits []problems.Fit
	at := 0
	for _, p := range r.Curve {
		if p.Fit.Coefficients == nil {
			continue
		}
		if p.Factor == 1 {
			at = len(fits)
		}
		x, fits = append(x, c.scale*p.Factor), append(fits, p.Fit)
	}
	if len(x) < 2 {
		return nil, nil
	}
	return newPaths(x, fits, at, run.deviations(), nil), c
}

// panel draws the paths.
func (p *paths) panel(label string) figure.Panel {
	out := figure.Panel{YLabel: label}
	for k, line := range p.effect[:min(len(p.effect), namedPaths+morePaths)] {
		l := figure.Line{X: p.x, Y: line, Style: guideStyle, Thin: true}
		if k < namedPaths {
			l.Name, l.Style, l.Thin = shortened(p.name[k]), k, false
		}
		out.Lines = append(out.Lines, l)
	}
	return out
}

// around draws the paths over the weights, and where the choice is.
func (p *paths) around(c *curve) figure.Panel {
	out := p.panel("effect of one s.d.")
	low, high := 0.0, 0.0
	for _, l := range out.Lines {
		low, high = min(low, slices.Min(l.Y)), max(high, slices.Max(l.Y))
	}
	out.Band = c.within
	out.Lines = append(out.Lines, figure.Line{X: []float64{c.scale, c.scale}, Y: []float64{low, high}, Style: 6,
		Thin: true})
	return out
}

// shortened is a name that fits into a legend.
func shortened(name string) string {
	if letters := []rune(name); len(letters) > mostNamed {
		return string(letters[:mostNamed-2]) + ".."
	}
	return name
}

// pathsOnPage shows the coefficients over the weights; nil where there are none.
func pathsOnPage(run *Run, r *tune.Result) []*figure.Figure {
	p, c := pathsOf(run, r)
	if p == nil {
		return nil
	}
	features := func(n int) string { return words.Count(n, "feature") }
	used := func(k int) string {
		list := indices.Where(p.effect, func(line []float64) bool { return line[k] != 0 })
		return features(len(list)) + " at " + words.Short(p.x[k])
	}
	on := "the prediction"
	switch fit := r.RefitFit; {
	case fit.Classes():
		on = "the values of the labels, the norm of them"
	case fit.Targets != nil:
		on = "the targets, the norm of them"
	case fit.Labels != nil:
		on = "the value whose sign is the label"
	case fit.Hazard:
		on = "the logarithm of the hazard"
	case fit.LogLink:
		on = "the logarithm of the mean"
	}
	named := min(len(p.name), namedPaths)
	about := fmt.Sprintf("What one standard deviation of a feature does to %s, over %s. In use: %s, %s. The dotted "+
		"vertical line is the choice, %s, and where the ground is grey, from %s to %s, the validation error is at most "+
		"one standard error above that of the choice; with names the %s that are largest there",
		on, c.label, used(0), used(len(p.x)-1), words.Short(c.scale), words.Short(c.within[1]), words.Short(c.within[0]),
		features(named))
	if more := min(len(p.name), namedPaths+morePaths) - named; more > 0 {
		about += fmt.Sprintf(", thin and without a name the next %d", more)
	}
	return []*figure.Figure{{ID: "paths", About: about + ".",
		Caption: "Paths of the coefficients: effects of one standard deviation over " + c.label,
		Title:   "paths of the coefficients", XLabel: c.label, LogX: true, Start: c.scale,
		PanelHeight: tallPanel, Panels: []figure.Panel{p.around(c)}}}
}
