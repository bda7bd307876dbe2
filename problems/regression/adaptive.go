package regression

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/warm"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

const (
	// The weights tried for a pilot fall from pilotTop times its LambdaMax to pilotBottom times it, in so many points at
	// most: until pilotRisen of them are above the least error so far.
	pilotTop, pilotBottom, pilotPoints, pilotRisen = 100, 1e-4, 25, 3
	// pilotGap is the gap of a pilot, searchGap that of the fits by which its weight is chosen, which is one of few.
	pilotGap, searchGap = 1e-8, 1e-4
)

// Pilots are the models that the weights of [AdaptiveLasso] may come from.
func Pilots() []string { return []string{"ridge", "lasso"} }

// AdaptiveLasso is the lasso whose penalty on a coefficient is the smaller the larger that is in a pilot: with the
// coefficients p of that, [Options].Pilot, on the training rows,
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : sum_j w_j |b_j| <= r },   w_j = (max_i |p_i| / |p_j|)^gamma,
//
// the decoupled form of choosing lambda in min l(b) + lambda sum_j w_j |b_j| (H. Zou, The adaptive lasso and its oracle
// properties, JASA 101, 2006). Only ratios of the weights matter, and the largest feature of the pilot has the
// weight 1. A feature that the pilot leaves out, as a lasso does, or whose weight would be more than 1e6, stays out.
// The multiplier of the radius is lambda.
//
// The pilot is ridge regression or the lasso, of each fold fitted to its training rows and in the final training to all
// rows, with one weight, that of the least validation error, down to where the error rises. It is the rung below on a
// ladder, see [problems.Rung], with the exponent gamma and without delta, so that what has next to no pilot is left
// out.
func AdaptiveLasso(s dataset.Division, o Options) (*Model, error) {
	o.Gamma, o.Pilot = cmp.Or(o.Gamma, 1), cmp.Or(o.Pilot, "ridge")
	net := Net{
		Name: "adaptive-lasso", Penalties: Norm1Alone, Weighing: true, Takes: []string{"Gamma", "Pilot"},
		Fit: making(fits.Lasso), Advice: problems.Advice{Modes: normModes},
	}
	pilot := net
	switch {
	case !(o.Gamma > 0) || math.IsInf(o.Gamma, 1):
		return nil, fmt.Errorf("%s: gamma is %v, expected a positive number", net.Name, o.Gamma)
	case !slices.Contains(Pilots(), o.Pilot):
		return nil, fmt.Errorf("%s: unknown pilot %q, expected one of %v", net.Name, o.Pilot, Pilots())
	case o.Pilot == "ridge":
		pilot.Penalties, pilot.Fit = SquaresAlone, making(fits.Ridge)
	}
	return checked(net.Name, s, func() (*Model, error) {
		m, err := net.model(s, o)
		if err == nil {
			err = m.adapt(context.Background(), pilot, o)
		}
		return m, err
	})
}

// adapt chooses the pilots.
func (m *Model) adapt(ctx context.Context, from Net, o Options) error {
	data := m.data
	pilot, err := from.describe(data)
	if err != nil {
		return err
	}
	pilot.complete(data)
	_, p := data.Dims()
	l := &ladder{full: m, base: &glm.Weights{Norm: slices.Repeat([]float64{1}, p)}}
	m.rung = &rung{ladder: l, below: &Model{data: data, spec: pilot}, gamma: o.Gamma}
	fit, err := l.fit(ctx, 1, func(_ int, lambda []float64) *glm.Weights { return pilot.Weights(lambda) })
	if err != nil {
		return err
	}
	at, err := choosePilot(ctx, fit)
	if err != nil {
		return err
	}
	m.rung.factors = slices.Repeat([]*glm.Weights{l.base}, data.Folds())
	if at != nil {
		m.rung.lambda, m.rung.factors = at.Lambda, l.adaptedTo(at.X, o.Gamma)
	}
	top, err := m.rung.fit(ctx)
	if err != nil {
		return err
	}
	data.SetLambdaMax(top.LambdaMax())
	m.spec.Path = single(data.Path(longPath))
	return nil
}

// choosePilot is the pilot of least validation error; nil where no weight has any.
func choosePilot(ctx context.Context, fit lower.Fit) (*lower.Point, error) {
	top := fit.LambdaMax()
	if !(top > 0) || fit.Dim() == 0 {
		return nil, nil
	}
	var best *lower.Point
	chain := warm.NewChain(fit)
	for k, risen := 0, 0; k < pilotPoints && risen < pilotRisen; k++ {
		weight := top * pilotTop * math.Pow(pilotBottom/pilotTop, float64(k)/(pilotPoints-1))
		pt, err := chain.Solve(ctx, []float64{weight}, searchGap)
		if err != nil {
			return nil, err
		}
		switch {
		case best == nil || pt.Validation < best.Validation:
			best, risen = pt, 0
		case pt.Validation > best.Validation:
			risen++
		}
	}
	return fit.Solve(ctx, best.Lambda, pilotGap, nil)
}
