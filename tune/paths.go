package tune

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/lower"
)

// Paths of weights, by folds.
//
// One or two weights that the folds share are chosen on paths: from weights with which nothing is selected down, all
// folds together, each fit from the one before. A path ends by itself, where its error has risen by more than chance,
// or falls no more. Two weights have a path for the first alone; those of other shares go on from the best point's sum
// of weights that select, and that of the second alone in long steps. Between points of all paths there are more where
// the bend of their errors lets one be lower, and a compass search refines two weights. Iterations of VF-iDCA could
// only find the same minimum again, so there are none unless they are asked for.

const (
	// pathStep is the factor from point to point, 4 points to a decade.
	pathStep = 0.5623413251903491
	// pathLeast is the share of the weight with which nothing is selected at which a path ends at the latest.
	pathLeast = 1e-8
	// A path ends where the error does not fall by the share pathGain from point to point, and is above the least by
	// pathErrors standard errors of the differences of the folds, or has been above it at pathIdle points, or where a
	// decade has lowered the least by less than that share. Shares end where the least is above that of those before by
	// shareErrors of them, as on a ladder.
	pathIdle, pathGain, pathErrors, shareErrors = 3, 1e-3, 2.5, 1
	// lastFirst is by how much the last path of two weights begins above the others, and lastStep its factor from point to
	// point.
	lastFirst, lastStep = 100, 0.1
	// farRows is the number of training rows to a feature from which on the far end of a path may have a valley,
	// alwaysFeatures that of features up to which the last path is always taken: fits of all features at once take long
	// where these are many.
	farRows, alwaysFeatures = 3, 300
	// pathTiny is the share of the first error below which a path goes on by decades.
	pathTiny = 1e-4
	// pathGap is the relative gap of the fits of a search, before the best weights are solved for to the end.
	pathGap = 1e-4
	// farGaps times its gap is how far the error of a trial may be from that of its solution, where gaps are large.
	farGaps = 2
)

// pathShares are the shares of the first of two weights in their sum. Neither is left out, as both are refined.
var pathShares = []float64{1 - compassFloor, 0.9, 0.5, 0.1, compassFloor}

// paths are what a search goes along.
type paths struct {
	lines [][][]float64 // points of each path
	rise  int           // points without a smaller error that end a path; 0 for the rule of paths
	gap   float64       // to which the search solves, before the best weights are solved for to the end; 0 for that
	ends  bool          // paths end by the rule of their errors
	space *space        // what the points are of; nil for all weights
	// far says that a path that has ended looks at its far end, where fits that determine all coefficients may have a
	// valley of their own. always says that the last path is taken whatever the others.
	far, always bool
	low         float64 // least value of the largest weight
	selecting   int     // weights that set coefficients to zero: all but that of squares, which is the last
}

// paths are those of a model, nil where it is tuned by iterations.
func (t *task) paths(ctx context.Context) (*paths, error) {
	if t.Config.Fixed != nil {
		return t.beside(ctx)
	}
	if t.asked() {
		return nil, nil
	}
	if t.Advice.Open != nil {
		o := t.Advice.Open()
		return &paths{lines: [][][]float64{o.Weights}, rise: o.Rise, gap: o.Gap,
			low: pathLeast * slices.Max(o.Weights[0])}, nil
	}
	return t.lines(ctx)
}

