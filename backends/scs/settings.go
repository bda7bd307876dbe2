//go:build (scs && cgo) || scs_go

package scs

import "github.com/conetune/conetune/backends/internal/adapter"

// checks are what SCS would reject, and what is no number.
func (s Settings) checks() []adapter.Check {
	return []adapter.Check{
		adapter.Positive("EpsAbs", s.EpsAbs), adapter.Positive("EpsRel", s.EpsRel), adapter.Positive("Scale", s.Scale),
		adapter.Positive("RhoX", s.RhoX),
		{Field: "Alpha", OK: s.Alpha >= 0 && s.Alpha < 2, Value: s.Alpha, Want: "in (0, 2)"},
		adapter.Count("AccelerationInterval", s.AccelerationInterval),
	}
}
