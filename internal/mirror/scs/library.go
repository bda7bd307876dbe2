// Package scs mirrors the structs and functions of SCS, the splitting conic solver, as Go types. It maps names and
// numbers and nothing else; what they mean for this project is in package backends/scs.
//
// There are two libraries behind it: C, by cgo (package internal/cgo/scs), and the same C made Go (package
// internal/ccgo/scs). Both copy all data that they are given and keep no pointer to Go memory after a call. They
// install no signal handler and print nothing, and ask a [mirror.Interrupt] in every iteration.
package scs

import (
	"errors"

	"github.com/conetune/conetune/internal/mirror"
)

// Library is SCS.
type Library interface {
	// Version returns the version of the library.
	Version() string
	// HasNuclear says whether it was built with the nuclear norm cone.
	HasNuclear() bool
	// SetsNumbers says whether Work.SetNumbers does anything.
	SetsNumbers() bool
	// Init calls scs_init, which checks, copies, scales and factors the problem, and returns nil where it fails.
	Init(d *Data, k *Cone, s *Settings) Calls
}

// Calls are the functions of SCS for a problem that has been set up. They take vectors of the right lengths, or nil for
// what stays as it is.
type Calls interface {
	Finish()
	// Update returns 0, or a code.
	Update(b, c []float64) int
	// SetNumbers returns 0; 1, and nothing has changed, if SCS has to be set up again; or -1, and Finish is all that is
	// left.
	SetNumbers(d *Data, scale float64) int
	SetLimits(s *Settings) bool
	Solve(sol *Solution, warm bool, stop *mirror.Interrupt) Info
}

// Work is a ScsWork: a problem that has been set up. It is for one goroutine at a time.
type Work struct {
	*mirror.Held[Calls]
	m, n       int
	nnzA, nnzP int
}

// ErrInit is returned by New if scs_init fails: the data are invalid, or the system cannot be factored, as with a P
// that is not positive semidefinite.
var ErrInit = errors.New("scs: scs_init failed: it rejects the data or cannot factor the system")

// ErrNuclear is returned by New for a nuclear norm cone that the library does not have.
var ErrNuclear = errors.New("scs: the library was built without the nuclear norm cone")

// New sets the problem up.
func New(l Library, d *Data, k *Cone, s *Settings) (*Work, error) {
	w := &Work{m: d.A.Rows, n: d.A.Cols, nnzA: len(d.A.Val)}
	if d.P != nil {
		w.nnzP = len(d.P.Val)
	}
	if err := w.check(d); err != nil {
		return nil, err
	}
	if len(k.Nuclear) > 0 && !l.HasNuclear() {
		return nil, ErrNuclear
	}
	calls := l.Init(d, k, s)
	if calls == nil {
		return nil, ErrInit
	}
	w.Held = mirror.Hold("scs", calls, Calls.Finish)
	return w, nil
}

// check looks at the lengths of all parts, which SCS cannot see.
func (w *Work) check(d *Data) error {
	var p []float64
	var wrong error
	if d.P != nil {
		p, wrong = d.P.Val, d.P.Check("scs", w.n, w.n)
	}
	return errors.Join(mirror.Lengths("scs", mirror.Vector("b", d.B, w.m), mirror.Vector("c", d.C, w.n),
		mirror.Vector("A", d.A.Val, w.nnzA), mirror.Vector("P", p, w.nnzP)), d.A.Check("scs", w.m, w.n), wrong)
}

// Update calls scs_update: new b, new c, or both; nil means unchanged.
func (w *Work) Update(b, c []float64) error {
	return w.Use(func(calls Calls) error {
		if code := calls.Update(b, c); code != 0 {
			return &mirror.Error{Library: "scs", Call: "scs_update", Code: code}
		}
		return nil
	}, mirror.New("b", b, w.m), mirror.New("c", c, w.n))
}

// SetNumbers gives the work the numbers of d, whose matrices have the patterns of those it was made of, and goes back
// to the Scale of its settings: it is then as New would make it, but the order of the factorisation is not looked for
// again. SCS has no function for it. It returns false, and changes nothing, if the library is one of the system or
// there is a box cone, and ErrInit if the system cannot be factored, after which the work can only be closed.
func (w *Work) SetNumbers(d *Data, scale float64) (done bool, err error) {
	err = w.Use(func(calls Calls) error {
		if err := w.check(d); err != nil {
			return err
		}
		code := calls.SetNumbers(d, scale)
		if code < 0 {
			return ErrInit
		}
		done = code == 0
		return nil
	})
	return done, err
}

// SetLimits changes EpsAbs, EpsRel, EpsInfeas, MaxIters and TimeLimit, for which SCS itself would have to set up
// again. It returns false, and changes nothing, if the work is closed or the library is one of the system.
func (w *Work) SetLimits(s *Settings) (done bool) {
	_ = w.Use(func(calls Calls) error {
		done = calls.SetLimits(s)
		return nil
	})
	return done
}

// Solve calls scs_solve. With warm, it starts from what is in sol; in either case sol holds the outcome afterwards.
// A stop that is raised ends it within an iteration, with status SigInt or Failed.
func (w *Work) Solve(sol *Solution, warm bool, stop *mirror.Interrupt) (info Info, err error) {
	err = w.Use(func(calls Calls) error {
		info = calls.Solve(sol, warm, stop)
		return nil
	}, mirror.Vector("x", sol.X, w.n), mirror.Vector("y", sol.Y, w.m), mirror.Vector("s", sol.S, w.m))
	return info, err
}
