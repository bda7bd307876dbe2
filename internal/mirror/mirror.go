// Package mirror has what the mirrors of solver libraries share: matrices, how a solve is stopped, and errors.
package mirror

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
)

// Matrix is compressed sparse column, with Ptr of length Cols+1 and increasing row indices in each column.
type Matrix struct {
	Rows int       `json:"rows"`
	Cols int       `json:"cols"`
	Ptr  []int     `json:"ptr"`
	Ind  []int     `json:"ind"`
	Val  []float64 `json:"val"`
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
	name string
	v    []float64
	n    int
}

// Vector is a part that has to have n numbers.
func Vector(name string, v []float64, n int) Part { return Part{name, v, n} }

// Lengths looks at those of the parts.
func Lengths(library string, parts ...Part) error {
	for _, p := range parts {
		if len(p.v) != p.n {
			return fmt.Errorf("%s: %s has length %d, expected %d", library, p.name, len(p.v), p.n)
		}
	}
	return nil
}

// Updates is Lengths for parts that stay as they are where they are nil.
func Updates(library string, parts ...Part) error {
	return Lengths(library, slices.DeleteFunc(parts, func(p Part) bool { return p.v == nil })...)
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
