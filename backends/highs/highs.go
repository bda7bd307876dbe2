//go:build highs && cgo

package highs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/augmented"
	"github.com/conetune/conetune/backends/internal/scaling"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
	"github.com/conetune/conetune/internal/stop"
	"github.com/james-bowman/sparse"
)

func init() { backends.Register(augmented.Over(Backend{})) }

// Backend is HiGHS as a [backends.ConicBackend], for linear and quadratic programs. What [backends.Open] returns takes second-order and exponential cones, too, see package
// augmented.
type Backend struct{}

var _ backends.ConicBackend = Backend{}

// Name returns "highs".
func (Backend) Name() string { return "highs" }

// Capabilities declares the cones and features of the solver.
func (Backend) Capabilities() backends.Capabilities {
	return backends.Capabilities{
		Version:        chighs.Version(),
		License:        "MIT (HiGHS, its rcm), Apache-2.0 (its METIS), BSD-3-Clause (its AMD, OpenBLAS), zlib (its pdqsort); texts in cgo/build/licenses",
		Cones:          []backends.ConeKind{backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone},
		Quadratic:      true,
		UpdateVectors:  true,
		UpdateMatrices: true,
		WarmStart:      true,
		Certificates:   true,
		Presolves:      true,
	}
}

// Setup lets HiGHS copy and check the problem.
func (b Backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	begin := time.Now()
	set, err := backends.SettingsOf[Settings](o, "highs")
	if err != nil {
		return nil, err
	}
	if err := set.validate(); err != nil {
		return nil, err
	}
	if len(p.Q) == 0 {
		return nil, &backends.ProblemError{Field: "Q", Reason: "is empty, HiGHS wants a variable"}
	}
	for _, c := range p.Cones {
		if !b.Capabilities().Supports(c.Kind) {
			return nil, &backends.UnsupportedError{Backend: b.Name(), Feature: fmt.Sprintf("the %s cone", c.Kind)}
		}
	}
	s := &solver{user: *p, options: o.WithDefaults(), settings: set}
	if err := s.setup(); err != nil {
		return nil, err
	}
	s.setupTime = time.Since(begin)
	return s, nil
}

// solver is a problem that has been set up.
type solver struct {
	user      backends.Problem // the caller's problem with the updates so far
	scale     *scaling.Scaling // from user to data, nil for none
	data      *backends.Problem
	form      *form
	options   backends.Options
	settings  Settings
	highs     *chighs.Solver // nil after a failure, until the next Solve
	warm      *backends.Point
	last      *backends.Point // where the last Solve ended, of user, and with what basis
	lastBasis chighs.Basis
	setupTime time.Duration
	closed    bool
}

var (
	_ backends.Solver    = (*solver)(nil)
	_ backends.Tightener = (*solver)(nil)
)

// setup makes the solver of HiGHS anew from the caller's problem.
func (s *solver) setup() error {
	s.drop()
	s.scale = nil
	if !s.settings.NoRescaling {
		s.scale = scaling.New(&s.user)
	}
	data := s.scale.Problem(&s.user)
	form := newForm(data)
	if err := form.check(data.B); err != nil {
		return err
	}
	if err := checkObjective(data.Q); err != nil {
		return err
	}
	out, err := chighs.New(form.problem(data))
	if err != nil {
		return refused(err)
	}
	s.highs, s.data, s.form = out, data, form
	return nil
}

// refused says what is wrong with numbers that HiGHS does not take. Shapes, cones and settings have been
// looked at.
func refused(err error) error {
	var failed *chighs.Error
	if !errors.As(err, &failed) {
		return err
	}
	return &backends.ProblemError{Field: "A", Reason: "has numbers that differ too much in size: " + failed.Error()}
}

func (s *solver) drop() {
	if s.highs != nil {
		s.highs.Close()
		s.highs = nil
	}
}

// SetEps changes the tolerance.
func (s *solver) SetEps(eps float64) error {
	if s.closed {
		return backends.ErrClosed
	}
	s.options.Eps = eps
	return nil
}

// Update changes the numbers in place.
func (s *solver) Update(u backends.Update) error {
	if s.closed {
		return backends.ErrClosed
	}
	begin := time.Now()
	next := s.user.Updated(u)
	switch {
	case s.highs == nil: // the next Solve sets up
	case (u.A != nil || u.P != nil) && (s.scale != nil || !s.settings.NoRescaling && scaling.New(&next) != nil):
		s.drop() // badly scaled matrices are scaled anew
	default:
		if u.B != nil {
			if err := s.form.check(s.scale.Rows(next.B)); err != nil {
				return err
			}
		}
		if err := s.push(&next, u); err != nil {
			s.drop() // the next Solve sets up, and says what is wrong if that fails, too
		}
	}
	s.user = next
	s.setupTime = time.Since(begin)
	return nil
}

// push gives the new numbers to HiGHS.
func (s *solver) push(p *backends.Problem, u backends.Update) error {
	data := *s.data
	var pv, q, a, l, up []float64
	if u.P != nil {
		data.P, pv = u.P, s.form.quadratic(u.P)
	}
	if u.A != nil {
		data.A, a = u.A, values(u.A)
	}
	if u.Q != nil {
		data.Q = s.scale.Objective(p.Q)
		q = data.Q
		if err := checkObjective(q); err != nil {
			return err
		}
	}
	if u.B != nil {
		data.B = s.scale.Rows(p.B)
		l, up = s.form.onAx(data.B)
	}
	if err := s.highs.Update(pv, q, a, nonempty(l), nonempty(up)); err != nil {
		return err
	}
	s.data = &data
	return nil
}

// quadratic says whether P has an entry that is not zero.
func (s *solver) quadratic() bool {
	return s.data.P != nil && slices.ContainsFunc(s.data.P.RawMatrix().Data, func(v float64) bool { return v != 0 })
}

// nonempty returns nil where there is nothing to update.
func nonempty(v []float64) []float64 {
	if len(v) == 0 {
		return nil
	}
	return v
}

// values returns the values of a matrix, nil if there are none.
func values(a *sparse.CSC) []float64 {
	if a == nil || a.NNZ() == 0 {
		return nil
	}
	return a.RawMatrix().Data
}

// WarmStart keeps the point for the next Solve. Linear programs use X and Z, as a basis; the
// interior point method of quadratic programs starts from its own point.
func (s *solver) WarmStart(p backends.Point) error {
	if s.closed {
		return backends.ErrClosed
	}
	s.warm = &backends.Point{X: slices.Clone(p.X), Z: slices.Clone(p.Z)}
	return nil
}

// Close frees the memory of the library.
func (s *solver) Close() error {
	s.closed = true
	s.drop()
	return nil
}

// Solve runs HiGHS, and again where its answer does not hold on the caller's data.
func (s *solver) Solve(ctx context.Context) (*backends.Solution, error) {
	if s.closed {
		return nil, backends.ErrClosed
	}
	r := &run{solver: s, begin: time.Now(), limit: stop.Limit(ctx, s.options.TimeLimit), judge: s.options.Judge(&s.user)}
	out, err := r.solve(ctx)
	if err != nil {
		return nil, err
	}
	out.Iterations, out.SetupTime, out.SolveTime = r.iterations, s.setupTime, time.Since(r.begin)
	return out, nil
}
