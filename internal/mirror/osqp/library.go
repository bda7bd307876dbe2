// Package osqp mirrors the structs and functions of OSQP, the operator splitting solver for quadratic programs, as Go
// types. It maps names and numbers and nothing else; what they mean for this project is in package backends/osqp.
//
// There are two libraries behind it: C, by cgo (package internal/cgo/osqp), and the same C made Go (package
// internal/ccgo/osqp). Both copy all data that they are given and keep no pointer to Go memory after a call. They
// install no signal handler and print nothing, and ask an [Interrupt] in every iteration.
package osqp

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
)

// Library is OSQP.
type Library interface {
	// Version returns the version of the library.
	Version() string
	// DefaultSettings returns what osqp_set_default_settings sets.
	DefaultSettings() Settings
	// New calls osqp_setup, which checks, copies, scales and factors the problem.
	New(d *Data, s *Settings) (Solver, error)
}

// Solver is an OSQPSolver: a problem that has been set up. It is for one goroutine at a time.
type Solver interface {
	// Close frees the memory. Further calls do nothing.
	Close()
	// Info returns what OSQP knows about the last call.
	Info() Info
	// UpdateVectors calls osqp_update_data_vec; nil means unchanged.
	UpdateVectors(q, l, u []float64) error
	// UpdateMatrices calls osqp_update_data_mat with all values of P, of A or of both, in the order of the matrices given
	// to New; nil means unchanged. After an error the solver is only good for Close.
	UpdateMatrices(p, a []float64) error
	// UpdateSettings calls osqp_update_settings, which takes those settings that need no new factorisation and ignores
	// the others: scaling, rho and sigma.
	UpdateSettings(set *Settings) error
	// UpdateRho calls osqp_update_rho, which factors anew.
	UpdateRho(rho float64) error
	// WarmStart calls osqp_warm_start; nil means that the part stays as it is.
	WarmStart(x, y []float64) error
	// ColdStart calls osqp_cold_start: the next Solve starts from zero.
	ColdStart() error
	// Solve calls osqp_solve, which goes on from where the last one ended unless something else was said, and copies the
	// outcome into sol. A stop that is raised ends it within an iteration, with status SigInt and nothing in sol.
	Solve(sol *Solution, stop *Interrupt) (Info, error)
}

// ErrClosed is returned by the methods of a Solver after Close.
var ErrClosed = errors.New("osqp: solver is closed")

// ErrMemory is returned where there is no memory for what is given to OSQP.
var ErrMemory = errors.New("osqp: out of memory")

// Exit flags that have a meaning here.
const (
	LinearSolverError = 3
	NonConvexError    = 4
)

// Error is a nonzero exit flag.
type Error struct {
	Call string
	Code int
	Text string // in the words of OSQP, if it has some
}

func (e *Error) Error() string {
	if e.Text != "" {
		return "osqp: " + e.Call + ": " + e.Text
	}
	return fmt.Sprintf("osqp: %s: code %d", e.Call, e.Code)
}

// NotFactored says whether the error is that the system cannot be factored, because P
// is not positive semidefinite or by rounding. Updates of matrices and of rho return
// what the factorisation does, and fail for no other reason.
func (e *Error) NotFactored() bool {
	return e.Code == NonConvexError || e.Code == LinearSolverError || e.Call == "osqp_update_data_mat" || e.Call == "osqp_update_rho"
}

// Check looks at the lengths of all parts, which OSQP cannot see.
func (d *Data) Check() error {
	m, n := d.A.Rows, d.A.Cols
	if d.P.Rows != n || d.P.Cols != n || len(d.Q) != n || len(d.L) != m || len(d.U) != m {
		return fmt.Errorf("osqp: A is %d x %d, P %d x %d, q, l, u have lengths %d, %d, %d", m, n, d.P.Rows, d.P.Cols, len(d.Q), len(d.L), len(d.U))
	}
	if err := d.P.check(); err != nil {
		return err
	}
	return d.A.check()
}

func (a *Matrix) check() error {
	if len(a.Ptr) != a.Cols+1 || len(a.Ind) != len(a.Val) || a.Ptr[a.Cols] != len(a.Ind) {
		return errors.New("osqp: column pointers, row indices and values do not fit together")
	}
	if len(a.Val) > math.MaxInt32 || a.Rows > math.MaxInt32 || a.Cols > math.MaxInt32 {
		return fmt.Errorf("osqp: a %d x %d matrix with %d entries is too large for 32-bit integers", a.Rows, a.Cols, len(a.Val))
	}
	return nil
}

// Sizes are those of a problem: rows, columns, and entries of P and A.
type Sizes struct {
	M, N, P, A int
}

// SizesOf are those of the data.
func SizesOf(d *Data) Sizes { return Sizes{d.A.Rows, d.A.Cols, len(d.P.Val), len(d.A.Val)} }

// CheckVectors looks at the lengths of new vectors.
func (z Sizes) CheckVectors(q, l, u []float64) error {
	if q != nil && len(q) != z.N || l != nil && len(l) != z.M || u != nil && len(u) != z.M {
		return fmt.Errorf("osqp: q, l, u have lengths %d, %d, %d, expected %d, %d, %d", len(q), len(l), len(u), z.N, z.M, z.M)
	}
	return nil
}

// CheckMatrices looks at the lengths of new values.
func (z Sizes) CheckMatrices(p, a []float64) error {
	if p != nil && len(p) != z.P || a != nil && len(a) != z.A {
		return fmt.Errorf("osqp: P has %d values and A %d, expected %d and %d", len(p), len(a), z.P, z.A)
	}
	return nil
}

// CheckStart looks at the lengths of a point to start from.
func (z Sizes) CheckStart(x, y []float64) error {
	if x != nil && len(x) != z.N || y != nil && len(y) != z.M {
		return fmt.Errorf("osqp: x and y have lengths %d and %d, expected %d and %d", len(x), len(y), z.N, z.M)
	}
	return nil
}

// CheckSolution looks at the lengths of a solution.
func (z Sizes) CheckSolution(sol *Solution) error {
	if len(sol.X) != z.N || len(sol.Y) != z.M || len(sol.PrimalCertificate) != z.M || len(sol.DualCertificate) != z.N {
		return errors.New("osqp: a vector of the solution has not the length of the problem")
	}
	return nil
}

// Interrupt stops a solve from another goroutine. The zero value lets it run.
type Interrupt struct {
	// Flag is not 0 after Raise; libraries look at it while others write it.
	Flag int32
}

// Raise stops the solves that look at i, now and later.
func (i *Interrupt) Raise() { atomic.StoreInt32(&i.Flag, 1) }

// Raised says whether Raise has been called.
func (i *Interrupt) Raised() bool { return atomic.LoadInt32(&i.Flag) != 0 }
