//go:build (osqp && cgo) || osqp_go

package osqp

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/backends"
)

const (
	defaultStartEps = 1e-2
	defaultRetries  = 3
	defaultRho      = 0.1
	defaultPatience = 4000
)

func (s Settings) withDefaults() Settings {
	if s.Rho == 0 {
		s.Rho = defaultRho
	}
	if s.Patience == 0 {
		s.Patience = defaultPatience
	}
	if s.Patience < 0 || s.FixedRho {
		s.Patience = math.MaxInt / 2
	}
	if s.StartEps == 0 {
		s.StartEps = defaultStartEps
	}
	switch {
	case s.Retries == 0:
		s.Retries = defaultRetries
	case s.Retries < 0:
		s.Retries = 0
	}
	return s
}

// validate rejects what OSQP would reject, and what is no number.
func (s Settings) validate() error {
	positive := func(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
	for _, c := range []struct {
		field string
		ok    bool
		value float64
		want  string
	}{
		{"StartEps", positive(s.StartEps), s.StartEps, "a finite number > 0"},
		{"Rho", positive(s.Rho), s.Rho, "a finite number > 0"},
		{"Sigma", positive(s.Sigma), s.Sigma, "a finite number > 0"},
		{"Alpha", s.Alpha >= 0 && s.Alpha < 2, s.Alpha, "in (0, 2)"},
		{"AdaptiveRhoInterval", s.AdaptiveRhoInterval >= 0, float64(s.AdaptiveRhoInterval), "a number > 0"},
		{"AdaptiveRhoTolerance", s.AdaptiveRhoTolerance == 0 || s.AdaptiveRhoTolerance >= 1, s.AdaptiveRhoTolerance, "at least 1"},
		{"CheckTermination", s.CheckTermination >= 0, float64(s.CheckTermination), "a number > 0"},
		{"Delta", positive(s.Delta), s.Delta, "a finite number > 0"},
		{"PolishRefinements", s.PolishRefinements >= 0, float64(s.PolishRefinements), "a number > 0"},
	} {
		if !c.ok {
			return &backends.ProblemError{Field: "Settings." + c.field, Reason: fmt.Sprintf("is %v, expected %s", c.value, c.want)}
		}
	}
	return nil
}
