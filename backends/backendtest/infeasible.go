package backendtest

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
)

func infeasible(name, reason string, p *backends.Problem, z []float64) Case {
	return Case{Name: "primal infeasible/" + name, Reason: reason, Problem: p, Status: backends.PrimalInfeasible, Z: z}
}

func unbounded(name, reason string, p *backends.Problem, x []float64) Case {
	return Case{Name: "dual infeasible/" + name, Reason: reason, Problem: p, Status: backends.DualInfeasible, X: x}
}

// self is min q'x for x in the cone.
func self(q []float64, c backends.Cone) *backends.Problem {
	return &backends.Problem{Q: q, A: matrices.Identity(len(q), -1), B: make([]float64, len(q)), Cones: []backends.Cone{c}}
}

// projection is min |x|^2/2 + q'x for x in the cone.
func projection(q []float64, c backends.Cone) *backends.Problem {
	p := self(q, c)
	p.P = matrices.Identity(len(q), 1)
	return p
}

// fixed has the point at in the cone.
func fixed(at []float64, c backends.Cone) *backends.Problem {
	n := len(at)
	a := matrices.Of(2*n, n, func(i, j int) float64 {
		switch i {
		case j:
			return 1
		case n + j:
			return -1
		}
		return 0
	})
	return &backends.Problem{
		Q: slices.Repeat([]float64{1}, n), A: a, B: append(slices.Clone(at), make([]float64, n)...),
		Cones: []backends.Cone{backends.Zero(n), c},
	}
}

func infeasibleCases() []Case {
	e, r := math.E, math.Sqrt2
	k, l := 1/(1-2/e), 1/(1-0.1*e)
	const a = 0.3
	limited := func(u, v, w float64, c backends.Cone) *backends.Problem {
		p := fixed([]float64{u, v, w}, c)
		p.Cones = []backends.Cone{backends.Zero(2), backends.Nonnegative(1), c}
		return p
	}
	return []Case{
		infeasible("zero", "x = 0 and x = 1", &backends.Problem{
			Q: []float64{1}, A: matrix(1, []float64{1}, []float64{1}), B: []float64{0, 1}, Cones: []backends.Cone{backends.Zero(2)},
		}, []float64{1, -1}),
		infeasible("nonnegative", "x <= -1 and x >= 0", &backends.Problem{
			Q: []float64{1}, A: matrix(1, []float64{1}, []float64{-1}), B: []float64{-1, 0}, Cones: []backends.Cone{backends.Nonnegative(2)},
		}, []float64{1, 1}),
		infeasible("box", "x in [0, 1] and in [2, 3]", &backends.Problem{
			Q: []float64{1}, A: matrix(1, []float64{-1}, []float64{-1}), B: []float64{0, 0},
			Cones: []backends.Cone{backends.Box([]float64{0, 2}, []float64{1, 3})},
		}, []float64{-1, 1}),
		infeasible("second-order", "|(x, 2)| <= 1", &backends.Problem{
			Q: []float64{1}, A: matrix(1, []float64{0}, []float64{-1}, []float64{0}), B: []float64{1, 0, 2}, Cones: []backends.Cone{backends.SecondOrder(3)},
		}, []float64{1, 0, -1}),
		infeasible("psd", "[x 2; 2 y] >= 0 with x + y = 2, which needs xy >= 4", &backends.Problem{
			Q: []float64{1, 0}, A: matrix(2, []float64{1, 1}, []float64{-1, 0}, []float64{0, 0}, []float64{0, -1}), B: []float64{2, 0, 2 * r, 0},
			Cones: []backends.Cone{backends.Zero(1), backends.PSD(2)},
			// Z = [1 -1; -1 1]/2: tr Z [x 2; 2 y] = (x + y)/2 - 2 = -1
		}, []float64{0.5, 0.5, -r / 2, 0.5}),
		infeasible("exponential", "(1, 1, w) with w <= 2 < e", limited(1, 1, 2, backends.Exponential()),
			[]float64{-k, 0, k / e, -k, 0, k / e}),
		infeasible("dual exponential", "(-1, 0, w) with w <= 0.1 < 1/e", limited(-1, 0, 0.1, backends.DualExponential()),
			[]float64{l, l, l * e, l, l, l * e}),
		infeasible("power", "1^a 1^(1-a) < 2", fixed([]float64{1, 1, 2}, backends.Power(a)),
			[]float64{a, 1 - a, -1, a, 1 - a, -1}),
		infeasible("dual power", "(a/a)^a ((1-a)/(1-a))^(1-a) < 2", fixed([]float64{a, 1 - a, 2}, backends.DualPower(a)),
			[]float64{1, 1, -1, 1, 1, -1}),
	}
}

func unboundedCases() []Case {
	shifted := func(p *backends.Problem, b ...float64) *backends.Problem { p.B = b; return p }
	return []Case{
		unbounded("free", "min x without a row", &backends.Problem{Q: []float64{1}}, []float64{-1}),
		unbounded("quadratic, free", "the objective is linear in y", &backends.Problem{
			P: upper([]float64{1, 0}, []float64{0, 0}), Q: []float64{0, 1},
		}, []float64{0, -1}),
		unbounded("zero", "x runs along x + y = 0", &backends.Problem{
			Q: []float64{1, 0}, A: matrix(2, []float64{1, 1}), B: []float64{0}, Cones: []backends.Cone{backends.Zero(1)},
		}, []float64{-1, 1}),
		unbounded("nonnegative", "min -x with x >= -1", shifted(self([]float64{-1}, backends.Nonnegative(1)), 1), []float64{1}),
		unbounded("box", "x has no upper bound, y in [0, 1]", self([]float64{-1, 1}, backends.Box([]float64{0, 0}, []float64{inf, 1})), []float64{1, 0}),
		unbounded("box, upper bound alone", "x <= 1 and min x", self([]float64{1}, backends.Box([]float64{-inf}, []float64{1})), []float64{-1}),
		unbounded("box, no bounds", "a row without bounds holds nothing", self([]float64{1}, backends.Box([]float64{-inf}, []float64{inf})), []float64{-1}),
		unbounded("second-order", "min t/2 - y with |(x, y)| <= t", self([]float64{0.5, 0, -1}, backends.SecondOrder(3)), []float64{2, 0, 2}),
		unbounded("psd", "min -tr X", self([]float64{-1, 0, -1}, backends.PSD(2)), []float64{0.5, 0, 0.5}),
		unbounded("exponential", "w grows from any point of the cone", self([]float64{0, 0, -1}, backends.Exponential()), []float64{0, 0, 1}),
		unbounded("dual exponential", "w grows from any point of the cone", self([]float64{0, 0, -1}, backends.DualExponential()), []float64{0, 0, 1}),
		unbounded("power", "u grows from any point of the cone", self([]float64{-1, 0, 0}, backends.Power(0.4)), []float64{1, 0, 0}),
		unbounded("dual power", "u grows from any point of the cone", self([]float64{-1, 0, 0}, backends.DualPower(0.4)), []float64{1, 0, 0}),
	}
}
