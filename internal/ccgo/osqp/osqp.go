//go:build osqp_go

package osqp

import (
	"runtime"
	"time"
	"unsafe"

	"github.com/conetune/conetune/internal/ccgo/libc"
	"github.com/conetune/conetune/internal/ccgo/osqp/lib"
	mirror "github.com/conetune/conetune/internal/mirror/osqp"
)

// The file generated.go of package lib is there.
const _ = lib.RunMakeTranspile

// Library is OSQP made Go.
type Library struct{}

var _ mirror.Library = Library{}

// Version returns the version of OSQP.
func (Library) Version() string { return libc.Text(lib.Xosqp_version(nil)) }

// DefaultSettings returns what osqp_set_default_settings sets.
func (Library) DefaultSettings() mirror.Settings {
	t := libc.New()
	defer t.Close()
	arena := libc.NewArena(t)
	defer arena.Free()
	c := libc.NewIn[lib.TOSQPSettings](arena)
	lib.Xosqp_set_default_settings(t, libc.Address(c))
	return mirror.Settings{
		WarmStarting: c.Fwarm_starting != 0, Scaling: int(c.Fscaling), Polishing: c.Fpolishing != 0,
		Rho: c.Frho, RhoIsVector: c.Frho_is_vec != 0, Sigma: c.Fsigma, Alpha: c.Falpha,
		AdaptiveRho: mirror.RhoRule(c.Fadaptive_rho), AdaptiveRhoInterval: int(c.Fadaptive_rho_interval),
		AdaptiveRhoFraction: c.Fadaptive_rho_fraction, AdaptiveRhoTolerance: c.Fadaptive_rho_tolerance,
		MaxIterations: int(c.Fmax_iter), EpsAbs: c.Feps_abs, EpsRel: c.Feps_rel,
		EpsPrimalInfeasible: c.Feps_prim_inf, EpsDualInfeasible: c.Feps_dual_inf,
		ScaledTermination: c.Fscaled_termination != 0, CheckTermination: int(c.Fcheck_termination), CheckDualGap: c.Fcheck_dualgap != 0,
		Delta: c.Fdelta, PolishRefineIter: int(c.Fpolish_refine_iter),
	}
}

// solver is an OSQPSolver and the thread of C that its calls run on.
type solver struct {
	state
	cleanup runtime.Cleanup
	mirror.Sizes
}

type state struct {
	tls *libc.TLS
	ptr uintptr // 0 when closed
}

func (s state) free() {
	lib.Xosqp_cleanup(s.tls, s.ptr)
	s.tls.Close()
}

func (s state) c() *lib.TOSQPSolver { return (*lib.TOSQPSolver)(libc.Pointer(s.ptr)) }

func (s state) info() mirror.Info { return infoOf((*lib.TOSQPInfo)(libc.Pointer(s.c().Finfo))) }

// failed is the error of an exit flag.
func failed(call string, code int32) error {
	if code == 0 {
		return nil
	}
	e := &mirror.Error{Call: call, Code: int(code)}
	if code > 0 && code < lib.EOSQP_LAST_ERROR_PLACE {
		e.Text = libc.Text(lib.Xosqp_error_message(nil, code))
	}
	return e
}

// New calls osqp_setup, which checks, copies, scales and factors the problem.
func (Library) New(d *mirror.Data, s *mirror.Settings) (mirror.Solver, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	t := libc.New()
	arena := libc.NewArena(t)
	out := &solver{state: state{tls: t}, Sizes: mirror.SizesOf(d)}
	err := out.setup(d, s, arena)
	arena.Free()
	if err != nil {
		t.Close()
		return nil, err
	}
	// The net under a Close that was forgotten.
	out.cleanup = runtime.AddCleanup(out, state.free, out.state)
	return out, nil
}

func (s *solver) setup(d *mirror.Data, set *mirror.Settings, arena *libc.Arena) error {
	p, a, c, to := matrixOf(d.P, arena), matrixOf(d.A, arena), settingsOf(s.tls, set, arena), arena.Bytes(8)
	q, l, u := arena.Floats(d.Q), arena.Floats(d.L), arena.Floats(d.U)
	if arena.Failed() {
		return mirror.ErrMemory
	}
	code := lib.Xosqp_setup(s.tls, to, p, q, a, l, u, int32(s.M), int32(s.N), c)
	s.ptr = *(*uintptr)(libc.Pointer(to))
	if code != 0 {
		lib.Xosqp_cleanup(s.tls, s.ptr) // what had been allocated until then
		s.ptr = 0
	}
	return failed("osqp_setup", code)
}

