package tune

import (
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/warm"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/lower"
)

// The bridge, from a rung to free weights.
//
// By a split whose final fit is that of the training rows, only the choice of weights learns from the validation rows,
// so that it may learn more than a weight or two. From the rung taken on, with weights w_j e^(u_j),
//
//	minimise   L(x(u)) + tau L(x(0)) sum_j u_j^2   over u,
//
// the validation loss with a charge for deviations, along its hypergradient, for one tau after the other, each from the
// last. Half of the validation rows chooses u, the other half judges tau, and the other way round. By the rule of the
// ladder the largest tau is taken whose mean loss on these held-back rows is within one standard error of the least,
// the rung itself for infinity, and u is then chosen by all validation rows. The tau of the least itself has 0.98 of
// the test error on sparse truths, and up to 1.03 on dense ones of few rows.
//
// The charge is one of log lambda. Iterations of VF-iDCA have radii for variables, and lambda for their multipliers, so
// that their upper level cannot take it.

// RungBridge is the name of what the bridge leads to.
const RungBridge = "bridge"

// charges are the tau.
var charges = []float64{0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0}

// Settings of a descent: one tau need not be the end, as the next begins there.
const bridgeSteps, bridgeTol = 30, 1e-4

// charged is a fit by factors e^u of weights, with the charge in its validation loss.
type charged struct {
	lower.Fit
	charge float64 // tau L(x(0))
}

// Solve implements [lower.Fit].
func (f *charged) Solve(ctx context.Context, factors []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, err := f.Fit.Solve(ctx, factors, tol, start)
	if err != nil {
		return nil, err
	}
	for _, v := range factors {
		pt.Validation += f.charge * math.Log(v) * math.Log(v)
	}
	return pt, nil
}

// Traits implements [lower.Fit].
func (f *charged) Traits() lower.Traits {
	gradient := func(ctx context.Context, at *lower.Point, mode lower.Mode, tol float64) ([]float64, error) {
		g, err := f.Fit.Traits().Gradient(ctx, at, mode, tol)
		for i := range g {
			g[i] += 2 * f.charge * math.Log(at.Lambda[i]) / at.Lambda[i] // d u^2 / d e^u
		}
		return g, err
	}
	return lower.Traits{Gradient: gradient, Bounds: f.Fit.Traits().Bounds}
}

// bridge goes from a rung as far as held-back rows allow. The point has no x where that is nowhere.
func (t *task) bridge(ctx context.Context, from climbed) (to climbed, r Rung, err error) {
	on := from.task.Advice
	asked := t.Config.Rung != "" || t.Config.Fixed != nil
	if on.Deviations == nil || t.Config.final() != FinalTrain || asked || !t.Config.quick() {
		return to, r, nil
	}
	lambda := from.out.Selection.Lambda
	parts, err := stop.Do(ctx, nil, func() ([]lower.Fit, error) { return on.Deviations(lambda) })
	if len(parts) == 0 {
		return to, r, err
	}
	var along [3][]*lower.Point // all rows, and each half
	for k, fit := range parts {
		if along[k], err = deviate(ctx, fit); err != nil || along[k] == nil {
			return to, r, err
		}
	}
	var held [][]float64 // losses of rows that have not chosen, on the rung itself and by tau
	for i := range along[0] {
		losses, others := on.Losses(along[1][i].X), on.Losses(along[2][i].X)
		for k := 0; k < len(losses); k += 2 { // the first half is that of the rows 0, 2, ..
			losses[k] = others[k]
		}
		held = append(held, losses)
	}
	best := simplest(make([]Rung, len(held)), held, on.Compare)
	if best == 0 {
		return to, r, nil
	}
	at := along[0][best]
	to = climbed{task: t.on(on.Times(at.Lambda)), x: at.X}
	to.task.record(trial{Lambda: lambda, X: at.X, Gap: known(at.Gap)})
	if to.out, err = to.task.finish(ctx, "", ""); err != nil || to.out.Selection == nil {
		return climbed{}, r, err
	}
	r = Rung{Name: RungBridge, Validation: to.out.Refit.Validation, Features: on.Used(at.X)}
	r.Above, r.StandardError = on.Compare(held[best], held[0])
	return to, r, err
}

// deviate are the solutions without deviations, and for each tau; nil where one of them is not solved.
func deviate(ctx context.Context, fit lower.Fit) ([]*lower.Point, error) {
	f := &charged{Fit: fit}
	s := hypergradient.Settings{Start: []float64{1}, Chosen: true, MaxIter: bridgeSteps, Tol: bridgeTol,
		LowerTol: directGap}
	first, err := warm.Solve(ctx, f, slices.Repeat([]float64{1}, fit.Dim()), directGap, nil)
	if err != nil || !first.Solved {
		return nil, err
	}
	list := []*lower.Point{first}
	for _, tau := range charges {
		f.charge = tau * first.Validation
		r, err := hypergradient.IGJO(ctx, f, s)
		if err != nil || r.Best == nil || ctx.Err() != nil {
			return nil, err
		}
		list, s.Start = append(list, r.Best), r.Best.Lambda
	}
	return list, nil
}
