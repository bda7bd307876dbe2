//go:build clarabel && cgo

package clarabel

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/scaling"
	cclarabel "github.com/conetune/conetune/internal/cgo/clarabel"
	"github.com/conetune/conetune/internal/stop"
	"github.com/james-bowman/sparse"
)

func init() { backends.Register(Backend{}) }

// Backend is Clarabel as a [backends.ConicBackend].
type Backend struct{}

var _ backends.ConicBackend = Backend{}

// Name returns "clarabel".
func (Backend) Name() string { return "clarabel" }

// Capabilities declares the cones and features of the solver.
func (Backend) Capabilities() backends.Capabilities {
	return backends.Capabilities{
		Version:        cclarabel.Version(),
		License:        "Apache-2.0 (Clarabel), MIT or Apache-2.0 and the like (the crates in it), BSD-3-Clause (its OpenBLAS); texts in cgo/build/licenses",
		Cones:          slices.Clone(cones),
		Quadratic:      true,
		UpdateVectors:  true,
		UpdateMatrices: true,
		Certificates:   true,
	}
}

// Setup lets Clarabel copy, scale and analyse the problem.
func (Backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	begin := time.Now()
	set, err := backends.SettingsOf[Settings](o, "clarabel")
	if err != nil {
		return nil, err
	}
	if err := set.validate(); err != nil {
		return nil, err
	}
	if err := supported(p); err != nil {
		return nil, err
	}
	if len(p.Q) == 0 {
		return nil, &backends.ProblemError{Field: "Q", Reason: "is empty, Clarabel wants a variable"}
	}
	s := &solver{user: *p, options: o.WithDefaults(), settings: set}
	if err := s.setup(set); err != nil {
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
	clarabel  *cclarabel.Solver // nil after a failure, until the next Solve
	with      Settings          // of clarabel, which may be those of a retry
	updated   bool              // since the set-up of clarabel
	setupTime time.Duration
	closed    bool
}

var (
	_ backends.Solver    = (*solver)(nil)
	_ backends.Tightener = (*solver)(nil)
)

// setup makes the solver of Clarabel anew from the caller's problem.
func (s *solver) setup(set Settings) error {
	s.drop()
	s.scale = nil
	if !set.NoRescaling {
		s.scale = scaling.New(&s.user)
	}
	data := s.scale.Problem(&s.user)
	form := newForm(data)
	c := mirror(s.options, set)
	out, err := cclarabel.New(form.problem(data), &c)
	if err != nil {
		return refused(err)
	}
	s.clarabel, s.data, s.form, s.with, s.updated = out, data, form, set, false
	return nil
}

// refused says what is wrong with numbers on which Clarabel gives up. Shapes, cones and settings have
// been looked at.
func refused(err error) error {
	var failed *cclarabel.Error
	if !errors.As(err, &failed) || !failed.Broken {
		return err
	}
	return &backends.ProblemError{Field: "A", Reason: "or P has numbers that differ too much in size: Clarabel cannot set up the system (" + failed.Text + ")"}
}

func (s *solver) drop() {
	if s.clarabel != nil {
		s.clarabel.Close()
		s.clarabel = nil
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

// Update changes the numbers in place where Clarabel can.
func (s *solver) Update(u backends.Update) error {
	if s.closed {
		return backends.ErrClosed
	}
	begin := time.Now()
	next := s.user.Updated(u)
	matrices := u.P != nil || u.A != nil
	switch {
	case s.clarabel == nil: // the next Solve sets up
	case !s.clarabel.Updatable() || s.with != s.settings:
		s.drop()
	case matrices && (s.scale != nil || !s.settings.NoRescaling && scaling.New(&next) != nil):
		s.drop() // badly scaled matrices are scaled anew
	default:
		if err := s.push(&next, u); err != nil {
			s.drop() // the next Solve sets up
		}
	}
	s.user = next
	s.setupTime = time.Since(begin)
	return nil
}

// push gives the new numbers to Clarabel.
func (s *solver) push(p *backends.Problem, u backends.Update) error {
	data := *s.data
	var pv, q, a, b []float64
	if u.P != nil {
		data.P, pv = u.P, values(u.P)
	}
	if u.A != nil {
		data.A, a = u.A, s.form.values(values(u.A))
	}
	if u.Q != nil {
		data.Q = s.scale.Objective(p.Q)
		q = data.Q
	}
	if u.B != nil {
		data.B = s.scale.Rows(p.B)
		b = s.form.vector(data.B)
	}
	if err := s.clarabel.Update(pv, q, nonempty(a), nonempty(b)); err != nil {
		return err
	}
	s.data, s.updated = &data, true
	return nil
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

// WarmStart is ignored: interior points start from their own.
func (s *solver) WarmStart(backends.Point) error {
	if s.closed {
		return backends.ErrClosed
	}
	return nil
}

// Close frees the memory of the library.
func (s *solver) Close() error {
	s.closed = true
	s.drop()
	return nil
}

// Solve runs Clarabel, and again where its answer does not hold on the caller's data.
func (s *solver) Solve(ctx context.Context) (*backends.Solution, error) {
	if s.closed {
		return nil, backends.ErrClosed
	}
	r := &run{solver: s, begin: time.Now(), limit: stop.Limit(ctx, s.options.TimeLimit), judge: s.options.Judge(&s.user)}
	out, err := r.solve(ctx)
	if err != nil {
		return nil, err
	}
	if s.clarabel != nil && s.with != s.settings {
		s.drop() // what helped here is not for other numbers
	}
	out.Iterations, out.SetupTime, out.SolveTime = r.iterations, s.setupTime, time.Since(r.begin)
	return out, nil
}
