//go:build highs && cgo

package highs

/*
#cgo CFLAGS: -std=gnu11
#cgo !asan CFLAGS: -I${SRCDIR}/../../../cgo/build/include/highs
#cgo !asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/lib -Wl,-rpath,${SRCDIR}/../../../cgo/build/lib
#cgo !asan LDFLAGS: -lconetune_highs -lconetune_blas -lstdc++ -lm -lpthread
#cgo asan CFLAGS: -I${SRCDIR}/../../../cgo/build/asan/include/highs
#cgo asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/asan/lib -Wl,-rpath,${SRCDIR}/../../../cgo/build/asan/lib
#cgo asan LDFLAGS: -lconetune_highs -lconetune_blas -lstdc++ -lm -lpthread
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
	*mirror.Held[*C.conetune_highs]
	m, n, nnz, pnz int
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
	out := &Solver{m: m, n: n, nnz: len(d.A.Val)}
	if d.P != nil {
		out.pnz = len(d.P.Val)
	}
	out.Held = mirror.Hold("highs", ptr, func(ptr *C.conetune_highs) { C.conetune_highs_free(ptr) })
	return out, nil
}

// Update changes all values of P, q and A, or both bounds; nil means unchanged. The basis stays. After an
// error the solver is only good for Close.
func (s *Solver) Update(p, q, a, lower, upper []float64) error {
	return s.Use(func(ptr *C.conetune_highs) error {
		var pins runtime.Pinner
		defer pins.Unpin()
		optional := func(v []float64) *C.double { return pin.Optional[C.double](&pins, v) }
		return new(message).failed("update",
			C.conetune_highs_update(ptr, optional(p), optional(q), optional(a), optional(lower), optional(upper)))
	}, mirror.Vector("upper", upper, len(lower)), mirror.New("P", p, s.pnz), mirror.New("q", q, s.n),
		mirror.New("A", a, s.nnz), mirror.New("lower", lower, s.m))
}

// Forget makes the next Solve start from nothing.
func (s *Solver) Forget() error {
	return s.Use(func(ptr *C.conetune_highs) error {
		return new(message).failed("forget", C.conetune_highs_forget(ptr))
	})
}

// Start makes the next Solve start from a basis, which is completed where it is none.
func (s *Solver) Start(b Basis) error {
	return s.Use(func(ptr *C.conetune_highs) error {
		var pins runtime.Pinner
		defer pins.Unpin()
		return new(message).failed("basis",
			C.conetune_highs_start(ptr, pin.Places[C.int32_t](&pins, b.Cols), pin.Places[C.int32_t](&pins, b.Rows)))
	}, s.places(b)...)
}

// places are the parts of a basis.
func (s *Solver) places(b Basis) []mirror.Part {
	return []mirror.Part{mirror.Vector("the basis of the columns", b.Cols, s.n), mirror.Vector("the basis of the rows",
		b.Rows, s.m)}
}

// Solve runs HiGHS. A stop that is raised, and a limit above zero, end it. After an error the solver is
// only good for Close.
func (s *Solver) Solve(set *Settings, sol *Solution, stop *mirror.Interrupt, limit time.Duration) (Info, error) {
	parts := []mirror.Part{mirror.Vector("x", sol.X, s.n), mirror.Vector("y", sol.Y, s.m), s.ray(sol.Ray)}
	return s.run("solve", func(ptr *C.conetune_highs, pins *runtime.Pinner, info *C.conetune_highs_info, text *C.char,
		length C.size_t) C.int {
		return C.conetune_highs_solve(ptr, set.mirror(), pin.Flag[C.int32_t](pins, stop), C.double(limit.Seconds()),
			pin.Floats[C.double](pins, sol.X), pin.Floats[C.double](pins, sol.Y), pin.Floats[C.double](pins, sol.Ray),
			pin.Places[C.int32_t](pins, sol.Basis.Cols), pin.Places[C.int32_t](pins, sol.Basis.Rows), info, text, length)
	}, append(parts, s.places(sol.Basis)...)...)
}

// ray is a part with room for both kinds of rays.
func (s *Solver) ray(v []float64) mirror.Part { return mirror.Vector("the ray", v, max(s.n, s.m)) }

// Prove looks for a certificate with linear programs, of infeasibility or of unboundedness, and puts it into ray, which
// has room for the larger of both sizes. Info says whether there is one. After an error the solver is only good for
// Close.
func (s *Solver) Prove(set *Settings, infeasible bool, ray []float64, stop *mirror.Interrupt,
	limit time.Duration) (Info, error) {
	which := C.int32_t(0)
	if infeasible {
		which = 1
	}
	return s.run("certificate", func(ptr *C.conetune_highs, pins *runtime.Pinner, info *C.conetune_highs_info,
		text *C.char, length C.size_t) C.int {
		return C.conetune_highs_prove(ptr, set.mirror(), which, pin.Flag[C.int32_t](pins, stop), C.double(limit.Seconds()),
			pin.Floats[C.double](pins, ray), info, text, length)
	}, s.ray(ray))
}

// run calls a function that fills in an info, or a text.
func (s *Solver) run(
	name string, call func(*C.conetune_highs, *runtime.Pinner, *C.conetune_highs_info, *C.char, C.size_t) C.int,
	parts ...mirror.Part,
) (found Info, err error) {
	err = s.Use(func(ptr *C.conetune_highs) error {
		var pins runtime.Pinner
		defer pins.Unpin()
		var info C.conetune_highs_info
		var text message
		if err := text.failed(name, call(ptr, &pins, &info, &text[0], C.size_t(len(text)))); err != nil {
			return err
		}
		found = Info{
			Status: Status(info.status), Iterations: int(info.iterations), DualRay: info.dual_ray != 0,
			PrimalRay: info.primal_ray != 0,
			HasPoint:  info.has_point != 0, HasBasis: info.has_basis != 0,
		}
		return nil
	}, parts...)
	return found, err
}
