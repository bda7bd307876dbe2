//go:build (osqp && cgo) || osqp_go

package osqp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/augmented"
	"github.com/conetune/conetune/backends/internal/scaling"
	mirror "github.com/conetune/conetune/internal/mirror/osqp"
	"github.com/james-bowman/sparse"
)

func init() { backends.Register(augmented.Over(Backend{})) }

// Backend is OSQP as a [backends.ConicBackend], for linear and quadratic programs. What [backends.Open] returns takes second-order and exponential cones, too, see package
// augmented.
type Backend struct{}

var _ backends.ConicBackend = Backend{}

// Name returns "osqp".
func (Backend) Name() string { return "osqp" }

// Capabilities declares the cones and features of the solver.
func (Backend) Capabilities() backends.Capabilities {
	return backends.Capabilities{
		FirstOrder:     true,
		Version:        library.Version(),
		License:        license,
		Cones:          []backends.ConeKind{backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone},
		Quadratic:      true,
		UpdateVectors:  true,
		UpdateMatrices: true,
		WarmStart:      true,
		Certificates:   true,
	}
}

// Setup lets OSQP copy, scale and factor the problem.
func (b Backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	begin := time.Now()
	set, err := backends.SettingsOf[Settings](o, "osqp")
	if err != nil {
		return nil, err
	}
	if err := set.validate(); err != nil {
		return nil, err
	}
	if len(p.Q) == 0 {
		return nil, &backends.ProblemError{Field: "Q", Reason: "is empty, OSQP wants a variable"}
	}
	for _, c := range p.Cones {
		if !b.Capabilities().Supports(c.Kind) {
			return nil, &backends.UnsupportedError{Backend: b.Name(), Feature: fmt.Sprintf("the %s cone", c.Kind)}
		}
	}
	s := &solver{user: *p, options: o.WithDefaults(), settings: set.withDefaults()}
	s.rho = s.settings.Rho
	if err := s.setup(); err != nil {
		return nil, err
	}
	s.setupTime = time.Since(begin)
	return s, nil
}

// solver is a problem that has been set up.
type solver struct {
	user     backends.Problem // the caller's problem with the updates so far
	scale    *scaling.Scaling // from user to data, nil for none
	data     *backends.Problem
	bounds   bounds // on the slacks of data
	options  backends.Options
	settings Settings
	osqp     mirror.Solver // nil after a failed update, until the next Solve
	// charged is what OSQP counts against the time limit of the next run: the
	// setup before the first, else the updates since the last.
	charged time.Duration
	// rho is the step size, and settled says that OSQP must leave it alone.
	rho     float64
	settled bool
	warm    *backends.Point
	// lastEps is the tolerance of the last round of a Solve that OSQP can go on from,
	// else 0, and goOn says that the next Solve does: only the tolerance has changed since.
	lastEps   float64
	goOn      bool
	setupTime time.Duration
	closed    bool
}

var (
	_ backends.Solver    = (*solver)(nil)
	_ backends.Tightener = (*solver)(nil)
)

// mirror translates the options and settings, for a tolerance.
func (s *solver) mirror(eps, epsInfeasible float64) mirror.Settings {
	c, set := library.DefaultSettings(), s.settings
	replace := func(to *float64, by float64) {
		if by != 0 {
			*to = by
		}
	}
	count := func(to *int, by int) {
		if by != 0 {
			*to = max(0, by)
		}
	}
	c.EpsAbs, c.EpsRel, c.EpsPrimalInfeasible, c.EpsDualInfeasible = eps, eps, epsInfeasible, epsInfeasible
	c.Polishing = !set.NoPolishing
	if set.FixedRho || s.settled {
		c.AdaptiveRho = mirror.RhoFixed
	}
	replace(&c.Rho, s.rho)
	replace(&c.Sigma, set.Sigma)
	replace(&c.Alpha, set.Alpha)
	replace(&c.AdaptiveRhoTolerance, set.AdaptiveRhoTolerance)
	replace(&c.Delta, set.Delta)
	count(&c.AdaptiveRhoInterval, set.AdaptiveRhoInterval)
	count(&c.Scaling, set.Scaling)
	count(&c.CheckTermination, set.CheckTermination)
	count(&c.PolishRefineIter, set.PolishRefinements)
	c.MaxIterations = s.maxIterations()
	return c
}

func (s *solver) maxIterations() int {
	if s.options.MaxIterations > 0 {
		return min(s.options.MaxIterations, math.MaxInt32) // the integers of OSQP
	}
	return DefaultMaxIterations
}

