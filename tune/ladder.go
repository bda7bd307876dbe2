package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/finitejson"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/problems"
)

// How much freedom.
//
// With a weight for each coefficient or group, the least validation error follows the noise of its rows; with one
// common weight, large coefficients are shrunk as much as noise is. A model with a ladder has rungs between: one common
// weight, weights by the sizes of the coefficients of a pilot, weights by those of that, and last free weights. The
// rule:
//
//  1. Each rung has a weight or two, which a search on paths chooses (paths.go), by the validation error. Its pilots
//     are fits of the rung below to the same training rows, of each fold its own, so that no rung has seen the rows
//     that it is scored on.
//  2. The losses of the validation rows are compared row by row with those of the rung of least mean loss. The simplest
//     rung is taken whose mean is above the least by at most one standard error of the mean difference (the rule of one
//     standard error, Breiman, Friedman, Olshen, Stone, Classification and Regression Trees, 1984).
//  3. The final fit is that rung on all rows, its pilots included. By a split with a final fit of the training rows, it
//     is what a bridge from that rung leads to (bridge.go).
//  4. Free weights are never taken by themselves: their validation error cannot be compared, as the rows that it is
//     made of have chosen them. [Config.Rung] takes them.

// RungFree are free weights, by iterations of VF-iDCA.
const RungFree = "free"

// Rung is what a ladder found on one of its rungs.
type Rung struct {
	Name string `json:"rung"`
	// Validation is the validation error, Above by how much the mean loss of a validation row is above that of the rung
	// of least loss, and StandardError that of the difference. A bridge is compared with the rung it begins at, on rows
	// that have not chosen its weights.
	Validation    float64 `json:"validation_error"`
	Above         float64 `json:"above_least"`
	StandardError float64 `json:"standard_error"`
	// Features is the number of features in use, the mean over the folds.
	Features float64 `json:"features"`
	Taken    bool    `json:"taken"`
}

// MarshalJSON writes numbers that are not finite as null.
func (r Rung) MarshalJSON() ([]byte, error) {
	type fields Rung
	return finitejson.Marshal(fields(r))
}

// asks says that the configuration says how far VF-iDCA goes, or where from.
func (c *Config) asks() bool {
	return c.Rung == RungFree || c.Preset == PresetPaper || c.GapTol > 0 || c.MaxIter > 0 || c.Init != nil
}

// asked is that of the task, whose start says it, too.
func (t *task) asked() bool { return t.Config.asks() || t.Start != nil }

// Climbs says whether VF-iDCA chooses a rung of the ladder of the model, and not free weights.
func (c *Config) Climbs(m problems.Model) bool { return !c.asks() && rungs(m.Advice()) != nil }

// rungs are those of a model, none where it has no ladder.
func rungs(a problems.Advice) []problems.Rung {
	if a.Ladder == nil {
		return nil
	}
	return a.Ladder()
}

// ladder is the model's, nil where free weights are tuned.
func (t *task) ladder() []problems.Rung {
	if t.Config.Fixed != nil {
		if list := rungs(t.Advice); t.firstRung(list) != nil {
			return list[:1]
		}
		return nil
	}
	if t.asked() {
		return nil
	}
	return rungs(t.Advice)
}

// checkRung says why there is no rung of the name asked for.
func (t *task) checkRung() error {
	name := t.Config.Rung
	if name == "" {
		return nil
	}
	list := rungs(t.Advice)
	if vf := t.tuner.name == MethodVFiDCA || t.tuner.name == MethodVFiDCAT; !vf || list == nil {
		return fmt.Errorf("tune: Config.Rung is %q, but the model %s has no ladder of weights by %s",
			name, t.Model.Name(), t.tuner.name)
	}
	names := words.Each(list, func(r problems.Rung) string { return r.Name })
	if names = append(names, RungFree); !slices.Contains(names, name) {
		return fmt.Errorf("tune: unknown Config.Rung %q; known are: %s", name, strings.Join(names, ", "))
	}
	if name != RungFree && t.asked() {
		return fmt.Errorf("tune: Config.Rung is %q, which has no iterations that settings or a start could be for", name)
	}
	return nil
}

// climbed is a rung with its model, as it was searched.
type climbed struct {
	name string
	task *task
	out  *Result
	x    [][]float64
}

// climb searches the rungs one after the other, each from the one below, and makes the one that the rule takes the
// model of the task.
func (t *task) climb(ctx context.Context, rungs []problems.Rung) (*Result, error) {
	var list []climbed
	for _, r := range rungs {
		var below problems.Model
		var from Selection
		if n := len(list); n > 0 {
			below, from = list[n-1].task.Model, *list[n-1].out.Selection
		}
		models, err := r.Models(below, from.Lambda, from.X)
		if err != nil {
			return nil, err
		}
		best, err := t.searchRung(ctx, models)
		if err == nil {
			best, err = t.instead(ctx, best)
		}
		if err != nil {
			return nil, err
		}
		if best.x == nil { // stopped, or not solved
			if len(list) == 0 {
				return best.out, nil
			}
			break
		}
		best.name = r.Name
		list = append(list, best)
		if r.Name == t.Config.Rung || ctx.Err() != nil {
			break
		}
	}
	ladder, losses := make([]Rung, len(list)), make([][]float64, len(list))
	for k, c := range list {
		a := c.task.Advice
		ladder[k] = Rung{Name: c.name, Validation: c.out.Refit.Validation, Features: a.Used(c.x)}
		if losses[k] = a.Losses(c.x); len(losses[k]) == 0 || len(losses[k]) != len(losses[0]) {
			return nil, fmt.Errorf("tune: the model %s has %d losses of validation rows on the rung %s, and %d on the first",
				t.Model.Name(), len(losses[k]), c.name, len(losses[0]))
		}
	}
	taken := simplest(ladder, losses, list[0].task.Advice.Compare)
	if t.Config.Rung != "" {
		taken = len(list) - 1
	}
	chosen := list[taken]
	over, rung, err := t.bridge(ctx, chosen)
	if err != nil {
		return nil, err
	}
	if over.x != nil {
		chosen, taken, ladder = over, len(ladder), append(ladder, rung)
	}
	ladder[taken].Taken = true
	s := chosen.task
	t.Model, t.Program, t.Advice, t.fit, t.together = s.Model, s.Program, s.Advice, s.fit, s.together
	t.best = s.best
	out, err := t.finish(ctx, "", why(ladder, t.Config.Rung))
	if out != nil {
		out.Ladder = ladder
	}
	return out, err
}

