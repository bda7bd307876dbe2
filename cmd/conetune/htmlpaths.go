package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

const (
	// namedPaths are the coefficients of a path that are drawn with a name, those of the largest effects, and morePaths the next ones, thin and without.
	namedPaths, morePaths = 7, 60
	// mostNamed is the length of a name in a legend.
	mostNamed = 20
	// guideStyle is that of lines to the eye.
	guideStyle = 7
)

// paths are the effects of one standard deviation of each feature in use somewhere on the curve, over what that is over.
type paths struct {
	label   string
	chosen  float64
	x       []float64
	feature []string // the largest effect at the choice first
	effect  [][]float64
	about   string // what an effect is on
}

// pathsOf are those of a result, nil where there are none.
func pathsOf(split *dataset.Split, r *tune.Result) *paths {
	c := curveOf(r)
	if c == nil || r.RefitFit.Coefficients == nil || r.RefitFit.Matrix != nil {
		return nil
	}
	out := &paths{label: c.label, chosen: c.scale, about: "the prediction"}
	deviation := split.Train.Deviations()
	at, most := make([]float64, len(deviation)), make([]float64, len(deviation))
	var fits []tune.Fit
	for _, p := range r.Curve {
		if p.Fit.Coefficients == nil {
			continue
		}
		out.x, fits = append(out.x, c.scale*p.Factor), append(fits, p.Fit)
		for j, d := range deviation {
			size := d * floats.Norm(p.Fit.Of(j), 2)
			if most[j] = math.Max(most[j], size); p.Factor == 1 {
				at[j] = size
			}
		}
	}
	var order []int
	for j, v := range most {
		if v > 0 {
			order = append(order, j)
		}
	}
	if len(out.x) < 2 || len(order) == 0 {
		return nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(at[b], at[a]), cmp.Compare(most[b], most[a])) })
	for _, j := range order {
		line := make([]float64, len(fits))
		for k, f := range fits {
			if row := f.Of(j); len(row) == 1 {
				line[k] = deviation[j] * row[0]
			} else {
				line[k] = deviation[j] * floats.Norm(row, 2)
			}
		}
		out.feature, out.effect = append(out.feature, r.RefitFit.Features[j]), append(out.effect, line)
	}
	switch fit := r.RefitFit; {
	case fit.Classes():
		out.about = "the values of the labels, the norm of them"
	case fit.Targets != nil:
		out.about = "the targets, the norm of them"
	case fit.Labels != nil:
		out.about = "the value whose sign is the label"
	case fit.Hazard:
		out.about = "the logarithm of the hazard"
	case fit.LogLink:
		out.about = "the logarithm of the mean"
	}
	return out
}

// panel draws the paths, and where the choice is.
func (p *paths) panel() figure.Panel {
	out := figure.Panel{YLabel: "effect of one s.d."}
	low, high := 0.0, 0.0
	for k, line := range p.effect[:min(len(p.effect), namedPaths+morePaths)] {
		l := figure.Line{X: p.x, Y: line, Style: guideStyle, Thin: true}
		if k < namedPaths {
			l.Name, l.Style, l.Thin = shortened(p.feature[k]), k, false
		}
		out.Lines = append(out.Lines, l)
		low, high = math.Min(low, slices.Min(line)), math.Max(high, slices.Max(line))
	}
	out.Lines = append(out.Lines, figure.Line{X: []float64{p.chosen, p.chosen}, Y: []float64{low, high}, Style: 6, Thin: true})
	return out
}

// shortened is a name that fits into a legend.
func shortened(name string) string {
	if letters := []rune(name); len(letters) > mostNamed {
		return string(letters[:mostNamed-2]) + ".."
	}
	return name
}

// pathDrawing shows the coefficients over the weights; nil where there are none.
func pathDrawing(split *dataset.Split, r *tune.Result) *drawing {
	p := pathsOf(split, r)
	if p == nil {
		return nil
	}
	used := func(k int) (n int) {
		for _, line := range p.effect {
			if line[k] != 0 {
				n++
			}
		}
		return n
	}
	last := len(p.x) - 1
	about := fmt.Sprintf("What one standard deviation of a feature does to %s, over %s. In use: %s at %s, %s at %s.", p.about, p.label,
		features(used(0)), short(p.x[0]), features(used(last)), short(p.x[last]))
	named := min(len(p.feature), namedPaths)
	about += fmt.Sprintf(" The dotted vertical line is the choice, %s; with names the %s that are largest there", short(p.chosen), features(named))
	if more := min(len(p.feature), namedPaths+morePaths) - named; more > 0 {
		about += fmt.Sprintf(", thin and without a name the next %d", more)
	}
	caption := "Paths of the coefficients: effects of one standard deviation over " + p.label
	return &drawing{"paths", caption, about + ".", figure.Figure{Title: "paths of the coefficients", XLabel: p.label, LogX: true, PanelHeight: tallPanel, Panels: []figure.Panel{p.panel()}}}
}

// features counts them.
func features(n int) string { return count(n, "feature") }
