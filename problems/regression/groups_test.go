package regression_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
)

func smallGroups(t testing.TB) (*dataset.Split, *groups.Groups) {
	s := must.Of(input.ReadDir("testdata/sgl/small"))(t)
	g := must.Of(groups.ReadDir("testdata/sgl/small", s.Train.Features, false))(t)
	return s, g
}

// The refit solves the penalised form with the reported multipliers. Where b^(g) is not zero, with
// n times the gradient of the loss g,
//
//	g_j + lambda_g b_j / |b^(g)| + lambda_l1 sign(b_j) = 0,  |g_j| <= lambda_l1 where b_j = 0,
//
// and elsewhere g, soft-thresholded at lambda_l1, has norm at most lambda_g.
func TestSparseGroupOptimality(t *testing.T) {
	split, g := smallGroups(t)
	binding := 0
	for _, r0 := range [][]float64{{0.8, 0.1, 1, 0.2, 0.3, 0.1, 4}, {3, 3, 3, 3, 3, 3, 2}, {2, .01, 1.5, .01, .01, .01,
		50}} {
		m := must.Of(regression.SparseGroupLasso(split, options{Groups: g, R0: r0}))(t)
		s := m.PaperSettings()
		s.MaxIter = 1
		res := modeltest.Solve(t, m, s)
		b := res.Refit[0]
		grad := modeltest.Gradient(split.Train, modeltest.Residuals(split.Train, b))
		l1 := res.Lambda[6]
		for k, members := range g.Members {
			norm, soft := 0.0, 0.0
			for _, j := range members {
				norm = math.Hypot(norm, b[j])
				soft = math.Hypot(soft, math.Max(0, math.Abs(grad[j])-l1))
			}
			if res.Lambda[k] > 1e-3 {
				binding++
				require.InDelta(t, res.H[k], norm, 1e-5)
			}
			if norm < 1e-4 {
				require.LessOrEqual(t, soft, res.Lambda[k]+1e-4)
				continue
			}
			for _, j := range members {
				v := grad[j] + res.Lambda[k]*b[j]/norm
				if math.Abs(b[j]) > 1e-4 {
					require.InDelta(t, -l1*math.Copysign(1, b[j]), v, 2e-4)
				} else {
					require.LessOrEqual(t, math.Abs(v), l1+2e-4)
				}
			}
		}
	}
	require.Greater(t, binding, 6)
}
