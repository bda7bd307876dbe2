//go:build scs && cgo

package scs

/*
#include "interrupt.h"
*/
import "C"

import (
	"errors"
	"runtime"
	"time"
)

// Matrix is a ScsMatrix: compressed sparse column, with Ptr of length Cols+1 and
// increasing row indices in each column.
type Matrix struct {
	Rows, Cols int
	Ptr, Ind   []int
	Val        []float64
}

// Data is a ScsData: minimise 1/2 x'Px + c'x subject to Ax + s = b, s in K.
type Data struct {
	A *Matrix
	P *Matrix // upper triangle; nil means zero
	B []float64
	C []float64
}

// Cone is a ScsCone. The rows of A come in the order of its fields.
type Cone struct {
	Zero        int       // equations
	Nonnegative int       // rows with s >= 0
	Box         *Box      // nil for none
	SecondOrder []int     // dimensions
	PSD         []int     // orders of the matrices
	Exponential int       // number of cones of dimension 3
	DualExp     int       // number of cones of dimension 3
	Power       []float64 // exponents, one a cone of dimension 3; negative for the dual
	Nuclear     []Size    // matrices below a bound of their nuclear norm; see HasNuclear
}

// Size is that of the matrix X in the cone {(t, X): |X|_* <= t}, whose rows are t
// and then X by columns. SCS wants Rows >= Cols.
type Size struct {
	Rows, Cols int
}

// HasNuclear says whether the library was built with the nuclear norm cone.
func HasNuclear() bool { return C.conetune_scs_nuclear(new(C.ScsCone), nil, nil, 0) != 0 }

// Box is the cone {(t, s): t Lower <= s <= t Upper, t >= 0}, whose first row is t.
type Box struct {
	Lower, Upper []float64
}

func (k *Cone) mirror(pins *runtime.Pinner) (*C.ScsCone, error) {
	out := &C.ScsCone{
		z: C.scs_int(k.Zero), l: C.scs_int(k.Nonnegative),
		q: integers(pins, k.SecondOrder), qsize: C.scs_int(len(k.SecondOrder)),
		s: integers(pins, k.PSD), ssize: C.scs_int(len(k.PSD)),
		ep: C.scs_int(k.Exponential), ed: C.scs_int(k.DualExp),
		p: pinned(pins, k.Power), psize: C.scs_int(len(k.Power)),
	}
	if k.Box != nil {
		out.bl, out.bu, out.bsize = pinned(pins, k.Box.Lower), pinned(pins, k.Box.Upper), C.scs_int(1+len(k.Box.Lower))
	}
	if len(k.Nuclear) > 0 {
		rows, cols := make([]int, len(k.Nuclear)), make([]int, len(k.Nuclear))
		for i, size := range k.Nuclear {
			rows[i], cols[i] = size.Rows, size.Cols
		}
		if C.conetune_scs_nuclear(out, integers(pins, rows), integers(pins, cols), C.scs_int(len(k.Nuclear))) == 0 {
			return nil, errors.New("scs: the library was built without the nuclear norm cone")
		}
	}
	return out, nil
}

// Settings is a ScsSettings without its switches for printing and files.
type Settings struct {
	Normalize         bool
	Scale             float64
	AdaptiveScale     bool
	AdaptiveDiagScale bool
	RhoX              float64
	MaxIters          int
	EpsAbs, EpsRel    float64
	EpsInfeas         float64
	Alpha             float64
	TimeLimit         time.Duration // 0 means none

	AccelerationLookback       int
	AccelerationInterval       int
	AccelerationType1          bool
	AccelerationRegularization float64
	AccelerationRelaxation     float64
}

// DefaultSettings returns what scs_set_default_settings sets.
func DefaultSettings() Settings {
	var c C.ScsSettings
	C.scs_set_default_settings(&c)
	return Settings{
		Normalize: c.normalize != 0, Scale: float64(c.scale), AdaptiveScale: c.adaptive_scale != 0, AdaptiveDiagScale: c.adaptive_diag_scale != 0,
		RhoX: float64(c.rho_x), MaxIters: int(c.max_iters), EpsAbs: float64(c.eps_abs), EpsRel: float64(c.eps_rel), EpsInfeas: float64(c.eps_infeas),
		Alpha: float64(c.alpha), TimeLimit: time.Duration(float64(c.time_limit_secs) * float64(time.Second)),
		AccelerationLookback: int(c.acceleration_lookback), AccelerationInterval: int(c.acceleration_interval), AccelerationType1: c.acceleration_type_1 != 0,
		AccelerationRegularization: float64(c.acceleration_regularization), AccelerationRelaxation: float64(c.acceleration_relaxation),
	}
}

func (s *Settings) mirror() *C.ScsSettings {
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

// Solution is a ScsSolution: x, y and s of lengths n, m and m.
type Solution struct {
	X, Y, S []float64
}

// Status is an exit flag of scs_solve.
type Status int

// The exit flags.
const (
	Infeasible           Status = C.SCS_INFEASIBLE
	InfeasibleInaccurate Status = C.SCS_INFEASIBLE_INACCURATE
	Unbounded            Status = C.SCS_UNBOUNDED
	UnboundedInaccurate  Status = C.SCS_UNBOUNDED_INACCURATE
	Solved               Status = C.SCS_SOLVED
	SolvedInaccurate     Status = C.SCS_SOLVED_INACCURATE
	SigInt               Status = C.SCS_SIGINT
	Failed               Status = C.SCS_FAILED
	Indeterminate        Status = C.SCS_INDETERMINATE
)

// Info is a ScsInfo.
type Info struct {
	Status                                     Status
	Text                                       string // in the words of SCS
	Iterations                                 int
	ScaleUpdates                               int
	Scale                                      float64
	PrimalObjective, DualObjective             float64
	PrimalResidual, DualResidual, Gap          float64
	Infeasibility                              float64 // residual of the certificate
	UnboundednessA, UnboundednessP             float64 // residuals of the certificate
	AcceptedAcceleration, RejectedAcceleration int
	SetupTime, SolveTime                       time.Duration
	LinearSystem, Cones, Acceleration          time.Duration // parts of SolveTime
}

func infoOf(c *C.ScsInfo) Info {
	ms := func(v C.scs_float) time.Duration { return time.Duration(float64(v) * float64(time.Millisecond)) }
	return Info{
		Status: Status(c.status_val), Text: C.GoString(&c.status[0]), Iterations: int(c.iter), ScaleUpdates: int(c.scale_updates), Scale: float64(c.scale),
		PrimalObjective: float64(c.pobj), DualObjective: float64(c.dobj),
		PrimalResidual: float64(c.res_pri), DualResidual: float64(c.res_dual), Gap: float64(c.gap),
		Infeasibility: float64(c.res_infeas), UnboundednessA: float64(c.res_unbdd_a), UnboundednessP: float64(c.res_unbdd_p),
		AcceptedAcceleration: int(c.accepted_accel_steps), RejectedAcceleration: int(c.rejected_accel_steps),
		SetupTime: ms(c.setup_time), SolveTime: ms(c.solve_time),
		LinearSystem: ms(c.lin_sys_time), Cones: ms(c.cone_time), Acceleration: ms(c.accel_time),
	}
}
