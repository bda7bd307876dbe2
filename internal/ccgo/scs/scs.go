//go:build scs_go

package scs

import (
	"runtime"
	"time"
	"unsafe"

	"github.com/conetune/conetune/internal/ccgo/libc"
	"github.com/conetune/conetune/internal/ccgo/scs/lib"
	mirror "github.com/conetune/conetune/internal/mirror/scs"
)

// The file generated.go of package lib is there.
const _ = lib.RunMakeTranspile

// Library is SCS made Go.
type Library struct{}

var _ mirror.Library = Library{}

// Version returns the version of SCS.
func (Library) Version() string { return libc.Text(lib.Xscs_version(nil)) }

// HasNuclear is true.
func (Library) HasNuclear() bool { return true }

// SetsNumbers is true.
func (Library) SetsNumbers() bool { return true }

// DefaultSettings returns what scs_set_default_settings sets.
func (Library) DefaultSettings() mirror.Settings {
	t := libc.New()
	defer t.Close()
	arena := libc.NewArena(t)
	defer arena.Free()
	c := libc.NewIn[lib.TScsSettings](arena)
	lib.Xscs_set_default_settings(t, libc.Address(c))
	return mirror.Settings{
		Normalize: c.Fnormalize != 0, Scale: c.Fscale, AdaptiveScale: c.Fadaptive_scale != 0, AdaptiveDiagScale: c.Fadaptive_diag_scale != 0,
		RhoX: c.Frho_x, MaxIters: int(c.Fmax_iters), EpsAbs: c.Feps_abs, EpsRel: c.Feps_rel, EpsInfeas: c.Feps_infeas,
		Alpha: c.Falpha, TimeLimit: time.Duration(c.Ftime_limit_secs * float64(time.Second)),
		AccelerationLookback: int(c.Facceleration_lookback), AccelerationInterval: int(c.Facceleration_interval), AccelerationType1: c.Facceleration_type_1 != 0,
		AccelerationRegularization: c.Facceleration_regularization, AccelerationRelaxation: c.Facceleration_relaxation,
	}
}

// work is a ScsWork and the thread of C that its calls run on.
type work struct {
	state
	cleanup runtime.Cleanup
	m, n    int
	shape   mirror.Shape
}

type state struct {
	tls *libc.TLS
	ptr uintptr // 0 when closed
}

func (s state) free() {
	lib.Xscs_finish(s.tls, s.ptr)
	s.tls.Close()
}

// New calls scs_init, which checks, copies, scales and factors the problem.
func (Library) New(d *mirror.Data, k *mirror.Cone, s *mirror.Settings) (mirror.Work, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	t := libc.New()
	arena := libc.NewArena(t)
	defer arena.Free()
	data, cone, set := dataOf(d, arena), coneOf(k, arena), settingsOf(t, s, arena)
	w := &work{state: state{tls: t}, m: d.A.Rows, n: d.A.Cols, shape: mirror.ShapeOf(d)}
	if !arena.Failed() {
		w.ptr = lib.Xscs_init(t, data, cone, set)
	}
	if w.ptr == 0 {
		arena.Free()
		t.Close()
		return nil, mirror.ErrInit
	}
	// The net under a Close that was forgotten.
	w.cleanup = runtime.AddCleanup(w, state.free, w.state)
	return w, nil
}

// Close frees the memory. Further calls do nothing.
func (w *work) Close() {
	if w.ptr != 0 {
		w.cleanup.Stop()
		w.free()
		w.ptr = 0
	}
}

// Update calls scs_update.
func (w *work) Update(b, c []float64) error {
	if w.ptr == 0 {
		return mirror.ErrClosed
	}
	if err := mirror.CheckUpdate(b, c, w.m, w.n); err != nil {
		return err
	}
	defer runtime.KeepAlive(w)
	arena := libc.NewArena(w.tls)
	defer arena.Free()
	newB, newC := arena.Optional(b), arena.Optional(c)
	if arena.Failed() {
		return mirror.UpdateFailed(int(mirror.Failed))
	}
	if status := lib.Xscs_update(w.tls, w.ptr, newB, newC); status != 0 {
		return mirror.UpdateFailed(int(status))
	}
	return nil
}

// SetNumbers calls the function of ours that is made Go with SCS.
func (w *work) SetNumbers(d *mirror.Data, scale float64) (bool, error) {
	if w.ptr == 0 {
		return false, mirror.ErrClosed
	}
	if err := w.shape.Check(d); err != nil {
		return false, err
	}
	defer runtime.KeepAlive(w)
	arena := libc.NewArena(w.tls)
	defer arena.Free()
	var p uintptr
	if d.P != nil {
		p = arena.Floats(d.P.Val)
	}
	a, b, c := arena.Floats(d.A.Val), arena.Floats(d.B), arena.Floats(d.C)
	if arena.Failed() {
		return false, nil
	}
	status := lib.Xconetune_scs_set_numbers(w.tls, w.ptr, p, a, b, c, scale)
	if status < 0 {
		return false, mirror.ErrInit
	}
	return status == 0, nil
}

// settings are those in the work.
func (w *work) settings() *lib.TScsSettings {
	return (*lib.TScsSettings)(libc.Pointer((*lib.TScsWork)(libc.Pointer(w.ptr)).Fstgs))
}

