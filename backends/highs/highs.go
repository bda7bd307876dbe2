//go:build highs && cgo

package highs

import (
	"errors"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	"github.com/conetune/conetune/backends/internal/augmented"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
	"github.com/conetune/conetune/internal/mirror"
)

func init() { backends.Register(augmented.Over(backend{})) }

// backend is HiGHS as a [backends.ConicBackend], for linear and quadratic programs. What [backends.Open] returns takes
// second-order and exponential cones, too, see package augmented.
type backend struct{}

var _ backends.ConicBackend = backend{}

// Name returns "highs".
func (backend) Name() string { return "highs" }

// Capabilities declares the cones and features of the solver.
func (backend) Capabilities() backends.Capabilities {
	return backends.Capabilities{
		Version: chighs.Version(),
		License: "MIT (HiGHS, its rcm), Apache-2.0 (its METIS), BSD-3-Clause (its AMD, OpenBLAS), zlib (its " +
			"pdqsort); texts in cgo/build/licenses",
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
func (b backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	return adapter.Setup(b, p, o, Settings.checks, func(set Settings, _ backends.Options) adapter.Library {
		return &solver{Solver: adapter.Solver{NoRescaling: set.NoRescaling}, settings: set}
	})
}

// solver is a problem that has been set up.
type solver struct {
	adapter.Solver
	rows      adapter.Intervals // of Data
	settings  Settings
	highs     *chighs.Solver
	last      *backends.Point // where the last Solve ended, of User, and with what basis
	lastBasis chighs.Basis
}

// Make sets up in HiGHS.
func (s *solver) Make(data *backends.Problem) error {
	s.rows = adapter.IntervalsOf(data)
	given, err := s.given(data)
	if err != nil {
		return err
	}
	s.highs, err = chighs.New(given)
	return refused(err)
}

// refused says what is wrong with numbers that HiGHS does not take. Shapes, cones and settings have been
// looked at.
func refused(err error) error {
	var failed *mirror.Error
	if !errors.As(err, &failed) {
		return err
	}
	return &backends.ProblemError{Field: "A", Reason: "has numbers that differ too much in size: " + failed.Error()}
}

// Free closes the solver of HiGHS.
func (s *solver) Free() {
	if s.highs != nil {
		s.highs.Close()
	}
	s.highs = nil
}

// Push gives the new numbers to HiGHS.
func (s *solver) Push(_ *backends.Problem, u backends.Update) error {
	if err := checkObjective(u.Q); err != nil {
		return err
	}
	var l, up []float64
	if u.B != nil {
		var err error
		if l, up, err = s.rows.OnAx(u.B, chighs.Infinity, "HiGHS"); err != nil {
			return err
		}
	}
	var p []float64
	if lower := lowerTriangle(u.P); lower != nil {
		p = lower.Val
	}
	return s.highs.Update(p, u.Q, adapter.Values(u.A), l, up)
}
