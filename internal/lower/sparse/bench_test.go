package sparse

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
)

// BenchmarkRegression follows weights down from the largest, each solution from the one before.
func BenchmarkRegression(b *testing.B) {
	for name, shape := range map[string]struct {
		n, p     int
		share    float64
		l2       float64
		compress bool
	}{
		"form=lasso/storage=dense/n=100/p=2500":       {100, 2500, 1, 0, false},
		"form=lasso/storage=sparse/n=400/p=2500":      {400, 2500, 0.05, 0, true},
		"form=elastic-net/storage=dense/n=100/p=250":  {100, 250, 1, 1e-2, false},
		"form=elastic-net/storage=dense/n=500/p=100":  {500, 100, 1, 1e-2, false},
		"form=elastic-net/storage=sparse/n=500/p=100": {500, 100, 0.1, 1e-2, true},
	} {
		b.Run(name, func(b *testing.B) {
			x, y := lowertest.Sample(3, shape.n, shape.p, 10, shape.share)
			data := design.New(x)
			if shape.compress {
				data = design.New(lowertest.Compress(x))
			}
			for b.Loop() {
				g, err := newRegression(data, y, true)
				require.NoError(b, err)
				o := options{tol: 1e-8}
				for l1 := g.LambdaMax(); l1 > 1e-3*g.LambdaMax(); l1 *= 0.8 {
					o.start, err = g.solve(weights{[]float64{l1}, []float64{shape.l2 * l1}}, o)
					require.NoError(b, err)
				}
			}
		})
	}
}

// BenchmarkGroups is the same with groups of ten features.
func BenchmarkGroups(b *testing.B) {
	x, y := lowertest.Sample(3, 100, 600, 10, 1)
	for b.Loop() {
		g, err := newRegression(design.New(x), y, true)
		require.NoError(b, err)
		q, err := grouped(g, lowertest.EqualGroups(600, 10))
		require.NoError(b, err)
		o := options{tol: 1e-8}
		for l := q.LambdaMax(true); l > 1e-2*q.LambdaMax(true); l *= 0.7 {
			o.start, err = q.Solve(context.Background(), GroupWeights{[]float64{l}, []float64{l}}, o.tol, o.start)
			require.NoError(b, err)
		}
	}
}

// BenchmarkLogistic is the same with the logistic loss.
func BenchmarkLogistic(b *testing.B) {
	x, y := lowertest.Sample(3, 200, 300, 10, 1)
	for i, v := range y {
		y[i] = math.Copysign(1, v-2)
	}
	for b.Loop() {
		g, err := Logistic(Sample{X: design.New(x), Y: y}, true, Terms{})
		require.NoError(b, err)
		var s *Solution
		for l1 := g.LambdaMax(); l1 > 1e-2*g.LambdaMax(); l1 *= 0.7 {
			s, err = g.Solve(context.Background(), l1, 0.01*l1, 1e-8, s)
			require.NoError(b, err)
		}
	}
}
