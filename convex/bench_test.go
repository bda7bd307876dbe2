package convex_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/convex"
)

// elasticNet is the lower level of an elastic net: min |Xb - y|^2 / 2n subject
// to |b|_1 <= h_0 and 1/2 |b|^2 <= h_1.
type elasticNet struct {
	m            *convex.Model
	b            *convex.Variable
	h            *convex.Parameter
	norm1, norm2 *convex.Constraint
}

func newElasticNet(rng *rand.Rand, n, p int) elasticNet {
	x, y := regression(rng, n, p, min(15, p))
	m := convex.NewModel()
	e := elasticNet{m: m, b: m.Variable("b", p), h: m.Parameter("h", 2)}
	m.Minimize(convex.SumSquares(e.b.Expr().MulMat(x).Minus(convex.Const(y...))).Scale(1 / float64(2*n)))
	e.norm1 = convex.LessEqual(convex.Norm1(e.b.Expr()), e.h.Expr().At(0))
	e.norm2 = convex.LessEqual(convex.SumSquares(e.b.Expr()).Scale(.5), e.h.Expr().At(1))
	m.Constrain(e.norm1, e.norm2)
	return e
}

// BenchmarkWorkingSet measures one solve from scratch and one at a changed parameter.
func BenchmarkWorkingSet(b *testing.B) {
	for _, p := range []int{250, 2500} {
		for _, again := range []bool{false, true} {
			b.Run(fmt.Sprintf("p=%d/again=%v", p, again), func(b *testing.B) {
				e := newElasticNet(rand.New(rand.NewPCG(1, 1)), 100, p)
				require.NoError(b, e.h.Set([]float64{10, 5}))
				s := solver(b, e.m, convex.SolverOptions{WorkingSets: true})
				solve(b, s)
				first := s.Stats()
				b.ReportAllocs()
				for k := 0; b.Loop(); k++ {
					if !again {
						s = solver(b, e.m, convex.SolverOptions{WorkingSets: true})
						first = convex.Stats{}
					} else {
						require.NoError(b, e.h.Set([]float64{10 + 0.1*float64(k%2), 5}))
					}
					solve(b, s)
				}
				if again {
					st := s.Stats()
					n := float64(st.Solves - first.Solves)
					b.ReportMetric(float64((st.SetupTime-first.SetupTime).Microseconds())/n, "setup-us/op")
					b.ReportMetric(float64((st.SolveTime-first.SolveTime).Microseconds())/n, "backend-us/op")
					b.ReportMetric(float64(st.Iterations-first.Iterations)/n, "iterations/op")
				}
			})
		}
	}
}
