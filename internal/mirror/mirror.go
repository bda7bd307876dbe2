// Package mirror has what the mirrors of solver libraries share: matrices, what a library holds, how a solve is
// stopped, and errors.
package mirror

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
)

// Matrix is compressed sparse column, with Ptr of length Cols+1 and increasing row indices in each column.
type Matrix struct {
	Rows, Cols int
	Ptr, Ind   []int
	Val        []float64
}

// Check looks at the lengths of all parts, which a library cannot see, for integers of 32 bits.
func (a *Matrix) Check(library string, rows, cols int) error {
	switch {
	case a.Rows != rows || a.Cols != cols:
		return fmt.Errorf("%s: a matrix is %d x %d, expected %d x %d", library, a.Rows, a.Cols, rows, cols)
	case len(a.Ptr) != a.Cols+1 || len(a.Ind) != len(a.Val) || a.Ptr[a.Cols] != len(a.Ind):
		return fmt.Errorf("%s: column pointers, row indices and values do not fit together", library)
	case len(a.Val) > math.MaxInt32 || a.Rows > math.MaxInt32 || a.Cols > math.MaxInt32:
		return fmt.Errorf("%s: a %d x %d matrix with %d entries is too large for 32-bit integers", library, a.Rows, a.Cols,
			len(a.Val))
	}
	return nil
}

// Part is a vector that goes to a library.
type Part struct {
	name         string
	length, want int
}

// Vector is a part that has to have n numbers.
func Vector[T any](name string, v []T, n int) Part { return Part{name, len(v), n} }

// New is a part that stays as it is where it is nil.
func New(name string, v []float64, n int) Part {
	if v == nil {
		n = 0
	}
	return Vector(name, v, n)
}

// Lengths looks at those of the parts.
func Lengths(library string, parts ...Part) error {
	for _, p := range parts {
		if p.length != p.want {
			return fmt.Errorf("%s: %s has length %d, expected %d", library, p.name, p.length, p.want)
		}
	}
	return nil
}

// Held is what a library holds of a problem that has been set up, such as a pointer. It is for one goroutine at a time.
type Held[T any] struct {
	library string
	it      T
	free    func(T)
	cleanup runtime.Cleanup
	closed  bool
}

// Hold returns what a library holds until Close frees it, or, where that was forgotten, the collector of garbage.
func Hold[T any](library string, it T, free func(T)) *Held[T] {
	h := &Held[T]{library: library, it: it, free: free}
	h.cleanup = runtime.AddCleanup(h, free, it)
	return h
}

// Close frees it. Further calls do nothing.
func (h *Held[T]) Close() {
	if !h.closed {
		h.cleanup.Stop()
		h.free(h.it)
		h.closed = true
	}
}

// Use calls a function of the library unless it is closed or a part has not its length.
func (h *Held[T]) Use(call func(it T) error, parts ...Part) error {
	if h.closed {
		return ErrClosed
	}
	if err := Lengths(h.library, parts...); err != nil {
		return err
	}
	defer runtime.KeepAlive(h)
	return call(h.it)
}

// ErrClosed is returned by the methods of a solver after Close.
var ErrClosed = errors.New("the solver is closed")

// Error is a failure of a library.
type Error struct {
	Library, Call string
	Code          int
	Broken        bool   // the library gave up where it should not; else it refused its arguments
	Text          string // its own words, if it has any
}

func (e *Error) Error() string {
	what := fmt.Sprintf("code %d", e.Code)
	if e.Text != "" {
		what = e.Text
	}
	return e.Library + ": " + e.Call + ": " + what
}

// Set changes a setting of C. Zero leaves the library's default, and what is negative is none.
func Set[T ~int32 | ~int64 | ~uint32 | ~float64, V int | float64](to *T, v V) {
	if v != 0 {
		*to = T(max(0, v))
	}
}

// Off turns a switch of C off.
func Off[T ~int32 | ~int64](to *T, off bool) {
	if off {
		*to = 0
	}
}

// What the flag of an [Interrupt] may hold.
const (
	Run    = 0
	Stop   = 1
	Finish = 2
)

// Interrupt stops a solve from another goroutine. The zero value lets it run.
type Interrupt struct {
	// Flag is Run, Stop or Finish; libraries look at it while others write it.
	Flag int32
}

// Raise stops the solves that look at i, now and later.
func (i *Interrupt) Raise() { atomic.StoreInt32(&i.Flag, Stop) }

// Raised says whether Raise has been called.
func (i *Interrupt) Raised() bool { return atomic.LoadInt32(&i.Flag) == Stop }

// Finish ends the solves of SCS that look at i within an iteration, as if it were the last that Settings.MaxIters
// allows: they return their points. A library of the system goes on.
func (i *Interrupt) Finish() { atomic.CompareAndSwapInt32(&i.Flag, Run, Finish) }
