package descent

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// sample draws n rows of p correlated features, a share of whose entries is not zero, and targets from k of them.
func sample(seed uint64, n, p, k int, share float64) (*mat.Dense, []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := mat.NewDense(n, p, nil)
	y := make([]float64, n)
	for i := range n {
		row := x.RawRowView(i)
		last := 0.0
		for j := range row {
			last = 0.6*last + 0.8*rng.NormFloat64()
			if rng.Float64() < share {
				row[j] = last + 0.3
			}
		}
		for j := range k {
			y[i] += row[j*p/k] * float64(1+j%3)
		}
		y[i] += 2 + rng.NormFloat64()
	}
	return x, y
}

// compress is x by sparse columns.
func compress(x *mat.Dense) *sparse.CSC {
	n, p := x.Dims()
	start, index, value := []int{0}, []int{}, []float64{}
	for j := range p {
		for i := range n {
			if v := x.At(i, j); v != 0 {
				index, value = append(index, i), append(value, v)
			}
		}
		start = append(start, len(index))
	}
	return sparse.NewCSC(n, p, start, index, value)
}

// violation is the largest violation of the optimality conditions, computed from the definition: it
// centres the data and uses nothing of the package.
func violation(x *mat.Dense, y []float64, intercept bool, w1, w2 func(int) float64, s *Solution) float64 {
	n, p := x.Dims()
	r := make([]float64, n)
	worst := 0.0
	for i := range r {
		r[i] = y[i] - s.B0 - floats.Dot(x.RawRowView(i), s.B)
	}
	if intercept {
		worst = math.Abs(floats.Sum(r)) / float64(n)
	}
	for j := range p {
		c := -w2(j) * s.B[j]
		for i := range r {
			c += x.At(i, j) * r[i] / float64(n)
		}
		v := math.Abs(c) - w1(j)
		if s.B[j] != 0 {
			v = math.Abs(c - math.Copysign(w1(j), s.B[j]))
		}
		worst = math.Max(worst, v)
	}
	return worst
}

func TestOptimalityConditions(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, storage := range []string{"dense", "sparse"} {
			for _, shape := range []struct{ n, p int }{{30, 10}, {60, 60}, {40, 300}, {200, 1000}} {
				for _, kind := range []string{"lasso", "elastic net", "weighted", "some free", "ridge"} {
					for _, ratio := range []float64{0.5, 0.05, 0.003} {
						name := fmt.Sprint(intercept, storage, shape, kind, ratio)
						x, y := sample(3, shape.n, shape.p, 5, 0.6)
						design := NewDesign(x)
						if storage == "sparse" {
							design = NewDesign(compress(x))
						}
						g, err := NewRegression(design, y, intercept)
						require.NoError(t, err)
						top := g.LambdaMax()
						l1, l2 := []float64{ratio * top}, []float64{0}
						switch kind {
						case "elastic net":
							l2[0] = ratio * top
						case "ridge":
							l1[0], l2[0] = 0, ratio*top
						case "weighted", "some free":
							l1 = make([]float64, shape.p)
							for j := range l1 {
								l1[j] = ratio * top * float64(1+j%4)
								if kind == "some free" && j%20 == 7 {
									l1[j] = 0
								}
							}
						}
						s, err := g.Solve(context.Background(), Weights{l1, l2}, Options{Tol: 1e-12})
						require.NoError(t, err)
						require.Contains(t, []Status{Optimal, Exhausted}, s.Status, name)
						at := func(w []float64) func(int) float64 {
							return func(j int) float64 { return w[min(j, len(w)-1)] }
						}
						require.Less(t, violation(x, y, intercept, at(l1), at(l2), s), 2e-6*top, name)
						require.LessOrEqual(t, s.Gap, 1e-12*g.scale, name)
					}
				}
			}
		}
	}
}
