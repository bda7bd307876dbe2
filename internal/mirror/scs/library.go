// Package scs mirrors the structs and functions of SCS, the splitting conic solver, as Go types. It maps names and
// numbers and nothing else; what they mean for this project is in package backends/scs.
//
// There are two libraries behind it: C, by cgo (package internal/cgo/scs), and the same C made Go (package
// internal/ccgo/scs). Both copy all data that they are given and keep no pointer to Go memory after a call. They
// install no signal handler and print nothing, and ask an [Interrupt] in every iteration.
package scs

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
)

// Library is SCS.
type Library interface {
	// Version returns the version of the library.
	Version() string
	// HasNuclear says whether it was built with the nuclear norm cone.
	HasNuclear() bool
	// SetsNumbers says whether Work.SetNumbers does anything.
	SetsNumbers() bool
	// DefaultSettings returns what scs_set_default_settings sets.
	DefaultSettings() Settings
	// New calls scs_init, which checks, copies, scales and factors the problem.
	New(d *Data, k *Cone, s *Settings) (Work, error)
}

// Work is a ScsWork: a problem that has been set up. It is for one goroutine at a time.
type Work interface {
	// Close frees the memory. Further calls do nothing.
	Close()
	// Update calls scs_update: new b, new c, or both; nil means unchanged.
	Update(b, c []float64) error
	// SetNumbers gives the work the numbers of d, whose matrices have the patterns of those it was made of, and goes back to
	// the Scale of its settings: it is then as New would make it, but the order of the factorisation is not looked for again.
	// SCS has no function for it. It returns false, and changes nothing, if the library is one of the system or there is
	// a box cone, and ErrInit if the system cannot be factored, after which the work can only be closed.
	SetNumbers(d *Data, scale float64) (bool, error)
	// SetLimits changes EpsAbs, EpsRel, EpsInfeas, MaxIters and TimeLimit, for which SCS itself would have to set up
	// again. It returns false, and changes nothing, if the work is closed or the library is one of the system.
	SetLimits(s *Settings) bool
	// Solve calls scs_solve. With warm, it starts from what is in sol; in either case sol holds the outcome afterwards.
	// A stop that is raised ends it within an iteration, with status SigInt or Failed.
	Solve(sol *Solution, warm bool, stop *Interrupt) (Info, error)
}

// ErrClosed is returned by the methods of a Work after Close.
var ErrClosed = errors.New("scs: work is closed")

// ErrInit is returned by New if scs_init fails: the data are invalid, or the system cannot be factored, as with a P
// that is not positive semidefinite.
var ErrInit = errors.New("scs: scs_init failed: it rejects the data or cannot factor the system")

// ErrNuclear is returned by New for a nuclear norm cone that the library does not have.
var ErrNuclear = errors.New("scs: the library was built without the nuclear norm cone")

// Check looks at the lengths of all parts, which SCS cannot see.
func (d *Data) Check() error {
	if len(d.B) != d.A.Rows || len(d.C) != d.A.Cols {
		return fmt.Errorf("scs: A is %d x %d, b has length %d and c %d", d.A.Rows, d.A.Cols, len(d.B), len(d.C))
	}
	if err := d.A.check(); err != nil || d.P == nil {
		return err
	}
	return d.P.check()
}

func (a *Matrix) check() error {
	if len(a.Ptr) != a.Cols+1 || len(a.Ind) != len(a.Val) || a.Ptr[a.Cols] != len(a.Ind) {
		return errors.New("scs: column pointers, row indices and values do not fit together")
	}
	if len(a.Val) > math.MaxInt32 || a.Rows > math.MaxInt32 || a.Cols > math.MaxInt32 {
		return fmt.Errorf("scs: a %d x %d matrix with %d entries is too large for 32-bit integers", a.Rows, a.Cols, len(a.Val))
	}
	return nil
}

// CheckUpdate looks at the lengths of new b and c.
func CheckUpdate(b, c []float64, m, n int) error {
	if b != nil && len(b) != m || c != nil && len(c) != n {
		return fmt.Errorf("scs: b has length %d and c %d, expected %d and %d", len(b), len(c), m, n)
	}
	return nil
}

// Shape is what a Work was made of, to look at the lengths of new numbers.
type Shape struct{ rows, columns, entriesA, entriesP int }

// ShapeOf returns the shape of d.
func ShapeOf(d *Data) Shape {
	s := Shape{rows: len(d.B), columns: len(d.C), entriesA: len(d.A.Val)}
	if d.P != nil {
		s.entriesP = len(d.P.Val)
	}
	return s
}

// Check looks at the lengths of new numbers.
func (s Shape) Check(d *Data) error {
	if err := d.Check(); err != nil {
		return err
	}
	if other := ShapeOf(d); other != s {
		return fmt.Errorf("scs: b, c, A and P have %d, %d, %d and %d numbers, expected %d, %d, %d and %d",
			other.rows, other.columns, other.entriesA, other.entriesP, s.rows, s.columns, s.entriesA, s.entriesP)
	}
	return nil
}

// UpdateFailed is the error of scs_update, with what it returned.
func UpdateFailed(code int) error { return fmt.Errorf("scs: scs_update failed with code %d", code) }

// Check looks at the lengths of a solution.
func (s *Solution) Check(m, n int) error {
	if len(s.X) != n || len(s.Y) != m || len(s.S) != m {
		return fmt.Errorf("scs: x, y, s have lengths %d, %d, %d, expected %d, %d, %d", len(s.X), len(s.Y), len(s.S), n, m, m)
	}
	return nil
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

// Finish ends the solves that look at i within an iteration, as if it were the last that Settings.MaxIters allows: they
// return their points. A library of the system goes on.
func (i *Interrupt) Finish() { atomic.CompareAndSwapInt32(&i.Flag, Run, Finish) }
