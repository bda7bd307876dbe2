package backendtest

import (
	"math"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
)

// Case is a problem with a known answer.
type Case struct {
	Name    string
	Reason  string // how the answer follows
	Problem *backends.Problem
	Status  backends.Status
	// X and Z are a primal-dual solution. With PrimalInfeasible only Z is given and
	// is a certificate, with DualInfeasible only X.
	X, Z []float64
	// Objective is the optimal value.
	Objective float64
	// UniqueX and UniqueZ say that there is no other solution, and that it is
	// well enough conditioned to be compared entry by entry.
	UniqueX, UniqueZ bool
}

// Cases returns all cases with known answers, built anew.
func Cases() []Case {
	return slices.Concat(linearCases(), quadraticCases(), boxCases(), secondOrderCases(), psdCases(),
		exponentialCases(), powerCases(), generalizedPowerCases(), nuclearCases(), degenerateCases(), infeasibleCases(), unboundedCases())
}

// matrix returns the compressed columns of the nonzero entries of the rows.
func matrix(cols int, rows ...[]float64) *sparse.CSC {
	return matrices.Of(len(rows), cols, func(i, j int) float64 { return rows[i][j] })
}

// upper returns the upper triangle of a symmetric matrix given by its rows.
func upper(rows ...[]float64) *sparse.CSC {
	return matrices.Of(len(rows), len(rows), func(i, j int) float64 {
		if i > j {
			return 0
		}
		return rows[i][j]
	})
}

// optimal completes a case whose X and Z are given and unique.
func optimal(name, reason string, objective float64, p *backends.Problem, x, z []float64) Case {
	return Case{Name: name, Reason: reason, Problem: p, Status: backends.Optimal, X: x, Z: z, Objective: objective, UniqueX: true, UniqueZ: true}
}

// anyDual marks a case whose multipliers are not unique.
func anyDual(c Case) Case { c.UniqueZ = false; return c }

// anyPrimal marks a case whose x is not unique.
func anyPrimal(c Case) Case { c.UniqueX = false; return c }

var inf = math.Inf(1)

func linearCases() []Case {
	return []Case{
		optimal("lp/inequalities", "x + y = 4 and x = 3 bind: q + A'z = 0 gives z1 = 2, z3 = 1", -11,
			&backends.Problem{
				Q: []float64{-3, -2},
				A: matrix(2, []float64{1, 1}, []float64{1, 3}, []float64{1, 0}, []float64{-1, 0}, []float64{0, -1}),
				B: []float64{4, 9, 3, 0, 0}, Cones: []backends.Cone{backends.Nonnegative(5)},
			}, []float64{3, 1}, []float64{2, 0, 1, 0, 0}),
		optimal("lp/simplex", "all weight on the cheapest entry, whose cost is the multiplier", 1,
			&backends.Problem{
				Q: []float64{1, 2, 3},
				A: matrix(3, []float64{1, 1, 1}, []float64{-1, 0, 0}, []float64{0, -1, 0}, []float64{0, 0, -1}),
				B: []float64{1, 0, 0, 0}, Cones: []backends.Cone{backends.Zero(1), backends.Nonnegative(3)},
			}, []float64{1, 0, 0}, []float64{-1, 0, 1, 2}),
		optimal("lp/one bound", "min x with x >= -b has the value -b and the derivative -1 in b", -0.5,
			&backends.Problem{Q: []float64{1}, A: matrix(1, []float64{-1}), B: []float64{0.5}, Cones: []backends.Cone{backends.Nonnegative(1)}},
			[]float64{-0.5}, []float64{1}),
		anyPrimal(optimal("lp/flat face", "every point of the face x + y = 1 is optimal", 1,
			&backends.Problem{
				Q: []float64{1, 1}, A: matrix(2, []float64{-1, -1}, []float64{-1, 0}, []float64{0, -1}),
				B: []float64{-1, 0, 0}, Cones: []backends.Cone{backends.Nonnegative(3)},
			}, []float64{0.5, 0.5}, []float64{1, 0, 0})),
	}
}

func quadraticCases() []Case {
	return []Case{
		optimal("qp/equality", "x + y = 2 nearest to the origin; x + z = 0", 1,
			&backends.Problem{
				P: matrices.Identity(2, 1), Q: []float64{0, 0}, A: matrix(2, []float64{1, 1}), B: []float64{2}, Cones: []backends.Cone{backends.Zero(1)},
			}, []float64{1, 1}, []float64{-1}),
		optimal("qp/nonnegative projection", "the positive part of c = (2, -3); z = x - c", -2,
			projection([]float64{-2, 3}, backends.Nonnegative(2)), []float64{2, 0}, []float64{0, 3}),
		optimal("qp/unconstrained", "m = 0: 2x + y = 4, x + 3y = 7", -9,
			&backends.Problem{P: upper([]float64{2, 1}, []float64{1, 3}), Q: []float64{-4, -7}}, []float64{1, 2}, []float64{}),
		optimal("qp/least squares", "residuals e = Mx - y with P = I on e; the mean of 1, 2, 6 is 3", 7,
			&backends.Problem{
				P: upper([]float64{0, 0, 0, 0}, []float64{0, 1, 0, 0}, []float64{0, 0, 1, 0}, []float64{0, 0, 0, 1}), Q: []float64{0, 0, 0, 0},
				A: matrix(4, []float64{1, -1, 0, 0}, []float64{1, 0, -1, 0}, []float64{1, 0, 0, -1}), B: []float64{1, 2, 6},
				Cones: []backends.Cone{backends.Zero(3)},
			}, []float64{3, 2, 1, -3}, []float64{2, 1, -3}),
	}
}

