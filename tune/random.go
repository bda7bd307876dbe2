package tune

import (
	"context"
	"math/rand/v2"
)

// checkDefault accepts every model with a penalty form.
func (t *task) checkDefault() error {
	_, err := t.checkSearch(t.defaultScope())
	return err
}

// source is the source of random numbers of a run. Every method has its own stream.
func (t *task) source(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(t.Config.Seed), stream))
}

// Streams of random numbers.
const (
	streamRandom = iota + 1
	streamTPE
	streamCMAES
)

// random tries points drawn uniformly in the logarithms.
func (t *task) random(ctx context.Context) (*Result, error) {
	s, err := t.space(ctx, t.defaultScope())
	if err != nil {
		return nil, err
	}
	source := t.source(streamRandom)
	units := make([][]float64, t.evaluations())
	for i := range units {
		units[i] = make([]float64, len(s.axes))
		for k := range units[i] {
			units[i][k] = source.Float64()
		}
	}
	return t.sweep(ctx, s, units)
}

// defaultScope is the scope of the methods that do not mind many axes. The paper gives each hyperparameter a value of
// its own, unless the model says otherwise. That finds better fits where weights belong to groups of coefficients, and
// far worse ones where each coefficient has its own (refits on 100 validation rows, 3 seeds: 9 to 13 each, 4.37
// common).
func (t *task) defaultScope() string {
	a := &t.Advice
	each := a.Each || t.parzenEach() > 0 || t.Config.Preset == PresetPaper && !a.Paper.Common
	if each && t.tuner.name != MethodTPE2 {
		return ScopeEach
	}
	return ScopeCommon
}
