//go:build clarabel && cgo

package clarabel

/*
#cgo CFLAGS: -std=gnu11
#cgo !asan CFLAGS: -I${SRCDIR}/../../../cgo/build/include/clarabel
#cgo !asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/lib -Wl,-rpath,${SRCDIR}/../../../cgo/build/lib -lconetune_clarabel -lconetune_blas -lm -lpthread
#cgo asan CFLAGS: -I${SRCDIR}/../../../cgo/build/asan/include/clarabel
#cgo asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/asan/lib -Wl,-rpath,${SRCDIR}/../../../cgo/build/asan/lib -lconetune_clarabel -lconetune_blas -lm -lpthread
#include "library.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

func init() { C.conetune_clarabel_one_thread() }

// Version returns the version of the library.
func Version() string { return C.GoString(C.conetune_clarabel_version()) }

// Solver is a problem that has been set up. It is for one goroutine at a time.
type Solver struct {
	ptr        *C.conetune_clarabel
	cleanup    runtime.Cleanup
	m, n       int
	nnzP, nnzA int
}

// ErrClosed is returned by the methods of a Solver after Close.
var ErrClosed = errors.New("clarabel: solver is closed")

// Error is a failure of the library.
type Error struct {
	Call string
	// Broken says that the library gave up where it should not; else it refused its arguments.
	Broken bool
	Text   string // its own words, if it has any
}

func (e *Error) Error() string {
	what := "refused"
	if e.Broken {
		what = "broken"
	}
	if e.Text != "" {
		what += ": " + e.Text
	}
	return "clarabel: " + e.Call + ": " + what
}

// message is room for a text of the library.
type message [256]C.char

func (m *message) failed(call string, code C.int) error {
	if code == C.CONETUNE_CLARABEL_OK {
		return nil
	}
	return &Error{Call: call, Broken: code == C.CONETUNE_CLARABEL_BROKEN, Text: C.GoString(&m[0])}
}

// New checks, copies, scales and factors the problem.
func New(d *Data, s *Settings) (*Solver, error) {
	m, n := d.A.Rows, d.A.Cols
	if d.P.Rows != n || d.P.Cols != n || len(d.Q) != n || len(d.B) != m {
		return nil, fmt.Errorf("clarabel: A is %d x %d, P %d x %d, q, b have lengths %d, %d", m, n, d.P.Rows, d.P.Cols, len(d.Q), len(d.B))
	}
	for _, a := range []*Matrix{d.P, d.A} {
		if len(a.Ptr) != a.Cols+1 || len(a.Ind) != len(a.Val) || a.Ptr[a.Cols] != len(a.Ind) {
			return nil, errors.New("clarabel: column pointers, row indices and values do not fit together")
		}
	}
	kinds, dims, extras, weights := make([]int32, len(d.Cones)), make([]int, len(d.Cones)), make([]int, len(d.Cones)), []float64{}
	for i, c := range d.Cones {
		if c.Kind == Power && len(c.Weights) != 1 || c.Kind == GeneralizedPower && len(c.Weights) != c.Dim {
			return nil, errors.New("clarabel: a cone has not the weights of its dimension")
		}
		kinds[i], dims[i], extras[i], weights = int32(c.Kind), c.Dim, c.Extra, append(weights, c.Weights...)
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	p := &C.conetune_clarabel_problem{
		m: C.size_t(m), n: C.size_t(n),
		p_ptr: sizes(&pins, d.P.Ptr), p_ind: sizes(&pins, d.P.Ind), p_val: numbers(&pins, d.P.Val),
		a_ptr: sizes(&pins, d.A.Ptr), a_ind: sizes(&pins, d.A.Ind), a_val: numbers(&pins, d.A.Val),
		q: numbers(&pins, d.Q), b: numbers(&pins, d.B),
		cones: C.size_t(len(d.Cones)), dims: sizes(&pins, dims), extras: sizes(&pins, extras), weights: numbers(&pins, weights),
	}
	if len(kinds) > 0 {
		pins.Pin(&kinds[0])
		p.kinds = (*C.int32_t)(unsafe.Pointer(&kinds[0]))
	}
	out := &Solver{m: m, n: n, nnzP: len(d.P.Val), nnzA: len(d.A.Val)}
	var text message
	var ptr *C.conetune_clarabel
	if err := text.failed("set-up", C.conetune_clarabel_new(p, s.mirror(), &ptr, &text[0], C.size_t(len(text)))); err != nil {
		return nil, err
	}
	out.ptr = ptr
	// The net under a Close that was forgotten.
	out.cleanup = runtime.AddCleanup(out, func(ptr *C.conetune_clarabel) { C.conetune_clarabel_free(ptr) }, ptr)
	return out, nil
}

// Close frees the memory. Further calls do nothing.
func (s *Solver) Close() {
	if s.ptr != nil {
		s.cleanup.Stop()
		C.conetune_clarabel_free(s.ptr)
		s.ptr = nil
	}
}

// Updatable says whether Update works: not where a cone was decomposed or rows were presolved away.
func (s *Solver) Updatable() bool {
	if s.ptr == nil {
		return false
	}
	ok := C.conetune_clarabel_updatable(s.ptr) != 0
	runtime.KeepAlive(s)
	return ok
}

// Update changes all values of P, q, A or b; nil means unchanged. After an error the solver
// is only good for Close.
func (s *Solver) Update(p, q, a, b []float64) error {
	switch {
	case s.ptr == nil:
		return ErrClosed
	case p != nil && len(p) != s.nnzP || q != nil && len(q) != s.n || a != nil && len(a) != s.nnzA || b != nil && len(b) != s.m:
		return fmt.Errorf("clarabel: P, q, A, b have %d, %d, %d, %d values, expected %d, %d, %d, %d", len(p), len(q), len(a), len(b), s.nnzP, s.n, s.nnzA, s.m)
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	var text message
	code := C.conetune_clarabel_update(s.ptr, numbers(&pins, p), numbers(&pins, q), numbers(&pins, a), numbers(&pins, b))
	runtime.KeepAlive(s)
	return text.failed("update", code)
}

// Set changes the settings that the set-up did not use: tolerances, limits, regularisation.
func (s *Solver) Set(set *Settings) error {
	if s.ptr == nil {
		return ErrClosed
	}
	var text message
	code := C.conetune_clarabel_set(s.ptr, set.mirror())
	runtime.KeepAlive(s)
	return text.failed("settings", code)
}

// Solve runs the interior point method from a start of its own. A stop that is raised, and a
// limit above zero, end it before the next iteration, with the point so far. After an error
// the solver is only good for Close.
func (s *Solver) Solve(sol *Solution, stop *Interrupt, limit time.Duration) (Info, error) {
	switch {
	case s.ptr == nil:
		return Info{}, ErrClosed
	case len(sol.X) != s.n || len(sol.S) != s.m || len(sol.Z) != s.m:
		return Info{}, errors.New("clarabel: a vector of the solution has not the length of the problem")
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	var flag *C.int32_t
	if stop != nil {
		pins.Pin(&stop.flag)
		flag = (*C.int32_t)(unsafe.Pointer(&stop.flag))
	}
	var info C.conetune_clarabel_info
	var text message
	code := C.conetune_clarabel_solve(s.ptr, flag, C.double(limit.Seconds()), room(&pins, sol.X), room(&pins, sol.S), room(&pins, sol.Z), &info, &text[0], C.size_t(len(text)))
	runtime.KeepAlive(s)
	if err := text.failed("solve", code); err != nil {
		return Info{}, err
	}
	return Info{
		Status: Status(info.status), Interrupted: info.stopped == 1, TimedOut: info.stopped == 2, Iterations: int(info.iterations),
		Primal: float64(info.primal), Dual: float64(info.dual), GapAbs: float64(info.gap_abs), GapRel: float64(info.gap_rel),
		ResPrimal: float64(info.res_primal), ResDual: float64(info.res_dual), Mu: float64(info.mu), KappaByTau: float64(info.kt_ratio),
	}, nil
}

// Interrupt stops a solve from another goroutine. The zero value lets it run.
type Interrupt struct {
	flag int32
}

// Raise stops the solves that look at i, now and later.
func (i *Interrupt) Raise() { atomic.StoreInt32(&i.flag, 1) }

// Raised says whether Raise has been called.
func (i *Interrupt) Raised() bool { return atomic.LoadInt32(&i.flag) != 0 }

// numbers returns the address of the numbers, nil if there are none.
func numbers(pins *runtime.Pinner, v []float64) *C.double {
	if len(v) == 0 {
		return nil
	}
	pins.Pin(&v[0])
	return (*C.double)(unsafe.Pointer(&v[0]))
}

// room is numbers, but never nil.
func room(pins *runtime.Pinner, v []float64) *C.double {
	if len(v) == 0 {
		v = make([]float64, 1)
	}
	return numbers(pins, v)
}

// sizes returns the address of the numbers, which have the size of C's size_t; nil if there are none.
func sizes(pins *runtime.Pinner, v []int) *C.size_t {
	if len(v) == 0 {
		return nil
	}
	pins.Pin(&v[0])
	return (*C.size_t)(unsafe.Pointer(&v[0]))
}
