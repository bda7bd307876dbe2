package backendtest

import (
	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
)

// degenerateCases are those on which textbook assumptions fail.
func degenerateCases() []Case {
	nonneg, box, soc := backends.Nonnegative, backends.Box, backends.SecondOrder
	noColumns := func(m int) *sparse.CSC { return sparse.NewCSC(m, 0, []int{0}, []int{}, []float64{}) }
	return []Case{
		anyPrimal(anyDual(optimal("degenerate/feasibility", "P = 0 and q = 0: any feasible point", 0, &backends.Problem{
			Q: []float64{0, 0}, A: matrix(2, []float64{1, 1}, []float64{-1, 0}, []float64{0, -1}), B: []float64{1, 0, 0}, Cones: []backends.Cone{nonneg(3)},
		}, []float64{0.2, 0.3}, []float64{0, 0, 0}))),
		anyPrimal(optimal("degenerate/nothing at all", "P = 0, q = 0, m = 0", 0, &backends.Problem{Q: []float64{0, 0}}, []float64{0, 0}, []float64{})),
		optimal("degenerate/stored zeros", "explicit zeros in P and A mean nothing: x = 2", 2, &backends.Problem{
			P: sparse.NewCSC(2, 2, []int{0, 1, 3}, []int{0, 0, 1}, []float64{1, 0, 1}), Q: []float64{0, 0},
			A: sparse.NewCSC(1, 2, []int{0, 1, 2}, []int{0, 0}, []float64{1, 0}), B: []float64{2}, Cones: []backends.Cone{backends.Zero(1)},
		}, []float64{2, 0}, []float64{-2}),
		optimal("degenerate/not strictly complementary", "the minimum of x^2/2 lies on the bound x >= 0", 0,
			projection([]float64{0}, nonneg(1)), []float64{0}, []float64{0}).loosely(),
		anyDual(optimal("degenerate/no interior", "x <= 1 and x >= 1", 0.5, &backends.Problem{
			P: matrices.Identity(1, 1), Q: []float64{0}, A: matrix(1, []float64{1}, []float64{-1}), B: []float64{1, -1}, Cones: []backends.Cone{nonneg(2)},
		}, []float64{1}, []float64{0, 1})),
		anyDual(optimal("degenerate/cone at its apex only", "|x| <= t <= 0", 0, &backends.Problem{
			P: matrices.Identity(2, 1), Q: []float64{0, 0}, A: matrix(2, []float64{-1, 0}, []float64{0, -1}, []float64{1, 0}), B: []float64{0, 0, 0},
			Cones: []backends.Cone{soc(2), nonneg(1)},
		}, []float64{0, 0}, []float64{0, 0, 0})).loosely(),
		optimal("degenerate/empty cones", "cones of dimension 0 between the others", -0.5, &backends.Problem{
			Q: []float64{1}, A: matrix(1, []float64{-1}), B: []float64{0.5},
			Cones: []backends.Cone{backends.Zero(0), soc(0), nonneg(1), box(nil, nil), nonneg(0)},
		}, []float64{-0.5}, []float64{1}),
		anyDual(optimal("degenerate/zero rows inside", "rows of zeros with b in the cone", 1, &backends.Problem{
			Q: []float64{1}, A: matrix(1, []float64{0}, []float64{0}, []float64{-1}, []float64{0}, []float64{0}, []float64{0}), B: []float64{0, 3, -1, 0.5, 2, 1},
			Cones: []backends.Cone{backends.Zero(1), nonneg(2), box([]float64{0}, []float64{1}), soc(2)},
		}, []float64{1}, []float64{0, 0, 1, 0, 0, 0})),
		infeasible("zero row, equation", "0 = 1", &backends.Problem{
			Q: []float64{1}, A: matrix(1, []float64{0}, []float64{-1}), B: []float64{1, 0}, Cones: []backends.Cone{backends.Zero(1), nonneg(1)},
		}, []float64{-1, 0}),
		infeasible("zero row, inequality", "0 <= -1", &backends.Problem{
			Q: []float64{1}, A: matrix(1, []float64{0}, []float64{-1}), B: []float64{-1, 0}, Cones: []backends.Cone{nonneg(2)},
		}, []float64{1, 0}),
		infeasible("zero row, box", "5 in [0, 1]", &backends.Problem{
			Q: []float64{1}, A: matrix(1, []float64{0}, []float64{-1}), B: []float64{5, 0}, Cones: []backends.Cone{box([]float64{0, 0}, []float64{1, 1})},
		}, []float64{-0.25, 0}),
		infeasible("zero row, second-order", "|2| <= 1", &backends.Problem{
			P: matrices.Identity(1, 1), Q: []float64{1}, A: matrix(1, []float64{0}, []float64{0}), B: []float64{1, 2}, Cones: []backends.Cone{soc(2)},
		}, []float64{1, -1}),
		anyDual(optimal("degenerate/no variables", "n = 0 with b in the cone", 0, &backends.Problem{
			Q: []float64{}, A: noColumns(5), B: []float64{0, 1, 0.5, 2, 1},
			Cones: []backends.Cone{backends.Zero(1), nonneg(1), box([]float64{0}, []float64{1}), soc(2)},
		}, []float64{}, make([]float64, 5))),
		optimal("degenerate/no variables, no rows", "n = 0, m = 0", 0, &backends.Problem{}, []float64{}, []float64{}),
		infeasible("no variables, equation", "n = 0 and b = -2", &backends.Problem{
			A: noColumns(1), B: []float64{-2}, Cones: []backends.Cone{backends.Zero(1)},
		}, []float64{0.5}),
		infeasible("no variables, inequality", "n = 0 and b = (1, -2)", &backends.Problem{
			A: noColumns(2), B: []float64{1, -2}, Cones: []backends.Cone{nonneg(2)},
		}, []float64{0, 0.5}),
		infeasible("no variables, box", "n = 0 and b = 3 in [0, 1]", &backends.Problem{
			A: noColumns(1), B: []float64{3}, Cones: []backends.Cone{box([]float64{0}, []float64{1})},
		}, []float64{-0.5}),
		infeasible("no variables, second-order", "n = 0 and |(0, 2)| <= 1", &backends.Problem{
			A: noColumns(3), B: []float64{1, 0, 2}, Cones: []backends.Cone{soc(3)},
		}, []float64{1, 0, -1}),
	}
}

// loosely marks a case whose point the tolerance determines to its square root
// only, so that its entries are not compared.
func (c Case) loosely() Case { c.UniqueX, c.UniqueZ = false, false; return c }
