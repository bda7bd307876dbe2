// Package native is the pure-Go interior-point solver, the default backend. It
// needs no C.
//
// It solves programs with a quadratic objective over zero, nonnegative, box,
// second-order, semidefinite, exponential and power cones, in the form of package
// backends, by a primal-dual predictor-corrector method on the homogeneous
// embedding, with Nesterov-Todd scaling where there is one. Linear programs with
// semidefinite cones are tried without the embedding first. The Newton systems are
// sparse quasi-definite and are factored as LDL' with a minimum-degree ordering and
// dense kernels; the symbolic work is done once and kept over updates.
//
// Sources: Goulart and Chen, Clarabel: an interior-point solver for conic
// programs with quadratic objectives (2024), for the embedding; Nesterov and
// Todd, Self-scaled barriers (1997); Vandenberghe, The CVXOPT linear and
// quadratic cone program solvers (2010); Mehrotra (1992); Ruiz (2001);
// Vanderbei, Symmetric quasidefinite matrices (1995); Skajaa, Andersen and Ye,
// Warmstarting the homogeneous and self-dual interior point method (2013).
package native

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/james-bowman/sparse"
)

func init() { backends.Register(Backend{}) }

// Backend is the native solver as a [backends.ConicBackend].
type Backend struct{}

var (
	_ backends.ConicBackend = Backend{}
	_ backends.Tightener    = (*solver)(nil)
)

// Settings are the solver's own settings, for backends.Options.Settings.
type Settings struct {
	// WarmStartMix is the weight of the centre in a warm start, in (0, 1).
	// Default 0.01. Larger is more cautious.
	WarmStartMix float64
}

func (s Settings) withDefaults() Settings {
	if s.WarmStartMix == 0 {
		s.WarmStartMix = 0.01
	}
	return s
}

// Name returns "native".
func (Backend) Name() string { return "native" }

// Capabilities declares the cones and features of the solver.
func (Backend) Capabilities() backends.Capabilities {
	return backends.Capabilities{
		Version: "0.1.0",
		License: "Apache-2.0",
		Cones: []backends.ConeKind{
			backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone, backends.SecondOrderCone, backends.PSDCone,
			backends.ExponentialCone, backends.DualExponentialCone, backends.PowerCone, backends.DualPowerCone,
		},
		Quadratic:      true,
		UpdateVectors:  true,
		UpdateMatrices: true,
		WarmStart:      true,
		Certificates:   true,
	}
}

// Setup sorts and scales the problem and analyses its Newton systems.
func (b Backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	begin := time.Now()
	set := Settings{}
	switch v := o.Settings.(type) {
	case nil:
	case Settings:
		set = v
	default:
		return nil, &backends.ProblemError{Field: "Options.Settings", Reason: fmt.Sprintf("is a %T, the native backend takes native.Settings", v)}
	}
	if !(set.WarmStartMix >= 0 && set.WarmStartMix < 1) {
		return nil, &backends.ProblemError{Field: "Settings.WarmStartMix", Reason: fmt.Sprintf("%g is not in [0, 1)", set.WarmStartMix)}
	}
	for _, c := range p.Cones {
		if !b.Capabilities().Supports(c.Kind) {
			return nil, &backends.UnsupportedError{Backend: b.Name(), Feature: fmt.Sprintf("the %s cone", c.Kind)}
		}
	}
	f := newForm(p)
	it, err := newIterate(f)
	if err != nil {
		return nil, err
	}
	s := &solver{form: f, it: it, options: o.WithDefaults(), settings: set.withDefaults(), user: *p}
	if err := s.fill(); err != nil {
		return nil, err
	}
	s.setup = time.Since(begin)
	return s, nil
}

// solver is a problem that has been set up.
type solver struct {
	form     *form
	it       *iterate
	options  backends.Options
	settings Settings
	user     backends.Problem // the caller's problem with the updates so far
	warm     *backends.Point
	resume   bool // the iterate is the end of a solve of the same numbers
	setup    time.Duration
	closed   bool
	owned    struct { // what of user is the solver's own
		p, a bool
		q, b []float64
	}
}

// fill puts the numbers of the problem into the form and the Newton systems.
func (s *solver) fill() error {
	s.form.fill(&s.user)
	return s.load()
}

// load puts the numbers of the form into the Newton systems, which are analysed
// anew if these numbers do not allow the elimination of columns.
func (s *solver) load() error {
	if s.it.k.load() {
		return nil
	}
	k, err := newKKT(s.form, s.it.cones, s.it.starts, true)
	if err != nil {
		return err
	}
	s.it.k, s.it.root = k, nil
	k.load()
	return nil
}

// Solve runs the method.
func (s *solver) Solve(ctx context.Context) (*backends.Solution, error) {
	if s.closed {
		return nil, backends.ErrClosed
	}
	begin := time.Now()
	sol := s.it.run(ctx, s.options, s.settings, s.warm, s.resume)
	s.warm, s.resume = nil, sol.Status == backends.Optimal
	sol.SetupTime, sol.SolveTime = s.setup, time.Since(begin)
	return sol, nil
}

// Update puts in new numbers and scales them anew, so that an updated solver
// does what a fresh one would. The numbers are copied.
func (s *solver) Update(u backends.Update) error {
	if s.closed {
		return backends.ErrClosed
	}
	begin := time.Now()
	if u.P != nil {
		replaceMatrix(&s.user.P, u.P, &s.owned.p)
	}
	if u.A != nil {
		replaceMatrix(&s.user.A, u.A, &s.owned.a)
	}
	if u.Q != nil {
		s.owned.q = append(s.owned.q[:0], u.Q...)
		s.user.Q = s.owned.q
	}
	if u.B != nil {
		s.owned.b = append(s.owned.b[:0], u.B...)
		s.user.B = s.owned.b
	}
	s.resume = false
	if u.P == nil && u.A == nil { // the scaling of rows and columns stays
		if u.Q != nil {
			s.form.fillObjective(&s.user)
		}
		s.form.fillRightSide(&s.user)
		if u.Q != nil {
			if err := s.load(); err != nil {
				return err
			}
		}
	} else if err := s.fill(); err != nil {
		return err
	}
	s.setup = time.Since(begin)
	return nil
}

// SetEps changes the tolerance. The next Solve goes on with the iterate that
// the last one ended with.
func (s *solver) SetEps(eps float64) error {
	if s.closed {
		return backends.ErrClosed
	}
	s.options.Eps = eps
	return nil
}

// replaceMatrix puts the values of from into *to. The first time it makes a
// matrix of the solver's own, since that of Setup belongs to the caller.
func replaceMatrix(to **sparse.CSC, from *sparse.CSC, owned *bool) {
	values := from.RawMatrix().Data
	if *owned {
		copy((*to).RawMatrix().Data, values)
		return
	}
	raw := (*to).RawMatrix()
	r, c := (*to).Dims()
	*to = sparse.NewCSC(r, c, raw.Indptr, raw.Ind, slices.Clone(values))
	*owned = true
}

// WarmStart keeps the point for the next Solve. It needs all of X, S and Z.
func (s *solver) WarmStart(p backends.Point) error {
	if s.closed {
		return backends.ErrClosed
	}
	s.warm, s.resume = &p, false
	return nil
}

// Close lets the memory go.
func (s *solver) Close() error {
	s.closed = true
	s.form, s.it = nil, nil
	return nil
}
