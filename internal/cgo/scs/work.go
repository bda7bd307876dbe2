//go:build scs && cgo

package scs

/*
#cgo CFLAGS: -std=gnu11
#cgo !syslibs,!asan CFLAGS: -I${SRCDIR}/../../../cgo/build/include/scs
#cgo !syslibs,!asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/lib -Wl,-rpath,${SRCDIR}/../../../cgo/build/lib -lconetune_scs -lconetune_blas -lm
#cgo !syslibs,asan CFLAGS: -I${SRCDIR}/../../../cgo/build/asan/include/scs
#cgo !syslibs,asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/asan/lib -Wl,-rpath,${SRCDIR}/../../../cgo/build/asan/lib -lconetune_scs -lconetune_blas -lm
#cgo syslibs pkg-config: scs
#cgo syslibs CFLAGS: -DCONETUNE_SYSLIBS
#include "interrupt.h"
*/
import "C"

import (
	"runtime"
	"unsafe"

	mirror "github.com/conetune/conetune/internal/mirror/scs"
)

func init() { C.conetune_scs_one_thread() }

// Library is the C library.
type Library struct{}

var _ mirror.Library = Library{}

// Version returns the version of the library.
func (Library) Version() string { return C.GoString(C.scs_version()) }

// SetsNumbers is true of the library that was built with our function.
func (Library) SetsNumbers() bool { return C.CONETUNE_SCS_SETS_NUMBERS != 0 }

// work is a ScsWork.
type work struct {
	ptr     *C.ScsWork
	cleanup runtime.Cleanup
	m, n    int
	shape   mirror.Shape
}

// New calls scs_init, which checks, copies, scales and factors the problem.
func (Library) New(d *mirror.Data, k *mirror.Cone, s *mirror.Settings) (mirror.Work, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	cone, err := coneOf(k, &pins)
	if err != nil {
		return nil, err
	}
	w := &work{ptr: C.scs_init(dataOf(d, &pins), cone, settingsOf(s)), m: d.A.Rows, n: d.A.Cols, shape: mirror.ShapeOf(d)}
	if w.ptr == nil {
		return nil, mirror.ErrInit
	}
	// The net under a Close that was forgotten.
	w.cleanup = runtime.AddCleanup(w, func(ptr *C.ScsWork) { C.scs_finish(ptr) }, w.ptr)
	return w, nil
}

// Close frees the memory. Further calls do nothing.
func (w *work) Close() {
	if w.ptr != nil {
		w.cleanup.Stop()
		C.scs_finish(w.ptr)
		w.ptr = nil
	}
}

// Update calls scs_update: new b, new c, or both; nil means unchanged.
func (w *work) Update(b, c []float64) error {
	if w.ptr == nil {
		return mirror.ErrClosed
	}
	if err := mirror.CheckUpdate(b, c, w.m, w.n); err != nil {
		return err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	var cb, cc *C.scs_float
	if b != nil {
		cb = pinned(&pins, b)
	}
	if c != nil {
		cc = pinned(&pins, c)
	}
	status := C.scs_update(w.ptr, cb, cc)
	runtime.KeepAlive(w)
	if status != 0 {
		return mirror.UpdateFailed(int(status))
	}
	return nil
}

// SetNumbers calls the function of ours that goes into the library.
func (w *work) SetNumbers(d *mirror.Data, scale float64) (bool, error) {
	if w.ptr == nil {
		return false, mirror.ErrClosed
	}
	if err := w.shape.Check(d); err != nil {
		return false, err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	status := C.conetune_scs_new_numbers(w.ptr, dataOf(d, &pins), C.scs_float(scale))
	runtime.KeepAlive(w)
	if status < 0 {
		return false, mirror.ErrInit
	}
	return status == 0, nil
}

// SetLimits changes tolerances and limits.
func (w *work) SetLimits(s *mirror.Settings) bool {
	if w.ptr == nil {
		return false
	}
	changed := C.conetune_scs_set_limits(w.ptr, settingsOf(s)) != 0
	runtime.KeepAlive(w)
	return changed
}

// Solve calls scs_solve.
func (w *work) Solve(sol *mirror.Solution, warm bool, stop *mirror.Interrupt) (mirror.Info, error) {
	if w.ptr == nil {
		return mirror.Info{}, mirror.ErrClosed
	}
	if err := sol.Check(w.m, w.n); err != nil {
		return mirror.Info{}, err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	csol := &C.ScsSolution{x: pinned(&pins, sol.X), y: pinned(&pins, sol.Y), s: pinned(&pins, sol.S)}
	var cinfo C.ScsInfo
	var flag *C.int32_t
	if stop != nil {
		pins.Pin(&stop.Flag)
		flag = (*C.int32_t)(unsafe.Pointer(&stop.Flag))
	}
	C.conetune_scs_solve(w.ptr, csol, &cinfo, flagOf(warm), flag)
	runtime.KeepAlive(w)
	return infoOf(&cinfo), nil
}

// What a flag holds is what C looks for.
var (
	_ = same[mirror.Run-C.CONETUNE_SCS_RUN]
	_ = same[mirror.Stop-C.CONETUNE_SCS_STOP]
	_ = same[mirror.Finish-C.CONETUNE_SCS_FINISH]
)

// pinned returns the address of the numbers, which is never nil.
func pinned(pins *runtime.Pinner, v []float64) *C.scs_float {
	if len(v) == 0 {
		v = make([]float64, 1)
	}
	pins.Pin(&v[0])
	return (*C.scs_float)(unsafe.Pointer(&v[0]))
}

// integers returns a pinned copy as scs_int, whose address is never nil.
func integers(pins *runtime.Pinner, v []int) *C.scs_int {
	out := make([]C.scs_int, max(1, len(v)))
	for i, x := range v {
		out[i] = C.scs_int(x)
	}
	pins.Pin(&out[0])
	return &out[0]
}

// dataOf returns a ScsData with pinned numbers.
func dataOf(d *mirror.Data, pins *runtime.Pinner) *C.ScsData {
	return &C.ScsData{m: C.scs_int(d.A.Rows), n: C.scs_int(d.A.Cols), A: matrixOf(d.A, pins), P: matrixOf(d.P, pins), b: pinned(pins, d.B), c: pinned(pins, d.C)}
}

// matrixOf returns a pinned ScsMatrix, nil for nil.
func matrixOf(a *mirror.Matrix, pins *runtime.Pinner) *C.ScsMatrix {
	if a == nil {
		return nil
	}
	out := &C.ScsMatrix{
		x: pinned(pins, a.Val), i: integers(pins, a.Ind), p: integers(pins, a.Ptr),
		m: C.scs_int(a.Rows), n: C.scs_int(a.Cols),
	}
	pins.Pin(out)
	return out
}
