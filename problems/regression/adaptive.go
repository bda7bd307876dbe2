package regression

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems/dataset"
)

const (
	// The weights tried for a pilot fall from pilotTop times its LambdaMax to pilotBottom times it, in so many points at
	// most: until pilotRisen of them are above the least error so far.
	pilotTop, pilotBottom, pilotPoints, pilotRisen = 100, 1e-4, 25, 3
	// pilotGap is the gap of a pilot, searchGap that of the fits by which its weight is chosen, which is one of few.
	pilotGap, searchGap = 1e-8, 1e-4
)

// NewAdaptive is the model of a lasso, n, whose penalty on a feature has the factor (max |b| / |b_j|)^gamma, with b a
// pilot of one weight on the same data: the rung of a ladder, see [Model.Ladder], with a given exponent and without
// delta, so that what has next to no pilot is left out. The weight of the pilot is that of the least validation error,
// and its points go down as far as that does. The final training has a pilot of all rows with the same weight.
func NewAdaptive(ctx context.Context, s dataset.Division, o Options, n, from Net, gamma float64) (*Model, error) {
	m, err := NewNet(s, o, n)
	if err != nil {
		return nil, err
	}
	if err := m.adapt(ctx, from, o, gamma); err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name, err)
	}
	return m, nil
}

// adapt chooses the pilots.
func (m *Model) adapt(ctx context.Context, from Net, o Options, gamma float64) error {
	data := m.data
	pilot, err := from.spec(data)
	if err == nil {
		err = pilot.complete(data, o)
	}
	if err != nil {
		return err
	}
	_, p := data.Dims()
	l := &ladder{full: m, base: &glm.Weights{Norm: slices.Repeat([]float64{1}, p)}}
	m.rung = &rung{ladder: l, below: &Model{data: data, spec: pilot}, gamma: gamma}
	fit, err := l.fit(ctx, 1, func(_ int, lambda []float64) *glm.Weights { return pilot.Weights(lambda) })
	if err != nil {
		return err
	}
	at, err := choosePilot(ctx, fit)
	if err != nil {
		return err
	}
	for t := range data.Folds() {
		factors := l.base
		if at != nil {
			m.rung.lambda = at.Lambda
			factors = l.adapted(of(data, at.X, t)[0], gamma)
		}
		m.rung.factors = append(m.rung.factors, factors)
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
	chain := lower.NewChain(fit, searchGap)
	for k, risen := 0, 0; k < pilotPoints && risen < pilotRisen; k++ {
		weight := top * pilotTop * math.Pow(pilotBottom/pilotTop, float64(k)/(pilotPoints-1))
		pt, err := chain.Solve(ctx, []float64{weight})
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
