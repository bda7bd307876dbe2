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
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Version returns the version of the library.
func Version() string { return C.GoString(C.osqp_version()) }

// Solver is an OSQPSolver: a problem that has been set up. It is for one
// goroutine at a time.
type Solver struct {
	ptr        *C.OSQPSolver
	cleanup    runtime.Cleanup
	m, n       int
	nnzP, nnzA int
}

// ErrClosed is returned by the methods of a Solver after Close.
var ErrClosed = errors.New("osqp: solver is closed")

// Error is a nonzero exit flag.
type Error struct {
	Call string
	Code int
}

func (e *Error) Error() string {
	if e.Code > 0 && e.Code < C.OSQP_LAST_ERROR_PLACE {
		return "osqp: " + e.Call + ": " + C.GoString(C.osqp_error_message(C.OSQPInt(e.Code)))
	}
	return fmt.Sprintf("osqp: %s: code %d", e.Call, e.Code)
}

// NotFactored says whether the error is that the system cannot be factored, because P
// is not positive semidefinite or by rounding. Updates of matrices and of rho return
// what the factorisation does, and fail for no other reason.
func (e *Error) NotFactored() bool {
	return e.Code == C.OSQP_NONCVX_ERROR || e.Code == C.OSQP_LINSYS_SOLVER_INIT_ERROR || e.Call == "osqp_update_data_mat" || e.Call == "osqp_update_rho"
}

func failed(call string, code C.OSQPInt) error {
	if code == 0 {
		return nil
	}
	return &Error{call, int(code)}
}

