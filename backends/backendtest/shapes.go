package backendtest

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/planted"
)

// Shapes returns the shapes of the random problems of the suite. They are chosen so
// that the optimum is a regular point with probability one: rows that bind have
// independent normals, and no direction is left flat.
func Shapes() []planted.Shape {
	zero, nonneg, soc := backends.Zero, backends.Nonnegative, backends.SecondOrder
	box := func(n int) backends.Cone { return backends.Cone{Kind: backends.BoxCone, Dim: n} }
	of := func(name string, n int, cones []backends.Cone, rank int, density float64, vertex bool) planted.Shape {
		return planted.Shape{Name: name, N: n, Cones: cones, Rank: rank, Density: density, Vertex: vertex}
	}
	return []planted.Shape{
		of("qp, unconstrained", 6, nil, 6, 1, false),
		of("qp, equations", 12, []backends.Cone{zero(5)}, 12, 0.6, false),
		of("qp, dense", 10, []backends.Cone{zero(2), nonneg(12)}, 10, 1, false),
		of("qp, sparse", 60, []backends.Cone{zero(10), nonneg(60), box(20)}, 60, 0.1, false),
		of("qp, singular P and equations", 12, []backends.Cone{zero(6), nonneg(6)}, 8, 0.8, false),
		of("lp, dense", 12, []backends.Cone{zero(4), nonneg(30)}, 0, 1, true),
		of("lp, sparse", 50, []backends.Cone{zero(15), nonneg(120)}, 0, 0.1, true),
		of("socp, quadratic", 20, []backends.Cone{soc(5), zero(2), soc(2), nonneg(4), soc(9)}, 20, 0.7, false),
		of("socp, linear", 12, slices.Repeat([]backends.Cone{soc(4)}, 10), 0, 0.9, false),
		of("socp, large cone", 40, []backends.Cone{soc(60), nonneg(10)}, 40, 0.3, false),
		of("psd, quadratic", 12, []backends.Cone{backends.PSD(3), nonneg(3), backends.PSD(4)}, 12, 0.8, false),
		of("exponential, quadratic", 12, []backends.Cone{backends.Exponential(), nonneg(3), backends.Exponential(),
			backends.DualExponential()}, 12, 0.8, false),
		of("power, quadratic", 12, []backends.Cone{backends.Power(0.3), zero(2), backends.Power(0.8),
			backends.DualPower(0.45)}, 12, 0.8, false),
		of("generalized power, quadratic", 16, []backends.Cone{
			backends.GeneralizedPower([]float64{0.2, 0.5, 0.3}, 2), nonneg(3), backends.GeneralizedPower([]float64{0.4, 0.6}, 1),
			backends.DualGeneralizedPower([]float64{0.1, 0.2, 0.3, 0.4}, 3),
		}, 16, 0.8, false),
		of("nuclear norm, quadratic", 20, []backends.Cone{backends.NuclearNorm(4, 3), nonneg(3), backends.NuclearNorm(2, 5)},
			20, 0.8, false),
		of("everything", 30, []backends.Cone{zero(3), box(5), soc(4), nonneg(5), backends.PSD(3), backends.Exponential(),
			backends.Power(0.6), soc(3)}, 30, 0.5, false),
	}
}

// NewCase draws a problem of that shape with its solution.
func NewCase(sh planted.Shape, seed uint64) Case {
	c := sh.Draw(seed)
	return Case{
		Name: fmt.Sprintf("%s, seed %d", sh.Name, seed), Reason: "the problem was built from its solution",
		Problem: c.Problem(),
		Status:  backends.Optimal, X: c.X, Z: c.Z, Objective: c.Value,
	}
}

// shapes are those that the backend supports.
func (s suite) shapes() []planted.Shape {
	return slices.DeleteFunc(Shapes(), func(sh planted.Shape) bool { return !s.supports(NewCase(sh, 0).Problem) })
}
