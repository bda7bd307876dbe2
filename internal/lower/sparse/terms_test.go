package sparse

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/must"
)

// every third feature has no penalty, and the others have different ones.
func someFactors(p int) []float64 {
	f := make([]float64, p)
	for j := range f {
		f[j] = float64(j%3) * (1 + 0.1*float64(j%4))
		if j > 12 {
			f[j] = 0.5 + float64(j%3)
		}
	}
	return f
}

// someBounds are none, of one sign, of the other, and narrow.
func someBounds(p int) (lower, upper []float64) {
	lower, upper = make([]float64, p), make([]float64, p)
	for j := range p {
		lower[j], upper[j] = math.Inf(-1), math.Inf(1)
		switch j % 4 {
		case 1:
			lower[j] = 0
		case 2:
			upper[j] = 0
		case 3:
			lower[j], upper[j] = -0.2, 0.1
		}
	}
	return lower, upper
}

// At LambdaMax no coefficient is in use but those without a penalty, and with the weight a little smaller one is.
func TestLambdaMax(t *testing.T) {
	for kind := range lossesOfTests {
		for _, way := range []string{"lasso", "factors", "bounds", "both"} {
			for _, intercept := range []bool{false, true} {
				x, y := lowertest.Sample(9, 50, 20, 4, 1)
				c := problem{kind: kind, x: x, y: targets(kind, y), intercept: intercept}
				ways[way](&c, 0)
				g := c.fit(t, design.New(x))
				top := g.LambdaMax()
				penalised := func(share float64) (n int) {
					c.l1, c.l2 = []float64{share * top}, nil
					s := c.solve(t, g, 1e-12, nil)
					c.optimal(t, s, 1e-5*top, fmt.Sprint(kind, way, intercept, share))
					for _, e := range support(s) {
						if g.terms.Factors[e/g.k] > 0 {
							n++
						}
					}
					return n
				}
				require.Zero(t, penalised(1+1e-9), "%s %s", kind, way)
				require.Positive(t, penalised(0.98), "%s %s", kind, way)
				if kind == "squares" && way == "lasso" {
					require.Equal(t, 1, penalised(0.999))
				}
			}
		}
	}
}

// Without matrices a solver has the answers that it has with them.
func TestTermsImplicit(t *testing.T) {
	for _, kind := range smooth {
		x, y := lowertest.Sample(5, 80, 120, 4, 0.5)
		c := problem{kind: kind, x: x, y: targets(kind, y), intercept: true}
		ways["both"](&c, 0)
		g := c.fit(t, compressedColumns(x))
		j := must.Of(g.With(Sample{X: compressedColumns(x), Y: c.y}))(t)
		centre := [][]float64{make([]float64, 120), {0.1}}
		for _, w := range []*bilevel.JointWeights{
			{Train: 1, Penalties: []float64{0.05 * g.LambdaMax(), 1e-2}},
			{Train: 0.7, Validation: 0.4, Rho: 1e-3, Centre: centre, Penalties: []float64{0.03 * g.LambdaMax(), 0.01}},
		} {
			var points [2]*bilevel.JointPoint
			var solutions [2][][]float64
			for way, most := range []int{1000, 5} {
				s := j.solver()
				s.most = most
				s.take(nil)
				for range 20 {
					require.NoError(t, s.Model(context.Background(), nil))
					points[way] = must.Of(s.Solve(context.Background(), w))(t)
					require.NotNil(t, points[way])
					must.Of(s.Check(context.Background(), w))(t)
				}
				solutions[way] = s.X()
			}
			require.InEpsilon(t, points[0].Objective, points[1].Objective, 1e-9, kind)
			require.InDeltaSlice(t, solutions[0][0], solutions[1][0], 1e-5, kind)
			for r, row := range points[0].Curvature {
				for q, want := range row {
					require.InDelta(t, want, points[1].Curvature[r][q], 1e-3*(1e-3+math.Sqrt(row[r]*points[0].Curvature[q][q])),
						"%s %d %d", kind, r, q)
				}
			}
		}
	}
}
