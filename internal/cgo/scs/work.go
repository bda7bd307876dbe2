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
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

func init() { C.conetune_scs_one_thread() }

// Version returns the version of the library.
func Version() string { return C.GoString(C.scs_version()) }

// Work is a ScsWork: a problem that has been set up. It is for one goroutine at
// a time.
type Work struct {
	ptr     *C.ScsWork
	cleanup runtime.Cleanup
	m, n    int
}

// ErrClosed is returned by the methods of a Work after Close.
var ErrClosed = errors.New("scs: work is closed")

// ErrInit is returned by New if scs_init fails: the data are invalid, or the system
// cannot be factored, as with a P that is not positive semidefinite.
var ErrInit = errors.New("scs: scs_init failed: it rejects the data or cannot factor the system")

// New calls scs_init, which checks, copies, scales and factors the problem.
func New(d *Data, k *Cone, s *Settings) (*Work, error) {
	var pins runtime.Pinner
	defer pins.Unpin()
	if len(d.B) != d.A.Rows || len(d.C) != d.A.Cols {
		return nil, fmt.Errorf("scs: A is %d x %d, b has length %d and c %d", d.A.Rows, d.A.Cols, len(d.B), len(d.C))
	}
	a, err := d.A.mirror(&pins)
	if err != nil {
		return nil, err
	}
	p, err := d.P.mirror(&pins)
	if err != nil {
		return nil, err
	}
	cone, err := k.mirror(&pins)
	if err != nil {
		return nil, err
	}
	data := &C.ScsData{m: C.scs_int(d.A.Rows), n: C.scs_int(d.A.Cols), A: a, P: p, b: pinned(&pins, d.B), c: pinned(&pins, d.C)}
	w := &Work{ptr: C.scs_init(data, cone, s.mirror()), m: d.A.Rows, n: d.A.Cols}
	if w.ptr == nil {
		return nil, ErrInit
	}
	// The net under a Close that was forgotten.
	w.cleanup = runtime.AddCleanup(w, func(ptr *C.ScsWork) { C.scs_finish(ptr) }, w.ptr)
	return w, nil
}

// Close frees the memory. Further calls do nothing.
func (w *Work) Close() {
	if w.ptr != nil {
		w.cleanup.Stop()
		C.scs_finish(w.ptr)
		w.ptr = nil
	}
}

// Update calls scs_update: new b, new c, or both; nil means unchanged.
func (w *Work) Update(b, c []float64) error {
	switch {
	case w.ptr == nil:
		return ErrClosed
	case b != nil && len(b) != w.m || c != nil && len(c) != w.n:
		return fmt.Errorf("scs: b has length %d and c %d, expected %d and %d", len(b), len(c), w.m, w.n)
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
		return fmt.Errorf("scs: scs_update failed with code %d", int(status))
	}
	return nil
}

// SetLimits changes EpsAbs, EpsRel, EpsInfeas, MaxIters and TimeLimit, for which SCS
// itself would have to set up again. It returns false, and changes nothing, if it is
// closed or the library is one of the system.
func (w *Work) SetLimits(s *Settings) bool {
	if w.ptr == nil {
		return false
	}
	changed := C.conetune_scs_set_limits(w.ptr, s.mirror()) != 0
	runtime.KeepAlive(w)
	return changed
}

// Solve calls scs_solve. With warm, it starts from what is in sol; in either
// case sol holds the outcome afterwards. A stop that is raised ends it within an
// iteration, with status SigInt or Failed.
func (w *Work) Solve(sol *Solution, warm bool, stop *Interrupt) (Info, error) {
	switch {
	case w.ptr == nil:
		return Info{}, ErrClosed
	case len(sol.X) != w.n || len(sol.Y) != w.m || len(sol.S) != w.m:
		return Info{}, fmt.Errorf("scs: x, y, s have lengths %d, %d, %d, expected %d, %d, %d", len(sol.X), len(sol.Y), len(sol.S), w.n, w.m, w.m)
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	csol := &C.ScsSolution{x: pinned(&pins, sol.X), y: pinned(&pins, sol.Y), s: pinned(&pins, sol.S)}
	var cinfo C.ScsInfo
	var flag *C.int32_t
	if stop != nil {
		pins.Pin(&stop.flag)
		flag = (*C.int32_t)(unsafe.Pointer(&stop.flag))
	}
	C.conetune_scs_solve(w.ptr, csol, &cinfo, flagOf(warm), flag)
	runtime.KeepAlive(w)
	return infoOf(&cinfo), nil
}

// Interrupt stops a solve from another goroutine. The zero value lets it run.
type Interrupt struct {
	flag int32
}

// Raise stops the solves that look at i, now and later.
func (i *Interrupt) Raise() { atomic.StoreInt32(&i.flag, C.CONETUNE_SCS_STOP) }

// Raised says whether Raise has been called.
func (i *Interrupt) Raised() bool { return atomic.LoadInt32(&i.flag) == C.CONETUNE_SCS_STOP }

// Finish ends the solves that look at i within an iteration, as if it were the last
// that Settings.MaxIters allows: they return their points. A library of the system
// goes on.
func (i *Interrupt) Finish() {
	atomic.CompareAndSwapInt32(&i.flag, C.CONETUNE_SCS_RUN, C.CONETUNE_SCS_FINISH)
}

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

// mirror returns a pinned ScsMatrix, nil for nil.
func (a *Matrix) mirror(pins *runtime.Pinner) (*C.ScsMatrix, error) {
	if a == nil {
		return nil, nil
	}
	if len(a.Ptr) != a.Cols+1 || len(a.Ind) != len(a.Val) || a.Ptr[a.Cols] != len(a.Ind) {
		return nil, errors.New("scs: column pointers, row indices and values do not fit together")
	}
	if len(a.Val) > math.MaxInt32 || a.Rows > math.MaxInt32 || a.Cols > math.MaxInt32 {
		return nil, fmt.Errorf("scs: a %d x %d matrix with %d entries is too large for 32-bit integers", a.Rows, a.Cols, len(a.Val))
	}
	out := &C.ScsMatrix{
		x: pinned(pins, a.Val), i: integers(pins, a.Ind), p: integers(pins, a.Ptr),
		m: C.scs_int(a.Rows), n: C.scs_int(a.Cols),
	}
	pins.Pin(out)
	return out, nil
}
