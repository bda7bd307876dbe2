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

	"github.com/conetune/conetune/internal/cgo/pin"
	"github.com/conetune/conetune/internal/mirror"
	"github.com/conetune/conetune/internal/mirror/osqp"
)

// Library is the C library.
type Library struct{}

var _ osqp.Library = Library{}

// Version returns the version of the library.
func (Library) Version() string { return C.GoString(C.osqp_version()) }

// Text returns what OSQP says of an exit flag, if anything.
func (Library) Text(code int) string {
	if code <= 0 || code >= C.OSQP_LAST_ERROR_PLACE {
		return ""
	}
	return C.GoString(C.osqp_error_message(C.OSQPInt(code)))
}

// solver is an OSQPSolver.
type solver struct{ ptr *C.OSQPSolver }

// Setup calls osqp_setup.
func (Library) Setup(d *osqp.Data, set *osqp.Settings) (osqp.Calls, int) {
	var pins runtime.Pinner
	defer pins.Unpin()
	var s solver
	code := C.osqp_setup(&s.ptr, matrixOf(d.P, &pins), floats(&pins, d.Q), matrixOf(d.A, &pins), floats(&pins, d.L),
		floats(&pins, d.U),
		C.OSQPInt(d.A.Rows), C.OSQPInt(d.A.Cols), settingsOf(set))
	if code != 0 {
		s.Free() // what had been allocated until then
	}
	return s, int(code)
}

func (s solver) Free() { C.osqp_cleanup(s.ptr) }

func (s solver) UpdateVectors(q, l, u []float64) int {
	var pins runtime.Pinner
	defer pins.Unpin()
	return int(C.osqp_update_data_vec(s.ptr, optional(&pins, q), optional(&pins, l), optional(&pins, u)))
}

func (s solver) UpdateMatrices(p, a []float64) int {
	var pins runtime.Pinner
	defer pins.Unpin()
	return int(C.osqp_update_data_mat(s.ptr, optional(&pins, p), nil, C.OSQPInt(len(p)), optional(&pins, a), nil,
		C.OSQPInt(len(a))))
}

func (s solver) UpdateSettings(set *osqp.Settings) int {
	return int(C.osqp_update_settings(s.ptr, settingsOf(set)))
}

func (s solver) UpdateRho(rho float64) int { return int(C.osqp_update_rho(s.ptr, C.OSQPFloat(rho))) }

func (s solver) WarmStart(x, y []float64) int {
	var pins runtime.Pinner
	defer pins.Unpin()
	return int(C.osqp_warm_start(s.ptr, optional(&pins, x), optional(&pins, y)))
}

func (s solver) ColdStart() int {
	C.osqp_cold_start(s.ptr)
	return 0
}

func (s solver) Solve(sol *osqp.Solution, stop *mirror.Interrupt) int {
	var pins runtime.Pinner
	defer pins.Unpin()
	code := C.conetune_osqp_solve(s.ptr, pin.Flag[C.int32_t](&pins, stop))
	if code == 0 {
		c := s.ptr.solution
		copyOut(sol.X, c.x)
		copyOut(sol.Y, c.y)
		copyOut(sol.PrimalCertificate, c.prim_inf_cert)
		copyOut(sol.DualCertificate, c.dual_inf_cert)
	}
	return int(code)
}

func copyOut(to []float64, from *C.OSQPFloat) {
	if from != nil && len(to) > 0 {
		copy(to, unsafe.Slice((*float64)(unsafe.Pointer(from)), len(to)))
	}
}

func floats(pins *runtime.Pinner, v []float64) *C.OSQPFloat { return pin.Floats[C.OSQPFloat](pins, v) }

func optional(pins *runtime.Pinner, v []float64) *C.OSQPFloat {
	return pin.Optional[C.OSQPFloat](pins, v)
}

func matrixOf(a *mirror.Matrix, pins *runtime.Pinner) *C.OSQPCscMatrix {
	out := &C.OSQPCscMatrix{
		m: C.OSQPInt(a.Rows), n: C.OSQPInt(a.Cols), p: pin.Integers[C.OSQPInt](pins, a.Ptr),
		i: pin.Integers[C.OSQPInt](pins, a.Ind),
		x: floats(pins, a.Val), nzmax: C.OSQPInt(len(a.Val)), nz: -1,
	}
	pins.Pin(out)
	return out
}
