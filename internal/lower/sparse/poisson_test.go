package sparse

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// Lower bounds of far points are below the best value.
func TestBound(t *testing.T) {
	x := design.New(mat.NewDense(6, 2, []float64{1, 0, -1, 2, 0.5, 1, 2, -1, -1, -2, 0.3, 0.1}))
	y := []float64{3, 0, 1, 8, 2, 1}
	classes := Sample{X: x, Y: []float64{0, 1, 2, 0, 1, 2}}
	for name, of := range map[string]func() (*Fit, error){
		"squares":  func() (*Fit, error) { return Squares(Sample{X: x, Y: y}, true, Terms{Factors: []float64{1, 0}}) },
		"poisson":  func() (*Fit, error) { return Poisson(Sample{X: x, Y: y}, true, Terms{}) },
		"logistic": func() (*Fit, error) { return Logistic(Sample{X: x, Y: []float64{1, -1, 1, -1, 1, -1}}, true, Terms{}) },
		"cox": func() (*Fit, error) {
			return Cox(Sample{X: x, Y: y[:]}, survival.Efron, Terms{Upper: []float64{0.2, 0.1}})
		},
		"multinomial": func() (*Fit, error) { return Multinomial(classes, 3, true, Terms{Factors: []float64{2, 1}}) },
	} {
		g, err := of()
		require.NoError(t, err, name)
		for _, w := range [][]float64{{0.3, 0.05}, {0.05, 0}, {0, 0.1}} {
			best := must.Of(g.solve(context.Background(), w[0], w[1], 1e-13, nil))(t)
			for _, b := range [][]float64{{0, 0}, {1, 1}, {-2, 0.3}, {0.4, -0.2}} {
				start := &Solution{B: make([]float64, g.p*g.k), B0: make([]float64, g.k)}
				for e := range start.B {
					lo, hi := g.terms.Lower[e/g.k], g.terms.Upper[e/g.k]
					start.B[e] = math.Max(lo, math.Min(hi, b[e/g.k]/float64(1+e%g.k)))
				}
				s := g.solver()
				require.NoError(t, s.move(start.x(g.intercept)))
				c := must.Of(s.Check(context.Background(), &bilevel.JointWeights{Train: 1, Penalties: w}))(t)
				require.LessOrEqual(t, c.Objective-c.Gap, best.Objective+1e-10, "%s %v", name, w)
				require.GreaterOrEqual(t, c.Objective, best.Objective-1e-10, name)
			}
		}
	}
}

func TestPoissonOfEqualCounts(t *testing.T) {
	x := design.New(mat.NewDense(3, 1, []float64{1, 2, 3}))
	g, err := Poisson(Sample{X: x, Y: []float64{2, 2, 2}}, true, Terms{}) // nothing is left to explain
	require.NoError(t, err)
	s := must.Of(g.solve(context.Background(), 0.1, 0, 0, nil))(t)
	require.Equal(t, outcome.Converged, s.Status)
	require.Zero(t, s.B[0])
}