// lines are the paths of one or two weights that the folds share, nil where there are others.
func (t *task) lines(ctx context.Context) (*paths, error) {
	axes := t.Program.Radii
	if !t.byWeights() || len(t.Program.Path) == 0 && t.Advice.Spread == nil || axes > compassMost {
		return nil, nil
	}
	out := &paths{gap: pathGap}
	fit, err := t.searching(ctx)
	if err != nil {
		return nil, err
	}
	out.ends = true
	top := slices.Max(append([]float64{0}, slices.Concat(t.Program.Path...)...))
	if fit != nil {
		top = math.Max(top, fit.LambdaMax())
	}
	if top == 0 {
		_, high, err := t.dataRanges(ctx)
		if err != nil {
			return nil, err
		}
		top = slices.Max(high)
	}
	shares := pathShares
	if axes == 1 {
		shares = []float64{1}
	}
	if out.selecting = axes; t.Advice.Spread == nil {
		out.selecting = 1
	}
	for _, share := range shares {
		first, step := top/share, pathStep
		switch {
		case share == compassFloor && t.Advice.Spread != nil:
			first, step = top, pathStep*pathStep
		case share == compassFloor: // squares, with which no coefficient is zero at any weight, and the error bends little
			first, step = lastFirst*top, lastStep
		}
		out.lines = append(out.lines, line(first, pathLeast*top, step, share, axes))
	}
	if rows, features := t.Advice.Rows, t.Advice.Features; rows > 0 {
		out.far = rows > farRows*features && !t.Advice.Separable
		out.always = features <= alwaysFeatures
	}
	out.low = pathLeast * top
	return out, nil
}

// line is the path of a share from the first sum of its weights down to about the last.
func line(first, last, step, share float64, weights int) (points [][]float64) {
	for l := math.Min(first, math.MaxFloat64); l > last*math.Sqrt(step); l *= step {
		point := []float64{l * share, l * (1 - share)}
		points = append(points, point[:weights])
	}
	return points
}

// searchPaths is a run of VF-iDCA without iterations.
func (t *task) searchPaths(ctx context.Context, p *paths) (*Result, error) {
	e, err := t.everyWeight(ctx, p.space)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return t.finish(ctx, "", "")
	}
	defer e.close()
	points := compassTrials
	for _, l := range p.lines {
		points += len(l)
	}
	c := compass{ctx: ctx, fits: e, at: t.recorded(e, points)}
	if err := c.down(p); err != nil {
		return nil, err
	}
	if ctx.Err() != nil || t.failed > 0 {
		return t.finish(ctx, "", "")
	}
	if t.best.X != nil {
		last, err := e.exactly(ctx, p, t.best)
		if err != nil {
			return nil, err
		}
		t.best = last
	}
	return t.finish(ctx, "", "")
}

// exactly is the best trial of paths solved to the end, where rounding lets it.
func (e *evaluator) exactly(ctx context.Context, p *paths, best trial) (trial, error) {
	e.far = nil
	if e.gap = 0; p.gap == 0 {
		return best, nil
	}
	for _, lambda := range [][]float64{p.whole(best.Lambda), best.Lambda} {
		last, err := e.with(ctx, lambda, best.Upper)
		if err != nil {
			return best, err
		}
		if ctx.Err() == nil && last.X != nil && !last.Inaccurate && finite.All(last.Errors.Validation) {
			return last, nil
		}
	}
	return best, nil
}

// down goes along the paths, and from the best point of them on.
func (c *compass) down(p *paths) error {
	e := c.fits
	e.gap, e.alone = p.gap, p.ends && e.task.together != nil // what all folds together cannot solve is no point to choose
	c.low = p.low
	e.far = func(tr *trial, gap float64) bool { return len(c.tried) > 0 && c.enough(tr) > gap }
	rises := false
	for k, l := range p.lines {
		last := k > 0 && k == len(p.lines)-1
		if rises && !(p.always && last) {
			continue
		}
		if last {
			if err := c.refine(c.point); err != nil {
				return err
			}
		}
		before := c.best
		least := &c.best // of the path
		var err error
		if k > 0 && !last {
			least, err = c.beside(l, p.selecting)
		} else if err = e.form.Forget(); err == nil {
			err = c.descend(l, p)
		}
		if err == nil && last {
			err = c.refine(l[0])
		}
		if err != nil {
			return err
		}
		rises = k > 0 && before.X != nil && (least == nil || least.risen(&before, shareErrors)) // with the share
	}
	if c.best.X == nil && e.alone && c.ctx.Err() == nil {
		e.alone = false
		if err := c.descend(p.lines[0], p); err != nil {
			return err
		}
	}
	if c.best.X == nil || len(p.lines) == 1 && len(p.lines[0]) == 1 {
		return nil
	}
	if p.ends {
		err := c.refine(c.point)
		for k := 0; k < len(p.lines) && err == nil; k++ {
			err = c.refine(p.lines[k][0]) // between whose points the least may be, too
		}
		if err != nil || len(c.point) < 2 || slices.Min(c.point) <= 2*compassFloor*slices.Max(c.point) {
			return err
		}
	}
	c.trials = 0
	c.sharpen()
	return c.search()
}

