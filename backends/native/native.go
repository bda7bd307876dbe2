// Package native is the pure-Go interior-point solver, the default backend. It
// needs no C.
//
// It solves programs with a quadratic objective over zero, nonnegative, box,
// second-order, semidefinite, exponential, power and generalized power cones, in the form of package
// backends, by a primal-dual predictor-corrector method on the homogeneous
// embedding, with Nesterov-Todd scaling where there is one. Linear programs with
// semidefinite cones are tried without the embedding first. A semidefinite cone with few used entries, or a matrix
// variable with few, becomes one for each clique of a chordal pattern, see component. The Newton systems are
// sparse quasi-definite and are factored as LDL' with a minimum-degree ordering and
// dense kernels; the symbolic work is done once and kept over updates.
//
// Setup and Update only take notes: the first Solve sorts, scales and analyses the problem, and the first one after an
// Update scales it again, so that context and time limit hold for this work too. They are looked at every few
// milliseconds, inside of orderings, factorisations and products as well. A Solve that ends within the analysis returns
// no point, and the next one takes that up again. SetupTime is the time of this work wherever it is done, SolveTime
// that of the rest. Options.Memory bounds what is allocated, before it is.
//
// Sources: Goulart and Chen, Clarabel: an interior-point solver for conic
// programs with quadratic objectives (2024), for the embedding; Xu, Hung and Ye (1996), for its steps in linear
// programs; Nesterov and Todd, Self-scaled barriers (1997); Vandenberghe, The CVXOPT linear and
// quadratic cone program solvers (2010); Mehrotra (1992); Ruiz (2001);
// Vanderbei, Symmetric quasidefinite matrices (1995); Chen, Goulart and
// Jones, arXiv 2512.00693 (2025), for warm starts; Chen and Mangasarian, A class of
// smoothing functions (1996), for the ends of runs.
package native

import (
	"fmt"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/stop"
)

func init() { backends.Register(Backend{}) }

// Backend is the native solver as a [backends.ConicBackend].
type Backend struct{}

var (
	_ backends.ConicBackend = Backend{}
	_ backends.Tightener    = (*solver)(nil)
	_ backends.Filler       = (*solver)(nil)
)

// Name returns "native".
func (Backend) Name() string { return "native" }

// Capabilities declares the cones and features of the solver.
func (Backend) Capabilities() backends.Capabilities {
	return backends.Capabilities{
		Version:        "0.1.0",
		License:        "Apache-2.0",
		Cones:          coneKinds(),
		Quadratic:      true,
		UpdateVectors:  true,
		UpdateMatrices: true,
		WarmStart:      true,
		Certificates:   true,
		Threads:        true,
	}
}

// Setup looks at the cones; there are no settings. The work is done by the first Solve, see the package comment.
func (b Backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	begin := time.Now()
	if _, err := backends.SettingsOf[struct{}](o, "native"); err != nil { // it has none
		return nil, err
	}
	for _, c := range p.Cones {
		if kindOf(c.Kind) == nil {
			return nil, &backends.UnsupportedError{Backend: b.Name(), Feature: fmt.Sprintf("the %s cone", c.Kind)}
		}
	}
	s := &solver{options: o.WithDefaults(), user: *p, pending: newMatrices}
	s.user.Cones = slices.Clone(p.Cones)
	s.setup = time.Since(begin)
	return s, nil
}

// solver is a problem that has been set up.
type solver struct {
	form    *form   // nil until it is made
	run     *runner // likewise
	pending pending
	stop    stop.Stop
	options backends.Options
	user    backends.Problem // the caller's problem with the updates so far
	warm    *backends.Point  // start, or nil
	start   backends.Point
	resume  bool // the iterate is the end of a solve of the same numbers
	setup   time.Duration
	owned   struct{ q, b []float64 } // what of user is the solver's own
}

// Update takes new numbers. The next Solve scales them anew, so that an updated solver does what a fresh one would.
// Only where rows or columns are so far apart that b takes part in their factors, too (package scaling), a change of b
// alone leaves these as they are.
func (s *solver) Update(u backends.Update) error {
	begin := time.Now()
	if u.P != nil {
		s.user.P, s.pending = u.P, newMatrices
	}
	if u.A != nil {
		s.user.A, s.pending = u.A, newMatrices
	}
	if u.Q != nil {
		s.owned.q = append(s.owned.q[:0], u.Q...)
		s.user.Q, s.pending = s.owned.q, max(s.pending, newObjective)
	}
	if u.B != nil {
		s.owned.b = append(s.owned.b[:0], u.B...)
		s.user.B, s.pending = s.owned.b, max(s.pending, newRightSide)
	}
	s.resume = false
	s.setup = time.Since(begin)
	return nil
}

// SetEps changes the tolerance. The next Solve goes on with the iterate that
// the last one ended with.
func (s *solver) SetEps(eps float64) error {
	s.options.Eps = eps
	return nil
}

// WarmStart keeps the point for the next Solve. It needs X: a missing S is b - AX, and the multipliers that
// a missing Z leaves open are estimated from the slacks. A point without X is not used, which Solution.Message says.
func (s *solver) WarmStart(p backends.Point) error {
	s.start = s.start.Copy(p)
	s.warm, s.resume = &s.start, false
	return nil
}

// Close lets the memory go.
func (s *solver) Close() error {
	s.form, s.run = nil, nil
	return nil
}

// memory counts the bytes that a solver holds, before they are allocated, against Options.Memory. What is
// small beside the rest is left out.
type memory struct {
	limit int64 // 0: none
	taken int64
}

// take counts bytes that stay. The error is a *backends.MemoryError.
func (m *memory) take(what string, bytes int64) error {
	if err := m.fits(what, bytes); err != nil {
		return err
	}
	m.taken += bytes
	return nil
}

// fits says whether so many bytes more would be within the limit.
func (m *memory) fits(what string, bytes int64) error {
	if need := m.taken + bytes; m.limit > 0 && need > m.limit {
		return &backends.MemoryError{Need: need, Limit: m.limit, What: what}
	}
	return nil
}
