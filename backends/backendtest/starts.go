package backendtest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/conetune/conetune/backends"
)

// warmStart starts from the solution, from parts of it, and from garbage, for the problem itself and for one nearby. It
// must do no harm. From the solution of the problem, and from that of one nearby where all cones are linear, it takes
// no more iterations than from nothing.
func (s suite) warmStart(t *testing.T) {
	for _, shape := range s.shapes() {
		t.Run(shape.Name, func(t *testing.T) {
			c := NewCase(shape, 2)
			solver := s.open(t, c.Problem, s.options.backend())
			cold := Answer(t, solver)
			if s.check(t, c, cold); t.Failed() {
				return
			}
			linear := !slices.ContainsFunc(shape.Cones, func(k backends.Cone) bool { return !k.Kind.Intervals() })
			near := *c.Problem
			near.B = slices.Clone(near.B)
			for i := range near.B {
				near.B[i] += 1e-4 * math.Abs(math.Sin(float64(i)))
			}
			fresh := s.once(t, &near)
			rng := rand.New(rand.NewPCG(5, 5))
			garbage := func(n int) []float64 {
				v := make([]float64, n)
				for i := range v {
					v[i] = rng.NormFloat64() * math.Pow(10, 12*rng.Float64()-4)
				}
				return v
			}
			n, m := c.Problem.Dims()
			for _, start := range []struct {
				name  string
				point backends.Point
				good  bool
			}{
				{"the solution", backends.Point{X: cold.X, S: cold.S, Z: cold.Z}, true},
				{"x", backends.Point{X: cold.X}, false},
				{"z", backends.Point{Z: cold.Z}, false},
				{"s and z", backends.Point{S: cold.S, Z: cold.Z}, false},
				{"zero", backends.Point{X: make([]float64, n), S: make([]float64, m), Z: make([]float64, m)}, false},
				{"garbage", backends.Point{X: garbage(n), S: garbage(m), Z: garbage(m)}, false},
			} {
				for _, p := range []struct {
					b     []float64
					want  *backends.Solution
					count bool // iterations
				}{{c.Problem.B, cold, start.good}, {near.B, fresh, start.good && linear}} {
					before := fmt.Sprintf("%x", start.point)
					must(t, errors.Join(solver.Update(backends.Update{B: p.b}), solver.WarmStart(start.point)), "from", start.name)
					sol := Answer(t, solver)
					if sol.Status != p.want.Status || s.off(sol.Objective, p.want.Objective) {
						t.Errorf("from %s: %v with %.12g, from nothing %v with %.12g; %s",
							start.name, sol.Status, sol.Objective, p.want.Status, p.want.Objective, sol.Message)
					}
					if p.count && s.backend.Capabilities().WarmStart && sol.Iterations > p.want.Iterations {
						t.Errorf("from %s: %d iterations, %d from nothing", start.name, sol.Iterations, p.want.Iterations)
					}
					if fmt.Sprintf("%x", start.point) != before {
						t.Errorf("from %s: the caller's point was modified", start.name)
					}
				}
			}
		})
	}
}

// tightening solves to a loose tolerance, and then on to that of the options, also with an update between; a tolerance
// that is none is refused.
func (s suite) tightening(t *testing.T) {
	for _, c := range s.sample() {
		t.Run(c.Name, func(t *testing.T) {
			o := s.options.backend()
			o.Eps = 1e-3
			solver := s.open(t, c.Problem, o)
			setEps := solver.(backends.Tightener).SetEps
			for _, u := range []backends.Update{{}, {Q: c.Problem.Q}} {
				if loose := Answer(t, solver); loose.Status == backends.Optimal && !(loose.Residuals.Max() <= o.Eps) {
					t.Errorf("residuals %.1e at the tolerance %.1e", loose.Residuals, o.Eps)
				}
				must(t, errors.Join(solver.Update(u), setEps(eps)))
				for _, bad := range []float64{0, -1, math.NaN()} {
					var wrong *backends.ProblemError
					if err := setEps(bad); !errors.As(err, &wrong) {
						t.Errorf("SetEps(%v): error %v, expected a ProblemError", bad, err)
					}
				}
				s.check(t, c, Answer(t, solver))
				must(t, setEps(o.Eps)) // looser again: the answer may be as good as it was
			}
		})
	}
}