// setup makes the OSQP solver anew.
func (s *solver) setup() error {
	scale := s.scaling(&s.user)
	data := scale.Problem(&s.user)
	bounds := newBounds(data)
	if err := bounds.check(data.B); err != nil {
		return err
	}
	set := s.mirror(s.options.Eps/2, s.options.ClaimEps()/2)
	out, err := library.New(bounds.problem(data), &set)
	if err != nil {
		return refused(err)
	}
	s.drop()
	s.osqp, s.charged = out, out.Info().SetupTime
	s.scale, s.data, s.bounds = scale, data, bounds
	return nil
}

// refused says what is wrong with matrices that OSQP cannot factor: by its own error, or
// by the bare exit flag of an update. Shapes and bounds have been looked at.
func refused(err error) error {
	var failed *mirror.Error
	if !errors.As(err, &failed) || !failed.NotFactored() {
		return err
	}
	return &backends.ProblemError{Field: "P", Reason: "is not positive semidefinite, or its numbers and those of A differ too much in size: OSQP cannot factor the system"}
}

func (s *solver) scaling(p *backends.Problem) *scaling.Scaling {
	if s.settings.NoRescaling {
		return nil
	}
	return scaling.New(p)
}

func (s *solver) drop() {
	if s.osqp != nil {
		s.osqp.Close()
		s.osqp, s.lastEps, s.goOn = nil, 0, false
	}
}

// forget drops the solver and its step size where they did not lead to an answer: with
// other numbers they are a bad start, and OSQP does not find back from some.
func (s *solver) forget() {
	s.drop()
	s.rho, s.settled = s.settings.Rho, false
}

// SetEps changes the tolerance. The next Solve goes on from where the last one ended.
func (s *solver) SetEps(eps float64) error {
	if s.closed {
		return backends.ErrClosed
	}
	s.options.Eps = eps
	s.goOn = s.lastEps > 0
	return nil
}

// Update changes the numbers in place.
func (s *solver) Update(u backends.Update) error {
	if s.closed {
		return backends.ErrClosed
	}
	begin := time.Now()
	s.lastEps, s.goOn = 0, false
	next := s.user.Updated(u)
	switch {
	case s.osqp == nil: // the next Solve sets up
	case (u.P != nil || u.A != nil) && (s.scale != nil || s.scaling(&next) != nil):
		s.drop() // badly scaled matrices are scaled anew
	default:
		if err := s.push(&next, u); err != nil {
			s.drop() // it may hold a part of the update; the next Solve starts from s.user
			return err
		}
		s.charged = s.osqp.Info().UpdateTime
	}
	s.user = next
	s.setupTime = time.Since(begin)
	return nil
}

// push gives the new numbers to OSQP. With new matrices it scales all data anew,
// for which it undoes the old scaling; all values are given afresh so that no
// rounding of that remains.
func (s *solver) push(p *backends.Problem, u backends.Update) error {
	data := *s.data
	data.Q, data.B = s.scale.Objective(p.Q), s.scale.Rows(p.B)
	matrices := u.P != nil || u.A != nil
	if matrices {
		data.P, data.A = p.P, p.A // there is no scaling then
		if err := s.osqp.UpdateMatrices(values(p.P), values(p.A)); err != nil {
			return refused(err)
		}
	}
	var q, l, up []float64
	if matrices || u.Q != nil {
		q = data.Q
	}
	if matrices || u.B != nil {
		if err := s.bounds.check(data.B); err != nil {
			return err
		}
		l, up = s.bounds.onAx(data.B)
	}
	if err := s.osqp.UpdateVectors(q, l, up); err != nil {
		return err
	}
	s.data = &data
	return nil
}

// values returns the values of a matrix, nil if there are none.
func values(a *sparse.CSC) []float64 {
	if a == nil || a.NNZ() == 0 {
		return nil
	}
	return a.RawMatrix().Data
}

// WarmStart keeps the point for the next Solve. OSQP uses X and Z.
func (s *solver) WarmStart(p backends.Point) error {
	if s.closed {
		return backends.ErrClosed
	}
	s.goOn = false
	s.warm = &backends.Point{X: slices.Clone(p.X), Z: slices.Clone(p.Z)}
	return nil
}

// Close frees the memory of the library.
func (s *solver) Close() error {
	s.closed = true
	s.drop()
	return nil
}

// Solve runs OSQP in rounds of tighter and tighter tolerances.
func (s *solver) Solve(ctx context.Context) (*backends.Solution, error) {
	if s.closed {
		return nil, backends.ErrClosed
	}
	begin := time.Now()
	if s.osqp == nil {
		if err := s.setup(); err != nil {
			return nil, err
		}
	}
	r := newRun(ctx, s, begin)
	out, err := r.solve(ctx)
	if err != nil {
		return nil, err
	}
	switch out.Status {
	case backends.Inaccurate, backends.IterationLimit, backends.NumericalError:
		s.forget()
	}
	out.Iterations, out.SetupTime, out.SolveTime = r.iterations, s.setupTime, time.Since(begin)
	return out, nil
}
