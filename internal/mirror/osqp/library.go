// Package osqp mirrors the structs and functions of OSQP, the operator splitting solver for quadratic programs, as Go
// types. It maps names and numbers and nothing else; what they mean for this project is in package backends/osqp.
//
// There are two libraries behind it: C, by cgo (package internal/cgo/osqp), and the same C made Go (package
// internal/ccgo/osqp). Both copy all data that they are given and keep no pointer to Go memory after a call. They
// install no signal handler and print nothing, and ask a [mirror.Interrupt] in every iteration.
package osqp

import (
	"errors"

	"github.com/conetune/conetune/internal/mirror"
)

// Library is OSQP.
type Library interface {
	// Version returns the version of the library.
	Version() string
	// Setup calls osqp_setup, which checks, copies, scales and factors the problem.
	Setup(d *Data, s *Settings) (Calls, int)
	// Text returns what osqp_error_message says of an exit flag, if anything.
	Text(code int) string
}

// Calls are the functions of OSQP for a problem that has been set up. They take vectors of the right lengths, or nil
// for what stays as it is, and return exit flags.
type Calls interface {
	Free()
	Info() Info
	UpdateVectors(q, l, u []float64) int
	UpdateMatrices(p, a []float64) int
	UpdateSettings(set *Settings) int
	UpdateRho(rho float64) int
	WarmStart(x, y []float64) int
	ColdStart() int
	// Solve copies the outcome into sol where the exit flag is 0. It resets the status before, as a solve that reaches the
	// limit of iterations after one that was solved would be called solved as well.
	Solve(sol *Solution, stop *mirror.Interrupt) int
}

// Solver is an OSQPSolver: a problem that has been set up. It is for one goroutine at a time.
type Solver struct {
	*mirror.Held[Calls]
	library    Library
	m, n       int
	nnzP, nnzA int
}

// New sets the problem up.
func New(l Library, d *Data, set *Settings) (*Solver, error) {
	m, n := d.A.Rows, d.A.Cols
	s := &Solver{library: l, m: m, n: n, nnzP: len(d.P.Val), nnzA: len(d.A.Val)}
	err := errors.Join(d.P.Check("osqp", n, n), d.A.Check("osqp", m, n),
		mirror.Lengths("osqp", mirror.Vector("q", d.Q, n), mirror.Vector("l", d.L, m), mirror.Vector("u", d.U, m)))
	if err != nil {
		return nil, err
	}
	calls, code := l.Setup(d, set)
	if code != 0 {
		return nil, s.failed("osqp_setup", code)
	}
	s.Held = mirror.Hold("osqp", calls, Calls.Free)
	return s, nil
}

// Info returns what OSQP knows about the last call, nothing of a solver that is closed.
func (s *Solver) Info() (info Info) {
	_ = s.Use(func(c Calls) error {
		info = c.Info()
		return nil
	})
	return info
}

// Exit flags that have a meaning here.
const (
	LinearSolverError = 3
	NonConvexError    = 4
)

// NotFactored says whether an error is that the system cannot be factored, because P
// is not positive semidefinite or by rounding. Updates of matrices and of rho return
// what the factorisation does, and fail for no other reason.
func NotFactored(err error) bool {
	var e *mirror.Error
	return errors.As(err, &e) &&
		(e.Code == NonConvexError || e.Code == LinearSolverError || e.Call == "osqp_update_data_mat" ||
			e.Call == "osqp_update_rho")
}

func (s *Solver) failed(call string, code int) error {
	if code == 0 {
		return nil
	}
	return &mirror.Error{Library: "osqp", Call: call, Code: code, Text: s.library.Text(code)}
}

// call is a Use that returns an exit flag.
func (s *Solver) call(name string, call func(c Calls) int, parts ...mirror.Part) error {
	return s.Use(func(c Calls) error { return s.failed(name, call(c)) }, parts...)
}

// UpdateVectors calls osqp_update_data_vec; nil means unchanged.
func (s *Solver) UpdateVectors(q, l, u []float64) error {
	return s.call("osqp_update_data_vec", func(c Calls) int { return c.UpdateVectors(q, l, u) },
		mirror.New("q", q, s.n), mirror.New("l", l, s.m), mirror.New("u", u, s.m))
}

// UpdateMatrices calls osqp_update_data_mat with all values of P, of A or of both, in the order of the matrices given
// to New; nil means unchanged. After an error the solver is only good for Close.
func (s *Solver) UpdateMatrices(p, a []float64) error {
	return s.call("osqp_update_data_mat", func(c Calls) int { return c.UpdateMatrices(p, a) },
		mirror.New("P", p, s.nnzP), mirror.New("A", a, s.nnzA))
}

// UpdateSettings calls osqp_update_settings, which takes those settings that need no new factorisation and ignores
// the others: scaling, rho and sigma.
func (s *Solver) UpdateSettings(set *Settings) error {
	return s.call("osqp_update_settings", func(c Calls) int { return c.UpdateSettings(set) })
}

// UpdateRho calls osqp_update_rho, which factors anew.
func (s *Solver) UpdateRho(rho float64) error {
	return s.call("osqp_update_rho", func(c Calls) int { return c.UpdateRho(rho) })
}

// WarmStart calls osqp_warm_start; nil means that the part stays as it is.
func (s *Solver) WarmStart(x, y []float64) error {
	return s.call("osqp_warm_start", func(c Calls) int { return c.WarmStart(x, y) },
		mirror.New("x", x, s.n), mirror.New("y", y, s.m))
}

// ColdStart calls osqp_cold_start: the next Solve starts from zero.
func (s *Solver) ColdStart() error { return s.call("osqp_cold_start", Calls.ColdStart) }

// Solve calls osqp_solve, which goes on from where the last one ended unless something else was said, and copies the
// outcome into sol. A stop that is raised ends it within an iteration, with status SigInt and nothing in sol.
func (s *Solver) Solve(sol *Solution, stop *mirror.Interrupt) (info Info, err error) {
	err = s.call("osqp_solve", func(c Calls) int {
		code := c.Solve(sol, stop)
		if info = c.Info(); info.Status == SigInt {
			code = 0
		}
		return code
	}, mirror.Vector("x", sol.X, s.n), mirror.Vector("y", sol.Y, s.m),
		mirror.Vector("the certificate", sol.PrimalCertificate, s.m), mirror.Vector("the ray", sol.DualCertificate, s.n))
	return info, err
}
