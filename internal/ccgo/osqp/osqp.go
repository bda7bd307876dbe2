//go:build osqp_go

package osqp

import (
	"time"
	"unsafe"

	"github.com/conetune/conetune/internal/ccgo/libc"
	"github.com/conetune/conetune/internal/ccgo/osqp/lib"
	"github.com/conetune/conetune/internal/mirror"
	"github.com/conetune/conetune/internal/mirror/osqp"
)

// The file generated.go of package lib is there.
const _ = lib.RunMakeTranspile

// Library is OSQP made Go.
type Library struct{}

var _ osqp.Library = Library{}

// Version returns the version of OSQP.
func (Library) Version() string { return libc.Text(lib.Xosqp_version(nil)) }

// Text returns what OSQP says of an exit flag, if anything.
func (Library) Text(code int) string {
	if code <= 0 || code >= lib.EOSQP_LAST_ERROR_PLACE {
		return ""
	}
	return libc.Text(lib.Xosqp_error_message(nil, int32(code)))
}

// solver is an OSQPSolver and the thread of C that its calls run on.
type solver struct {
	tls *libc.TLS
	ptr uintptr
}

func (s solver) c() *lib.TOSQPSolver { return (*lib.TOSQPSolver)(libc.Pointer(s.ptr)) }

// Setup calls osqp_setup.
func (Library) Setup(d *osqp.Data, set *osqp.Settings) (osqp.Calls, int) {
	s := solver{tls: libc.New()}
	code := s.call(func(arena *libc.Arena) func() int32 {
		p, a, c, to := matrixOf(d.P, arena), matrixOf(d.A, arena), settingsOf(s.tls, set, arena), arena.Bytes(8)
		q, l, u := arena.Floats(d.Q), arena.Floats(d.L), arena.Floats(d.U)
		return func() int32 {
			defer func() { s.ptr = *(*uintptr)(libc.Pointer(to)) }()
			return lib.Xosqp_setup(s.tls, to, p, q, a, l, u, int32(d.A.Rows), int32(d.A.Cols), c)
		}
	})
	if code != 0 {
		s.Free() // what had been allocated until then
	}
	return s, code
}

func (s solver) Free() {
	lib.Xosqp_cleanup(s.tls, s.ptr)
	s.tls.Close()
}

// call makes a call whose arguments are in memory of C while it runs.
func (s solver) call(call func(arena *libc.Arena) func() int32) int {
	arena := libc.NewArena(s.tls)
	defer arena.Free()
	ready := call(arena)
	if arena.Failed() {
		return lib.EOSQP_MEM_ALLOC_ERROR
	}
	return int(ready())
}

func (s solver) UpdateVectors(q, l, u []float64) int {
	return s.call(func(arena *libc.Arena) func() int32 {
		cq, cl, cu := arena.Optional(q), arena.Optional(l), arena.Optional(u)
		return func() int32 { return lib.Xosqp_update_data_vec(s.tls, s.ptr, cq, cl, cu) }
	})
}

func (s solver) UpdateMatrices(p, a []float64) int {
	return s.call(func(arena *libc.Arena) func() int32 {
		cp, ca := arena.Optional(p), arena.Optional(a)
		return func() int32 {
			return lib.Xosqp_update_data_mat(s.tls, s.ptr, cp, 0, int32(len(p)), ca, 0, int32(len(a)))
		}
	})
}

func (s solver) UpdateSettings(set *osqp.Settings) int {
	return s.call(func(arena *libc.Arena) func() int32 {
		c := settingsOf(s.tls, set, arena)
		return func() int32 { return lib.Xosqp_update_settings(s.tls, s.ptr, c) }
	})
}

func (s solver) UpdateRho(rho float64) int { return int(lib.Xosqp_update_rho(s.tls, s.ptr, rho)) }

func (s solver) WarmStart(x, y []float64) int {
	return s.call(func(arena *libc.Arena) func() int32 {
		cx, cy := arena.Optional(x), arena.Optional(y)
		return func() int32 { return lib.Xosqp_warm_start(s.tls, s.ptr, cx, cy) }
	})
}

func (s solver) ColdStart() int {
	lib.Xosqp_cold_start(s.tls, s.ptr)
	return 0
}

func (s solver) Solve(sol *osqp.Solution, stop *mirror.Interrupt) int {
	lib.Xosqp_update_data_vec(s.tls, s.ptr, 0, 0, 0) // resets the status
	if stop != nil {
		s.tls.Wish = &stop.Flag
	}
	code := lib.Xosqp_solve(s.tls, s.ptr)
	s.tls.Wish = nil
	if code == 0 {
		c := (*lib.TOSQPSolution)(libc.Pointer(s.c().Fsolution))
		copyOut(sol.X, c.Fx)
		copyOut(sol.Y, c.Fy)
		copyOut(sol.PrimalCertificate, c.Fprim_inf_cert)
		copyOut(sol.DualCertificate, c.Fdual_inf_cert)
	}
	return int(code)
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

func settingsOf(t *libc.TLS, s *osqp.Settings, arena *libc.Arena) uintptr {
	c := libc.NewIn[lib.TOSQPSettings](arena)
	if c == nil {
		return 0
	}
	lib.Xosqp_set_default_settings(t, libc.Address(c))
	c.Fverbose = 0
	mirror.Set(&c.Fscaling, s.Scaling)
	mirror.Set(&c.Frho, s.Rho)
	mirror.Set(&c.Fsigma, s.Sigma)
	mirror.Set(&c.Falpha, s.Alpha)
	mirror.Set(&c.Fadaptive_rho_interval, s.AdaptiveRhoInterval)
	mirror.Set(&c.Fadaptive_rho_tolerance, s.AdaptiveRhoTolerance)
	mirror.Set(&c.Fmax_iter, s.MaxIterations)
	mirror.Set(&c.Feps_abs, s.EpsAbs)
	mirror.Set(&c.Feps_rel, s.EpsRel)
	mirror.Set(&c.Feps_prim_inf, s.EpsPrimalInfeasible)
	mirror.Set(&c.Feps_dual_inf, s.EpsDualInfeasible)
	mirror.Set(&c.Fcheck_termination, s.CheckTermination)
	mirror.Set(&c.Ftime_limit, s.TimeLimit.Seconds())
	mirror.Set(&c.Fdelta, s.Delta)
	mirror.Set(&c.Fpolish_refine_iter, s.PolishRefineIter)
	mirror.Off(&c.Fadaptive_rho, s.FixedRho)
	if s.Polishing {
		c.Fpolishing = 1
	}
	return libc.Address(c)
}

// Info returns what OSQP knows about the last call.
func (s solver) Info() osqp.Info {
	c := (*lib.TOSQPInfo)(libc.Pointer(s.c().Finfo))
	seconds := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
	return osqp.Info{
		Status: osqp.Status(c.Fstatus_val), Text: libc.Text(uintptr(unsafe.Pointer(&c.Fstatus[0]))),
		Polish:         int(c.Fstatus_polish),
		PrimalResidual: c.Fprim_res, DualResidual: c.Fdual_res, Gap: c.Fduality_gap,
		Iterations: int(c.Fiter), RhoEstimate: c.Frho_estimate,
		SetupTime: seconds(c.Fsetup_time), SolveTime: seconds(c.Fsolve_time), UpdateTime: seconds(c.Fupdate_time),
	}
}