// SetLimits changes tolerances and limits.
func (w *work) SetLimits(s *mirror.Settings) bool {
	if w.ptr == 0 {
		return false
	}
	to := w.settings()
	to.Feps_abs, to.Feps_rel, to.Feps_infeas = s.EpsAbs, s.EpsRel, s.EpsInfeas
	to.Fmax_iters, to.Ftime_limit_secs = int32(s.MaxIters), s.TimeLimit.Seconds()
	runtime.KeepAlive(w)
	return true
}

// Solve calls scs_solve.
func (w *work) Solve(sol *mirror.Solution, warm bool, stop *mirror.Interrupt) (mirror.Info, error) {
	if w.ptr == 0 {
		return mirror.Info{}, mirror.ErrClosed
	}
	if err := sol.Check(w.m, w.n); err != nil {
		return mirror.Info{}, err
	}
	defer runtime.KeepAlive(w)
	arena := libc.NewArena(w.tls)
	defer arena.Free()
	c, info := libc.NewIn[lib.TScsSolution](arena), libc.NewIn[lib.TScsInfo](arena)
	if arena.Failed() {
		return mirror.Info{Status: mirror.Failed}, nil
	}
	c.Fx, c.Fy, c.Fs = arena.Floats(sol.X), arena.Floats(sol.Y), arena.Floats(sol.S)
	if arena.Failed() {
		return mirror.Info{Status: mirror.Failed}, nil
	}
	limit := w.settings().Fmax_iters // which a solve that is asked to finish lowers
	w.tls.Limit = libc.Address(&w.settings().Fmax_iters)
	if stop != nil {
		w.tls.Wish = &stop.Flag
	}
	lib.Xscs_solve(w.tls, w.ptr, libc.Address(c), libc.Address(info), flagOf(warm))
	w.tls.Wish, w.tls.Limit = nil, 0
	w.settings().Fmax_iters = limit
	copy(sol.X, libc.Floats(c.Fx, w.n))
	copy(sol.Y, libc.Floats(c.Fy, w.m))
	copy(sol.S, libc.Floats(c.Fs, w.m))
	return infoOf(info), nil
}

func dataOf(d *mirror.Data, arena *libc.Arena) uintptr {
	c := libc.NewIn[lib.TScsData](arena)
	if c == nil {
		return 0
	}
	*c = lib.TScsData{
		Fm: int32(d.A.Rows), Fn: int32(d.A.Cols), FA: matrixOf(d.A, arena), FP: matrixOf(d.P, arena), Fb: arena.Floats(d.B), Fc: arena.Floats(d.C),
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
	*c = lib.TScsMatrix{Fx: arena.Floats(a.Val), Fi: arena.Integers(a.Ind), Fp: arena.Integers(a.Ptr), Fm: int32(a.Rows), Fn: int32(a.Cols)}
	return libc.Address(c)
}

func coneOf(k *mirror.Cone, arena *libc.Arena) uintptr {
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
		rows, cols := make([]int, len(k.Nuclear)), make([]int, len(k.Nuclear))
		for i, size := range k.Nuclear {
			rows[i], cols[i] = size.Rows, size.Cols
		}
		c.Fnuc_m, c.Fnuc_n, c.Fnucsize = arena.Integers(rows), arena.Integers(cols), int32(len(k.Nuclear))
	}
	return libc.Address(c)
}

func settingsOf(t *libc.TLS, s *mirror.Settings, arena *libc.Arena) uintptr {
	c := libc.NewIn[lib.TScsSettings](arena)
	if c == nil {
		return 0
	}
	lib.Xscs_set_default_settings(t, libc.Address(c))
	c.Fnormalize, c.Fscale = flagOf(s.Normalize), s.Scale
	c.Fadaptive_scale, c.Fadaptive_diag_scale = flagOf(s.AdaptiveScale), flagOf(s.AdaptiveDiagScale)
	c.Frho_x, c.Fmax_iters = s.RhoX, int32(s.MaxIters)
	c.Feps_abs, c.Feps_rel, c.Feps_infeas = s.EpsAbs, s.EpsRel, s.EpsInfeas
	c.Falpha, c.Ftime_limit_secs = s.Alpha, s.TimeLimit.Seconds()
	c.Facceleration_lookback, c.Facceleration_interval = int32(s.AccelerationLookback), int32(s.AccelerationInterval)
	c.Facceleration_type_1 = flagOf(s.AccelerationType1)
	c.Facceleration_regularization, c.Facceleration_relaxation = s.AccelerationRegularization, s.AccelerationRelaxation
	c.Fverbose = 0
	return libc.Address(c)
}

func flagOf(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func infoOf(c *lib.TScsInfo) mirror.Info {
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	return mirror.Info{
		Status: mirror.Status(c.Fstatus_val), Text: libc.Text(uintptr(unsafe.Pointer(&c.Fstatus[0]))), Iterations: int(c.Fiter),
		ScaleUpdates: int(c.Fscale_updates), Scale: c.Fscale, PrimalObjective: c.Fpobj, DualObjective: c.Fdobj,
		PrimalResidual: c.Fres_pri, DualResidual: c.Fres_dual, Gap: c.Fgap,
		Infeasibility: c.Fres_infeas, UnboundednessA: c.Fres_unbdd_a, UnboundednessP: c.Fres_unbdd_p,
		AcceptedAcceleration: int(c.Faccepted_accel_steps), RejectedAcceleration: int(c.Frejected_accel_steps),
		SetupTime: ms(c.Fsetup_time), SolveTime: ms(c.Fsolve_time),
		LinearSystem: ms(c.Flin_sys_time), Cones: ms(c.Fcone_time), Acceleration: ms(c.Faccel_time),
	}
}
