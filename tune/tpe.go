package tune

import (
	"context"

	"github.com/conetune/conetune/tune/internal/tpe"
)

// checkParzen accepts every model with a penalty form.
func (t *task) checkParzen() error {
	scope, _ := t.parzenBudget()
	_, err := t.checkSearch(scope)
	return err
}

// parzenBudget is the scope of the search and the number of its evaluations. [MethodTPE2] has one value for each kind
// of hyperparameters, whatever the preset.
func (t *task) parzenBudget() (string, int) {
	each := t.Advice.Paper.ParzenEach
	paper := t.Config.Preset == PresetPaper && each > 0
	switch {
	case t.tuner.name == MethodTPE2:
		return ScopeCommon, t.evaluations()
	case paper && t.Config.Evaluations == 0:
		return ScopeEach, each
	case paper:
		return ScopeEach, t.evaluations()
	}
	return t.defaultScope(), t.evaluations()
}

// treeParzen is the search of package tpe, which is asked and told, one point at a time.
func (t *task) treeParzen(ctx context.Context) (*Result, error) {
	scope, n := t.parzenBudget()
	settings := tpe.Optuna() // finds better points than those of the paper
	if t.Config.Preset == PresetPaper {
		settings = tpe.Hyperopt()
	}
	return t.search(ctx, scope, func(axes int, evaluate func(unit []float64) (float64, error)) error {
		sampler := tpe.New(axes, t.source(streamTPE), settings)
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