// sharpen has the next fits solved so far that their errors tell differences of compassGain.
func (c *compass) sharpen() {
	tells := compassGain * math.Max(math.Abs(c.best.value()), c.scale) / (farGaps * math.Abs(c.tried[0].value))
	c.fits.gap = math.Min(c.fits.gap, tells)
}

// enough is the gap up to which a trial is above the best for certain: gaps are shares of the error without
// coefficients.
func (c *compass) enough(tr *trial) float64 {
	return (tr.value() - c.best.value()) / (farGaps * math.Abs(c.tried[0].value))
}

// whole are weights without one that is next to nothing beside the other, as at the ends of the shares.
func (p *paths) whole(lambda []float64) []float64 {
	if len(lambda) != compassMost || p.space != nil {
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
	var best *trial
	var least []float64 // so far, at each point
	idle, last := 0, 0.0
	var before *trial
	decade := 1 // points
	if len(points) > 1 {
		decade = max(1, int(math.Round(math.Ln10/math.Log(slices.Max(points[0])/slices.Max(points[1])))))
	}
	for k, lambda := range points {
		if p.ends && len(least) > 0 && best.value() < pathTiny*least[0] && k%decade > 0 {
			continue // it is near zero, in proportion to powers of the weights
		}
		if c.trials = 0; p.ends && before != nil { // the next may be nearer
			c.fits.coarse, c.fits.before = math.Min(c.enough(before)/2, firstGap*c.fits.gap), before.value()
		}
		tr, err := c.score(lambda)
		if before = tr; err != nil || c.ctx.Err() != nil {
			return err
		}
		if tr == nil { // not solved
			if idle++; idle >= pathIdle {
				return nil
			}
			continue
		}
		switch {
		case best == nil || tr.below(best):
			best, idle = tr, 0
		case best.below(tr):
			idle++
		}
		falls := tr.value() < last*(1-pathGain)
		last = tr.value()
		least = append(least, best.value())
		if !p.ends {
			if p.rise > 0 && idle >= p.rise {
				return nil
			}
			continue
		}
		c.scale = max(c.scale, pathTiny*least[0])
		c.fits.gap = p.gap * math.Min(c.best.value()/least[0], 1) // or an error would be made of it
		n := len(least) - 1
		flat := n >= 2*decade && least[n] > least[n-decade]*(1-pathGain)
		switch risen := idle >= pathIdle || tr.risen(best, pathErrors); {
		case falls:
		case risen && p.far:
			k = max(k, len(points)-1-2*decade)
			c.trials = 0
			end, err := c.score(points[k])
			if err != nil || end == nil || !end.below(best) {
				return err
			}
			_, err = c.walk(points, k, end)
			return err
		case risen || flat:
			return nil
		}
	}
	return nil
}

// beside tries the points of a path near the best one of another share, by the sum of the weights that select, as long
// as they are better, and returns the least; nil where there is none.
func (c *compass) beside(points [][]float64, selecting int) (least *trial, err error) {
	if c.best.X == nil {
		return nil, nil
	}
	same := floats.Sum(c.point[:selecting]) * math.Sqrt(1/pathStep)
	from := slices.IndexFunc(points, func(p []float64) bool { return floats.Sum(p[:selecting]) <= same })
	if from < 0 {
		return nil, nil
	}
	c.trials = 0
	first, err := c.score(points[from])
	if first == nil || err != nil {
		return nil, err
	}
	return c.walk(points, from, first)
}

// walk tries the neighbours of a point of a path, and theirs, as long as they are better, and returns the best.
func (c *compass) walk(points [][]float64, from int, first *trial) (best *trial, err error) {
	best = first
	for _, way := range []int{-1, 1} {
		for k := from + way; k >= 0 && k < len(points); k += way {
			next, err := c.score(points[k])
			if next == nil || err != nil {
				return best, err
			}
			if !next.below(best) {
				break
			}
			best = next
		}
		if best != first {
			break
		}
	}
	return best, nil
}

// refine tries points between neighbours among the multiples of one, until between all of them the error is not below
// the least of all by more than a share of compassGain as far as its bend goes: on an interval of length h it is above
// the chord less M t (1-t) h^2 / 2 with M the second derivative. For that stands twice the larger one of the divided
// differences at both ends, as the curve has kinks.
func (c *compass) refine(of []float64) error {
	for c.trials = 0; c.best.X != nil; {
		c.sharpen()
		xs, values := c.line(of)
		least, at := c.best.value()-compassGain*math.Max(math.Abs(c.best.value()), c.scale), math.NaN()
		for i := 1; i < len(xs); i++ {
			h, rise := xs[i]-xs[i-1], values[i]-values[i-1]
			bend := 2 * h * h * math.Max(curved(xs, values, i-1), curved(xs, values, i))
			if !(bend > 2*math.Abs(rise)) || h < 2*math.Log(compassLast) {
				continue
			}
			t := 0.5 - rise/bend
			bound := values[i-1] + t*rise - t*(1-t)*bend/2
			if c.best.value() >= 0 { // few losses are less
				bound = math.Max(bound, 0)
			}
			if bound < least {
				least, at = bound, xs[i-1]+h*math.Max(0.25, math.Min(t, 0.75))
			}
		}
		if math.IsNaN(at) {
			break
		}
		next := slices.Clone(of)
		floats.Scale(math.Exp(at-math.Log(slices.Max(of))), next)
		if tr, err := c.score(next); err != nil || tr == nil {
			return err
		}
	}
	return nil
}

// line are the logarithms of the points tried, and not only looked at, that are multiples of one, rising, and their
// values.
func (c *compass) line(of []float64) (xs, values []float64) {
	var list []tried
	for _, t := range c.tried {
		factor := slices.Max(t.point) / slices.Max(of)
		if !t.rough && floats.EqualFunc(t.point, of, func(a, b float64) bool { return math.Abs(a-factor*b) <= 1e-9*a }) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b tried) int { return cmp.Compare(a.point[0], b.point[0]) })
	for _, t := range list {
		xs, values = append(xs, math.Log(slices.Max(t.point))), append(values, t.value)
	}
	return xs, values
}

