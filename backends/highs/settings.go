//go:build highs && cgo

package highs

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/backends"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
)

// validate rejects what HiGHS would reject, and what is no number.
func (s Settings) validate() error {
	tolerance := func(v float64) bool { return v == 0 || v >= smallestTolerance && !math.IsInf(v, 1) }
	for _, c := range []struct {
		field string
		ok    bool
		value any
		want  string
	}{
		{"Method", s.Method == "" || s.Method == "simplex" || s.Method == "ipm" || s.Method == "hipo", s.Method, "simplex, ipm or hipo"},
		{"PrimalTolerance", tolerance(s.PrimalTolerance), s.PrimalTolerance, "a finite number of at least 1e-10"},
		{"DualTolerance", tolerance(s.DualTolerance), s.DualTolerance, "a finite number of at least 1e-10"},
	} {
		if !c.ok {
			return &backends.ProblemError{Field: "Settings." + c.field, Reason: fmt.Sprintf("is %v, expected %s", c.value, c.want)}
		}
	}
	return nil
}

const (
	defaultRetries    = 4
	smallestTolerance = 1e-10 // of HiGHS
	smallestIPM       = 1e-12
)

func (s Settings) retries() int {
	if s.Retries == 0 {
		return defaultRetries
	}
	return max(0, s.Retries)
}

// mirror translates the options and settings for a linear or quadratic program.
func mirror(o backends.Options, set Settings, quadratic bool) chighs.Settings {
	or := func(v, otherwise float64) float64 {
		if v != 0 {
			return v
		}
		return otherwise
	}
	tolerance := min(max(o.Eps/10, smallestTolerance), 1e-3)
	c := chighs.Settings{
		PrimalTolerance: or(set.PrimalTolerance, tolerance), DualTolerance: or(set.DualTolerance, tolerance),
		IPMTolerance: min(max(o.Eps/10, smallestIPM), 1e-3),
		Crossover:    !set.NoCrossover, Presolve: !set.NoPresolve,
		Iterations: DefaultMaxIterations,
	}
	switch {
	case quadratic || set.Method == "hipo":
		c.Method = chighs.HiPO
	case set.Method == "ipm":
		c.Method = chighs.IPX
	}
	if o.MaxIterations > 0 {
		c.Iterations = min(o.MaxIterations, math.MaxInt32)
	}
	return c
}
