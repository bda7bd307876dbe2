//go:build (osqp && cgo) || osqp_go

package osqp

import (
	"cmp"
	"math"

	"github.com/conetune/conetune/backends/internal/adapter"
)

const (
	defaultStartEps = 1e-2
	defaultRetries  = 3
	defaultRho      = 0.1
	defaultPatience = 4000
)

func (s Settings) withDefaults() Settings {
	s.StartEps, s.Rho = cmp.Or(s.StartEps, defaultStartEps), cmp.Or(s.Rho, defaultRho)
	s.Patience, s.Retries = cmp.Or(s.Patience, defaultPatience), adapter.Retries(s.Retries, defaultRetries)
	if s.Patience < 0 || s.FixedRho {
		s.Patience = math.MaxInt / 2
	}
	return s
}

// checks are what OSQP would reject, and what is no number.
func (s Settings) checks() []adapter.Check {
	return []adapter.Check{
		adapter.Positive("StartEps", s.StartEps), adapter.Positive("Rho", s.Rho), adapter.Positive("Sigma", s.Sigma),
		adapter.Positive("Delta", s.Delta),
		{Field: "Alpha", OK: s.Alpha >= 0 && s.Alpha < 2, Value: s.Alpha, Want: "in (0, 2)"},
		adapter.Count("AdaptiveRhoInterval", s.AdaptiveRhoInterval),
		{Field: "AdaptiveRhoTolerance", OK: s.AdaptiveRhoTolerance == 0 || s.AdaptiveRhoTolerance >= 1,
			Value: s.AdaptiveRhoTolerance, Want: "at least 1"},
		adapter.Count("CheckTermination", s.CheckTermination), adapter.Count("PolishRefinements", s.PolishRefinements),
	}
}