// New calls osqp_setup, which checks, copies, scales and factors the problem.
func New(d *Data, s *Settings) (*Solver, error) {
	m, n := d.A.Rows, d.A.Cols
	if d.P.Rows != n || d.P.Cols != n || len(d.Q) != n || len(d.L) != m || len(d.U) != m {
		return nil, fmt.Errorf("osqp: A is %d x %d, P %d x %d, q, l, u have lengths %d, %d, %d", m, n, d.P.Rows, d.P.Cols, len(d.Q), len(d.L), len(d.U))
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	p, err := d.P.mirror(&pins)
	if err != nil {
		return nil, err
	}
	a, err := d.A.mirror(&pins)
	if err != nil {
		return nil, err
	}
	out := &Solver{m: m, n: n, nnzP: len(d.P.Val), nnzA: len(d.A.Val)}
	var ptr *C.OSQPSolver
	code := C.osqp_setup(&ptr, p, pinned(&pins, d.Q), a, pinned(&pins, d.L), pinned(&pins, d.U), C.OSQPInt(m), C.OSQPInt(n), s.mirror())
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
func (s *Solver) Close() {
	if s.ptr != nil {
		s.cleanup.Stop()
		C.osqp_cleanup(s.ptr)
		s.ptr = nil
	}
}

// UpdateVectors calls osqp_update_data_vec; nil means unchanged.
func (s *Solver) UpdateVectors(q, l, u []float64) error {
	switch {
	case s.ptr == nil:
		return ErrClosed
	case q != nil && len(q) != s.n || l != nil && len(l) != s.m || u != nil && len(u) != s.m:
		return fmt.Errorf("osqp: q, l, u have lengths %d, %d, %d, expected %d, %d, %d", len(q), len(l), len(u), s.n, s.m, s.m)
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	code := C.osqp_update_data_vec(s.ptr, optional(&pins, q), optional(&pins, l), optional(&pins, u))
	runtime.KeepAlive(s)
	return failed("osqp_update_data_vec", code)
}

// UpdateMatrices calls osqp_update_data_mat with all values of P, of A or of
// both, in the order of the matrices given to New; nil means unchanged. After an
// error the solver is only good for Close.
func (s *Solver) UpdateMatrices(p, a []float64) error {
	switch {
	case s.ptr == nil:
		return ErrClosed
	case p != nil && len(p) != s.nnzP || a != nil && len(a) != s.nnzA:
		return fmt.Errorf("osqp: P has %d values and A %d, expected %d and %d", len(p), len(a), s.nnzP, s.nnzA)
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	code := C.osqp_update_data_mat(s.ptr, optional(&pins, p), nil, C.OSQPInt(len(p)), optional(&pins, a), nil, C.OSQPInt(len(a)))
	runtime.KeepAlive(s)
	return failed("osqp_update_data_mat", code)
}

// UpdateSettings calls osqp_update_settings, which takes those settings that
// need no new factorisation and ignores the others: scaling, rho and sigma.
func (s *Solver) UpdateSettings(set *Settings) error {
	if s.ptr == nil {
		return ErrClosed
	}
	code := C.osqp_update_settings(s.ptr, set.mirror())
	runtime.KeepAlive(s)
	return failed("osqp_update_settings", code)
}

// UpdateRho calls osqp_update_rho, which factors anew.
func (s *Solver) UpdateRho(rho float64) error {
	if s.ptr == nil {
		return ErrClosed
	}
	code := C.osqp_update_rho(s.ptr, C.OSQPFloat(rho))
	runtime.KeepAlive(s)
	return failed("osqp_update_rho", code)
}

// WarmStart calls osqp_warm_start; nil means that the part stays as it is.
func (s *Solver) WarmStart(x, y []float64) error {
	switch {
	case s.ptr == nil:
		return ErrClosed
	case x != nil && len(x) != s.n || y != nil && len(y) != s.m:
		return fmt.Errorf("osqp: x and y have lengths %d and %d, expected %d and %d", len(x), len(y), s.n, s.m)
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	code := C.osqp_warm_start(s.ptr, optional(&pins, x), optional(&pins, y))
	runtime.KeepAlive(s)
	return failed("osqp_warm_start", code)
}

// ColdStart calls osqp_cold_start: the next Solve starts from zero.
func (s *Solver) ColdStart() error {
	if s.ptr == nil {
		return ErrClosed
	}
	C.osqp_cold_start(s.ptr)
	runtime.KeepAlive(s)
	return nil
}

// Solve calls osqp_solve, which goes on from where the last one ended unless
// something else was said, and copies the outcome into sol. A stop that is
// raised ends it within an iteration, with status SigInt and nothing in sol.
func (s *Solver) Solve(sol *Solution, stop *Interrupt) (Info, error) {
	switch {
	case s.ptr == nil:
		return Info{}, ErrClosed
	case len(sol.X) != s.n || len(sol.Y) != s.m || len(sol.PrimalCertificate) != s.m || len(sol.DualCertificate) != s.n:
		return Info{}, errors.New("osqp: a vector of the solution has not the length of the problem")
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	var flag *C.int32_t
	if stop != nil {
		pins.Pin(&stop.flag)
		flag = (*C.int32_t)(unsafe.Pointer(&stop.flag))
	}
	code := C.conetune_osqp_solve(s.ptr, flag)
	info := infoOf(s.ptr.info)
	if code != 0 && info.Status != SigInt {
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

// Interrupt stops a solve from another goroutine. The zero value lets it run.
type Interrupt struct {
	flag int32
}

// Raise stops the solves that look at i, now and later.
func (i *Interrupt) Raise() { atomic.StoreInt32(&i.flag, 1) }

// Raised says whether Raise has been called.
func (i *Interrupt) Raised() bool { return atomic.LoadInt32(&i.flag) != 0 }

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

func (a *Matrix) mirror(pins *runtime.Pinner) (*C.OSQPCscMatrix, error) {
	if len(a.Ptr) != a.Cols+1 || len(a.Ind) != len(a.Val) || a.Ptr[a.Cols] != len(a.Ind) {
		return nil, errors.New("osqp: column pointers, row indices and values do not fit together")
	}
	if len(a.Val) > math.MaxInt32 || a.Rows > math.MaxInt32 || a.Cols > math.MaxInt32 {
		return nil, fmt.Errorf("osqp: a %d x %d matrix with %d entries is too large for 32-bit integers", a.Rows, a.Cols, len(a.Val))
	}
	out := &C.OSQPCscMatrix{
		m: C.OSQPInt(a.Rows), n: C.OSQPInt(a.Cols), p: integers(pins, a.Ptr), i: integers(pins, a.Ind), x: pinned(pins, a.Val),
		nzmax: C.OSQPInt(len(a.Val)), nz: -1,
	}
	pins.Pin(out)
	return out, nil
}