func boxCases() []Case {
	return []Case{
		optimal("box/projection", "c = (2, -3, 0.5) clipped to [-1, 1]; z = x - c", -4.125,
			projection([]float64{-2, 3, -0.5}, backends.Box([]float64{-1, -1, -1}, []float64{1, 1, 1})), []float64{1, -1, 0.5},
			[]float64{-1, 2, 0}),
		optimal("box/every kind of bound", "zero projected on [1, inf), (-inf, -2], the line and [3, 3]; z = x", 7,
			projection(make([]float64, 4), backends.Box([]float64{1, -inf, -inf, 3}, []float64{inf, -2, inf, 3})),
			[]float64{1, -2, 0, 3}, []float64{1, -2, 0, 3}),
		optimal("box/range row", "(3, 3) projected on 1 <= x + y <= 3", -6.75,
			&backends.Problem{
				P: matrices.Identity(2, 1), Q: []float64{-3, -3}, A: matrix(2, []float64{-1, -1}), B: []float64{0},
				Cones: []backends.Cone{backends.Box([]float64{1}, []float64{3})},
			}, []float64{1.5, 1.5}, []float64{-1.5}),
		optimal("box/shifted", "1 <= 5 - x <= 4 is 1 <= x <= 4; s = 4 at its upper bound", 1,
			&backends.Problem{
				Q: []float64{1}, A: matrix(1, []float64{1}), B: []float64{5},
				Cones: []backends.Cone{backends.Box([]float64{1}, []float64{4})},
			}, []float64{1}, []float64{-1}),
		optimal("box/thin", "[1, 1 + 1e-5] with the objective pulling down", 1,
			self([]float64{1}, backends.Box([]float64{1}, []float64{1 + 1e-5})), []float64{1}, []float64{1}),
		optimal("box/all rows free", "rows without bounds do nothing: x = -q", -2.5,
			&backends.Problem{
				P: matrices.Identity(2, 1), Q: []float64{1, 2}, A: matrix(2, []float64{1, 1}, []float64{1, -1}), B: []float64{1, 2},
				Cones: []backends.Cone{backends.Box([]float64{-inf, -inf}, []float64{inf, inf})},
			}, []float64{-1, -2}, []float64{0, 0}),
	}
}

func secondOrderCases() []Case {
	return []Case{
		optimal("soc/projection", "(0, 3, 4) goes to (t + |v|)/2 (1, v/|v|); z = x - c", -6.25,
			projection([]float64{0, -3, -4}, backends.SecondOrder(3)), []float64{2.5, 1.5, 2}, []float64{2.5, -1.5, -2}),
		optimal("soc/rotated", "xy >= 1 as |(x - y, 2)| <= x + y", 2,
			&backends.Problem{
				Q: []float64{1, 1}, A: matrix(2, []float64{-1, -1}, []float64{-1, 1}, []float64{0, 0}), B: []float64{0, 0, 2},
				Cones: []backends.Cone{backends.SecondOrder(3)},
			}, []float64{1, 1}, []float64{1, 0, -1}),
		optimal("soc/inactive", "the minimum (1, 0) lies inside |x| <= 5", -0.5,
			&backends.Problem{
				P: matrices.Identity(2, 1), Q: []float64{-1, 0}, A: matrix(2, []float64{0, 0}, []float64{-1, 0}, []float64{0, -1}), B: []float64{5, 0, 0},
				Cones: []backends.Cone{backends.SecondOrder(3)},
			}, []float64{1, 0}, []float64{0, 0, 0}),
		optimal("soc/apex", "(-5, 3, 0) is in the polar cone and goes to zero; z = -c", 0,
			projection([]float64{5, -3, 0}, backends.SecondOrder(3)), []float64{0, 0, 0}, []float64{5, -3, 0}),
		optimal("soc/dimension 1", "t - 2 >= 0", 2,
			&backends.Problem{Q: []float64{1}, A: matrices.Identity(1, -1), B: []float64{-2}, Cones: []backends.Cone{backends.SecondOrder(1)}},
			[]float64{2}, []float64{1}),
		optimal("soc/dimension 2", "|y| <= x with y = 1; z is a multiple of (1, -1)", 1,
			&backends.Problem{
				Q: []float64{2, -1}, A: matrix(2, []float64{-1, 0}, []float64{0, -1}, []float64{0, 1}), B: []float64{0, 0, 1},
				Cones: []backends.Cone{backends.SecondOrder(2), backends.Zero(1)},
			}, []float64{1, 1}, []float64{2, -2, -1}),
	}
}
