//go:build clarabel && cgo

package clarabel

import (
	"cmp"
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	cclarabel "github.com/conetune/conetune/internal/cgo/clarabel"
)

var (
	linearSolvers = map[string]cclarabel.LinearSolver{"": cclarabel.ByWork, "auto": cclarabel.ByWork,
		"qdldl": cclarabel.QDLDL, "faer": cclarabel.Faer}
	merges = map[string]cclarabel.Merge{
		"": cclarabel.ByCliqueGraph, "clique_graph": cclarabel.ByCliqueGraph, "parent_child": cclarabel.ParentsWithChildren,
		"none": cclarabel.NoMerge,
	}
)

// checks are what Clarabel would reject, and what is no number.
func (s Settings) checks() []adapter.Check {
	return []adapter.Check{
		adapter.Positive("EpsFeasible", s.EpsFeasible), adapter.Positive("EpsGap", s.EpsGap),
		adapter.Positive("EpsInfeasible", s.EpsInfeasible),
		{Field: "LinearSolver", OK: has(linearSolvers, s.LinearSolver), Value: s.LinearSolver, Want: "auto, qdldl or faer"},
		adapter.Count("EquilibrationRounds", s.EquilibrationRounds),
		{Field: "Merge", OK: has(merges, s.Merge), Value: s.Merge, Want: "clique_graph, parent_child or none"},
		{Field: "MaxStep", OK: s.MaxStep >= 0 && s.MaxStep < 1, Value: s.MaxStep, Want: "in (0, 1)"},
		adapter.Positive("StaticRegularization", s.StaticRegularization), adapter.Count("Refinements", s.Refinements),
	}
}

func has[V any](names map[string]V, name string) bool {
	_, ok := names[name]
	return ok
}

const (
	defaultRetries    = 6
	defaultInfeasible = 1e-8
)

// given translates the options and settings.
func given(o backends.Options, set Settings) cclarabel.Settings {
	return cclarabel.Settings{
		NoPresolve: true, // it drops rows, and forbids updates
		MaxThreads: min(o.Threads, math.MaxInt32), MaxIter: DefaultMaxIterations,
		TolFeas:   cmp.Or(set.EpsFeasible, o.Eps/2),
		TolGapAbs: cmp.Or(set.EpsGap, o.Eps/2), TolGapRel: cmp.Or(set.EpsGap, o.Eps/2),
		TolInfeasRel: cmp.Or(set.EpsInfeasible, min(defaultInfeasible, o.EpsInfeasible/2)),
		LinearSolver: linearSolvers[set.LinearSolver], Merge: merges[set.Merge], NoEquilibration: set.NoEquilibration,
		NoChordal:          set.NoChordal,
		EquilibrateMaxIter: set.EquilibrationRounds, IterativeRefinementIter: set.Refinements,
		MaxStepFraction: set.MaxStep, StaticRegularizationConstant: set.StaticRegularization,
	}
}
