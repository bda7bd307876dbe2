package tune

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
)

// random tries points drawn uniformly in the logarithms.
type random struct{}

func (random) Name() string { return MethodRandom }

// Check accepts every model with a penalty form.
func (random) Check(t *Task) error {
	_, err := t.checkSearch(t.defaultScope())
	return err
}

// blockLength is the length of the chains of random search: shorter than those of a grid, as neighbours are
// further apart.
const blockLength = 10

// source is the source of random numbers of a run. Every method has its own stream.
func (t *Task) source(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(t.Config.Seed), stream))
}

// Streams of random numbers.
const (
	streamRandom = iota + 1
	streamTPE
	streamCMAES
)

// Tune tries the draws. A block of draws is solved from large values of the first axis to small ones.
func (random) Tune(ctx context.Context, t *Task) (*Result, error) {
	s, err := t.space(ctx, t.defaultScope())
	if err != nil {
		return nil, err
	}
	source := t.source(streamRandom)
	points := make([][]float64, t.evaluations())
	for i := range points {
		unit := make([]float64, len(s.axes))
		for k := range unit {
			unit[k] = source.Float64()
		}
		points[i] = s.values(unit)
	}
	chains := slices.Collect(slices.Chunk(span(0, len(points)), blockLength))
	for _, chain := range chains {
		slices.SortStableFunc(chain, func(i, j int) int { return cmp.Compare(points[j][0], points[i][0]) })
	}
	if err := t.sweep(ctx, s, points, chains); err != nil {
		return nil, err
	}
	return t.Finish(ctx, "", "")
}

// defaultScope is the scope of the methods that do not mind many axes. The paper gives each hyperparameter a value of
// its own, except to the bounds of the support vector machine. That finds better fits where weights belong to
// groups of coefficients (refits on 100 validation rows, 3 seeds: 35 to 48 each, 48 to 50 common), and far worse ones where
// each coefficient has its own (9 to 13 each, 4.37 common).
func (t *Task) defaultScope() Scope {
	switch t.Model.Name() {
	case "sparse-group-lasso":
		return ScopeEach
	case "svm":
		return ScopeCommon
	}
	if t.Config.Preset == PresetPaper {
		return ScopeEach
	}
	return ScopeCommon
}
