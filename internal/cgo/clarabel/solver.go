//go:build clarabel && cgo

package clarabel

/*
#cgo CFLAGS: -std=gnu11
#cgo !asan CFLAGS: -I${SRCDIR}/../../../cgo/build/include/clarabel
#cgo !asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/lib -Wl,-rpath,${SRCDIR}/../../../cgo/build/lib
#cgo !asan LDFLAGS: -lconetune_clarabel -lconetune_blas -lm -lpthread
#cgo asan CFLAGS: -I${SRCDIR}/../../../cgo/build/asan/include/clarabel
#cgo asan LDFLAGS: -L${SRCDIR}/../../../cgo/build/asan/lib -Wl,-rpath,${SRCDIR}/../../../cgo/build/asan/lib
#cgo asan LDFLAGS: -lconetune_clarabel -lconetune_blas -lm -lpthread
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

func init() { C.conetune_clarabel_one_thread() }

// Version returns the version of the library.
func Version() string { return C.GoString(C.conetune_clarabel_version()) }

// Solver is a problem that has been set up. It is for one goroutine at a time.
type Solver struct {
	*mirror.Held[*C.conetune_clarabel]
	m, n       int
	nnzP, nnzA int
}

// message is room for a text of the library.
type message [256]C.char

func (m *message) failed(call string, code C.int) error {
	if code == C.CONETUNE_CLARABEL_OK {
		return nil
	}
	return &mirror.Error{Library: "clarabel", Call: call, Code: int(code), Broken: code == C.CONETUNE_CLARABEL_BROKEN,
		Text: C.GoString(&m[0])}
}

// New checks, copies, scales and factors the problem.
func New(d *Data, s *Settings) (*Solver, error) {
	m, n := d.A.Rows, d.A.Cols
	if err := errors.Join(mirror.Lengths("clarabel", mirror.Vector("q", d.Q, n), mirror.Vector("b", d.B, m)),
		d.P.Check("clarabel", n, n), d.A.Check("clarabel", m, n)); err != nil {
		return nil, err
	}
	kinds, dims, extras, weights := make([]int, len(d.Cones)), make([]int, len(d.Cones)), make([]int, len(d.Cones)),
		[]float64{}
	for i, c := range d.Cones {
		if c.Kind == Power && len(c.Weights) != 1 || c.Kind == GeneralizedPower && len(c.Weights) != c.Dim {
			return nil, errors.New("clarabel: a cone has not the weights of its dimension")
		}
		kinds[i], dims[i], extras[i], weights = int(c.Kind), c.Dim, c.Extra, append(weights, c.Weights...)
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	sizes := func(v []int) *C.size_t { return pin.Integers[C.size_t](&pins, v) }
	floats := func(v []float64) *C.double { return pin.Floats[C.double](&pins, v) }
	p := &C.conetune_clarabel_problem{
		m: C.size_t(m), n: C.size_t(n),
		p_ptr: sizes(d.P.Ptr), p_ind: sizes(d.P.Ind), p_val: floats(d.P.Val),
		a_ptr: sizes(d.A.Ptr), a_ind: sizes(d.A.Ind), a_val: floats(d.A.Val), q: floats(d.Q), b: floats(d.B),
		cones: C.size_t(len(d.Cones)), kinds: pin.Integers[C.int32_t](&pins, kinds), dims: sizes(dims), extras: sizes(extras),
		weights: floats(weights),
	}
	out := &Solver{m: m, n: n, nnzP: len(d.P.Val), nnzA: len(d.A.Val)}
	var text message
	var ptr *C.conetune_clarabel
	if err := text.failed("set-up", C.conetune_clarabel_new(p, s.mirror(), &ptr, &text[0],
		C.size_t(len(text)))); err != nil {
		return nil, err
	}
	out.Held = mirror.Hold("clarabel", ptr, func(ptr *C.conetune_clarabel) { C.conetune_clarabel_free(ptr) })
	return out, nil
}

// Updatable says whether Update works: not where a cone was decomposed or rows were presolved away.
func (s *Solver) Updatable() (ok bool) {
	_ = s.Use(func(ptr *C.conetune_clarabel) error {
		ok = C.conetune_clarabel_updatable(ptr) != 0
		return nil
	})
	return ok
}

// Update changes all values of P, q, A or b; nil means unchanged. After an error the solver
// is only good for Close.
func (s *Solver) Update(p, q, a, b []float64) error {
	return s.Use(func(ptr *C.conetune_clarabel) error {
		var pins runtime.Pinner
		defer pins.Unpin()
		optional := func(v []float64) *C.double { return pin.Optional[C.double](&pins, v) }
		return new(message).failed("update", C.conetune_clarabel_update(ptr, optional(p), optional(q), optional(a),
			optional(b)))
	}, mirror.New("P", p, s.nnzP), mirror.New("q", q, s.n), mirror.New("A", a, s.nnzA), mirror.New("b", b, s.m))
}

// Set changes the settings that the set-up did not use: tolerances, limits, regularisation.
func (s *Solver) Set(set *Settings) error {
	return s.Use(func(ptr *C.conetune_clarabel) error {
		return new(message).failed("settings", C.conetune_clarabel_set(ptr, set.mirror()))
	})
}

// Solve runs the interior point method from a start of its own. A stop that is raised, and a
// limit above zero, end it before the next iteration, with the point so far. After an error
// the solver is only good for Close.
func (s *Solver) Solve(sol *Solution, stop *mirror.Interrupt, limit time.Duration) (found Info, err error) {
	err = s.Use(func(ptr *C.conetune_clarabel) error {
		var pins runtime.Pinner
		defer pins.Unpin()
		floats := func(v []float64) *C.double { return pin.Floats[C.double](&pins, v) }
		var info C.conetune_clarabel_info
		var text message
		code := C.conetune_clarabel_solve(ptr, pin.Flag[C.int32_t](&pins, stop), C.double(limit.Seconds()),
			floats(sol.X), floats(sol.S), floats(sol.Z), &info, &text[0], C.size_t(len(text)))
		if err := text.failed("solve", code); err != nil {
			return err
		}
		found = Info{
			Status: Status(info.status), Interrupted: info.stopped == 1, TimedOut: info.stopped == 2,
			Iterations: int(info.iterations), GapRel: float64(info.gap_rel), ResPrimal: float64(info.res_primal),
			ResDual: float64(info.res_dual), Mu: float64(info.mu),
		}
		return nil
	}, mirror.Vector("x", sol.X, s.n), mirror.Vector("s", sol.S, s.m), mirror.Vector("z", sol.Z, s.m))
	return found, err
}
