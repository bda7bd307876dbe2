package backendtest

import (
	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
)

// The columns (1, 2, 2) and (2, 1, -2) are orthogonal and of length 3, so that the
// matrix with these as columns, times a and b, has the singular values 3|a| and 3|b|.
func twoColumns(a, b float64) []float64 { return []float64{a, 2 * a, 2 * a, 2 * b, b, -2 * b} }

// twoRows is the transpose of twoColumns, by columns.
func twoRows(a, b float64) []float64 { return []float64{a, 2 * b, 2 * a, b, 2 * a, -2 * b} }

func nuclearCases() []Case {
	of := func(v float64, x []float64) []float64 { return append([]float64{v}, x...) }
	onT := func(n int) [][]float64 { // rows -t and then nothing
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = []float64{0}
		}
		rows[0][0] = -1
		return rows
	}
	shrink := self(of(4, twoColumns(-1, -2)), backends.NuclearNorm(3, 2))
	shrink.P = matrices.Of(7, 7, func(i, j int) float64 {
		if i == j && i > 0 {
			return 1
		}
		return 0
	})
	return []Case{
		optimal("nuclear norm/of a matrix", "singular values 3 and 6, the multiplier is (1, -UV')", 9, &backends.Problem{
			Q: []float64{1}, A: matrix(1, onT(7)...), B: of(0, twoColumns(1, 2)), Cones: []backends.Cone{backends.NuclearNorm(3, 2)},
		}, []float64{9}, of(1, twoColumns(-1./3, -1./3))),
		optimal("nuclear norm/of a wide matrix", "the transpose, with opposite signs", 9, &backends.Problem{
			Q: []float64{1}, A: matrix(1, onT(7)...), B: of(0, twoRows(-1, 2)), Cones: []backends.Cone{backends.NuclearNorm(2, 3)},
		}, []float64{9}, of(1, twoRows(1./3, -1./3))),
		optimal("nuclear norm/largest singular value", "min tr C'X on |X|_* <= 1 is -6 at X = -uv'; Z = C and t = 6", -6, &backends.Problem{
			Q: twoRows(1, 2), B: of(1, make([]float64, 6)), Cones: []backends.Cone{backends.NuclearNorm(2, 3)},
			A: matrices.Of(7, 6, func(i, j int) float64 {
				if i == j+1 {
					return -1
				}
				return 0
			}),
		}, twoRows(0, -1./3), of(6, twoRows(1, 2))),
		optimal("nuclear norm/soft threshold", "singular values 3 and 6 less 4 are 0 and 2", -2,
			shrink, of(2, twoColumns(0, 2./3)), of(4, twoColumns(-1, -4./3))),
		optimal("nuclear norm/number", "|x| <= t with x = -3", 3, &backends.Problem{
			Q: []float64{1}, A: matrix(1, onT(2)...), B: []float64{0, -3}, Cones: []backends.Cone{backends.NuclearNorm(1, 1)},
		}, []float64{3}, []float64{1, 1}),
		infeasible("nuclear norm", "|C|_* = 9 is not below t <= 8", &backends.Problem{
			Q: []float64{1}, A: matrix(1, append(onT(7), []float64{1})...), B: append(of(0, twoColumns(1, 2)), 8),
			Cones: []backends.Cone{backends.NuclearNorm(3, 2), backends.Nonnegative(1)},
		}, append(of(1, twoColumns(-1./3, -1./3)), 1)),
		infeasible("no variables, nuclear norm", "n = 0 and |C|_* = 9 is not below 8", &backends.Problem{
			A: matrices.Of(7, 0, nil), B: of(8, twoColumns(1, 2)), Cones: []backends.Cone{backends.NuclearNorm(3, 2)},
		}, of(1, twoColumns(-1./3, -1./3))),
		unbounded("nuclear norm", "t grows with X", self([]float64{0, -1, 0, 0, 0}, backends.NuclearNorm(2, 2)),
			[]float64{1, 1, 0, 0, 0}),
	}
}
