//go:build (scs && cgo) || scs_go

package scs

import (
	"cmp"
	"errors"
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	cscs "github.com/conetune/conetune/internal/mirror/scs"
	"github.com/conetune/conetune/internal/tower"
)

func init() { backends.Register(backend{}) }

// backend is SCS as a [backends.ConicBackend].
type backend struct{}

var _ backends.ConicBackend = backend{}

// Name returns "scs".
func (backend) Name() string { return "scs" }

// Capabilities declares the cones and features of the solver.
func (backend) Capabilities() backends.Capabilities {
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
func (b backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	return adapter.Setup(b, p, o, Settings.checks, func(set Settings, o backends.Options) adapter.Library {
		s := &solver{Solver: adapter.Solver{NoRescaling: set.NoRescaling}, settings: set}
		s.base = s.mirror(o)
		return s
	})
}

// solver is a problem that has been set up.
type solver struct {
	adapter.Solver
	view     // of Data
	settings Settings
	base     cscs.Settings // as the options ask
	current  cscs.Settings // of work, whose tolerances may be tighter
	work     *cscs.Work
	last     *cscs.Solution // where the last Solve ended, in SCS's rows; nil for nowhere
}

// view is what SCS sees of a problem.
type view struct {
	tower *tower.Tower // from the problem to seen, nil without generalized power cones
	seen  *backends.Problem
	form  *form
}

func look(data *backends.Problem) view {
	var v view
	v.tower = tower.New(len(data.Q), data.Cones, func(backends.Cone) bool { return true })
	v.seen = v.tower.Problem(data)
	v.form = newForm(v.seen)
	return v
}

// given returns what SCS is given.
func (v *view) given() *cscs.Data { return v.form.problem(v.seen) }

// mirror translates the options and settings.
func (s *solver) mirror(o backends.Options) cscs.Settings {
	set := s.settings
	return cscs.Settings{
		// eps / 2 (1 + size) <= eps max(1, size)
		EpsAbs: cmp.Or(set.EpsAbs, o.Eps/2), EpsRel: cmp.Or(set.EpsRel, o.Eps/2), EpsInfeas: o.ClaimEps() / 2,
		NoNormalize: set.NoNormalize, NoAdaptiveScale: set.NoAdaptiveScale, NoAdaptiveDiagScale: set.NoAdaptiveDiagScale,
		Scale: cmp.Or(set.Scale, defaultScale), RhoX: set.RhoX, Alpha: set.Alpha,
		AccelerationLookback: set.AccelerationLookback, AccelerationInterval: set.AccelerationInterval,
		AccelerationType2: set.AccelerationTypeII,
		MaxIters:          min(cmp.Or(o.MaxIterations, DefaultMaxIterations), math.MaxInt32), // the integers of SCS
		TimeLimit:         o.TimeLimit,
	}
}

// defaultScale is SCS's own.
const defaultScale = 0.1

// Make sets up in SCS, with the current settings.
func (s *solver) Make(data *backends.Problem) error {
	next := look(data)
	work, err := cscs.New(library, next.given(), &next.form.cones, &s.current)
	if err != nil {
		return refused(err, data)
	}
	s.work, s.view = work, next
	return nil
}

// refused says what is wrong with numbers that SCS does not take. It has no words for
// it; shapes, cones and settings have been looked at, which leaves the factorisation.
func refused(err error, p *backends.Problem) error {
	if !errors.Is(err, cscs.ErrInit) {
		return err
	}
	if p.P != nil && p.P.NNZ() > 0 {
		return &backends.ProblemError{Field: "P", Reason: "is not positive semidefinite, or its numbers and those of A " +
			"differ too much in size: SCS cannot factor the system"}
	}
	return &backends.ProblemError{Field: "A",
		Reason: "has numbers that differ too much in size: SCS cannot factor the system"}
}

// Free closes the work of SCS: after a factorisation that failed or an iterate that is no number, what it has adapted
// to the problem is worth nothing.
func (s *solver) Free() {
	if s.work != nil {
		s.work.Close()
	}
	s.work, s.last, s.current = nil, nil, s.base
}

// adjust changes the tolerances and limits of work, which keeps its factorisation and
// what it has learnt about the scale of the rows where the library is ours.
func (s *solver) adjust(to cscs.Settings) error {
	if to == s.current || s.work.SetLimits(&to) {
		s.current = to
		return nil
	}
	s.work.Close()
	s.work, s.current = nil, to
	if err := s.Make(s.Data); err != nil {
		s.Drop()
		return err
	}
	return nil
}

var errNotInPlace = errors.New("the library has no update of matrices")

// Push changes the numbers in place; new matrices are factored.
func (s *solver) Push(data *backends.Problem, u backends.Update) error {
	s.last = nil
	if u.P == nil && u.A == nil {
		next := *s.seen
		next.Q, next.B = s.tower.Objective(data.Q), s.tower.Rows(data.B)
		err := s.work.Update(s.form.Vector(next.B), next.Q)
		if err == nil {
			s.seen = &next
		}
		return err
	}
	next := look(data)
	done, err := s.work.SetNumbers(next.given(), s.current.Scale)
	if err == nil && !done {
		return errNotInPlace
	}
	s.view = next
	return err
}
