//go:build (osqp && cgo) || osqp_go

package osqp

import (
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	"github.com/conetune/conetune/backends/internal/augmented"
	cosqp "github.com/conetune/conetune/internal/mirror/osqp"
)

func init() { backends.Register(augmented.Over(backend{})) }

// backend is OSQP as a [backends.ConicBackend], for linear and quadratic programs. What [backends.Open] returns takes
// second-order and exponential cones, too, see package augmented.
type backend struct{}

var _ backends.ConicBackend = backend{}

// Name returns "osqp".
func (backend) Name() string { return "osqp" }

// Capabilities declares the cones and features of the solver.
func (backend) Capabilities() backends.Capabilities {
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
func (b backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	return adapter.Setup(b, p, o, Settings.checks, func(set Settings, _ backends.Options) adapter.Library {
		set = set.withDefaults()
		return &solver{Solver: adapter.Solver{NoRescaling: set.NoRescaling}, settings: set, rho: set.Rho}
	})
}

// solver is a problem that has been set up.
type solver struct {
	adapter.Solver
	rows     adapter.Intervals // of Data
	settings Settings
	osqp     *cosqp.Solver
	// charged is what OSQP counts against the time limit of the next run: the
	// setup before the first, else the updates since the last.
	charged time.Duration
	// rho is the step size, and settled says that OSQP must leave it alone.
	rho     float64
	settled bool
	lastEps float64 // the tolerance of the last round of a Solve that OSQP can go on from, else 0
}

// mirror translates the options and settings, for a tolerance.
func (s *solver) mirror(eps, epsInfeasible float64) cosqp.Settings {
	set := s.settings
	return cosqp.Settings{
		EpsAbs: eps, EpsRel: eps, EpsPrimalInfeasible: epsInfeasible, EpsDualInfeasible: epsInfeasible,
		Polishing: !set.NoPolishing, Delta: set.Delta, PolishRefineIter: set.PolishRefinements,
		Rho: s.rho, FixedRho: set.FixedRho || s.settled, AdaptiveRhoTolerance: set.AdaptiveRhoTolerance,
		AdaptiveRhoInterval: set.AdaptiveRhoInterval,
		Sigma:               set.Sigma, Alpha: set.Alpha, Scaling: set.Scaling,
		MaxIterations: DefaultMaxIterations, CheckTermination: set.CheckTermination,
	}
}

// Make sets up in OSQP.
func (s *solver) Make(data *backends.Problem) error {
	s.rows = adapter.IntervalsOf(data)
	given, err := s.given(data)
	if err != nil {
		return err
	}
	set := s.mirror(s.Options.Eps/2, s.Options.ClaimEps()/2) // the limits are those of each run
	if s.osqp, err = cosqp.New(library, given, &set); err != nil {
		return refused(err)
	}
	s.charged = s.osqp.Info().SetupTime
	return nil
}

// given returns what OSQP is given.
func (s *solver) given(data *backends.Problem) (*cosqp.Data, error) {
	n, m := data.Dims()
	l, u, err := s.rows.OnAx(data.B, cosqp.Infinity, "OSQP")
	return &cosqp.Data{P: adapter.MatrixOf(data.P, n, n), Q: data.Q, A: adapter.MatrixOf(data.A, m, n), L: l, U: u}, err
}

// refused says what is wrong with matrices that OSQP cannot factor. Shapes and bounds have been looked at.
func refused(err error) error {
	if !cosqp.NotFactored(err) {
		return err
	}
	return &backends.ProblemError{Field: "P", Reason: "is not positive semidefinite, or its numbers and those of A " +
		"differ too much in size: OSQP cannot factor the system"}
}

// Free closes the solver of OSQP.
func (s *solver) Free() {
	if s.osqp != nil {
		s.osqp.Close()
	}
	s.osqp, s.lastEps = nil, 0
}

// forget drops the solver and its step size where they did not lead to an answer: with
// other numbers they are a bad start, and OSQP does not find back from some.
func (s *solver) forget() {
	s.Drop()
	s.rho, s.settled = s.settings.Rho, false
}

// Push gives the new numbers to OSQP. With new matrices it scales all data anew,
// for which it undoes the old scaling; all values are given afresh so that no
// rounding of that remains.
func (s *solver) Push(data *backends.Problem, u backends.Update) error {
	if u.P != nil || u.A != nil {
		if err := s.osqp.UpdateMatrices(adapter.Values(data.P), adapter.Values(data.A)); err != nil {
			return err
		}
		u.Q, u.B = data.Q, data.B
	}
	var l, up []float64
	if u.B != nil {
		var err error
		if l, up, err = s.rows.OnAx(u.B, cosqp.Infinity, "OSQP"); err != nil {
			return err
		}
	}
	if err := s.osqp.UpdateVectors(u.Q, l, up); err != nil {
		return err
	}
	s.charged = s.osqp.Info().UpdateTime
	return nil
}
