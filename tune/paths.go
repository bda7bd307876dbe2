package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// Paths of weights, by folds.
//
// One or two weights that the folds share are chosen on paths: from weights with which nothing is selected down, all folds together, each
// fit from the one before. A path ends by itself, where its error has risen by more than chance, or falls no more. Two weights have a path
// for each of a few shares of the first one; a compass search refines the best point in both. Iterations of VF-iDCA could
// only find the same minimum again, so there are none unless they are asked for.

const (
	// pathStep is the factor from point to point, 4 points to a decade. Between neighbours of which one is the best, or has an error of up to fillShare above it,
	// fillPoints more are looked at, and so again between these where folds are solved together and so few rows that the curve may have small waves, up to fillRows.
	pathStep, fillPoints, fillShare, fillRows = 0.5623413251903491, 2, 1e-3, 1000
	// shareStart is the factor by which the first weight of a further share is above the best so far where its path begins.
	shareStart = 4
	// pathLeast is the share of its first weight at which a path ends at the latest.
	pathLeast = 1e-8
	// A path ends where pathRisen points in a row are above its least by more than pathErrors standard errors of the paired differences of
	// the folds, or where pathFlat points, a decade, have lowered the error by less than pathGain, or, where it has fallen before, pathIdle not at all.
	pathRisen, pathErrors        = 2, 2
	pathFlat, pathGain, pathIdle = 4, 1e-3, 3
	// pathUnpaired is the share by which errors count as risen where those of single folds are not known.
	pathUnpaired = 1e-2
	// lastFirst is by how much the last path of two weights begins above the others.
	lastFirst = 100
	// farRows is the number of training rows to a feature from which on the far end of a path may have a valley, alwaysFeatures that of features up to which the last
	// path is always taken: fits of all features at once take long where these are many.
	farRows, alwaysFeatures = 3, 300
	// pathTiny is the share of the first error below which a path goes on by decades.
	pathTiny = 1e-4
	// pathGap is the relative gap of the fits of a search, before the best weights are solved for to the end.
	pathGap = 1e-6
)

// pathShares are the shares of the first of two weights in their sum. Neither is left out, as both are refined.
var pathShares = []float64{1 - compassFloor, 0.9, 0.5, 0.1, compassFloor}

// paths are what a search goes along.
type paths struct {
	lines [][][]float64 // points of each path
	upper []float64     // upper variables of all points
	rise  int           // points without a smaller error that end a path; 0 for the rule of paths
	gap   float64       // to which the search solves, before the best weights are solved for to the end; 0 for that
	ends  bool          // paths end by the rule of their errors
	fill  int           // how often points between those near the least are looked at
	// far says that a path that has ended looks at its far end, where fits that determine all coefficients may have a valley of their own, and goes on where
	// that is lower. always says that the last path is taken whatever the others.
	far, always bool
	first       float64 // factor of the first steps of the refinement
	low         float64 // least value of the largest weight
	why         string  // there are no iterations
	// A point has a value for each kind of weights, and a weight is its kind's times its factor; nil for each weight itself.
	kinds   []int
	factors []float64
}

// spread are the weights at a point.
func (p *paths) spread(point []float64) []float64 {
	if p.kinds == nil {
		return point
	}
	lambda := make([]float64, len(p.kinds))
	for j, k := range p.kinds {
		lambda[j] = point[k] * p.factors[j]
	}
	return lambda
}

// Balanced is a model with many weights of one or two kinds, which are searched for by folds with a common value for each kind, times a factor for each weight.
type Balanced interface {
	Model
	// Balance returns the kind of each weight, from 0, and its factor; nil where each weight is on its own.
	Balance() (kinds []int, factors []float64)
}

