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

func settingsOf(s *scs.Settings) *C.ScsSettings {
	c := new(C.ScsSettings)
	C.scs_set_default_settings(c)
	mirror.Off(&c.normalize, s.NoNormalize)
	mirror.Off(&c.adaptive_scale, s.NoAdaptiveScale)
	mirror.Off(&c.adaptive_diag_scale, s.NoAdaptiveDiagScale)
	mirror.Off(&c.acceleration_type_1, s.AccelerationType2)
	mirror.Set(&c.scale, s.Scale)
	mirror.Set(&c.rho_x, s.RhoX)
	mirror.Set(&c.max_iters, s.MaxIters)
	mirror.Set(&c.eps_abs, s.EpsAbs)
	mirror.Set(&c.eps_rel, s.EpsRel)
	mirror.Set(&c.eps_infeas, s.EpsInfeas)
	mirror.Set(&c.alpha, s.Alpha)
	mirror.Set(&c.time_limit_secs, s.TimeLimit.Seconds())
	mirror.Set(&c.acceleration_lookback, s.AccelerationLookback)
	mirror.Set(&c.acceleration_interval, s.AccelerationInterval)
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
		PrimalResidual: float64(c.res_pri), DualResidual: float64(c.res_dual), Gap: float64(c.gap),
		SetupTime: ms(c.setup_time), SolveTime: ms(c.solve_time),
	}
}
