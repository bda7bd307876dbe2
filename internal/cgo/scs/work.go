//go:build scs && cgo

package scs

/*
#cgo CFLAGS: -std=gnu11
#cgo !syslibs,!asan CFLAGS: -I${SRCDIR}/../../../cgo/build/include/scs
#cgo !syslibs,!asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/lib -Wl,-rpath,${SRCDIR}/../../../cgo/build/lib
#cgo !syslibs,!asan LDFLAGS: -lconetune_scs -lconetune_blas -lm
#cgo !syslibs,asan CFLAGS: -I${SRCDIR}/../../../cgo/build/asan/include/scs
#cgo !syslibs,asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/asan/lib -Wl,-rpath,${SRCDIR}/../../../cgo/build/asan/lib
#cgo !syslibs,asan LDFLAGS: -lconetune_scs -lconetune_blas -lm
#cgo syslibs pkg-config: scs
#cgo syslibs CFLAGS: -DCONETUNE_SYSLIBS
#include "interrupt.h"
*/
import "C"

import (
	"runtime"

	"github.com/conetune/conetune/internal/cgo/pin"
	"github.com/conetune/conetune/internal/mirror"
	"github.com/conetune/conetune/internal/mirror/scs"
)

func init() { C.conetune_scs_one_thread() }

// Library is the C library.
type Library struct{}

var _ scs.Library = Library{}

// Version returns the version of the library.
func (Library) Version() string { return C.GoString(C.scs_version()) }

// SetsNumbers is true of the library that was built with our function.
func (Library) SetsNumbers() bool { return C.CONETUNE_SCS_SETS_NUMBERS != 0 }

// work is a ScsWork.
type work struct{ ptr *C.ScsWork }

// Init calls scs_init.
func (Library) Init(d *scs.Data, k *scs.Cone, s *scs.Settings) scs.Calls {
	var pins runtime.Pinner
	defer pins.Unpin()
	w := work{C.scs_init(dataOf(d, &pins), coneOf(k, &pins), settingsOf(s))}
	if w.ptr == nil {
		return nil
	}
	return w
}

func (w work) Finish() { C.scs_finish(w.ptr) }

func (w work) Update(b, c []float64) int {
	var pins runtime.Pinner
	defer pins.Unpin()
	return int(C.scs_update(w.ptr, pin.Optional[C.scs_float](&pins, b), pin.Optional[C.scs_float](&pins, c)))
}

// SetNumbers calls the function of ours that goes into the library.
func (w work) SetNumbers(d *scs.Data, scale float64) int {
	var pins runtime.Pinner
	defer pins.Unpin()
	return int(C.conetune_scs_new_numbers(w.ptr, dataOf(d, &pins), C.scs_float(scale)))
}

func (w work) SetLimits(s *scs.Settings) bool {
	return C.conetune_scs_set_limits(w.ptr, settingsOf(s)) != 0
}

func (w work) Solve(sol *scs.Solution, warm bool, stop *mirror.Interrupt) scs.Info {
	var pins runtime.Pinner
	defer pins.Unpin()
	csol := &C.ScsSolution{x: floats(&pins, sol.X), y: floats(&pins, sol.Y), s: floats(&pins, sol.S)}
	var info C.ScsInfo
	C.conetune_scs_solve(w.ptr, csol, &info, flagOf(warm), pin.Flag[C.int32_t](&pins, stop))
	return infoOf(&info)
}

func floats(pins *runtime.Pinner, v []float64) *C.scs_float { return pin.Floats[C.scs_float](pins, v) }
func integers(pins *runtime.Pinner, v []int) *C.scs_int     { return pin.Integers[C.scs_int](pins, v) }

// dataOf returns a ScsData with pinned numbers.
func dataOf(d *scs.Data, pins *runtime.Pinner) *C.ScsData {
	return &C.ScsData{
		m: C.scs_int(d.A.Rows), n: C.scs_int(d.A.Cols), A: matrixOf(d.A, pins), P: matrixOf(d.P, pins), b: floats(pins, d.B),
		c: floats(pins, d.C),
	}
}

// matrixOf returns a pinned ScsMatrix, nil for nil.
func matrixOf(a *mirror.Matrix, pins *runtime.Pinner) *C.ScsMatrix {
	if a == nil {
		return nil
	}
	out := &C.ScsMatrix{
		x: floats(pins, a.Val), i: integers(pins, a.Ind), p: integers(pins, a.Ptr),
		m: C.scs_int(a.Rows), n: C.scs_int(a.Cols),
	}
	pins.Pin(out)
	return out
}
