//go:build (scs && cgo) || scs_go

package scs

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/backends"
)

// validate rejects what SCS would reject, and what is no number.
func (s Settings) validate() error {
	for _, c := range []struct {
		field string
		ok    bool
		value float64
		want  string
	}{
		{"EpsAbs", s.EpsAbs >= 0 && !math.IsInf(s.EpsAbs, 1), s.EpsAbs, "a finite number >= 0"},
		{"EpsRel", s.EpsRel >= 0 && !math.IsInf(s.EpsRel, 1), s.EpsRel, "a finite number >= 0"},
		{"Scale", s.Scale >= 0 && !math.IsInf(s.Scale, 1), s.Scale, "a finite number > 0"},
		{"RhoX", s.RhoX >= 0 && !math.IsInf(s.RhoX, 1), s.RhoX, "a finite number > 0"},
		{"Alpha", s.Alpha >= 0 && s.Alpha < 2, s.Alpha, "in (0, 2)"},
		{"AccelerationInterval", s.AccelerationInterval >= 0, float64(s.AccelerationInterval), "a number > 0"},
	} {
		if !c.ok {
			return &backends.ProblemError{Field: "Settings." + c.field, Reason: fmt.Sprintf("is %v, expected %s", c.value, c.want)}
		}
	}
	return nil
}
