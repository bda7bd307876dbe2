package augmented

import (
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
)

// solver is a problem with second-order or exponential cones that has been set up.
type solver struct {
	adapter.Solver
	inner backends.ConicBackend
	form  *form           // of Data
	qp    backends.Solver // nil until the first step

	// start is where the next Solve begins, in the caller's units, with sigma and the weight that it has then, beside the
	// size of the objective.
	start         backends.Point
	sigma, weight float64
	innerEps      float64 // the tolerance of qp
}

// Make makes the quadratic program.
func (s *solver) Make(data *backends.Problem) error {
	s.form = newForm(data)
	s.form.fill(data)
	return nil
}

// Push takes the new numbers.
func (s *solver) Push(data *backends.Problem, _ backends.Update) error {
	s.form.fill(data)
	return nil
}

// Free has the quadratic program set up anew at the next step.
func (s *solver) Free() {
	if s.qp != nil {
		_ = s.qp.Close()
	}
	s.qp = nil
}

// Run takes Newton steps.
func (s *solver) Run(ctx context.Context, of *adapter.Run) (*backends.Solution, error) {
	if of.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, of.Left())
		defer cancel()
	}
	r := s.begin(of)
	for range mostSteps {
		switch {
		case ctx.Err() != nil:
			return r.At(backends.EndedBy(ctx)), nil
		case r.Spent():
			return r.At(backends.IterationLimit), nil
		}
		out, err := r.step(ctx)
		if err != nil {
			return nil, err
		}
		if out == nil {
			continue
		}
		if out.Status == backends.Optimal {
			s.start = backends.Point{X: slices.Clone(out.X), Z: slices.Clone(out.Z)}
			s.sigma, s.weight = r.sigma/r.size, r.weight/r.size
		}
		return out, nil
	}
	return r.At(backends.Inaccurate), nil
}

// WarmStart keeps the point for the next Solve.
func (s *solver) WarmStart(p backends.Point) error {
	s.start = backends.Point{X: slices.Clone(p.X), Z: slices.Clone(p.Z)}
	s.weight = firstWeight
	// a start from nothing; else the sigma of the last Solve is kept, near as its numbers are to the new ones
	if p.X == nil && p.Z == nil {
		s.sigma = 1
	} else if s.sigma > 1 {
		s.sigma = math.Sqrt(s.sigma)
	}
	return nil
}
