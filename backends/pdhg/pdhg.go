// Package pdhg is a first-order method for linear, quadratic and second-order cone programs of which no factor fits
// into memory: all it does with the matrices is to multiply by them.
//
// With the multipliers z of Ax + s = b, one step of the primal-dual hybrid gradient method (Chambolle and Pock 2011,
// with the gradient of the quadratic term as Condat 2013 and Vu 2013 have it) is
//
//	x+ = the point of the bounds next to x - t (Px + q + A'z)
//	s+ = the point of K next to w/r,   w = r (b - A(2x+ - x)) - z,   z+ = r s+ - w
//
// with step sizes r |A|^2 + |P| <= 1/t. Rows that bound a variable are those bounds, and not among the rows. The method
// goes by reflected Halpern steps, of which each is averaged with the point where they began,
//
//	(x, z) <- (k+1)/(k+2) ((1 + a)(x+, z+) - a (x, z)) + 1/(k+2) (x0, z0),
//
// which begin anew where the length of a step has fallen far, and then with another ratio of the steps of z and of x
// (Applegate and others, PDLP, 2021; Lu and Yang, r2HPDHG, 2024; Lu, Peng and Yang, cuPDLPx, 2025; with second-order
// cones Lin, Xiong, Ge and Ye, PDCS, 2025). Rows and columns are scaled to logarithms of mean zero and then as Pock and
// Chambolle (2011) do, so that |A| is at most one.
//
// Linear programs end up in linear convergence; its rate depends on the data alone, and the tolerance of an interior
// point method may be far. What meets 1e-4 is mostly found in 100 to 10 000 steps. Small programs get their last digits
// by Newton steps on the rows that are tight.
package pdhg

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
)

func init() { backends.Register(backend{}) }

// backend is the method as a [backends.ConicBackend].
type backend struct{}

// Name returns "pdhg".
func (backend) Name() string { return "pdhg" }

// Capabilities declares the cones and features of the solver.
func (backend) Capabilities() backends.Capabilities {
	return backends.Capabilities{
		Version: "1", License: "Apache-2.0",
		Cones: []backends.ConeKind{
			backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone, backends.SecondOrderCone,
		},
		FirstOrder: true, MatrixFree: true, Quadratic: true, WarmStart: true, Certificates: true, Threads: true,
	}
}

// Setup scales the problem.
func (b backend) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	return adapter.Setup(b, p, o, func(struct{}) []adapter.Check { return nil },
		func(struct{}, backends.Options) adapter.Library { return new(solver) })
}

// solver is a problem that has been set up.
type solver struct {
	adapter.Solver
	form  *form
	state *state // where the last Solve ended, nil for nowhere
}

// Make scales the problem.
func (s *solver) Make(data *backends.Problem) error {
	s.form, s.state = newForm(data), nil
	return nil
}

var errAnew = errors.New("all numbers are scaled anew")

// Push is not possible, so that Make is called.
func (s *solver) Push(*backends.Problem, backends.Update) error { return errAnew }

// Free lets the vectors go.
func (s *solver) Free() { s.form, s.state = nil, nil }

const (
	// The iterations where Options.MaxIterations names none.
	defaultMaxIterations = 100_000
	// The point is looked at after firstLook iterations, and then whenever there are lookAgain times as many.
	firstLook = 40
	lookAgain = 1.1
	// Of programs with so many numbers the last digits come by the Newton steps of the judge, on the rows that are
	// tight, where they have not come after so many iterations, and again where the excess has fallen as far.
	polishWork, polishAfter, polishAgain = 50_000, 1000, 0.1
	// What is left of a ray is to be this part of its value where the judge, who factors a matrix to find a certificate
	// near it, is asked, and nearer of that, down to ClaimEps, where it was not near enough.
	nearRay, nearer = 1e-3, 0.1
)

// Run iterates until the point is optimal, one of its steps is a certificate, or a limit is reached.
func (s *solver) Run(ctx context.Context, r *adapter.Run) (*backends.Solution, error) {
	if s.state == nil || !s.GoOn {
		s.state = newState(s.form, max(1, s.Options.Threads))
		if s.Warm != nil {
			s.state.start(s.Scale.Scale(*s.Warm))
		}
	}
	tried := math.Inf(1) // the excess from which Newton steps were tried last
	most, look := r.MaxIterations(defaultMaxIterations), firstLook
	for v, still := s.state, false; ; v.next() {
		v.looked = still || v.total+1 >= look || r.Iterations+1 >= most
		v.step()
		r.Iterations++
		end := backends.Unsolved
		switch {
		case r.Stop.Raised():
			return r.Interrupted(ctx), nil
		case still, !(v.length <= math.MaxFloat64):
			end = backends.Inaccurate
		case r.Over():
			end = backends.TimeLimit
		case r.Iterations >= most:
			end = backends.IterationLimit
		}
		still = v.length == 0 // so is the next step
		if v.looked {
			look = max(v.total+1, int(lookAgain*float64(v.total)))
			x, slack, z := v.point(s.Data)
			excess, _ := r.Keep(x, slack, z)
			r.Log(ctx, "pdhg", "iteration", v.total, "excess", excess, "step", v.length, "weight", v.weight)
			if v.total >= polishAfter && s.form.work() <= polishWork && r.Excess <= polishAgain*tried {
				r.Polish()
				tried = r.Excess
			}
			if r.Excess <= 1 {
				return r.At(backends.Optimal), nil
			}
			if found := s.certificate(r); found != nil {
				return found, nil
			}
		}
		if end != backends.Unsolved {
			return r.At(end), nil
		}
	}
}

// certificate looks at the point, and at how far it is from where the Halpern steps began, as certificates: where there
// is no solution the iterates move along one in the end.
func (s *solver) certificate(r *adapter.Run) *backends.Solution {
	v := s.state
	for _, way := range [][2][]float64{{v.newX, v.newZ}, {difference(v.newX, v.x0), difference(v.newZ, v.z0)}} {
		z, x := v.rays(s.Data, way[0], way[1], v.near)
		if z != nil {
			if found, excess := r.Certificate(backends.PrimalInfeasible, z); excess <= 1 {
				return found
			}
		}
		if x != nil {
			if found, excess := r.Certificate(backends.DualInfeasible, x); excess <= 1 {
				return found
			}
		}
		if z != nil || x != nil {
			v.near = max(nearer*v.near, s.Options.ClaimEps())
		}
	}
	return nil
}

func difference(a, b []float64) []float64 { return floats.SubTo(make([]float64, len(a)), a, b) }
