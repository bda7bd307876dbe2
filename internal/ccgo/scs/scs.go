//go:build scs_go

package scs

import (
	"time"
	"unsafe"

	"github.com/conetune/conetune/internal/ccgo/libc"
	"github.com/conetune/conetune/internal/ccgo/scs/lib"
	"github.com/conetune/conetune/internal/mirror"
	"github.com/conetune/conetune/internal/mirror/scs"
)

// The file generated.go of package lib is there.
const _ = lib.RunMakeTranspile

// Library is SCS made Go.
type Library struct{}

var _ scs.Library = Library{}

// Version returns the version of SCS.
func (Library) Version() string { return libc.Text(lib.Xscs_version(nil)) }

// HasNuclear is true.
func (Library) HasNuclear() bool { return true }

// SetsNumbers is true.
func (Library) SetsNumbers() bool { return true }

// work is a ScsWork and the thread of C that its calls run on.
type work struct {
	tls *libc.TLS
	ptr uintptr
}

// Init calls scs_init.
func (Library) Init(d *scs.Data, k *scs.Cone, s *scs.Settings) scs.Calls {
	w := work{tls: libc.New()}
	arena := libc.NewArena(w.tls)
	data, cone, set := dataOf(d, arena), coneOf(k, arena), settingsOf(w.tls, s, arena)
	if !arena.Failed() {
		w.ptr = lib.Xscs_init(w.tls, data, cone, set)
	}
	arena.Free()
	if w.ptr == 0 {
		w.tls.Close()
		return nil
	}
	return w
}

func (w work) Finish() {
	lib.Xscs_finish(w.tls, w.ptr)
	w.tls.Close()
}

func (w work) Update(b, c []float64) int {
	arena := libc.NewArena(w.tls)
	defer arena.Free()
	newB, newC := arena.Optional(b), arena.Optional(c)
	if arena.Failed() {
		return int(scs.Failed)
	}
	return int(lib.Xscs_update(w.tls, w.ptr, newB, newC))
}

// SetNumbers calls the function of ours that is made Go with SCS.
func (w work) SetNumbers(d *scs.Data, scale float64) int {
	arena := libc.NewArena(w.tls)
	defer arena.Free()
	var p uintptr
	if d.P != nil {
		p = arena.Floats(d.P.Val)
	}
	a, b, c := arena.Floats(d.A.Val), arena.Floats(d.B), arena.Floats(d.C)
	if arena.Failed() {
		return 1
	}
	return int(lib.Xconetune_scs_set_numbers(w.tls, w.ptr, p, a, b, c, scale))
}

// settings are those in the work.
func (w work) settings() *lib.TScsSettings {
	return (*lib.TScsSettings)(libc.Pointer((*lib.TScsWork)(libc.Pointer(w.ptr)).Fstgs))
}

func (w work) SetLimits(s *scs.Settings) bool {
	arena := libc.NewArena(w.tls)
	defer arena.Free()
	from := settingsOf(w.tls, s, arena)
	if arena.Failed() {
		return false
	}
	to, set := w.settings(), (*lib.TScsSettings)(libc.Pointer(from))
	to.Feps_abs, to.Feps_rel, to.Feps_infeas = set.Feps_abs, set.Feps_rel, set.Feps_infeas
	to.Fmax_iters, to.Ftime_limit_secs = set.Fmax_iters, set.Ftime_limit_secs
	return true
}

func (w work) Solve(sol *scs.Solution, warm bool, stop *mirror.Interrupt) scs.Info {
	arena := libc.NewArena(w.tls)
	defer arena.Free()
	c, info := libc.NewIn[lib.TScsSolution](arena), libc.NewIn[lib.TScsInfo](arena)
	x, y, s := arena.Floats(sol.X), arena.Floats(sol.Y), arena.Floats(sol.S)
	if arena.Failed() {
		return scs.Info{Status: scs.Failed}
	}
	c.Fx, c.Fy, c.Fs = x, y, s
	limit := w.settings().Fmax_iters // which a solve that is asked to finish lowers
	w.tls.Limit = libc.Address(&w.settings().Fmax_iters)
	if stop != nil {
		w.tls.Wish = &stop.Flag
	}
	lib.Xscs_solve(w.tls, w.ptr, libc.Address(c), libc.Address(info), libc.BoolInt32(warm))
	w.tls.Wish, w.tls.Limit = nil, 0
	w.settings().Fmax_iters = limit
	copy(sol.X, libc.Floats(x, len(sol.X)))
	copy(sol.Y, libc.Floats(y, len(sol.Y)))
	copy(sol.S, libc.Floats(s, len(sol.S)))
	return infoOf(info)
}

