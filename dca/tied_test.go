package dca_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
)

// shrunk are blocks of a point near others, with a radius for each coordinate and one for the sum of squares; no
// coordinate is above 1.
func shrunk(points ...[]float64) dca.Program {
	p := dca.Program{Name: "shrunk", H0: []float64{1, 2, 3}, Radii: 3, Path: [][]float64{{3, 2, 1}, {0.5}}}
	for _, point := range points {
		p.Blocks = append(p.Blocks, func(m *convex.Model, h convex.Expr) dca.Level {
			x := m.Vector("x", len(point))
			loss := convex.Scale(0.5/float64(len(points)), convex.SumSquares(convex.Sub(x, point)))
			return dca.Level{X: []*convex.Variable{x}, Train: loss, Validation: loss, Constraints: []convex.Expr{
				convex.Sub(convex.Abs(x), convex.Slice(h, 0, 2)), convex.Sub(x, 1),
				convex.Sub(convex.Scale(0.5, convex.SumSquares(x)), convex.At(h, 2)),
			}}
		})
	}
	return p
}

// The solution in penalty form is min(1, sign(a) max(0, |a| - w_1 f) / (1 + w_2 g)) in each block, a its point.
func TestTied(t *testing.T) {
	points := [][]float64{{1, -2}, {9, 0.5}}
	factors := [][][]float64{{{1, 0.5, 0}, {0, 0, 2}}, {{0.1, 4, 0}, {0, 0, 1}}}
	p := must.Of(shrunk(points...).Tied(factors))(t)
	require.Equal(t, []float64{0.5, 2}, p.H0)
	require.Equal(t, [][]float64{{6}, {1}}, p.Path)
	kinds := must.Of(p.Kinds())(t)
	require.Equal(t, [][]int{{0}, {1}}, kinds)
	form := must.Of(dca.NewPenalized(p, dca.Settings{Backend: native(t), Solver: backends.Options{Eps: 1e-10}}))(t)
	defer form.Close()
	for _, w := range [][]float64{{0.5, 0.25}, {0.1, 2}} {
		s := must.Of(form.Solve(context.Background(), w, nil))(t)
		var want []float64
		for b, point := range points {
			for i, a := range point {
				v := math.Copysign(math.Max(0, math.Abs(a)-w[0]*factors[b][0][i]), a) / (1 + w[1]*factors[b][1][2])
				want = append(want, math.Min(1, v))
			}
		}
		require.InDeltaSlice(t, want, slices.Concat(s.X...), 1e-6)
	}
	for b, x := range [][]float64{{3, -4}, {0, 1}} {
		p = shrunk(points...).Block(b)
		sizes := must.Of(p.Penalties([][]float64{x}, nil))(t)
		require.Equal(t, [][]float64{{3, 4, 12.5}, {0, 1, 0.5}}[b], sizes)
	}
}

func TestTiedMisuse(t *testing.T) {
	row := []float64{1, 1, 1}
	for want, of := range map[string][][][]float64{
		"factors of 1 blocks, expected 2":            {{row}},
		"block 1 has 2 rows":                         {{row}, {row, row}},
		"block 0 has 0 rows":                         {{}, {}},
		"block 0 has factors [1 1] in row 1":         {{row, {1, 1}}, {row, row}},
		"block 0 has factors [] in row 0":            {{nil}, {row}},
		"block 1 has factors [1 1 -1] in row 0":      {{row}, {{1, 1, -1}}},
		"block 0 has factors [NaN 1 1] in row 0":     {{{math.NaN(), 1, 1}}, {row}},
		"block 0 has factors [1 +Inf 1] in row 0":    {{{1, math.Inf(1), 1}}, {row}},
		"block 0 has factors [0 0 0] in row 1":       {{row, {0, 0, 0}}, {row, row}},
		"radius 1 has no positive factor in block 1": {{row}, {{1, 0, 1}}},
	} {
		_, err := shrunk([]float64{1, 2}, []float64{3, 4}).Tied(of)
		require.ErrorContains(t, err, "dca: shrunk: "+want)
	}
	p := shrunk([]float64{1, 2})
	p.Radii, p.Bounds = 2, 1
	_, err := p.Tied([][][]float64{{{1, 1}}})
	require.ErrorContains(t, err, "of 3 hyperparameters 2 are")
	p = shrunk([]float64{1, 2}, []float64{3, 4})
	whole := p.Blocks[0]
	p.Blocks[0] = func(m *convex.Model, h convex.Expr) dca.Level {
		l := whole(m, h)
		l.Constraints = l.Constraints[:2]
		return l
	}
	_, err = p.Tied([][][]float64{{row}, {row}})
	require.ErrorContains(t, err, "radius 2 is in no constraint")
}