// paths are those of a model, nil where it is tuned by iterations.
func (t *Task) paths(ctx context.Context) (*paths, error) {
	if t.asked() {
		return nil, nil
	}
	if o := t.Config.Opens(t.Model); o != nil {
		return &paths{lines: [][][]float64{o.Weights}, upper: o.Upper, rise: o.Rise, gap: o.Gap, first: compassFirst, why: o.Why}, nil
	}
	if !t.byWeights() || len(t.Program.Path) == 0 {
		return nil, nil
	}
	out := &paths{gap: pathGap, why: "which has the minimum that they would end in"}
	axes := t.Program.Radii
	if m, ok := t.Model.(Balanced); ok && axes > compassMost {
		if out.kinds, out.factors = m.Balance(); out.kinds != nil {
			axes = slices.Max(out.kinds) + 1
		}
	}
	if axes > compassMost {
		return nil, nil
	}
	fit, err := t.quick(func() (lower.Penalised, error) { return t.searching(ctx) })
	if err != nil {
		return nil, err
	}
	out.ends = true
	top := 0.0
	for _, lambda := range t.Program.Path {
		top = math.Max(top, slices.Max(lambda))
	}
	if fit != nil {
		top = math.Max(top, fit.LambdaMax())
	}
	out.fill = 1
	shares := pathShares
	if axes == 1 {
		shares = []float64{1}
	}
	for _, share := range shares {
		first := top / share
		if share == compassFloor { // squares, of which none is zero at any weight
			first = lastFirst * top
		}
		out.lines = append(out.lines, line(first, share, axes))
	}
	m, evident := t.Model.(Evident)
	if evident {
		_, separable := t.Model.(Separable)
		rows, features := m.Training()
		out.far = rows > farRows*features && !separable
		out.always = features <= alwaysFeatures
		if rows < fillRows && (t.together != nil || !t.Config.quick()) { // conic programs choose what folds together do
			out.fill = 2
		}
	}
	out.low = pathLeast * top
	if out.first = compassFirst; axes == 1 {
		out.first = math.Pow(pathStep, -0.5)
	}
	return out, nil
}

// Opens is what VF-iDCA leaves open of a model with this configuration, nil where it does not, see [Opened].
func (c *Config) Opens(m Model) *problems.Open {
	opened, ok := m.(Opened)
	if !ok || c.asks() {
		return nil
	}
	if o := opened.Open(); o != nil && len(o.Weights) > 0 {
		return o
	}
	return nil
}

// line is the path of a share from the first sum of its weights on.
func line(first, share float64, weights int) (points [][]float64) {
	for l := math.Min(first, math.MaxFloat64); l > pathLeast*first; l *= pathStep {
		point := []float64{l * share, l * (1 - share)}
		points = append(points, point[:weights])
	}
	return points
}

// searchPaths is a run of VF-iDCA without iterations.
func (t *Task) searchPaths(ctx context.Context, p *paths) (*Result, error) {
	e, err := t.everyWeight(ctx, p.upper)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return t.Finish(ctx, "", "")
	}
	defer e.close()
	e.gap, e.alone = p.gap, p.ends && t.together != nil // what all folds together cannot solve is no point to choose
	c := compass{ctx: ctx, first: p.first, spread: p.spread, low: p.low, listed: true}
	points := 0
	for _, l := range p.lines {
		points += len(l)
	}
	c.at = t.recorded(e, points+compassTrials)
	c.tiny = func() { e.gap = 0 } // of which an error would be made
	var best [][]float64          // the path of the best point
	rises := false
	for k, l := range p.lines {
		if rises && !(p.always && k == len(p.lines)-1) {
			continue
		}
		for k > 0 && k < len(p.lines)-1 && c.point != nil && len(l) > 1 && l[1][0] > shareStart*c.point[0] {
			l = l[1:]
		}
		before := c.best
		if err := e.forget(); err != nil {
			return nil, err
		}
		if err := c.descend(l, p); err != nil {
			return nil, err
		}
		if k > 0 && before.X != nil && !c.best.below(&before) {
			rises = true // with the share
		} else {
			best = l
		}
	}
	for range p.fill {
		if best, err = c.between(best); err != nil {
			return nil, err
		}
	}
	if c.best.X == nil && e.alone && ctx.Err() == nil {
		e.alone = false
		if err := c.descend(p.lines[0], p); err != nil {
			return nil, err
		}
	}
	if c.best.X != nil {
		c.trials = 0
		if err := c.search(); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil || t.failed > 0 {
		return t.Finish(ctx, "", "")
	}
	e.gap = 0
	if p.gap > 0 && t.best.X != nil { // to the end, where rounding lets it
		for _, lambda := range [][]float64{p.whole(t.best.Lambda), t.best.Lambda} {
			last, err := e.at(ctx, lambda)
			if err != nil {
				return nil, err
			}
			if ctx.Err() == nil && last.X != nil && !last.Inaccurate && finite(last.Errors.Validation) {
				t.best, t.leading = last, *last.Errors
				break
			}
		}
	}
	return t.Finish(ctx, "", fmt.Sprintf(searchedFirst, p.why))
}

