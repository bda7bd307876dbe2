package augmented

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/scaling"
)

// solver is a problem with second-order cones that has been set up.
type solver struct {
	inner     backends.ConicBackend
	user      backends.Problem  // the caller's, with the updates so far
	scale     *scaling.Scaling  // from user to problem, nil for none
	problem   *backends.Problem // what is solved
	options   backends.Options
	form      *form
	judge     *backends.Judge // of user
	qp        backends.Solver // nil until the first step
	setupTime time.Duration
	closed    bool

	// start is where the next Solve begins, in the units of user, with sigma and the weight that it has then, beside the size of the objective.
	start         backends.Point
	sigma, weight float64
	innerEps      float64 // the tolerance of qp
	length        int     // of the bound of its iterations, in units of mostInner
}

var (
	_ backends.Solver    = (*solver)(nil)
	_ backends.Tightener = (*solver)(nil)
)

// take takes the numbers of user.
func (s *solver) take() {
	s.problem = s.scale.Problem(&s.user)
	s.form.fill(s.problem)
}

// objective is the largest entry of P and q, or 1 where all are zero.
func (s *solver) objective() float64 {
	most := 0.0
	for _, v := range s.problem.Q {
		most = max(most, math.Abs(v))
	}
	if s.problem.P != nil {
		for _, v := range s.problem.P.RawMatrix().Data {
			most = max(most, math.Abs(v))
		}
	}
	if most == 0 {
		return 1
	}
	return most
}

func (s *solver) Solve(ctx context.Context) (*backends.Solution, error) {
	if s.closed {
		return nil, backends.ErrClosed
	}
	if s.options.TimeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.options.TimeLimit)
		defer cancel()
	}
	r, err := s.begin()
	if err != nil {
		return nil, err
	}
	most := s.options.MaxIterations
	if most == 0 {
		most = math.MaxInt
	}
	out, status := (*backends.Solution)(nil), backends.IterationLimit
	for steps := 0; steps < mostSteps && r.iterations < most && out == nil; steps++ {
		if ctx.Err() != nil {
			status = backends.EndedBy(ctx)
			break
		}
		var err error
		if out, err = r.step(ctx); err != nil {
			return nil, err
		}
	}
	if out == nil {
		if out = r.best; out == nil {
			out = &backends.Solution{}
		}
		if out.Status = status; status == backends.IterationLimit && r.iterations < most {
			out.Status = backends.Inaccurate
		}
	} else if out.Status == backends.Optimal {
		s.start = backends.Point{X: slices.Clone(out.X), Z: slices.Clone(out.Z)}
		s.sigma, s.weight = r.sigma/r.size, r.weight/r.size
	}
	out.Iterations, out.SetupTime = r.iterations, s.setupTime
	return out, nil
}

func (s *solver) Update(u backends.Update) error {
	if s.closed {
		return backends.ErrClosed
	}
	begin := time.Now()
	s.user = s.user.Updated(u)
	s.judge.Reset(&s.user)
	if before := s.scale; u.P != nil || u.A != nil {
		s.scale = scaling.New(&s.user)
		if before != nil || s.scale != nil { // bounds of boxes are other ones then
			if err := s.forget(); err != nil {
				return err
			}
		}
	}
	s.take()
	s.setupTime = time.Since(begin)
	return nil
}

func (s *solver) WarmStart(p backends.Point) error {
	if s.closed {
		return backends.ErrClosed
	}
	s.start = backends.Point{X: slices.Clone(p.X), Z: slices.Clone(p.Z)}
	s.weight = firstWeight
	if p.X == nil && p.Z == nil { // a start from nothing; else the sigma of the last Solve is kept, near as its numbers are to the new ones
		s.sigma = 1
	} else if s.sigma > 1 {
		s.sigma = math.Sqrt(s.sigma)
	}
	return nil
}

// SetEps implements [backends.Tightener].
func (s *solver) SetEps(eps float64) error {
	if s.closed {
		return backends.ErrClosed
	}
	s.options.Eps = eps
	return nil
}

// forget has the quadratic program set up anew at the next step.
func (s *solver) forget() error {
	if s.qp == nil {
		return nil
	}
	err := s.qp.Close()
	s.qp = nil
	return err
}

func (s *solver) Close() error {
	s.closed = true
	return s.forget()
}
