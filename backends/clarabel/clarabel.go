//go:build clarabel && cgo

package clarabel

import (
	"errors"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	cclarabel "github.com/conetune/conetune/internal/cgo/clarabel"
	"github.com/conetune/conetune/internal/mirror"
)

func init() { backends.Register(backend{}) }

// backend is Clarabel as a [backends.ConicBackend].
type backend struct{}

var _ backends.ConicBackend = backend{}

// Name returns "clarabel".
func (backend) Name() string { return "clarabel" }

// Capabilities declares the cones and features of the solver.
func (backend) Capabilities() backends.Capabilities {
	return backends.Capabilities{
		Version: cclarabel.Version(),
		License: "Apache-2.0 (Clarabel), MIT or Apache-2.0 and the like (the crates in it), BSD-3-Clause (its OpenBLAS); " +
			"texts in cgo/build/licenses",
		Cones: []backends.ConeKind{ // as they are or after a change of variables
			backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone, backends.SecondOrderCone, backends.PSDCone,
			backends.ExponentialCone, backends.DualExponentialCone, backends.PowerCone, backends.DualPowerCone,
			backends.GeneralizedPowerCone, backends.DualGeneralizedPowerCone,
		},
		Quadratic:      true,
		UpdateVectors:  true,
		UpdateMatrices: true,
		Certificates:   true,
	}
}

// Setup lets Clarabel copy, scale and analyse the problem.
func (b backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	return adapter.Setup(b, p, o, Settings.checks, func(set Settings, _ backends.Options) adapter.Library {
		return &solver{Solver: adapter.Solver{NoRescaling: set.NoRescaling}, settings: set, with: set}
	})
}

// solver is a problem that has been set up.
type solver struct {
	adapter.Solver
	form     *form // of Data
	settings Settings
	with     Settings // of clarabel, which may be those of a retry
	clarabel *cclarabel.Solver
	updated  bool // since the set-up of clarabel
}

// Make sets up in Clarabel, with the settings of with.
func (s *solver) Make(data *backends.Problem) error {
	s.form, s.updated = newForm(data), false
	c := given(s.Options, s.with)
	var err error
	s.clarabel, err = cclarabel.New(s.form.problem(data), &c)
	return refused(err)
}

// refused says what is wrong with numbers on which Clarabel gives up. Shapes, cones and settings have
// been looked at.
func refused(err error) error {
	var failed *mirror.Error
	if !errors.As(err, &failed) || !failed.Broken {
		return err
	}
	return &backends.ProblemError{Field: "A",
		Reason: "or P has numbers that differ too much in size: Clarabel cannot set up the system (" + failed.Text + ")"}
}

// Free closes the solver of Clarabel.
func (s *solver) Free() {
	if s.clarabel != nil {
		s.clarabel.Close()
	}
	s.clarabel = nil
}

// renew sets up with other settings.
func (s *solver) renew(set Settings) error {
	s.with = set
	return s.Renew()
}

var errDecomposed = errors.New("it cannot update decomposed cones")

// Push gives the new numbers to Clarabel.
func (s *solver) Push(data *backends.Problem, u backends.Update) error {
	if !s.clarabel.Updatable() {
		return errDecomposed
	}
	var a, b []float64
	if u.A != nil {
		a = s.form.matrix(data).Val
	}
	if u.B != nil {
		b = s.form.Vector(u.B)
	}
	s.updated = true
	return s.clarabel.Update(adapter.Values(u.P), u.Q, a, b)
}
