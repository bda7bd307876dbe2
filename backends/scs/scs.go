//go:build (scs && cgo) || scs_go

package scs

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/scaling"
	mirror "github.com/conetune/conetune/internal/mirror/scs"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/tower"
)

func init() { backends.Register(Backend{}) }

// Backend is SCS as a [backends.ConicBackend].
type Backend struct{}

var _ backends.ConicBackend = Backend{}

// Name returns "scs".
func (Backend) Name() string { return "scs" }

// Capabilities declares the cones and features of the solver.
func (Backend) Capabilities() backends.Capabilities {
	cones := []backends.ConeKind{
		backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone, backends.SecondOrderCone, backends.PSDCone,
		backends.ExponentialCone, backends.DualExponentialCone, backends.PowerCone, backends.DualPowerCone,
		backends.GeneralizedPowerCone, backends.DualGeneralizedPowerCone, // as towers
	}
	if library.HasNuclear() {
		cones = append(cones, backends.NuclearNormCone)
	}
	return backends.Capabilities{
		Version:    library.Version(),
		License:    license,
		Cones:      cones,
		FirstOrder: true, Quadratic: true,
		UpdateVectors: true, UpdateMatrices: library.SetsNumbers(),
		WarmStart: true, Certificates: true,
	}
}

// Setup sorts the rows and lets SCS copy, scale and factor the problem.
func (Backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	begin := time.Now()
	set, err := backends.SettingsOf[Settings](o, "scs")
	if err != nil {
		return nil, err
	}
	if err := set.validate(); err != nil {
		return nil, err
	}
	if len(p.Q) == 0 {
		return nil, &backends.ProblemError{Field: "Q", Reason: "is empty, SCS wants a variable"}
	}
	s := &solver{user: *p, options: o.WithDefaults(), settings: set}
	s.base = s.mirror()
	if err := s.setup(s.base); err != nil {
		return nil, err
	}
	s.setupTime = time.Since(begin)
	return s, nil
}

// solver is a problem that has been set up.
type solver struct {
	user     backends.Problem // the caller's problem with the updates so far
	view                      // of user
	options  backends.Options
	settings Settings
	base     mirror.Settings // as the options ask
	current  mirror.Settings // of work, whose tolerances may be tighter
	work     mirror.Work     // nil after a failure, until the next Solve
	warm     *backends.Point
	// last is where the last Solve ended, in SCS's rows, and goOn says that the next
	// one starts there: only the tolerance has changed since.
	last      *mirror.Solution
	goOn      bool
	setupTime time.Duration
	closed    bool
}

// view is what SCS sees of a problem.
type view struct {
	scale *scaling.Scaling // of the problem, nil for none
	tower *tower.Tower     // from that to data, nil without generalized power cones
	data  *backends.Problem
	form  *form
}

// seen returns the view of the caller's problem.
func (s *solver) seen() view {
	var v view
	if !s.settings.NoRescaling {
		v.scale = scaling.New(&s.user)
	}
	v.tower = tower.New(len(s.user.Q), s.user.Cones, func(backends.Cone) bool { return true })
	v.data = v.tower.Problem(v.scale.Problem(&s.user))
	v.form = newForm(v.data)
	return v
}

// given returns what SCS is given.
func (v *view) given() *mirror.Data { return v.form.problem(v.data) }

var (
	_ backends.Solver    = (*solver)(nil)
	_ backends.Tightener = (*solver)(nil)
)

// mirror translates the options and settings.
func (s *solver) mirror() mirror.Settings {
	c, o, set := library.DefaultSettings(), s.options, s.settings
	replace := func(to *float64, by float64) {
		if by != 0 {
			*to = by
		}
	}
	// eps / 2 (1 + size) <= eps max(1, size)
	c.EpsAbs, c.EpsRel, c.EpsInfeas = o.Eps/2, o.Eps/2, o.ClaimEps()/2
	replace(&c.EpsAbs, set.EpsAbs)
	replace(&c.EpsRel, set.EpsRel)
	replace(&c.Scale, set.Scale)
	replace(&c.RhoX, set.RhoX)
	replace(&c.Alpha, set.Alpha)
	c.Normalize, c.AdaptiveScale, c.AdaptiveDiagScale = !set.NoNormalize, !set.NoAdaptiveScale, !set.NoAdaptiveDiagScale
	if set.AccelerationLookback != 0 {
		c.AccelerationLookback = max(0, set.AccelerationLookback)
	}
	if set.AccelerationInterval != 0 {
		c.AccelerationInterval = set.AccelerationInterval
	}
	if set.AccelerationTypeII {
		c.AccelerationType1 = false
	}
	c.MaxIters, c.TimeLimit = DefaultMaxIterations, o.TimeLimit
	if o.MaxIterations > 0 {
		c.MaxIters = min(o.MaxIterations, math.MaxInt32) // the integers of SCS
	}
	return c
}