func dataOf(d *scs.Data, arena *libc.Arena) uintptr {
	c := libc.NewIn[lib.TScsData](arena)
	if c == nil {
		return 0
	}
	*c = lib.TScsData{
		Fm: int32(d.A.Rows), Fn: int32(d.A.Cols), FA: matrixOf(d.A, arena), FP: matrixOf(d.P, arena), Fb: arena.Floats(d.B),
		Fc: arena.Floats(d.C),
	}
	return libc.Address(c)
}

func matrixOf(a *mirror.Matrix, arena *libc.Arena) uintptr {
	if a == nil {
		return 0
	}
	c := libc.NewIn[lib.TScsMatrix](arena)
	if c == nil {
		return 0
	}
	*c = lib.TScsMatrix{Fx: arena.Floats(a.Val), Fi: arena.Integers(a.Ind), Fp: arena.Integers(a.Ptr), Fm: int32(a.Rows),
		Fn: int32(a.Cols)}
	return libc.Address(c)
}

func coneOf(k *scs.Cone, arena *libc.Arena) uintptr {
	c := libc.NewIn[lib.TScsCone](arena)
	if c == nil {
		return 0
	}
	*c = lib.TScsCone{
		Fz: int32(k.Zero), Fl: int32(k.Nonnegative),
		Fq: arena.Integers(k.SecondOrder), Fqsize: int32(len(k.SecondOrder)),
		Fs: arena.Integers(k.PSD), Fssize: int32(len(k.PSD)),
		Fep: int32(k.Exponential), Fed: int32(k.DualExp),
		Fp: arena.Floats(k.Power), Fpsize: int32(len(k.Power)),
	}
	if k.Box != nil {
		c.Fbl, c.Fbu, c.Fbsize = arena.Floats(k.Box.Lower), arena.Floats(k.Box.Upper), int32(1+len(k.Box.Lower))
	}
	if len(k.Nuclear) > 0 {
		rows, cols := k.NuclearSizes()
		c.Fnuc_m, c.Fnuc_n, c.Fnucsize = arena.Integers(rows), arena.Integers(cols), int32(len(k.Nuclear))
	}
	return libc.Address(c)
}

func settingsOf(t *libc.TLS, s *scs.Settings, arena *libc.Arena) uintptr {
	c := libc.NewIn[lib.TScsSettings](arena)
	if c == nil {
		return 0
	}
	lib.Xscs_set_default_settings(t, libc.Address(c))
	mirror.Off(&c.Fnormalize, s.NoNormalize)
	mirror.Off(&c.Fadaptive_scale, s.NoAdaptiveScale)
	mirror.Off(&c.Fadaptive_diag_scale, s.NoAdaptiveDiagScale)
	mirror.Off(&c.Facceleration_type_1, s.AccelerationType2)
	mirror.Set(&c.Fscale, s.Scale)
	mirror.Set(&c.Frho_x, s.RhoX)
	mirror.Set(&c.Fmax_iters, s.MaxIters)
	mirror.Set(&c.Feps_abs, s.EpsAbs)
	mirror.Set(&c.Feps_rel, s.EpsRel)
	mirror.Set(&c.Feps_infeas, s.EpsInfeas)
	mirror.Set(&c.Falpha, s.Alpha)
	mirror.Set(&c.Ftime_limit_secs, s.TimeLimit.Seconds())
	mirror.Set(&c.Facceleration_lookback, s.AccelerationLookback)
	mirror.Set(&c.Facceleration_interval, s.AccelerationInterval)
	c.Fverbose = 0
	return libc.Address(c)
}

func infoOf(c *lib.TScsInfo) scs.Info {
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	return scs.Info{
		Status: scs.Status(c.Fstatus_val), Text: libc.Text(uintptr(unsafe.Pointer(&c.Fstatus[0]))), Iterations: int(c.Fiter),
		Scale:          c.Fscale,
		PrimalResidual: c.Fres_pri, DualResidual: c.Fres_dual, Gap: c.Fgap,
		SetupTime: ms(c.Fsetup_time), SolveTime: ms(c.Fsolve_time),
	}
}
