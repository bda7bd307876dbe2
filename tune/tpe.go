package tune

import (
	"context"

	"github.com/conetune/conetune/tune/internal/tpe"
)

// treeParzen is the search of package tpe.
type treeParzen struct {
	name   string
	common bool // one value for each kind of hyperparameters, whatever the preset
}

func (m treeParzen) Name() string { return m.name }

// Check accepts every model with a penalty form.
func (m treeParzen) Check(t *Task) error {
	scope, _ := m.budget(t)
	_, err := t.checkSearch(scope)
	return err
}

// budget is the scope of the search and the number of its evaluations.
func (m treeParzen) budget(t *Task) (Scope, int) {
	each := t.Advice.Paper.ParzenEach
	paper := t.Config.Preset == PresetPaper && each > 0
	switch {
	case m.common:
		return ScopeCommon, t.evaluations()
	case paper && t.Config.Evaluations == 0:
		return ScopeEach, each
	case paper:
		return ScopeEach, t.evaluations()
	}
	return t.defaultScope(), t.evaluations()
}

// Tune asks and tells, one point at a time.
func (m treeParzen) Tune(ctx context.Context, t *Task) (*Result, error) {
	scope, n := m.budget(t)
	s, err := t.space(ctx, scope)
	if err != nil {
		return nil, err
	}
	settings := tpe.Optuna() // finds better points than those of the paper
	if t.Config.Preset == PresetPaper {
		settings = tpe.Hyperopt()
	}
	sampler := tpe.New(len(s.axes), t.source(streamTPE), settings)
	return t.search(ctx, s, func(evaluate func(unit []float64) (float64, error)) error {
		for range n {
			x := sampler.Ask()
			value, err := evaluate(x)
			if err != nil {
				return err
			}
			sampler.Tell(x, value)
		}
		return nil
	})
}
