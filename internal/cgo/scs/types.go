//go:build scs && cgo

package scs

/*
#include "interrupt.h"
*/
import "C"

import (
	"runtime"
	"time"

	"github.com/conetune/conetune/internal/mirror"
	"github.com/conetune/conetune/internal/mirror/scs"
)

// HasNuclear says whether the library was built with the nuclear norm cone.
func (Library) HasNuclear() bool { return C.conetune_scs_nuclear(new(C.ScsCone), nil, nil, 0) != 0 }

func coneOf(k *scs.Cone, pins *runtime.Pinner) *C.ScsCone {
	out := &C.ScsCone{
		z: C.scs_int(k.Zero), l: C.scs_int(k.Nonnegative),
		q: integers(pins, k.SecondOrder), qsize: C.scs_int(len(k.SecondOrder)),
		s: integers(pins, k.PSD), ssize: C.scs_int(len(k.PSD)),
		ep: C.scs_int(k.Exponential), ed: C.scs_int(k.DualExp),
		p: floats(pins, k.Power), psize: C.scs_int(len(k.Power)),
	}
	if k.Box != nil {
		out.bl, out.bu, out.bsize = floats(pins, k.Box.Lower), floats(pins, k.Box.Upper), C.scs_int(1+len(k.Box.Lower))
	}
	if len(k.Nuclear) > 0 {
		rows, cols := k.NuclearSizes()
		C.conetune_scs_nuclear(out, integers(pins, rows), integers(pins, cols), C.scs_int(len(k.Nuclear)))
	}
	return out
}

// DefaultSettings returns what scs_set_default_settings sets.
func (Library) DefaultSettings() scs.Settings {
	var c C.ScsSettings
	C.scs_set_default_settings(&c)
	return scs.Settings{
		Normalize: c.normalize != 0, Scale: float64(c.scale), AdaptiveScale: c.adaptive_scale != 0, AdaptiveDiagScale: c.adaptive_diag_scale != 0,
		RhoX: float64(c.rho_x), MaxIters: int(c.max_iters), EpsAbs: float64(c.eps_abs), EpsRel: float64(c.eps_rel), EpsInfeas: float64(c.eps_infeas),
		Alpha: float64(c.alpha), TimeLimit: time.Duration(float64(c.time_limit_secs) * float64(time.Second)),
		AccelerationLookback: int(c.acceleration_lookback), AccelerationInterval: int(c.acceleration_interval), AccelerationType1: c.acceleration_type_1 != 0,
		AccelerationRegularization: float64(c.acceleration_regularization), AccelerationRelaxation: float64(c.acceleration_relaxation),
	}
}

func settingsOf(s *scs.Settings) *C.ScsSettings {
	c := new(C.ScsSettings)
	C.scs_set_default_settings(c)
	c.normalize, c.scale = flagOf(s.Normalize), C.scs_float(s.Scale)
	c.adaptive_scale, c.adaptive_diag_scale = flagOf(s.AdaptiveScale), flagOf(s.AdaptiveDiagScale)
	c.rho_x, c.max_iters = C.scs_float(s.RhoX), C.scs_int(s.MaxIters)
	c.eps_abs, c.eps_rel, c.eps_infeas = C.scs_float(s.EpsAbs), C.scs_float(s.EpsRel), C.scs_float(s.EpsInfeas)
	c.alpha, c.time_limit_secs = C.scs_float(s.Alpha), C.scs_float(s.TimeLimit.Seconds())
	c.acceleration_lookback, c.acceleration_interval = C.scs_int(s.AccelerationLookback), C.scs_int(s.AccelerationInterval)
	c.acceleration_type_1 = flagOf(s.AccelerationType1)
	c.acceleration_regularization = C.scs_float(s.AccelerationRegularization)
	c.acceleration_relaxation = C.scs_float(s.AccelerationRelaxation)
	c.verbose = 0
	return c
}

func flagOf(b bool) C.scs_int {
	if b {
		return 1
	}
	return 0
}

// The numbers of the mirror are those of C: a difference is an index out of range.
var same [1]struct{}
var (
	_ = same[scs.Infeasible-C.SCS_INFEASIBLE]
	_ = same[scs.InfeasibleInaccurate-C.SCS_INFEASIBLE_INACCURATE]
	_ = same[scs.Unbounded-C.SCS_UNBOUNDED]
	_ = same[scs.UnboundedInaccurate-C.SCS_UNBOUNDED_INACCURATE]
	_ = same[scs.Solved-C.SCS_SOLVED]
	_ = same[scs.SolvedInaccurate-C.SCS_SOLVED_INACCURATE]
	_ = same[scs.SigInt-C.SCS_SIGINT]
	_ = same[scs.Failed-C.SCS_FAILED]
	_ = same[scs.Indeterminate-C.SCS_INDETERMINATE]
)

// What a flag holds is what C looks for.
var (
	_ = same[mirror.Run-C.CONETUNE_SCS_RUN]
	_ = same[mirror.Stop-C.CONETUNE_SCS_STOP]
	_ = same[mirror.Finish-C.CONETUNE_SCS_FINISH]
)

func infoOf(c *C.ScsInfo) scs.Info {
	ms := func(v C.scs_float) time.Duration { return time.Duration(float64(v) * float64(time.Millisecond)) }
	return scs.Info{
		Status: scs.Status(c.status_val), Text: C.GoString(&c.status[0]), Iterations: int(c.iter), Scale: float64(c.scale),
		PrimalObjective: float64(c.pobj), PrimalResidual: float64(c.res_pri), DualResidual: float64(c.res_dual), Gap: float64(c.gap),
		SetupTime: ms(c.setup_time), SolveTime: ms(c.solve_time),
	}
}