// simplest compares the rungs with that of the least mean loss, given the losses of rows, and returns the first whose
// mean is above that by at most one standard error of the difference.
func simplest(ladder []Rung, losses [][]float64, compare func(a, b []float64) (mean, se float64)) int {
	least := 0
	for k := range ladder {
		if above, _ := compare(losses[k], losses[least]); above < 0 {
			least = k
		}
	}
	for k := range ladder {
		if k != least {
			ladder[k].Above, ladder[k].StandardError = compare(losses[k], losses[least])
		}
	}
	return slices.IndexFunc(ladder, func(r Rung) bool { return !(r.Above > r.StandardError) })
}

// on is the task for the model of a rung.
func (t *task) on(m problems.Model) *task {
	s := *t
	s.Model, s.Program, s.Advice, s.fit, s.together, s.best = m, m.Program(), m.Advice(), nil, nil, trial{}
	return &s
}

// searchRung searches the models of a rung, and returns the best.
func (t *task) searchRung(ctx context.Context, models []problems.Model) (best climbed, err error) {
	for _, m := range models {
		s := t.on(m)
		if a := s.Advice; a.Losses == nil || a.Compare == nil || a.Used == nil {
			return best, fmt.Errorf("tune: a rung of the model %s lacks Losses, Compare or Used", m.Name())
		}
		p, err := s.paths(ctx)
		if err != nil {
			return best, err
		}
		out, err := s.searchPaths(ctx, p)
		if err != nil {
			return best, err
		}
		c := climbed{task: s, out: out}
		if out.Selection != nil {
			c.x = out.Selection.X
		}
		if best.out == nil || c.x != nil && (best.x == nil || c.out.Refit.Validation < best.out.Refit.Validation) {
			best = c
		}
		if ctx.Err() != nil {
			break
		}
	}
	return best, nil
}

// instead is the model that stands for a rung in the place of its own, where that is beaten beside its best weights.
func (t *task) instead(ctx context.Context, own climbed) (climbed, error) {
	if own.x == nil || t.Config.Fixed != nil || own.task.Advice.Instead == nil {
		return own, nil
	}
	m, beaten := own.task.Advice.Instead()
	s := t.on(m)
	p, err := s.paths(ctx)
	if err != nil {
		return own, err
	}
	e, err := s.everyWeight(ctx, p.space)
	if e == nil || err != nil {
		return own, err
	}
	defer e.close()
	e.gap = p.gap
	failed, notFinite := t.failed, t.notFinite
	const side = 6 // points at half decades, smaller and larger
	var points [][]float64
	for k := -side; k <= side; k++ {
		points = append(points, scaled(own.task.best.Lambda, math.Pow(pathStep, float64(2*k))))
	}
	c := compass{ctx: ctx, at: s.recorded(e, len(points)), low: p.low}
	other, err := c.score(points[side])
	if other != nil && err == nil {
		other, err = c.walk(points, side, other)
	}
	t.failed, t.notFinite = failed, notFinite // no result needs those here
	if err != nil || other == nil || !beaten(own.x, other.X) {
		return own, err
	}
	out, err := t.searchRung(ctx, []problems.Model{m})
	if out.x == nil {
		return own, err
	}
	return out, err
}

// spread puts the hyperparameters of the model into the result of a rung.
func (t *task) spread(out *Result, full problems.Model) {
	spread := t.Advice.Spread
	if spread == nil || out.Selection == nil {
		return
	}
	s := *out.Selection
	s.Lambda, s.Upper = spread(s.Lambda)
	program := full.Program()
	if radii, err := program.Penalties(s.X, nil); err == nil {
		s.Radii = radii
	}
	out.Names = full.Names()
	out.selected(s)
	for k := range out.Curve {
		out.Curve[k].Lambda, _ = spread(out.Curve[k].Lambda)
	}
}

// why says in words which rung was taken.
func why(ladder []Rung, asked string) string {
	r := ladder[slices.IndexFunc(ladder, func(r Rung) bool { return r.Taken })]
	reason := "the simplest whose error is within one standard error of the least"
	switch {
	case asked != "":
		reason = "as asked for"
	case r.Name == RungBridge:
		reason = "whose error of rows that have not chosen its weights is within one standard error of the least"
	case r.Above == 0 && r.StandardError == 0:
		reason = "whose error is the least"
	}
	return fmt.Sprintf("the rung %s, %s", r.Name, reason)
}
