//go:build highs && cgo

package highs

/*
#cgo CFLAGS: -std=gnu11
#cgo !asan CFLAGS: -I${SRCDIR}/../../../cgo/build/include/highs
#cgo !asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/lib -Wl,-rpath,${SRCDIR}/../../../cgo/build/lib -lconetune_highs -lconetune_blas -lstdc++ -lm -lpthread
#cgo asan CFLAGS: -I${SRCDIR}/../../../cgo/build/asan/include/highs
#cgo asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/asan/lib -Wl,-rpath,${SRCDIR}/../../../cgo/build/asan/lib -lconetune_highs -lconetune_blas -lstdc++ -lm -lpthread
#include "library.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

func init() { C.conetune_highs_one_thread() }

// Version returns the version of the library.
func Version() string { return C.GoString(C.conetune_highs_version()) }

// Solver is a problem that has been set up. It is for one goroutine at a time.
type Solver struct {
	ptr     *C.conetune_highs
	cleanup runtime.Cleanup
	m, n    int
	nnz     int
	pnz     int
}

// ErrClosed is returned by the methods of a Solver after Close.
var ErrClosed = errors.New("highs: solver is closed")

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
	return "highs: " + e.Call + ": " + what
}

// message is room for a text of the library.
type message [256]C.char

func (m *message) failed(call string, code C.int) error {
	if code == C.CONETUNE_HIGHS_OK {
		return nil
	}
	return &Error{Call: call, Broken: code == C.CONETUNE_HIGHS_BROKEN, Text: C.GoString(&m[0])}
}

// New checks and copies the problem.
func New(d *Data) (*Solver, error) {
	m, n := d.A.Rows, d.A.Cols
	if len(d.Q) != n || len(d.Lower) != m || len(d.Upper) != m {
		return nil, fmt.Errorf("highs: A is %d x %d, q, lower, upper have lengths %d, %d, %d", m, n, len(d.Q), len(d.Lower), len(d.Upper))
	}
	for _, a := range []*Matrix{d.A, d.P} {
		if a != nil && (a.Cols != n || len(a.Ptr) != n+1 || len(a.Ind) != len(a.Val) || a.Ptr[n] != len(a.Ind)) {
			return nil, errors.New("highs: column pointers, row indices and values do not fit together")
		}
		if a != nil && len(a.Val) > math.MaxInt32 {
			return nil, fmt.Errorf("highs: a matrix with %d entries is too large for 32-bit integers", len(a.Val))
		}
	}
	if m > math.MaxInt32 || n > math.MaxInt32 {
		return nil, fmt.Errorf("highs: a %d x %d matrix is too large for 32-bit integers", m, n)
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	p := &C.conetune_highs_problem{
		m: C.int32_t(m), n: C.int32_t(n),
		a_ptr: integers(&pins, d.A.Ptr), a_ind: integers(&pins, d.A.Ind), a_val: room(&pins, d.A.Val),
		q: room(&pins, d.Q), lower: room(&pins, d.Lower), upper: room(&pins, d.Upper),
	}
	if d.P != nil {
		p.p_ptr, p.p_ind, p.p_val = integers(&pins, d.P.Ptr), integers(&pins, d.P.Ind), room(&pins, d.P.Val)
	}
	var text message
	var ptr *C.conetune_highs
	if err := text.failed("set-up", C.conetune_highs_new(p, &ptr, &text[0], C.size_t(len(text)))); err != nil {
		C.conetune_highs_free(ptr)
		return nil, err
	}
	out := &Solver{ptr: ptr, m: m, n: n, nnz: len(d.A.Val)}
	if d.P != nil {
		out.pnz = len(d.P.Val)
	}
	// The net under a Close that was forgotten.
	out.cleanup = runtime.AddCleanup(out, func(ptr *C.conetune_highs) { C.conetune_highs_free(ptr) }, ptr)
	return out, nil
}

// Close frees the memory. Further calls do nothing.
func (s *Solver) Close() {
	if s.ptr != nil {
		s.cleanup.Stop()
		C.conetune_highs_free(s.ptr)
		s.ptr = nil
	}
}

// Update changes all values of P, q and A, or both bounds; nil means unchanged. The basis stays. After an
// error the solver is only good for Close.
func (s *Solver) Update(p, q, a, lower, upper []float64) error {
	switch {
	case s.ptr == nil:
		return ErrClosed
	case p != nil && len(p) != s.pnz || q != nil && len(q) != s.n || a != nil && len(a) != s.nnz || len(lower) != len(upper) || lower != nil && len(lower) != s.m:
		return fmt.Errorf("highs: P, q, A, lower, upper have %d, %d, %d, %d, %d values, expected %d, %d, %d, %d, %d", len(p), len(q), len(a), len(lower), len(upper), s.pnz, s.n, s.nnz, s.m, s.m)
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	var text message
	code := C.conetune_highs_update(s.ptr, numbers(&pins, p), numbers(&pins, q), numbers(&pins, a), numbers(&pins, lower), numbers(&pins, upper))
	runtime.KeepAlive(s)
	return text.failed("update", code)
}

// Forget makes the next Solve start from nothing.
func (s *Solver) Forget() error {
	if s.ptr == nil {
		return ErrClosed
	}
	var text message
	code := C.conetune_highs_forget(s.ptr)
	runtime.KeepAlive(s)
	return text.failed("forget", code)
}

// Start makes the next Solve start from a basis, which is completed where it is none.
func (s *Solver) Start(b Basis) error {
	switch {
	case s.ptr == nil:
		return ErrClosed
	case len(b.Cols) != s.n || len(b.Rows) != s.m:
		return errors.New("highs: the basis has not the size of the problem")
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	var text message
	code := C.conetune_highs_start(s.ptr, places(&pins, b.Cols), places(&pins, b.Rows))
	runtime.KeepAlive(s)
	return text.failed("basis", code)
}

// Solve runs HiGHS. A stop that is raised, and a limit above zero, end it. After an error the solver is
// only good for Close.
func (s *Solver) Solve(set *Settings, sol *Solution, stop *Interrupt, limit time.Duration) (Info, error) {
	switch {
	case s.ptr == nil:
		return Info{}, ErrClosed
	case len(sol.X) != s.n || len(sol.Y) != s.m || len(sol.Ray) < max(s.n, s.m) || len(sol.Basis.Cols) != s.n || len(sol.Basis.Rows) != s.m:
		return Info{}, errors.New("highs: a vector of the solution has not the length of the problem")
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	flag := stop.pinned(&pins)
	var info C.conetune_highs_info
	var text message
	code := C.conetune_highs_solve(s.ptr, set.mirror(), flag, C.double(limit.Seconds()), room(&pins, sol.X), room(&pins, sol.Y), room(&pins, sol.Ray),
		places(&pins, sol.Basis.Cols), places(&pins, sol.Basis.Rows), &info, &text[0], C.size_t(len(text)))
	runtime.KeepAlive(s)
	if err := text.failed("solve", code); err != nil {
		return Info{}, err
	}
	return found(&info), nil
}

// Prove looks for a certificate with linear programs, of infeasibility or of unboundedness, and puts it into ray, which
// has room for the larger of both sizes. Info says whether there is one. After an error the solver is only good for Close.
func (s *Solver) Prove(set *Settings, infeasible bool, ray []float64, stop *Interrupt, limit time.Duration) (Info, error) {
	switch {
	case s.ptr == nil:
		return Info{}, ErrClosed
	case len(ray) < max(s.n, s.m):
		return Info{}, errors.New("highs: the ray has not the length of the problem")
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	which := C.int32_t(0)
	if infeasible {
		which = 1
	}
	var info C.conetune_highs_info
	var text message
	code := C.conetune_highs_prove(s.ptr, set.mirror(), which, stop.pinned(&pins), C.double(limit.Seconds()), room(&pins, ray), &info, &text[0], C.size_t(len(text)))
	runtime.KeepAlive(s)
	if err := text.failed("certificate", code); err != nil {
		return Info{}, err
	}
	return found(&info), nil
}

func found(info *C.conetune_highs_info) Info {
	return Info{
		Status: Status(info.status), Iterations: int(info.iterations), DualRay: info.dual_ray != 0, PrimalRay: info.primal_ray != 0,
		HasPoint: info.has_point != 0, HasBasis: info.has_basis != 0,
	}
}

// Interrupt stops a solve from another goroutine. The zero value lets it run.
type Interrupt struct {
	flag int32
}

// Raise stops the solves that look at i, now and later.
func (i *Interrupt) Raise() { atomic.StoreInt32(&i.flag, 1) }

// Raised says whether Raise has been called.
func (i *Interrupt) Raised() bool { return atomic.LoadInt32(&i.flag) != 0 }

// pinned returns the address of the flag, nil without one.
func (i *Interrupt) pinned(pins *runtime.Pinner) *C.int32_t {
	if i == nil {
		return nil
	}
	pins.Pin(&i.flag)
	return (*C.int32_t)(unsafe.Pointer(&i.flag))
}

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

// places is room for statuses.
func places(pins *runtime.Pinner, v []BasisStatus) *C.int32_t {
	if len(v) == 0 {
		v = make([]BasisStatus, 1)
	}
	pins.Pin(&v[0])
	return (*C.int32_t)(unsafe.Pointer(&v[0]))
}

func integers(pins *runtime.Pinner, v []int) *C.int32_t {
	out := make([]int32, max(1, len(v)))
	for i, x := range v {
		out[i] = int32(x)
	}
	pins.Pin(&out[0])
	return (*C.int32_t)(unsafe.Pointer(&out[0]))
}