// Close frees the memory. Further calls do nothing.
func (s *solver) Close() {
	if s.ptr != 0 {
		s.cleanup.Stop()
		s.free()
		s.ptr = 0
	}
}

// Info returns what OSQP knows about the last call.
func (s *solver) Info() mirror.Info {
	if s.ptr == 0 {
		return mirror.Info{}
	}
	defer runtime.KeepAlive(s)
	return s.info()
}

// call makes a call whose arguments are in memory of C while it runs.
func (s *solver) call(name string, call func(arena *libc.Arena) func() int32) error {
	if s.ptr == 0 {
		return mirror.ErrClosed
	}
	defer runtime.KeepAlive(s)
	arena := libc.NewArena(s.tls)
	defer arena.Free()
	ready := call(arena)
	if arena.Failed() {
		return mirror.ErrMemory
	}
	return failed(name, ready())
}

// UpdateVectors calls osqp_update_data_vec.
func (s *solver) UpdateVectors(q, l, u []float64) error {
	if err := s.CheckVectors(q, l, u); err != nil && s.ptr != 0 {
		return err
	}
	return s.call("osqp_update_data_vec", func(arena *libc.Arena) func() int32 {
		cq, cl, cu := arena.Optional(q), arena.Optional(l), arena.Optional(u)
		return func() int32 { return lib.Xosqp_update_data_vec(s.tls, s.ptr, cq, cl, cu) }
	})
}

// UpdateMatrices calls osqp_update_data_mat.
func (s *solver) UpdateMatrices(p, a []float64) error {
	if err := s.CheckMatrices(p, a); err != nil && s.ptr != 0 {
		return err
	}
	return s.call("osqp_update_data_mat", func(arena *libc.Arena) func() int32 {
		cp, ca := arena.Optional(p), arena.Optional(a)
		return func() int32 {
			return lib.Xosqp_update_data_mat(s.tls, s.ptr, cp, 0, int32(len(p)), ca, 0, int32(len(a)))
		}
	})
}

// UpdateSettings calls osqp_update_settings.
func (s *solver) UpdateSettings(set *mirror.Settings) error {
	return s.call("osqp_update_settings", func(arena *libc.Arena) func() int32 {
		c := settingsOf(s.tls, set, arena)
		return func() int32 { return lib.Xosqp_update_settings(s.tls, s.ptr, c) }
	})
}

// UpdateRho calls osqp_update_rho.
func (s *solver) UpdateRho(rho float64) error {
	return s.call("osqp_update_rho", func(*libc.Arena) func() int32 {
		return func() int32 { return lib.Xosqp_update_rho(s.tls, s.ptr, rho) }
	})
}

// WarmStart calls osqp_warm_start.
func (s *solver) WarmStart(x, y []float64) error {
	if err := s.CheckStart(x, y); err != nil && s.ptr != 0 {
		return err
	}
	return s.call("osqp_warm_start", func(arena *libc.Arena) func() int32 {
		cx, cy := arena.Optional(x), arena.Optional(y)
		return func() int32 { return lib.Xosqp_warm_start(s.tls, s.ptr, cx, cy) }
	})
}

// ColdStart calls osqp_cold_start.
func (s *solver) ColdStart() error {
	return s.call("osqp_cold_start", func(*libc.Arena) func() int32 {
		return func() int32 {
			lib.Xosqp_cold_start(s.tls, s.ptr)
			return 0
		}
	})
}

