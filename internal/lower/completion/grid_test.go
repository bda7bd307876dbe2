package completion

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// Every entry is in one block, and the blocks of a diagonal have neither rows nor columns in common.
func TestGrid(t *testing.T) {
	d := sampled(130, 90, 6000, 2, 1)
	for _, ranges := range []int{1, 2, 7, 128} {
		g := divide(d.M, d.N, d.Row, d.Col, ranges)
		seen := make([]bool, len(d.Row))
		for diagonal := range ranges {
			rows, cols := map[int]int{}, map[int]int{}
			for b := range ranges {
				at := diagonal*ranges + b
				for place := g.start[at]; place < g.start[at+1]; place++ {
					e := g.entry(place)
					require.False(t, seen[e])
					seen[e] = true
					for of, line := range []map[int]int{rows, cols} {
						i := [2]int{d.Row[e], d.Col[e]}[of]
						if other, met := line[i]; met {
							require.Equal(t, b, other, "two blocks of diagonal %d of %d share line %d", diagonal, ranges, i)
						}
						line[i] = b
					}
				}
			}
		}
		require.NotContains(t, seen, false)
	}
	require.Equal(t, rangesLeast, newGrid(d.M, d.N, d.Row, d.Col).ranges)
}

// Products are those of one block, also where features hold the entries in their order.
func TestProductsByBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	j, _, _ := newJointOf(t, draw(5, 30, 24, 6, 0.6), true)
	centre := [][]float64{normals(rng, 6), normals(rng, 2*(30+24)), {0.3}}
	w := bilevel.JointWeights{Validation: 1, Train: 2, Rho: 0.1, Centre: centre, Penalties: append([]float64{0.2},
		repeat(0.1, len(j.members))...)}
	point := [][]float64{normals(rng, 6), normals(rng, 3*(30+24)), {-0.2}}
	products := func() (at, gradient, hessian tangent, image []float64) {
		f := newFactored(j)
		f.take(point)
		f.weigh(&w)
		f.refresh()
		f.use()
		f.prepare()
		gradient, at, hessian = f.gradient(), f.precondition(f.gradient()), f.zero()
		f.hessian(hessian, gradient)
		return at, gradient, hessian, f.times(point[1][30*3:], 3, false)
	}
	a, g, h, v := products()
	for _, s := range j.sides {
		s.grid = divide(30, 24, s.row, s.col, 5)
	}
	a5, g5, h5, v5 := products()
	for i, pair := range [][2][]float64{{a.A, a5.A}, {a.B, a5.B}, {g.A, g5.A}, {g.B, g5.B}, {g.S, g5.S}, {h.A, h5.A},
		{h.B, h5.B}, {h.S, h5.S}, {v, v5}} {
		require.InDeltaSlice(t, pair[0], pair[1], 1e-11, i)
	}
}

// A completion of many blocks and of products large enough for several threads has the same bytes on one thread and on
// several, and the gap that a dense decomposition of its residual gives.
func TestSameBytesOnAnyThreads(t *testing.T) {
	d := sampled(300, 260, 20000, 4, 9)
	c := must.Of(New(d, false))(t)
	weight := 0.08 * c.LambdaMax()
	solve := func(threads int) *Solution {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		return must.Of(c.Solve(context.Background(), Weights{Nuclear: weight}, Options{Tol: 1e-3}))(t)
	}
	one := solve(1)
	require.Equal(t, outcome.Converged, one.Status)
	_, k := one.Left.Dims()
	require.Greater(t, len(d.Y)*6*k, besideLeast)
	for _, threads := range []int{2, 5} {
		require.Equal(t, one, solve(threads), fmt.Sprint(threads))
	}
	norm := spectral(t, c, one.Residual) / float64(len(d.Y))
	shorten := math.Min(1, weight/norm)
	bound := 0.0
	for e, r := range one.Residual {
		bound += (shorten*r*d.Y[e] - shorten*shorten*r*r/2) / float64(len(d.Y))
	}
	require.LessOrEqual(t, one.Objective-one.Gap, bound+1e-9)
	var g mat.Dense
	g.Mul(one.Left, one.Right.T())
	var svd mat.SVD
	require.True(t, svd.Factorize(&g, mat.SVDNone))
	objective := 0.0
	for _, x := range svd.Values(nil) {
		objective += weight * x
	}
	for e, y := range d.Y {
		r := y - g.At(d.Row[e], d.Col[e])
		objective += r * r / (2 * float64(len(d.Y)))
	}
	require.InDelta(t, objective, one.Objective, 1e-9)
}
