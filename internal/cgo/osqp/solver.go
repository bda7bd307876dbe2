//go:build osqp && cgo

package osqp

/*
#cgo CFLAGS: -std=gnu11
#cgo !syslibs,!asan CFLAGS: -I${SRCDIR}/../../../cgo/build/include/osqp
#cgo !syslibs,!asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/lib -lconetune_osqp -lm
#cgo !syslibs,asan CFLAGS: -I${SRCDIR}/../../../cgo/build/asan/include/osqp
#cgo !syslibs,asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/asan/lib -lconetune_osqp -lm
#cgo syslibs pkg-config: osqp
#include "interrupt.h"
*/
import "C"

import (
	"runtime"
	"unsafe"

	mirror "github.com/conetune/conetune/internal/mirror/osqp"
)

// Library is the C library.
type Library struct{}

var _ mirror.Library = Library{}

// Version returns the version of the library.
func (Library) Version() string { return C.GoString(C.osqp_version()) }

// solver is an OSQPSolver.
type solver struct {
	ptr     *C.OSQPSolver
	cleanup runtime.Cleanup
	mirror.Sizes
}

func failed(call string, code C.OSQPInt) error {
	if code == 0 {
		return nil
	}
	e := &mirror.Error{Call: call, Code: int(code)}
	if code > 0 && code < C.OSQP_LAST_ERROR_PLACE {
		e.Text = C.GoString(C.osqp_error_message(code))
	}
	return e
}

// New calls osqp_setup, which checks, copies, scales and factors the problem.
func (Library) New(d *mirror.Data, s *mirror.Settings) (mirror.Solver, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	out := &solver{Sizes: mirror.SizesOf(d)}
	var ptr *C.OSQPSolver
	code := C.osqp_setup(&ptr, matrixOf(d.P, &pins), pinned(&pins, d.Q), matrixOf(d.A, &pins), pinned(&pins, d.L), pinned(&pins, d.U),
		C.OSQPInt(out.M), C.OSQPInt(out.N), settingsOf(s))
	if code != 0 {
		C.osqp_cleanup(ptr) // what had been allocated until then
		return nil, failed("osqp_setup", code)
	}
	out.ptr = ptr
	// The net under a Close that was forgotten.
	out.cleanup = runtime.AddCleanup(out, func(ptr *C.OSQPSolver) { C.osqp_cleanup(ptr) }, ptr)
	return out, nil
}

// Close frees the memory. Further calls do nothing.
func (s *solver) Close() {
	if s.ptr != nil {
		s.cleanup.Stop()
		C.osqp_cleanup(s.ptr)
		s.ptr = nil
	}
}

// UpdateVectors calls osqp_update_data_vec.
func (s *solver) UpdateVectors(q, l, u []float64) error {
	if s.ptr == nil {
		return mirror.ErrClosed
	}
	if err := s.CheckVectors(q, l, u); err != nil {
		return err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	code := C.osqp_update_data_vec(s.ptr, optional(&pins, q), optional(&pins, l), optional(&pins, u))
	runtime.KeepAlive(s)
	return failed("osqp_update_data_vec", code)
}

// UpdateMatrices calls osqp_update_data_mat.
func (s *solver) UpdateMatrices(p, a []float64) error {
	if s.ptr == nil {
		return mirror.ErrClosed
	}
	if err := s.CheckMatrices(p, a); err != nil {
		return err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	code := C.osqp_update_data_mat(s.ptr, optional(&pins, p), nil, C.OSQPInt(len(p)), optional(&pins, a), nil, C.OSQPInt(len(a)))
	runtime.KeepAlive(s)
	return failed("osqp_update_data_mat", code)
}

// UpdateSettings calls osqp_update_settings.
func (s *solver) UpdateSettings(set *mirror.Settings) error {
	if s.ptr == nil {
		return mirror.ErrClosed
	}
	code := C.osqp_update_settings(s.ptr, settingsOf(set))
	runtime.KeepAlive(s)
	return failed("osqp_update_settings", code)
}

// UpdateRho calls osqp_update_rho.
func (s *solver) UpdateRho(rho float64) error {
	if s.ptr == nil {
		return mirror.ErrClosed
	}
	code := C.osqp_update_rho(s.ptr, C.OSQPFloat(rho))
	runtime.KeepAlive(s)
	return failed("osqp_update_rho", code)
}

// WarmStart calls osqp_warm_start.
func (s *solver) WarmStart(x, y []float64) error {
	if s.ptr == nil {
		return mirror.ErrClosed
	}
	if err := s.CheckStart(x, y); err != nil {
		return err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	code := C.osqp_warm_start(s.ptr, optional(&pins, x), optional(&pins, y))
	runtime.KeepAlive(s)
	return failed("osqp_warm_start", code)
}

// ColdStart calls osqp_cold_start.
func (s *solver) ColdStart() error {
	if s.ptr == nil {
		return mirror.ErrClosed
	}
	C.osqp_cold_start(s.ptr)
	runtime.KeepAlive(s)
	return nil
}

// Solve calls osqp_solve, and copies the outcome.
func (s *solver) Solve(sol *mirror.Solution, stop *mirror.Interrupt) (mirror.Info, error) {
	if s.ptr == nil {
		return mirror.Info{}, mirror.ErrClosed
	}
	if err := s.CheckSolution(sol); err != nil {
		return mirror.Info{}, err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	var flag *C.int32_t
	if stop != nil {
		pins.Pin(&stop.Flag)
		flag = (*C.int32_t)(unsafe.Pointer(&stop.Flag))
	}
	code := C.conetune_osqp_solve(s.ptr, flag)
	info := infoOf(s.ptr.info)
	if code != 0 && info.Status != mirror.SigInt {
		return info, failed("osqp_solve", code)
	}
	c := s.ptr.solution
	copyOut(sol.X, c.x)
	copyOut(sol.Y, c.y)
	copyOut(sol.PrimalCertificate, c.prim_inf_cert)
	copyOut(sol.DualCertificate, c.dual_inf_cert)
	runtime.KeepAlive(s)
	return info, nil
}

func copyOut(to []float64, from *C.OSQPFloat) {
	if from != nil && len(to) > 0 {
		copy(to, unsafe.Slice((*float64)(unsafe.Pointer(from)), len(to)))
	}
}

// pinned returns the address of the numbers, which is never nil.
func pinned(pins *runtime.Pinner, v []float64) *C.OSQPFloat {
	if len(v) == 0 {
		v = make([]float64, 1)
	}
	pins.Pin(&v[0])
	return (*C.OSQPFloat)(unsafe.Pointer(&v[0]))
}

// optional is pinned, but nil for nil.
func optional(pins *runtime.Pinner, v []float64) *C.OSQPFloat {
	if v == nil {
		return nil
	}
	return pinned(pins, v)
}

func integers(pins *runtime.Pinner, v []int) *C.OSQPInt {
	out := make([]C.OSQPInt, max(1, len(v)))
	for i, x := range v {
		out[i] = C.OSQPInt(x)
	}
	pins.Pin(&out[0])
	return &out[0]
}

func matrixOf(a *mirror.Matrix, pins *runtime.Pinner) *C.OSQPCscMatrix {
	out := &C.OSQPCscMatrix{
		m: C.OSQPInt(a.Rows), n: C.OSQPInt(a.Cols), p: integers(pins, a.Ptr), i: integers(pins, a.Ind), x: pinned(pins, a.Val),
		nzmax: C.OSQPInt(len(a.Val)), nz: -1,
	}
	pins.Pin(out)
	return out
}