// whole are weights without one that is next to nothing beside the other, as at the ends of the shares.
func (p *paths) whole(lambda []float64) []float64 {
	if p.kinds != nil || len(lambda) != compassMost {
		return lambda
	}
	out := slices.Clone(lambda)
	for j, v := range out {
		if v <= 2*compassFloor*slices.Max(lambda) {
			out[j] = 0
		}
	}
	return lower.Positive(out)
}

// descend tries the points of a path up to its end.
func (c *compass) descend(points [][]float64, p *paths) error {
	var best *Trial
	var least []float64 // so far, at each point
	risen, idle, on := 0, 0, false
	for k, lambda := range points {
		if p.ends && len(least) > 0 && best.value() < pathTiny*least[0] {
			if k%pathFlat > 0 {
				continue // it is near zero, in proportion to powers of the weights
			}
			c.tiny()
		}
		c.trials = 0
		tr, err := c.score(lambda)
		if err != nil || c.ctx.Err() != nil {
			return err
		}
		if tr == nil { // not solved
			if idle++; idle >= pathIdle {
				return nil
			}
			continue
		}
		if best == nil || tr.below(best) {
			best, idle = tr, 0
		} else {
			idle++
		}
		least = append(least, best.value())
		if !p.ends {
			if p.rise > 0 && idle >= p.rise {
				return nil
			}
			continue
		}
		c.scale = max(c.scale, pathTiny*least[0])
		if risen++; !tr.risen(best) {
			risen = 0
		}
		n := len(least) - 1
		fallen := best.value() < least[0]*(1-pathGain)
		switch {
		case n >= 2*pathFlat && least[n] > least[n-pathFlat]*(1-pathGain):
			return nil
		case on || risen < pathRisen && !(idle >= pathIdle && fallen):
		case !p.far:
			return nil
		default:
			c.trials = 0
			end, err := c.score(points[max(k, len(points)-1-2*pathFlat)])
			if err != nil || end == nil || !end.below(best) {
				return err
			}
			on = true // there is another valley below
		}
	}
	return nil
}

// between tries points between neighbours of a path of which one is near the least, where the error may have more than one valley, and returns the path with them.
func (c *compass) between(points [][]float64) (list [][]float64, err error) {
	for k, at := range points {
		near := false
		if k > 0 && c.best.X != nil {
			bound := c.best.value() + fillShare*math.Max(math.Abs(c.best.value()), c.scale)
			near = c.known(points[k-1]) <= bound || c.known(at) <= bound
		}
		if near {
			step := math.Pow(slices.Max(at)/slices.Max(points[k-1]), 1.0/(fillPoints+1))
			next := slices.Clone(points[k-1])
			for range fillPoints {
				floats.Scale(step, next)
				c.trials = 0
				if err := c.try(next); err != nil {
					return nil, err
				}
				list = append(list, slices.Clone(next))
			}
		}
		list = append(list, at)
	}
	return list, nil
}

// risen says whether the errors of the folds are above those of a better trial by more than chance.
func (tr *Trial) risen(best *Trial) bool {
	if len(tr.folds) < 2 || len(best.folds) != len(tr.folds) {
		return tr.value() > best.value()*(1+pathUnpaired)
	}
	differences := make([]float64, len(tr.folds))
	for k, v := range tr.folds {
		differences[k] = v - best.folds[k]
	}
	mean, deviation := stat.MeanStdDev(differences, nil)
	return mean > 0 && mean > pathErrors*deviation/math.Sqrt(float64(len(differences)))
}

// recorded is an evaluation that tells where the run is, of so many points, and keeps the trial. Weights so small that the fit cannot solve the lower level there, as predictions are larger than any
// label needs, are none to choose.
func (t *Task) recorded(e *evaluator, points int) func(context.Context, []float64) (Trial, error) {
	point := 0
	return func(ctx context.Context, lambda []float64) (Trial, error) {
		t.begin(Place{Place: dca.Place{Stage: StageSearch, Point: point, Points: points}})
		point++
		tr, err := e.at(ctx, lambda)
		if err == nil && ctx.Err() == nil && (tr.X != nil || !e.alone) {
			t.Record(tr)
			if t.Config.KeepFits && tr.X != nil {
				fit := t.Model.Fit(tr.X)
				t.trace[len(t.trace)-1].Fit = &fit
			}
		}
		return tr, err
	}
}