// setup makes work anew from the caller's problem, with the given settings.
func (s *solver) setup(set mirror.Settings) error {
	next := s.seen()
	work, err := library.New(next.given(), &next.form.cones, &set)
	if errors.Is(err, mirror.ErrInit) {
		return refused(next.data)
	}
	if err != nil {
		return err
	}
	s.drop()
	s.work, s.current, s.view = work, set, next
	return nil
}

// renew gives work the numbers of the caller's problem, which has new matrices of the same patterns, or sets up again
// where the library cannot.
func (s *solver) renew() error {
	next := s.seen()
	done, err := s.work.SetNumbers(next.given(), s.current.Scale)
	if errors.Is(err, mirror.ErrInit) {
		s.drop()
		return refused(next.data)
	}
	if err != nil {
		return err
	}
	if !done {
		return s.setup(s.current)
	}
	s.view = next
	return nil
}

// refused says what is wrong with numbers that SCS does not take. It has no words for
// it; shapes, cones and settings have been looked at, which leaves the factorisation.
func refused(p *backends.Problem) error {
	if p.P != nil && p.P.NNZ() > 0 {
		return &backends.ProblemError{Field: "P", Reason: "is not positive semidefinite, or its numbers and those of A differ too much in size: SCS cannot factor the system"}
	}
	return &backends.ProblemError{Field: "A", Reason: "has numbers that differ too much in size: SCS cannot factor the system"}
}

// drop frees work, and the next Solve sets up again: after a factorisation that failed
// or an iterate that is no number, what SCS has adapted to the problem is worth nothing.
func (s *solver) drop() {
	if s.work != nil {
		s.work.Close()
		s.work, s.last, s.goOn = nil, nil, false
	}
}

// adjust changes the tolerances and limits of work, which keeps its factorisation and
// what it has learnt about the scale of the rows where the library is ours.
func (s *solver) adjust(to mirror.Settings) error {
	if to == s.current || s.work == nil {
		return nil
	}
	if s.work.SetLimits(&to) {
		s.current = to
		return nil
	}
	return s.setup(to)
}

// SetEps changes the tolerance. The next Solve goes on from where the last one ended.
func (s *solver) SetEps(eps float64) error {
	if s.closed {
		return backends.ErrClosed
	}
	s.options.Eps = eps
	s.base = s.mirror()
	next := s.current
	next.EpsAbs, next.EpsRel = s.base.EpsAbs, s.base.EpsRel
	s.goOn = s.last != nil
	return s.adjust(next)
}

// Update changes the numbers in place; new P and A are factored.
func (s *solver) Update(u backends.Update) error {
	if s.closed {
		return backends.ErrClosed
	}
	begin := time.Now()
	s.last, s.goOn = nil, false
	old := s.user
	s.user = s.user.Updated(u)
	var err error
	switch {
	case s.work == nil: // the next Solve sets up
	case u.P != nil || u.A != nil:
		err = s.renew()
	default:
		next := *s.data
		next.Q, next.B = s.tower.Objective(s.scale.Objective(s.user.Q)), s.tower.Rows(s.scale.Rows(s.user.B))
		if err = s.work.Update(s.form.vector(next.B), next.Q); err == nil {
			s.data = &next
		}
	}
	if err != nil {
		s.user = old
		return err
	}
	s.setupTime = time.Since(begin)
	return nil
}

// WarmStart keeps the point for the next Solve. Missing parts are zero, and a
// missing s is b - Ax.
func (s *solver) WarmStart(p backends.Point) error {
	if s.closed {
		return backends.ErrClosed
	}
	s.goOn = false
	s.warm = &backends.Point{X: slices.Clone(p.X), S: slices.Clone(p.S), Z: slices.Clone(p.Z)}
	return nil
}

// Close frees the memory of the library.
func (s *solver) Close() error {
	s.closed = true
	s.drop()
	return nil
}

// Solve runs SCS, and again with tighter tolerances where the caller's data ask
// for it.
func (s *solver) Solve(ctx context.Context) (*backends.Solution, error) {
	if s.closed {
		return nil, backends.ErrClosed
	}
	begin := time.Now()
	r := &run{solver: s, begin: begin, limit: stop.Limit(ctx, s.options.TimeLimit), judge: s.options.Judge(&s.user)}
	if s.work == nil {
		if err := s.setup(s.base); err != nil {
			return nil, err
		}
	}
	full := s.current // the last Solve may have ended with what was left of its limits
	full.MaxIters, full.TimeLimit = s.base.MaxIters, r.limit
	if err := s.adjust(full); err != nil {
		return nil, err
	}
	out, err := r.solve(ctx)
	if err != nil {
		return nil, err
	}
	out.Iterations, out.SetupTime, out.SolveTime = r.iterations, s.setupTime, time.Since(begin)
	return out, nil
}