// curved is the second derivative of values at point i, or next to it where it is an end, by divided differences; 0 for
// fewer than three.
func curved(xs, values []float64, i int) float64 {
	if len(xs) < 3 {
		return 0
	}
	i = max(1, min(i, len(xs)-2))
	right, left := xs[i+1]-xs[i], xs[i]-xs[i-1]
	return 2 * ((values[i+1]-values[i])/right - (values[i]-values[i-1])/left) / (right + left)
}

// risen says whether the error is above that of a better trial by so many standard errors of the folds' differences.
func (tr *trial) risen(best *trial, errors float64) bool {
	n := len(tr.folds)
	if n < 2 || len(best.folds) != n {
		return false // they are not known
	}
	above := make([]float64, n)
	floats.SubTo(above, tr.folds, best.folds)
	mean, deviation := stat.MeanStdDev(above, nil)
	return mean > errors*stat.StdErr(deviation, float64(n))
}

// recorded is an evaluation that tells where the run is, of so many points, and keeps the trial. Weights so small that
// the fit cannot solve the lower level there, as predictions are larger than any label needs, are none to choose.
func (t *task) recorded(e *evaluator, points int) func(context.Context, []float64) (trial, error) {
	point := 0
	return func(ctx context.Context, lambda []float64) (trial, error) {
		t.begin(dca.Place{Stage: dca.StageSearch, Point: point, Points: points})
		point++
		tr, err := e.at(ctx, lambda)
		if err == nil && ctx.Err() == nil && (tr.X != nil || !e.alone) {
			t.record(tr)
			if t.Config.KeepFits && tr.X != nil {
				fit := t.Model.Fit(tr.X)
				t.trace[len(t.trace)-1].Fit = &fit
			}
		}
		return tr, err
	}
}
