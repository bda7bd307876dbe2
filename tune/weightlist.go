package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// Runs of VF-iDCA by folds without iterations, which models ask for: [Searched], [Opened] and [Separable].

// weightList are weights to begin a search with: lists that go down, each from a larger weight than the one before ended with.
type weightList struct {
	points [][]float64
	starts []int     // of the lists but the first
	upper  []float64 // upper variables of all points
	rise   int       // points without a smaller error that end a list; 0 for none
	gain   float64   // share of the error that makes it a smaller one
	first  float64   // factor of the steps of the search from the best point; 0 for its own
	left   float64   // share of the error that this search leaves; 0 for its own
	low    float64   // least value of the largest weight
	sure   float64   // validation error below which rows tell nothing more
	common float64   // value of the largest weight down to which lists go, unless errors have fallen and risen
	gap    float64   // to which the search solves, before the best weights are solved for to the end; 0 for that
	alone  bool      // each weight has a list where it is alone
	why    string    // there are no iterations
}

// list is that of a model, nil where it is tuned by iterations.
func (t *Task) list() *weightList {
	if t.asked() {
		return nil
	}
	if m, ok := t.Model.(Searched); ok && m.Searched() != "" && t.byWeights() && len(t.Program.Path) > 0 {
		list := &weightList{points: t.Program.Path, rise: t.Program.PathRise, why: m.Searched()}
		for k := 1; k < len(list.points); k++ {
			if list.points[k][0] > list.points[k-1][0] {
				list.starts = append(list.starts, k)
			}
		}
		return list
	}
	if o := t.Config.Opens(t.Model); o != nil {
		return &weightList{points: o.Weights, upper: o.Upper, rise: o.Rise, gap: o.Gap, why: o.Why}
	}
	if _, ok := t.Model.(Separable); ok && t.byWeights() && t.Program.Radii <= compassMost && len(t.Program.Path) > 0 {
		return t.farDown()
	}
	return nil
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

// The lists of a [Separable] model.
const (
	// farStep is the factor from point to point, farLeast the share of the largest weight at the end. On 110 real and generated tables of two labels steps of half a decade were no better.
	farStep, farLeast = 0.1, 1e-8
	// farRise points without a gain of farGain, which is a small part of the standard error of any validation error, end a list.
	farRise, farGain = 1, 1e-3
	// farCommon is the share of the largest weight down to which lists go, as errors may be those of no coefficients, or rise, before they fall; unless they have fallen below farFallen times the first one
	// of the list and are above farRisen times the least again.
	farCommon, farFallen, farRisen = 1e-3, 0.8, 1.2
	// farFirst, 10^(1/2), is the first factor of the search from the best of the points, between which it steps, and farLeft the share of the validation error that it leaves.
	farFirst, farLeft = 3.1622776601683795, 3e-3
	// farSure over the number of rows is an error below which they tell nothing more: they cannot tell a share of wrong labels of less than one over their number from none.
	farSure = 1e-2
	// farGap leaves as much of the validation error undecided.
	farGap = 1e-4
	// farRidge times the largest weight of the path is the first one of the l2 norm alone.
	farRidge = 10
)

// farDown are lists with all weights equal and with each of them almost alone, as far down as the validation error falls: where features tell the labels apart, weights that are good for further rows
// may be next to nothing, and folds say when that begins to be too sure of labels. On tables with many features the last weight, that of the 2-norm, has no list, as all coefficients would be in use.
func (t *Task) farDown() *weightList {
	list := &weightList{rise: farRise, gain: farGain, first: farFirst, left: farLeft, gap: farGap, alone: true, why: "as iterations have no end where features tell the labels apart"}
	top, n := 0.0, t.Program.Radii
	for _, lambda := range t.Program.Path {
		top = max(top, slices.Max(lambda))
	}
	list.low, list.common = farLeast*top, farCommon*top
	list.sure = t.sure()
	down := func(first float64, share func(j int) float64) {
		if len(list.points) > 0 {
			list.starts = append(list.starts, len(list.points))
		}
		for l := min(first, math.MaxFloat64); l > list.low; l *= farStep {
			point := make([]float64, n)
			for j := range point {
				point[j] = l * share(j)
			}
			list.points = append(list.points, point)
		}
	}
	down(top, func(int) float64 { return 1 })
	for k := range n {
		if n == 1 || k == n-1 && t.Program.PathRise > 0 {
			break
		}
		first := top
		if k == n-1 {
			first *= farRidge
		}
		down(first, func(j int) float64 {
			if j == k {
				return 1
			}
			return compassFloor
		})
	}
	return list
}

// sure is the validation error of a [Separable] model below which rows tell nothing more, 0 for none.
func (t *Task) sure() float64 {
	if m, ok := t.Model.(Evident); ok {
		rows, _ := m.Training()
		return farSure / float64(rows)
	}
	return 0
}

// searchWeights is a run of VF-iDCA without iterations: the weights of a list and, from the best of them, a compass search.
func (t *Task) searchWeights(ctx context.Context, list *weightList) (*Result, error) {
	e, err := t.everyWeight(ctx, list.upper)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return t.Finish(ctx, "", "")
	}
	defer e.close()
	e.gap, e.alone = list.gap, list.alone
	c := compass{ctx: ctx, at: t.recorded(e, len(list.points)+compassTrials), low: list.low, sure: list.sure, first: list.first, gain: list.left, listed: list.alone}
	if err := c.through(list); err != nil {
		return nil, err
	}
	if c.best.X == nil && e.alone && ctx.Err() == nil { // the fit can solve none
		e.alone = false
		if err := c.through(list); err != nil {
			return nil, err
		}
	}
	if c.best.X != nil && len(c.best.Lambda) <= compassMost {
		c.trials = 0
		if err := c.search(); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil || t.failed > 0 {
		return t.Finish(ctx, "", "")
	}
	if e.gap, e.alone = 0, false; list.gap > 0 && t.best.X != nil {
		last, err := e.at(ctx, t.best.Lambda)
		if err != nil {
			return nil, err
		}
		if last.X != nil && finite(last.Errors.Validation) && ctx.Err() == nil {
			t.best, t.leading = last, *last.Errors
		}
	}
	return t.Finish(ctx, "", fmt.Sprintf(searchedFirst, list.why))
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

// through tries the points of a list, each part up to where its error does not fall any more.
func (c *compass) through(list *weightList) error {
	least, idle := math.Inf(1), 0 // of the part, and how many points of it since
	first, last := math.NaN(), math.NaN()
	for k, lambda := range list.points {
		if slices.Contains(list.starts, k) {
			least, idle, first, last = math.Inf(1), 0, math.NaN(), math.NaN()
		}
		fallen := least < farFallen*first && last > farRisen*least
		if list.rise > 0 && idle >= list.rise && (fallen || !(slices.Max(lambda) >= list.common && list.common > 0)) {
			continue
		}
		c.trials = 0
		if err := c.try(lambda); err != nil {
			return err
		}
		v := c.known(lower.Positive(lambda))
		if last = v; math.IsNaN(first) {
			first = v
		}
		if v < least*(1-list.gain) {
			least, idle = v, 0
		} else {
			idle++
		}
	}
	return nil
}
