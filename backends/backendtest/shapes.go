package backendtest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/planted"
)

// Shape describes random problems of one kind.
type Shape planted.Shape

// Shapes returns the shapes of the random problems of the suite. They are chosen so
// that the optimum is a regular point with probability one: rows that bind have
// independent normals, and no direction is left flat.
func Shapes() []Shape {
	zero, nonneg, soc := backends.Zero, backends.Nonnegative, backends.SecondOrder
	box := func(n int) backends.Cone { return backends.Cone{Kind: backends.BoxCone, Dim: n} }
	return []Shape{
		{"qp, unconstrained", 6, nil, 6, 1, false},
		{"qp, equations", 12, []backends.Cone{zero(5)}, 12, 0.6, false},
		{"qp, dense", 10, []backends.Cone{zero(2), nonneg(12)}, 10, 1, false},
		{"qp, sparse", 60, []backends.Cone{zero(10), nonneg(60), box(20)}, 60, 0.1, false},
		{"qp, singular P and equations", 12, []backends.Cone{zero(6), nonneg(6)}, 8, 0.8, false},
		{"lp, dense", 12, []backends.Cone{zero(4), nonneg(30)}, 0, 1, true},
		{"lp, sparse", 50, []backends.Cone{zero(15), nonneg(120)}, 0, 0.1, true},
		{"socp, quadratic", 20, []backends.Cone{soc(5), zero(2), soc(2), nonneg(4), soc(9)}, 20, 0.7, false},
		{"socp, linear", 12, slices.Repeat([]backends.Cone{soc(4)}, 10), 0, 0.9, false},
		{"socp, large cone", 40, []backends.Cone{soc(60), nonneg(10)}, 40, 0.3, false},
		{"psd, quadratic", 12, []backends.Cone{backends.PSD(3), nonneg(3), backends.PSD(4)}, 12, 0.8, false},
		{"exponential, quadratic", 12, []backends.Cone{backends.Exponential(), nonneg(3), backends.Exponential(),
			backends.DualExponential()}, 12, 0.8, false},
		{"power, quadratic", 12, []backends.Cone{backends.Power(0.3), zero(2), backends.Power(0.8), backends.DualPower(0.45)},
			12, 0.8, false},
		{"generalized power, quadratic", 16, []backends.Cone{
			backends.GeneralizedPower([]float64{0.2, 0.5, 0.3}, 2), nonneg(3), backends.GeneralizedPower([]float64{0.4, 0.6}, 1),
			backends.DualGeneralizedPower([]float64{0.1, 0.2, 0.3, 0.4}, 3),
		}, 16, 0.8, false},
		{"nuclear norm, quadratic", 20, []backends.Cone{backends.NuclearNorm(4, 3), nonneg(3), backends.NuclearNorm(2, 5)},
			20, 0.8, false},
		{"everything", 30, []backends.Cone{zero(3), box(5), soc(4), nonneg(5), backends.PSD(3), backends.Exponential(),
			backends.Power(0.6), soc(3)}, 30, 0.5, false},
	}
}

// NewCase draws a problem of that shape with its solution.
func (sh Shape) NewCase(seed uint64) Case {
	c := planted.Shape(sh).Draw(seed)
	return Case{
		Name: fmt.Sprintf("%s, seed %d", sh.Name, seed), Reason: "the problem was built from its solution",
		Problem: c.Problem(),
		Status:  backends.Optimal, X: c.X, Z: c.Z, Objective: c.Value,
	}
}

// shapes are those that the backend supports.
func (s suite) shapes() []Shape {
	return slices.DeleteFunc(Shapes(), func(sh Shape) bool { return !s.supports(sh.NewCase(0).Problem) })
}

// updates leads one solver through the problems of a shape, each of which it has to decide: in the sequences of package
// planted an answer to old numbers, which backends.Open does not let pass, is but undecided.
func (s suite) updates(t *testing.T) {
	for _, shape := range s.shapes() {
		t.Run(shape.Name, func(t *testing.T) {
			solver := s.open(t, shape.NewCase(0).Problem, s.options.backend())
			for seed := range uint64(4) {
				p := shape.NewCase(seed).Problem
				must(t, solver.Update(backends.Update{P: p.P, Q: p.Q, A: p.A, B: p.B}))
				for _, v := range [][]float64{p.Q, p.B} { // the solver must have copied what it needs
					for i := range v {
						v[i] = math.NaN()
					}
				}
				s.check(t, shape.NewCase(seed), Answer(t, solver))
			}
		})
	}
}
