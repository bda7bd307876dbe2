package tune

import (
	"context"

	"github.com/conetune/conetune/tune/internal/tpe"
)

// parzenEach is the number of evaluations of the paper's [MethodTPE] where that has a value for each hyperparameter;
// else 0. [MethodTPE2] has one value for each kind of hyperparameters, whatever the preset.
func (t *task) parzenEach() int {
	if t.tuner.name == MethodTPE && t.Config.Preset == PresetPaper {
		return t.Advice.Paper.ParzenEach
	}
	return 0
}

// treeParzen is the search of package tpe, which is asked and told, one point at a time.
func (t *task) treeParzen(ctx context.Context) (*Result, error) {
	settings := tpe.Optuna() // finds better points than those of the paper
	if t.Config.Preset == PresetPaper {
		settings = tpe.Hyperopt()
	}
	return t.search(ctx, func(axes int, evaluate func(unit []float64) (float64, error)) error {
		sampler := tpe.New(axes, t.source(streamTPE), settings)
		for range t.evaluations() {
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
