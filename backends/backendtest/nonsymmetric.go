package backendtest

import (
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
)

func psdCases() []Case {
	r := math.Sqrt2
	return []Case{
		optimal("psd/smallest eigenvalue", "min tr CX, tr X = 1, for C = [2 1; 1 2]: X = vv', Z = C - I", 1,
			&backends.Problem{
				Q: []float64{2, r, 2}, A: matrix(3, []float64{1, 0, 1}, []float64{-1, 0, 0}, []float64{0, -1, 0}, []float64{0, 0, -1}),
				B: []float64{1, 0, 0, 0}, Cones: []backends.Cone{backends.Zero(1), backends.PSD(2)},
			}, []float64{0.5, -r / 2, 0.5}, []float64{-1, 1, r, 1}),
		optimal("psd/projection", "[0 2; 2 0] has the eigenvalues 2 and -2; X = [1 1; 1 1], Z = X - C", -2,
			projection([]float64{0, -2 * r, 0}, backends.PSD(2)), []float64{1, r, 1}, []float64{1, -r, 1}),
		optimal("psd/diagonal of order 3", "diag(1, -2, 3) goes to diag(1, 0, 3)", -5,
			projection([]float64{-1, 0, 0, 2, 0, -3}, backends.PSD(3)), []float64{1, 0, 0, 0, 0, 3},
			[]float64{0, 0, 0, 2, 0, 0}),
		optimal("psd/order 1", "a 1 x 1 matrix is a nonnegative number", 2,
			&backends.Problem{Q: []float64{1}, A: matrices.Identity(1, -1), B: []float64{-2}, Cones: []backends.Cone{backends.PSD(1)}},
			[]float64{2}, []float64{1}),
		optimal("psd/linear matrix inequality", "[x 1; 1 1] >= 0 is x >= 1", 1,
			&backends.Problem{
				Q: []float64{1}, A: matrix(1, []float64{-1}, []float64{0}, []float64{0}), B: []float64{0, r, 1}, Cones: []backends.Cone{backends.PSD(2)},
			}, []float64{1}, []float64{1, -r, 1}),
	}
}

func exponentialCases() []Case {
	log3 := math.Log(3)
	entropyRows := [][]float64{{1, 1, 1, 0, 0, 0}}
	entropyB := []float64{1}
	entropyZ := []float64{log3 - 1}
	for i := range 3 {
		h, x := make([]float64, 6), make([]float64, 6)
		h[3+i], x[i] = -1, -1
		entropyRows = append(entropyRows, h, x, make([]float64, 6))
		entropyB = append(entropyB, 0, 0, 1)
		entropyZ = append(entropyZ, -1, log3-1, 1./3)
	}
	return []Case{
		optimal("exponential/e", "the least w with (1, 1, w) in the cone", math.E,
			&backends.Problem{
				Q: []float64{1}, A: matrix(1, []float64{0}, []float64{0}, []float64{-1}), B: []float64{1, 1, 0},
				Cones: []backends.Cone{backends.Exponential()},
			}, []float64{math.E}, []float64{-math.E, 0, 1}),
		optimal("exponential/entropy", "the largest entropy on the simplex is at its centre", -log3,
			&backends.Problem{
				Q: []float64{0, 0, 0, -1, -1, -1}, A: matrix(6, entropyRows...), B: entropyB,
				Cones: []backends.Cone{backends.Zero(1), backends.Exponential(), backends.Exponential(), backends.Exponential()},
			}, []float64{1. / 3, 1. / 3, 1. / 3, log3 / 3, log3 / 3, log3 / 3}, entropyZ),
		optimal("exponential/quadratic", "min x^2/2 + exp(x) - 2x at x + exp(x) = 2", 0.4428544010023886*0.4428544010023886/2+2-3*0.4428544010023886,
			&backends.Problem{
				P: upper([]float64{1, 0}, []float64{0, 0}), Q: []float64{-2, 1},
				A: matrix(2, []float64{-1, 0}, []float64{0, 0}, []float64{0, -1}), B: []float64{0, 1, 0}, Cones: []backends.Cone{backends.Exponential()},
			}, []float64{0.4428544010023886, 2 - 0.4428544010023886},
			// z = (-e^x, (x - 1) e^x, 1), the gradient of w - v exp(u/v)
			[]float64{-(2 - 0.4428544010023886), (0.4428544010023886 - 1) * (2 - 0.4428544010023886), 1}),
		optimal("dual exponential/1 over e", "the least w with (-1, 0, w) in the cone", 1/math.E,
			&backends.Problem{
				Q: []float64{1}, A: matrix(1, []float64{0}, []float64{0}, []float64{-1}), B: []float64{-1, 0, 0},
				Cones: []backends.Cone{backends.DualExponential()},
			}, []float64{1 / math.E}, []float64{1 / math.E, 1 / math.E, 1}),
	}
}

func powerCases() []Case {
	const a = 0.3
	w := math.Pow(a, a) * math.Pow(1-a, 1-a)
	rows := func() *backends.Problem {
		return &backends.Problem{
			Q: []float64{0, 0, -1}, A: matrix(3, []float64{1, 1, 0}, []float64{-1, 0, 0}, []float64{0, -1, 0}, []float64{0, 0, -1}), B: []float64{1, 0, 0, 0},
		}
	}
	primal, dual := rows(), rows()
	primal.Cones = []backends.Cone{backends.Zero(1), backends.Power(a)}
	dual.Cones = []backends.Cone{backends.Zero(1), backends.DualPower(a)}
	return []Case{
		optimal("power/weighted mean", "u^a v^(1-a) with u + v = 1 is largest at u = a", -w, primal, []float64{a, 1 - a, w}, []float64{w, w, w, -1}),
		optimal("dual power/weighted mean", "(u/a)^a (v/(1-a))^(1-a) with u + v = 1 is largest at u = a, where it is 1", -1,
			dual, []float64{a, 1 - a, 1}, []float64{1, 1, 1, -1}),
	}
}
