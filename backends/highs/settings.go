//go:build highs && cgo

package highs

import (
	"cmp"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
)

// checks are what HiGHS would reject, and what is no number.
func (s Settings) checks() []adapter.Check {
	tolerance := func(field string, v float64) adapter.Check {
		return adapter.Check{Field: field, OK: v == 0 || v >= smallestTolerance && !math.IsInf(v, 1), Value: v,
			Want: "a finite number of at least 1e-10"}
	}
	return []adapter.Check{
		{Field: "Method", OK: slices.Contains([]string{"", "simplex", "ipm", "hipo"}, s.Method), Value: s.Method,
			Want: "simplex, ipm or hipo"},
		tolerance("PrimalTolerance", s.PrimalTolerance), tolerance("DualTolerance", s.DualTolerance),
	}
}

const (
	defaultRetries    = 4
	smallestTolerance = 1e-10 // of HiGHS
	smallestIPM       = 1e-12
)

// given translates the options and settings for a linear or quadratic program.
func given(o backends.Options, set Settings, quadratic bool) chighs.Settings {
	tolerance := min(max(o.Eps/10, smallestTolerance), 1e-3)
	c := chighs.Settings{
		PrimalTolerance: cmp.Or(set.PrimalTolerance, tolerance), DualTolerance: cmp.Or(set.DualTolerance, tolerance),
		IPMTolerance: min(max(o.Eps/10, smallestIPM), 1e-3),
		Crossover:    !set.NoCrossover, Presolve: !set.NoPresolve,
		Iterations: min(cmp.Or(o.MaxIterations, DefaultMaxIterations), math.MaxInt32),
	}
	switch {
	case quadratic || set.Method == "hipo":
		c.Method = chighs.HiPO
	case set.Method == "ipm":
		c.Method = chighs.IPX
	}
	return c
}
