package separable_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex"
)

// shortest is the point of least norm that interpolates, by a conic program.
func (m model) shortest(t *testing.T, s sample, r []float64) (x [][]float64) {
	c := convex.NewModel()
	vars := m.variables(c, s)
	norm, f := convex.SumSquares(vars[0].Expr()), vars[0].Expr().MulMat(s.x)
	if m.intercept {
		norm, f = norm.Plus(convex.SumSquares(vars[1].Expr())), f.Plus(vars[1].Expr())
	}
	c.Minimize(norm)
	c.Constrain(convex.Equal(f, convex.Const(s.y...)))
	c.Constrain(m.rows(vars[0].Expr(), convex.Const(r...))...)
	res := run(t, c)
	for _, v := range vars {
		x = append(x, res.Value(v))
	}
	return x
}

func TestLeastNormIsThatOfTheConicProgram(t *testing.T) {
	const n, p = 8, 30
	groups := [][]int{{0, 1, 2}, {3}, {4, 9, 14, 19}, {5, 6, 7, 8, 10, 11, 12, 13}, {15, 16, 17, 18}, {20, 21, 22, 23, 24, 25, 26, 27, 28, 29}}
	for k, m := range []model{{}, {intercept: true, sparse: true}, {members: groups}, {members: groups, shared: true, intercept: true}, {members: groups, shared: true, sparse: true}} {
		rng := rand.New(rand.NewPCG(uint64(k), 7))
		s := draw(rng, n, p)
		g := m.data(t, s, draw(rng, 3, p))
		loose := make([]float64, g.Penalties())
		for i := range loose {
			loose[i] = 100
		}
		free, err := g.LeastNorm(context.Background(), loose, 1e-12)
		require.NoError(t, err)
		held := g.Values(free).Penalties
		for i := range held {
			held[i] *= []float64{0.9, 2, 1.5}[i%3]
		}
		if m.members != nil {
			held[1] = 0
		}
		if m.shared {
			held[len(held)-1] = 0.97 * floats.Norm(m.shortest(t, s, held)[0], 1)
		}
		for i, r := range [][]float64{loose, held} {
			x, err := g.LeastNorm(context.Background(), r, 1e-12)
			require.NoError(t, err)
			require.NotNil(t, x, "%d %d", k, i)
			for v, want := range m.shortest(t, s, r) {
				for j := range want {
					require.InDelta(t, want[j], x[v][j], 2e-5, "%d %d %d %d", k, i, v, j)
				}
			}
			for j, v := range g.Values(x).Penalties {
				require.LessOrEqual(t, v, r[j]+1e-12)
			}
		}
	}
}

func TestLeastNormWithoutOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	g := model{}.data(t, draw(rng, 8, 30), draw(rng, 3, 30))
	tight := make([]float64, 30)
	for j := range tight {
		tight[j] = 1e-3
	}
	x, err := g.LeastNorm(context.Background(), tight, 1e-9)
	require.NoError(t, err)
	require.Nil(t, x, "no point within the radii interpolates")
	_, err = g.LeastNorm(context.Background(), tight[:3], math.Inf(1))
	require.Error(t, err)
	done, stop := context.WithCancel(context.Background())
	stop()
	x, err = g.LeastNorm(done, tight, math.Inf(1))
	require.NoError(t, err)
	require.Nil(t, x)
}