// Solve calls osqp_solve, and copies the outcome.
func (s *solver) Solve(sol *mirror.Solution, stop *mirror.Interrupt) (mirror.Info, error) {
	if s.ptr == 0 {
		return mirror.Info{}, mirror.ErrClosed
	}
	if err := s.CheckSolution(sol); err != nil {
		return mirror.Info{}, err
	}
	defer runtime.KeepAlive(s)
	// An update of nothing resets the status. Without it a solve that reaches the limit of iterations after one that was
	// solved is called solved as well.
	lib.Xosqp_update_data_vec(s.tls, s.ptr, 0, 0, 0)
	if stop != nil {
		s.tls.Wish = &stop.Flag
	}
	code := lib.Xosqp_solve(s.tls, s.ptr)
	s.tls.Wish = nil
	info := s.info()
	if code != 0 && info.Status != mirror.SigInt {
		return info, failed("osqp_solve", code)
	}
	c := (*lib.TOSQPSolution)(libc.Pointer(s.c().Fsolution))
	copyOut(sol.X, c.Fx)
	copyOut(sol.Y, c.Fy)
	copyOut(sol.PrimalCertificate, c.Fprim_inf_cert)
	copyOut(sol.DualCertificate, c.Fdual_inf_cert)
	return info, nil
}

func copyOut(to []float64, from uintptr) {
	if from != 0 {
		copy(to, libc.Floats(from, len(to)))
	}
}

func matrixOf(a *mirror.Matrix, arena *libc.Arena) uintptr {
	c := libc.NewIn[lib.TOSQPCscMatrix](arena)
	if c == nil {
		return 0
	}
	*c = lib.TOSQPCscMatrix{
		Fm: int32(a.Rows), Fn: int32(a.Cols), Fp: arena.Integers(a.Ptr), Fi: arena.Integers(a.Ind), Fx: arena.Floats(a.Val),
		Fnzmax: int32(len(a.Val)), Fnz: -1,
	}
	return libc.Address(c)
}

func settingsOf(t *libc.TLS, s *mirror.Settings, arena *libc.Arena) uintptr {
	c := libc.NewIn[lib.TOSQPSettings](arena)
	if c == nil {
		return 0
	}
	lib.Xosqp_set_default_settings(t, libc.Address(c))
	c.Fverbose = 0
	c.Fwarm_starting, c.Fscaling, c.Fpolishing = flagOf(s.WarmStarting), int32(s.Scaling), flagOf(s.Polishing)
	c.Frho, c.Frho_is_vec, c.Fsigma, c.Falpha = s.Rho, flagOf(s.RhoIsVector), s.Sigma, s.Alpha
	c.Fadaptive_rho, c.Fadaptive_rho_interval = int32(s.AdaptiveRho), int32(s.AdaptiveRhoInterval)
	c.Fadaptive_rho_fraction, c.Fadaptive_rho_tolerance = s.AdaptiveRhoFraction, s.AdaptiveRhoTolerance
	c.Fmax_iter, c.Feps_abs, c.Feps_rel = int32(s.MaxIterations), s.EpsAbs, s.EpsRel
	c.Feps_prim_inf, c.Feps_dual_inf = s.EpsPrimalInfeasible, s.EpsDualInfeasible
	c.Fscaled_termination, c.Fcheck_termination, c.Fcheck_dualgap = flagOf(s.ScaledTermination), int32(s.CheckTermination), flagOf(s.CheckDualGap)
	if s.TimeLimit > 0 {
		c.Ftime_limit = s.TimeLimit.Seconds()
	}
	c.Fdelta, c.Fpolish_refine_iter = s.Delta, int32(s.PolishRefineIter)
	return libc.Address(c)
}

func flagOf(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func infoOf(c *lib.TOSQPInfo) mirror.Info {
	seconds := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
	return mirror.Info{
		Status: mirror.Status(c.Fstatus_val), Text: libc.Text(uintptr(unsafe.Pointer(&c.Fstatus[0]))), Polish: mirror.PolishStatus(c.Fstatus_polish),
		Objective: c.Fobj_val, DualObjective: c.Fdual_obj_val,
		PrimalResidual: c.Fprim_res, DualResidual: c.Fdual_res, Gap: c.Fduality_gap,
		Iterations: int(c.Fiter), RhoUpdates: int(c.Frho_updates), RhoEstimate: c.Frho_estimate,
		SetupTime: seconds(c.Fsetup_time), SolveTime: seconds(c.Fsolve_time), UpdateTime: seconds(c.Fupdate_time), PolishTime: seconds(c.Fpolish_time),
	}
}
