//go:build clarabel && cgo

package clarabel

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	cclarabel "github.com/conetune/conetune/internal/cgo/clarabel"
)

var (
	linearSolvers = map[string]cclarabel.LinearSolver{"": cclarabel.ByWork, "auto": cclarabel.ByWork, "qdldl": cclarabel.QDLDL, "faer": cclarabel.Faer}
	merges        = map[string]cclarabel.Merge{
		"": cclarabel.ByCliqueGraph, "clique_graph": cclarabel.ByCliqueGraph, "parent_child": cclarabel.ParentsWithChildren, "none": cclarabel.NoMerge,
	}
)

// validate rejects what Clarabel would reject, and what is no number.
func (s Settings) validate() error {
	positive := func(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
	for _, c := range []struct {
		field string
		ok    bool
		value any
		want  string
	}{
		{"EpsFeasible", positive(s.EpsFeasible), s.EpsFeasible, "a finite number > 0"},
		{"EpsGap", positive(s.EpsGap), s.EpsGap, "a finite number > 0"},
		{"EpsInfeasible", positive(s.EpsInfeasible), s.EpsInfeasible, "a finite number > 0"},
		{"LinearSolver", has(linearSolvers, s.LinearSolver), s.LinearSolver, "auto, qdldl or faer"},
		{"EquilibrationRounds", s.EquilibrationRounds >= 0 && s.EquilibrationRounds <= math.MaxInt32, s.EquilibrationRounds, "a number > 0"},
		{"Merge", has(merges, s.Merge), s.Merge, "clique_graph, parent_child or none"},
		{"MaxStep", s.MaxStep >= 0 && s.MaxStep < 1, s.MaxStep, "in (0, 1)"},
		{"StaticRegularization", positive(s.StaticRegularization), s.StaticRegularization, "a finite number > 0"},
		{"Refinements", s.Refinements >= 0 && s.Refinements <= math.MaxInt32, s.Refinements, "a number > 0"},
	} {
		if !c.ok {
			return &backends.ProblemError{Field: "Settings." + c.field, Reason: fmt.Sprintf("is %v, expected %s", c.value, c.want)}
		}
	}
	return nil
}

func has[V any](names map[string]V, name string) bool {
	_, ok := names[name]
	return ok
}

const (
	defaultRetries    = 6
	defaultInfeasible = 1e-8
)

func (s Settings) retries() int {
	if s.Retries == 0 {
		return defaultRetries
	}
	return max(0, s.Retries)
}

// mirror translates the options and settings.
func mirror(o backends.Options, set Settings) cclarabel.Settings {
	c := cclarabel.DefaultSettings()
	replace := func(to *float64, by float64) {
		if by != 0 {
			*to = by
		}
	}
	count := func(to *uint32, by int) {
		if by != 0 {
			*to = uint32(by)
		}
	}
	c.Presolve = false // drops rows, and forbids updates
	c.MaxThreads = uint32(min(o.Threads, math.MaxInt32))
	c.TolFeas, c.TolGapAbs, c.TolGapRel = o.Eps/2, o.Eps/2, o.Eps/2
	replace(&c.TolFeas, set.EpsFeasible)
	replace(&c.TolGapAbs, set.EpsGap)
	replace(&c.TolGapRel, set.EpsGap)
	c.TolInfeasRel = min(defaultInfeasible, o.EpsInfeasible/2)
	replace(&c.TolInfeasRel, set.EpsInfeasible)
	c.LinearSolver, c.Merge = linearSolvers[set.LinearSolver], merges[set.Merge]
	c.Equilibrate, c.Chordal = !set.NoEquilibration, !set.NoChordal
	count(&c.EquilibrateMaxIter, set.EquilibrationRounds)
	count(&c.IterativeRefinementMaxIter, set.Refinements)
	replace(&c.MaxStepFraction, set.MaxStep)
	replace(&c.StaticRegularizationConstant, set.StaticRegularization)
	c.MaxIter = DefaultMaxIterations
	return c
}

// cones that Clarabel takes, as they are or after a change of variables.
var cones = []backends.ConeKind{
	backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone, backends.SecondOrderCone, backends.PSDCone,
	backends.ExponentialCone, backends.DualExponentialCone, backends.PowerCone, backends.DualPowerCone,
	backends.GeneralizedPowerCone, backends.DualGeneralizedPowerCone,
}

func supported(p *backends.Problem) error {
	for _, c := range p.Cones {
		if !slices.Contains(cones, c.Kind) {
			return &backends.UnsupportedError{Backend: "clarabel", Feature: fmt.Sprintf("the %s cone", c.Kind)}
		}
	}
	return nil
}
