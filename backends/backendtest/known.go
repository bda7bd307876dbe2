package backendtest

import (
	"math"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/planted"
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

// known is the case with what is known about it.
func (c Case) known() *planted.Case {
	out := &planted.Case{Instance: planted.Of(c.Problem)}
	switch c.Status {
	case backends.PrimalInfeasible:
		out.Class, out.Farkas = planted.Infeasible, c.Z
	case backends.DualInfeasible:
		out.Class, out.Ray = planted.Unbounded, c.X
	default:
		out.Truth = planted.Truth{X: c.X, S: c.Problem.Slack(c.X), DualX: c.X, Z: c.Z}
	}
	out.Measure()
	return out
}

// Cases returns all cases with answers by hand, built anew: of each cone one that shows its multipliers and their
// signs, and shapes that package planted does not draw, without rows or entries.
func Cases() []Case { return slices.Concat(intervalCases(), coneCases(), emptyCases()) }

// matrix returns the compressed columns of the nonzero entries of the rows.
func matrix(cols int, rows ...[]float64) *sparse.CSC {
	return matrices.Of(len(rows), cols, func(i, j int) float64 { return rows[i][j] })
}

// optimal completes a case whose X and Z are given and unique.
func optimal(name, reason string, objective float64, p *backends.Problem, x, z []float64) Case {
	return Case{
		Name: name, Reason: reason, Problem: p, Status: backends.Optimal, X: x, Z: z, Objective: objective,
		UniqueX: true, UniqueZ: true,
	}
}

// anyDual marks a case whose multipliers are not unique.
func anyDual(c Case) Case { c.UniqueZ = false; return c }

// anyPrimal marks a case whose x is not unique.
func anyPrimal(c Case) Case { c.UniqueX = false; return c }

func infeasible(name, reason string, p *backends.Problem, z []float64) Case {
	return Case{Name: "primal infeasible/" + name, Reason: reason, Problem: p, Status: backends.PrimalInfeasible, Z: z}
}

// self is min q'x for x in the cone.
func self(q []float64, c backends.Cone) *backends.Problem {
	n := len(q)
	return &backends.Problem{Q: q, A: matrices.Identity(n, -1), B: make([]float64, n), Cones: []backends.Cone{c}}
}

// projection is min |x|^2/2 + q'x for x in the cone.
func projection(q []float64, c backends.Cone) *backends.Problem {
	p := self(q, c)
	p.P = matrices.Identity(len(q), 1)
	return p
}

// onSimplex is q'x for x in the cone, with the first k variables of the sum 1.
func onSimplex(k int, q []float64, c backends.Cone) *backends.Problem {
	p := self(q, c)
	p.A = matrices.Of(1+len(q), len(q), func(i, j int) float64 {
		switch {
		case i == 0 && j < k:
			return 1
		case i == 1+j:
			return -1
		}
		return 0
	})
	p.B, p.Cones = append([]float64{1}, p.B...), []backends.Cone{backends.Zero(1), c}
	return p
}

var inf = math.Inf(1)

// intervalCases have zero, nonnegative and box rows.
func intervalCases() []Case {
	return []Case{
		optimal("lp/inequalities", "x + y = 4 and x = 3 bind: q + A'z = 0 gives z1 = 2, z3 = 1", -11,
			&backends.Problem{
				Q: []float64{-3, -2},
				A: matrix(2, []float64{1, 1}, []float64{1, 3}, []float64{1, 0}, []float64{-1, 0}, []float64{0, -1}),
				B: []float64{4, 9, 3, 0, 0}, Cones: []backends.Cone{backends.Nonnegative(5)},
			}, []float64{3, 1}, []float64{2, 0, 1, 0, 0}),
		optimal("lp/one bound", "min x with x >= -b has the value -b and the derivative -1 in b", -0.5,
			&backends.Problem{
				Q: []float64{1}, A: matrix(1, []float64{-1}), B: []float64{0.5}, Cones: []backends.Cone{backends.Nonnegative(1)},
			}, []float64{-0.5}, []float64{1}),
		optimal("qp/unconstrained", "m = 0: 2x + y = 4, x + 3y = 7", -9,
			&backends.Problem{P: matrix(2, []float64{2, 1}, []float64{0, 3}), Q: []float64{-4, -7}},
			[]float64{1, 2}, []float64{}),
		optimal("qp/least squares", "residuals e = Mx - y with P = I on e; the mean of 1, 2, 6 is 3", 7,
			&backends.Problem{
				P:     matrix(4, []float64{0, 0, 0, 0}, []float64{0, 1, 0, 0}, []float64{0, 0, 1, 0}, []float64{0, 0, 0, 1}),
				Q:     []float64{0, 0, 0, 0},
				A:     matrix(4, []float64{1, -1, 0, 0}, []float64{1, 0, -1, 0}, []float64{1, 0, 0, -1}),
				B:     []float64{1, 2, 6},
				Cones: []backends.Cone{backends.Zero(3)},
			}, []float64{3, 2, 1, -3}, []float64{2, 1, -3}),
		optimal("box/every kind of bound", "zero projected on [1, inf), (-inf, -2], the line and [3, 3]; z = x", 7,
			projection(make([]float64, 4), backends.Box([]float64{1, -inf, -inf, 3}, []float64{inf, -2, inf, 3})),
			[]float64{1, -2, 0, 3}, []float64{1, -2, 0, 3}),
		optimal("box/shifted", "1 <= 5 - x <= 4 is 1 <= x <= 4; s = 4 at its upper bound", 1,
			&backends.Problem{
				Q: []float64{1}, A: matrix(1, []float64{1}), B: []float64{5},
				Cones: []backends.Cone{backends.Box([]float64{1}, []float64{4})},
			}, []float64{1}, []float64{-1}),
		optimal("box/thin", "[1, 1 + 1e-5] with the objective pulling down", 1,
			self([]float64{1}, backends.Box([]float64{1}, []float64{1 + 1e-5})), []float64{1}, []float64{1}),
		infeasible("nonnegative", "x <= -1 and x >= 0", &backends.Problem{
			Q: []float64{1}, A: matrix(1, []float64{1}, []float64{-1}), B: []float64{-1, 0},
			Cones: []backends.Cone{backends.Nonnegative(2)},
		}, []float64{1, 1}),
		{Name: "dual infeasible/nonnegative", Reason: "min -x with x >= 0", Status: backends.DualInfeasible,
			Problem: self([]float64{-1}, backends.Nonnegative(1)), X: []float64{1}},
	}
}

// coneCases have one or two of each other cone.
func coneCases() []Case {
	const a = 0.3
	r, w := math.Sqrt2, math.Pow(a, a)*math.Pow(1-a, 1-a)
	third := 1. / 3
	// The columns (1, 2, 2) and (2, 1, -2) are orthogonal and of length 3, so that the matrix with these as columns,
	// times u and v, has the singular values 3|u| and 3|v|. By columns, it is above t, and so is its transpose.
	tall := func(t, u, v float64) []float64 { return []float64{t, u, 2 * u, 2 * u, 2 * v, v, -2 * v} }
	wide := func(t, u, v float64) []float64 { return []float64{t, u, 2 * v, 2 * u, v, 2 * u, -2 * v} }
	return []Case{
		optimal("soc/projection", "(0, 3, 4) goes to (t + |v|)/2 (1, v/|v|); z = x - c", -6.25,
			projection([]float64{0, -3, -4}, backends.SecondOrder(3)), []float64{2.5, 1.5, 2}, []float64{2.5, -1.5, -2}),
		optimal("soc/rotated", "xy >= 1 as |(x - y, 2)| <= x + y", 2,
			&backends.Problem{
				Q: []float64{1, 1}, A: matrix(2, []float64{-1, -1}, []float64{-1, 1}, []float64{0, 0}),
				B:     []float64{0, 0, 2},
				Cones: []backends.Cone{backends.SecondOrder(3)},
			}, []float64{1, 1}, []float64{1, 0, -1}),
		optimal("psd/smallest eigenvalue", "min tr CX, tr X = 1, for C = [2 1; 1 2]: X = vv', Z = C - I", 1,
			&backends.Problem{
				Q: []float64{2, r, 2},
				A: matrix(3, []float64{1, 0, 1}, []float64{-1, 0, 0}, []float64{0, -1, 0}, []float64{0, 0, -1}),
				B: []float64{1, 0, 0, 0}, Cones: []backends.Cone{backends.Zero(1), backends.PSD(2)},
			}, []float64{0.5, -r / 2, 0.5}, []float64{-1, 1, r, 1}),
		optimal("psd/diagonal of order 3", "diag(1, -2, 3) goes to diag(1, 0, 3)", -5,
			projection([]float64{-1, 0, 0, 2, 0, -3}, backends.PSD(3)), []float64{1, 0, 0, 0, 0, 3},
			[]float64{0, 0, 0, 2, 0, 0}),
		optimal("psd/linear matrix inequality", "[x 1; 1 1] >= 0 is x >= 1", 1,
			&backends.Problem{
				Q: []float64{1}, A: matrix(1, []float64{-1}, []float64{0}, []float64{0}), B: []float64{0, r, 1},
				Cones: []backends.Cone{backends.PSD(2)},
			}, []float64{1}, []float64{1, -r, 1}),
		optimal("exponential/e", "the least w with (1, 1, w) in the cone", math.E,
			&backends.Problem{
				Q: []float64{1}, A: matrix(1, []float64{0}, []float64{0}, []float64{-1}), B: []float64{1, 1, 0},
				Cones: []backends.Cone{backends.Exponential()},
			}, []float64{math.E}, []float64{-math.E, 0, 1}),
		optimal("dual exponential/1 over e", "the least w with (-1, 0, w) in the cone", 1/math.E,
			&backends.Problem{
				Q: []float64{1}, A: matrix(1, []float64{0}, []float64{0}, []float64{-1}), B: []float64{-1, 0, 0},
				Cones: []backends.Cone{backends.DualExponential()},
			}, []float64{1 / math.E}, []float64{1 / math.E, 1 / math.E, 1}),
		optimal("power/weighted mean", "u^a v^(1-a) with u + v = 1 is largest at u = a", -w,
			onSimplex(2, []float64{0, 0, -1}, backends.Power(a)), []float64{a, 1 - a, w}, []float64{w, w, w, -1}),
		optimal("dual power/weighted mean", "(u/a)^a (v/(1-a))^(1-a) with u + v = 1 is at most 1, at u = a", -1,
			onSimplex(2, []float64{0, 0, -1}, backends.DualPower(a)), []float64{a, 1 - a, 1}, []float64{1, 1, 1, -1}),
		optimal("generalized power/geometric mean", "that of four numbers of sum 1 is largest at a quarter each", -0.25,
			onSimplex(4, []float64{0, 0, 0, 0, -1}, backends.GeneralizedPower([]float64{0.25, 0.25, 0.25, 0.25}, 1)),
			[]float64{0.25, 0.25, 0.25, 0.25, 0.25}, []float64{0.25, 0.25, 0.25, 0.25, 0.25, -1}),
		optimal("dual generalized power/weighted mean", "prod (x_i/w_i)^w_i is 1 at x = w, where it is largest", -5,
			onSimplex(3, []float64{0, 0, 0, -3, -4}, backends.DualGeneralizedPower([]float64{0.2, 0.5, 0.3}, 2)),
			[]float64{0.2, 0.5, 0.3, 0.6, 0.8}, []float64{5, 5, 5, 5, -3, -4}),
		optimal("nuclear norm/of a matrix", "singular values 3 and 6, the multiplier is (1, -UV')", 9, &backends.Problem{
			Q: []float64{1}, A: matrices.Of(7, 1, func(i, _ int) float64 { return float64(min(i, 1) - 1) }),
			B: tall(0, 1, 2), Cones: []backends.Cone{backends.NuclearNorm(3, 2)},
		}, []float64{9}, tall(1, -third, -third)),
		optimal("nuclear norm/largest singular value", "min tr C'X on |X|_* <= 1 is -6 at X = -uv'; Z = C and t = 6", -6,
			&backends.Problem{
				Q: wide(0, 1, 2)[1:], B: wide(1, 0, 0), Cones: []backends.Cone{backends.NuclearNorm(2, 3)},
				A: matrices.Of(7, 6, func(i, j int) float64 {
					if i == j+1 {
						return -1
					}
					return 0
				}),
			}, wide(0, 0, -third)[1:], wide(6, 1, 2)),
	}
}

// emptyCases have no rows, no objective, rows without entries, or cones without rows.
func emptyCases() []Case {
	nonneg, box, soc := backends.Nonnegative, backends.Box, backends.SecondOrder
	return []Case{
		anyPrimal(optimal("empty/nothing at all", "P = 0, q = 0, m = 0", 0,
			&backends.Problem{Q: []float64{0, 0}}, []float64{0, 0}, []float64{})),
		optimal("empty/stored zeros", "explicit zeros in P and A mean nothing: x = 2", 2, &backends.Problem{
			P: sparse.NewCSC(2, 2, []int{0, 1, 3}, []int{0, 0, 1}, []float64{1, 0, 1}), Q: []float64{0, 0},
			A: sparse.NewCSC(1, 2, []int{0, 1, 2}, []int{0, 0}, []float64{1, 0}), B: []float64{2},
			Cones: []backends.Cone{backends.Zero(1)},
		}, []float64{2, 0}, []float64{-2}),
		optimal("empty/cones", "cones of dimension 0 between the others", -0.5, &backends.Problem{
			Q: []float64{1}, A: matrix(1, []float64{-1}), B: []float64{0.5},
			Cones: []backends.Cone{backends.Zero(0), soc(0), nonneg(1), box(nil, nil), nonneg(0)},
		}, []float64{-0.5}, []float64{1}),
		anyDual(optimal("empty/rows", "rows of zeros with b in the cone", 1, &backends.Problem{
			Q: []float64{1}, A: matrix(1, []float64{0}, []float64{0}, []float64{-1}, []float64{0}, []float64{0}, []float64{0}),
			B:     []float64{0, 3, -1, 0.5, 2, 1},
			Cones: []backends.Cone{backends.Zero(1), nonneg(2), box([]float64{0}, []float64{1}), soc(2)},
		}, []float64{1}, []float64{0, 0, 1, 0, 0, 0})),
	}
}

func (s suite) known(t *testing.T) {
	for _, c := range s.cases {
		t.Run(c.Name, func(t *testing.T) { s.check(t, c, s.once(t, c.Problem)) })
	}
	t.Run("infeasible both ways", func(t *testing.T) {
		// 0 x = 1 with min x: z = -1 and x = -1 are both certificates.
		c := planted.Case{Instance: planted.Instance{Q: []float64{1}, A: [][]float64{{0}}, B: []float64{1},
			Cones: []backends.Cone{backends.Zero(1)}},
			Truth: planted.Truth{Class: planted.Both, Farkas: []float64{-1}, Ray: []float64{-1}}}
		if v := c.Judge(s.once(t, c.Problem())); v.Outcome != planted.Right {
			t.Errorf("%v: %s", v.Outcome, v.Detail)
		}
	})
}
