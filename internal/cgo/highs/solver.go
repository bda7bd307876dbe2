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
	"runtime"
	"time"

	"github.com/conetune/conetune/internal/cgo/pin"
	"github.com/conetune/conetune/internal/mirror"
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

// message is room for a text of the library.
type message [256]C.char

func (m *message) failed(call string, code C.int) error {
	if code == C.CONETUNE_HIGHS_OK {
		return nil
	}
	return &mirror.Error{Library: "highs", Call: call, Code: int(code), Broken: code == C.CONETUNE_HIGHS_BROKEN,
		Text: C.GoString(&m[0])}
}

// New checks and copies the problem.
func New(d *Data) (*Solver, error) {
	m, n := d.A.Rows, d.A.Cols
	err := errors.Join(d.A.Check("highs", m, n),
		mirror.Lengths("highs", mirror.Vector("q", d.Q, n), mirror.Vector("lower", d.Lower, m),
			mirror.Vector("upper", d.Upper, m)))
	if d.P != nil {
		err = errors.Join(err, d.P.Check("highs", n, n))
	}
	if err != nil {
		return nil, err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	integers := func(v []int) *C.int32_t { return pin.Integers[C.int32_t](&pins, v) }
	floats := func(v []float64) *C.double { return pin.Floats[C.double](&pins, v) }
	p := &C.conetune_highs_problem{
		m: C.int32_t(m), n: C.int32_t(n), a_ptr: integers(d.A.Ptr), a_ind: integers(d.A.Ind), a_val: floats(d.A.Val),
		q: floats(d.Q), lower: floats(d.Lower), upper: floats(d.Upper),
	}
	if d.P != nil {
		p.p_ptr, p.p_ind, p.p_val = integers(d.P.Ptr), integers(d.P.Ind), floats(d.P.Val)
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
	if s.ptr == nil {
		return mirror.ErrClosed
	}
	err := errors.Join(mirror.Lengths("highs", mirror.Vector("upper", upper, len(lower))),
		mirror.Updates("highs", mirror.Vector("P", p, s.pnz), mirror.Vector("q", q, s.n), mirror.Vector("A", a, s.nnz),
			mirror.Vector("lower", lower, s.m)))
	if err != nil {
		return err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	optional := func(v []float64) *C.double { return pin.Optional[C.double](&pins, v) }
	var text message
	code := C.conetune_highs_update(s.ptr, optional(p), optional(q), optional(a), optional(lower), optional(upper))
	runtime.KeepAlive(s)
	return text.failed("update", code)
}

// Forget makes the next Solve start from nothing.
func (s *Solver) Forget() error {
	if s.ptr == nil {
		return mirror.ErrClosed
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
		return mirror.ErrClosed
	case len(b.Cols) != s.n || len(b.Rows) != s.m:
		return errors.New("highs: the basis has not the size of the problem")
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	var text message
	code := C.conetune_highs_start(s.ptr, pin.Places[C.int32_t](&pins, b.Cols), pin.Places[C.int32_t](&pins, b.Rows))
	runtime.KeepAlive(s)
	return text.failed("basis", code)
}

// Solve runs HiGHS. A stop that is raised, and a limit above zero, end it. After an error the solver is
// only good for Close.
func (s *Solver) Solve(set *Settings, sol *Solution, stop *mirror.Interrupt, limit time.Duration) (Info, error) {
	switch {
	case s.ptr == nil:
		return Info{}, mirror.ErrClosed
	case len(sol.X) != s.n || len(sol.Y) != s.m || len(sol.Ray) < max(s.n, s.m) || len(sol.Basis.Cols) != s.n || len(sol.Basis.Rows) != s.m:
		return Info{}, errors.New("highs: a vector of the solution has not the length of the problem")
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	flag := pin.Flag[C.int32_t](&pins, stop)
	var info C.conetune_highs_info
	var text message
	code := C.conetune_highs_solve(s.ptr, set.mirror(), flag, C.double(limit.Seconds()),
		pin.Floats[C.double](&pins, sol.X), pin.Floats[C.double](&pins, sol.Y), pin.Floats[C.double](&pins, sol.Ray),
		pin.Places[C.int32_t](&pins, sol.Basis.Cols), pin.Places[C.int32_t](&pins, sol.Basis.Rows), &info, &text[0],
		C.size_t(len(text)))
	runtime.KeepAlive(s)
	if err := text.failed("solve", code); err != nil {
		return Info{}, err
	}
	return found(&info), nil
}

// Prove looks for a certificate with linear programs, of infeasibility or of unboundedness, and puts it into ray, which
// has room for the larger of both sizes. Info says whether there is one. After an error the solver is only good for Close.
func (s *Solver) Prove(set *Settings, infeasible bool, ray []float64, stop *mirror.Interrupt,
	limit time.Duration) (Info, error) {
	switch {
	case s.ptr == nil:
		return Info{}, mirror.ErrClosed
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
	code := C.conetune_highs_prove(s.ptr, set.mirror(), which, pin.Flag[C.int32_t](&pins, stop), C.double(limit.Seconds()),
		pin.Floats[C.double](&pins, ray), &info, &text[0], C.size_t(len(text)))
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
