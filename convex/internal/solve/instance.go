package solve

import (
	"fmt"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Instance is an assembled program in the hands of a backend's solver.
type Instance struct {
	*compile.Numbers
	Solver    backends.Solver
	Tightener backends.Tightener // the solver, or nil if its accuracy is fixed
	eps       float64
	origin    []float64 // from which the solver counts x, nil for zero; see centred.go
	// last is a copy of the point of the last Solve, if it gave one, for warm starts, with its status.
	last    backends.Point
	status  backends.Status
	pointed bool

	of     *backends.Solution // whose values these are
	values compile.Values
}

// valuesOf are those of a solution, computed once.
func (in *Instance) valuesOf(sol *backends.Solution) *compile.Values {
	if in.of != sol {
		in.of, in.values = sol, in.Values(sol.X, sol.Z)
	}
	return &in.values
}

// newInstance sets a solver of accuracy eps up for an assembled program.
func (s *Session) newInstance(as *compile.Assembled, eps float64) (*Instance, error) {
	begin := time.Now()
	in := &Instance{Numbers: compile.NewNumbers(as, s.State), eps: eps}
	problem := s.posed(in)
	o := s.Options
	o.Eps = eps
	var err error
	if in.Solver, err = s.backend.Setup(problem, o); err != nil {
		return nil, fmt.Errorf("convex: %w", err)
	}
	in.Tightener, _ = in.Solver.(backends.Tightener)
	in.Lend()
	s.Stats.Setups++
	s.Stats.SetupTime += time.Since(begin)
	return in, nil
}

// update gives the solver the numbers of parameters that have changed, and says whether there were any.
func (s *Session) update(in *Instance) (changed bool, err error) {
	begin := time.Now()
	u := in.Refresh()
	if u.A == nil && u.B == nil && u.Q == nil && u.P == nil {
		return false, nil
	}
	if in.origin != nil {
		p := s.posed(in)
		u.Q, u.B = p.Q, p.B
	}
	if err := in.Solver.Update(u); err != nil {
		return false, fmt.Errorf("convex: %w", err)
	}
	matrices, vectors := u.A != nil || u.P != nil, u.B != nil || u.Q != nil
	if matrices && !s.Capabilities.UpdateMatrices || vectors && !s.Capabilities.UpdateVectors {
		s.Stats.Setups++ // the backend starts over
	} else {
		s.Stats.Updates++
	}
	s.Stats.SetupTime += time.Since(begin)
	return true, nil
}
