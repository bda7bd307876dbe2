package sparse

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/lower"
)

// groupViolation is the largest violation of the optimality conditions, from the definition.
func groupViolation(x *mat.Dense, y []float64, intercept bool, groups [][]int, norm, l1 []float64, s *Solution) float64 {
	n, _ := x.Dims()
	r := make([]float64, n)
	worst := 0.0
	for i := range r {
		r[i] = y[i] - s.B0[0] - floats.Dot(x.RawRowView(i), s.B)
	}
	if intercept {
		worst = math.Abs(floats.Sum(r)) / float64(n)
	}
	for k, group := range groups {
		size, outside := 0.0, 0.0
		c := make([]float64, len(group))
		for i, j := range group {
			c[i] = floats.Dot(mat.Col(nil, j, x), r) / float64(n)
			size = math.Hypot(size, s.B[j])
			outside = math.Hypot(outside, math.Max(0, math.Abs(c[i])-l1[j]))
		}
		if size == 0 {
			worst = math.Max(worst, outside-norm[k])
			continue
		}
		for i, j := range group {
			v := math.Abs(c[i]) - l1[j]
			if s.B[j] != 0 {
				v = math.Abs(c[i] - math.Copysign(l1[j], s.B[j]) - norm[k]*s.B[j]/size)
			}
			worst = math.Max(worst, v)
		}
	}
	return worst
}

func TestGroupOptimalityConditions(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, shape := range []struct{ n, p, size int }{{40, 20, 4}, {30, 90, 10}, {60, 300, 7}, {50, 400, 1}} {
			for _, kind := range []string{"both", "norms", "l1", "mixed"} {
				for _, ratio := range []float64{0.5, 0.1, 0.01} {
					name := fmt.Sprint(intercept, shape, kind, ratio)
					x, y := lowertest.Sample(21, shape.n, shape.p, 6, 0.8)
					data := design.New(x)
					if shape.size == 7 {
						data = design.New(matrices.Compress(x))
					}
					g, err := newRegression(data, y, intercept)
					require.NoError(t, err)
					groups := lowertest.EqualGroups(shape.p, shape.size)
					q, err := grouped(g, groups)
					require.NoError(t, err)
					top := q.LambdaMax(true)
					norm, l1 := make([]float64, len(groups)), make([]float64, shape.p)
					for k := range norm {
						switch kind {
						case "both", "norms":
							norm[k] = ratio * top
						case "mixed":
							norm[k] = ratio * top * float64(k%3)
						}
					}
					for j := range l1 {
						if kind != "norms" {
							l1[j] = ratio * top * (1 + float64(j%2)/2)
						}
					}
					s, err := q.Solve(context.Background(), GroupWeights{norm, l1}, 1e-13, nil)
					require.NoError(t, err)
					require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status, name)
					require.Less(t, groupViolation(x, y, intercept, groups, norm, l1, s), 1e-6*top, name)
					if kind == "l1" {
						lasso, err := g.solve(weights{l1: l1}, options{tol: 1e-13})
						require.NoError(t, err)
						require.InEpsilon(t, lasso.Objective, s.Objective, 1e-11)
					}
				}
			}
		}
	}
}

func TestGroupLambdaMax(t *testing.T) {
	x, y := lowertest.Sample(22, 40, 60, 4, 1)
	g, err := newRegression(design.New(x), y, true)
	require.NoError(t, err)
	q, err := grouped(g, lowertest.EqualGroups(60, 6))
	require.NoError(t, err)
	for _, c := range []struct {
		factor float64
		empty  bool
	}{{1.000001, true}, {0.999, false}} {
		l := []float64{c.factor * q.LambdaMax(true)}
		s, err := q.Solve(context.Background(), GroupWeights{l, l}, 1e-12, nil)
		require.NoError(t, err)
		require.Equal(t, c.empty, len(s.Support) == 0)
	}
}

func TestGroupsThatAreNone(t *testing.T) {
	x, y := lowertest.Sample(23, 10, 4, 1, 1)
	g, err := newRegression(design.New(x), y, false)
	require.NoError(t, err)
	for want, members := range map[string][][]int{
		"feature 3 is in no group":       {{0, 1}, {2}},
		"feature 1 is in groups 0 and 1": {{0, 1}, {1, 2, 3}},
		"group 1 is empty":               {{0, 1, 2, 3}, {}},
		"group 0 has feature 4":          {{0, 1, 4}},
	} {
		_, err := grouped(g, members)
		require.ErrorContains(t, err, want)
	}
	q, err := grouped(g, [][]int{{0, 1}, {2, 3}})
	require.NoError(t, err)
	_, err = q.Solve(context.Background(), GroupWeights{Norm: []float64{1, 0}}, 0, nil)
	require.ErrorContains(t, err, "feature 2 of group 1 has no penalty")
	_, err = q.Solve(context.Background(), GroupWeights{Norm: []float64{1, 2, 3}}, 0, nil)
	require.ErrorContains(t, err, "3 weights Norm")
}

// With tiny weights of most groups, more of their features are in use than there are rows.
func TestGroupsWithTinyWeights(t *testing.T) {
	x, y := lowertest.Sample(7, 40, 160, 12, 0.5)
	g, err := newRegression(design.New(x), y, false)
	require.NoError(t, err)
	groups := lowertest.EqualGroups(160, 20)
	q, err := grouped(g, groups)
	require.NoError(t, err)
	norm, l1 := make([]float64, 8), make([]float64, 160)
	for k := range norm {
		norm[k] = 1e-7 * q.LambdaMax(true)
		if k%4 == 0 {
			norm[k] = 0.5 * q.LambdaMax(true)
		}
	}
	for j := range l1 {
		l1[j] = 1e-7 * q.LambdaMax(true)
	}
	s, err := q.Solve(context.Background(), GroupWeights{Norm: norm, L1: l1}, 1e-10, nil)
	require.NoError(t, err)
	require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status)
	require.Less(t, groupViolation(x, y, false, groups, norm, l1, s), 1e-7*q.LambdaMax(true))
}

// Features of any size that files may hold make groups; larger ones are refused.
func TestGroupsOfTinyAndHugeFeatures(t *testing.T) {
	x, y := lowertest.Sample(3, 20, 6, 3, 1)
	x.Scale(1e75, x)
	_, err := newRegression(design.New(x), y, false)
	require.ErrorContains(t, err, "column 0 of the design has entries that are not finite or above 1e+70 in size")
	for _, scale := range []float64{1e-300, 1e-160, 1e-75, 1e60, 1e69} {
		x, y := lowertest.Sample(3, 20, 6, 3, 1)
		x.Scale(scale, x)
		for _, intercept := range []bool{false, true} {
			g, err := newRegression(design.New(x), y, intercept)
			require.NoError(t, err)
			q, err := grouped(g, lowertest.EqualGroups(6, 3))
			require.NoError(t, err)
			require.Positive(t, q.LambdaMax(true))
			_, err = q.Solve(context.Background(), GroupWeights{Norm: []float64{0.1}}, 1e-10, nil)
			require.NoError(t, err)
		}
	}
}

// TestGroupsStall has a group of features of 1e6 that are constant to 1e-6 beside small equal ones: rounding leaves a
// gap above the tolerance, and each Newton step moves a little. It has to end.
func TestGroupsStall(t *testing.T) {
	x := mat.NewDense(5, 4, []float64{
		-1.7229740243582905, -1.7229740243582905, 1.9802872038950084e+06, 885042.7901132035,
		-0.00043123825077024964, -0.00043123825077024964, 1.980286928119816e+06, 885041.1017556873,
		-0.04315835586672629, -0.04315835586672629, 1.980287511992284e+06, 885040.5730146944,
		1.2886566824903212, 1.2886566824903212, 1.9802872387793963e+06, 885042.1687790029,
		0.34471866706533255, 0.34471866706533255, 1.9802889067580618e+06, 885040.8613351098,
	})
	g, err := newRegression(design.New(x), []float64{1.5652475842498528, 1.5652475842498528, 0, 0, 0}, false)
	require.NoError(t, err)
	q, err := grouped(g, [][]int{{0, 1, 2, 3}})
	require.NoError(t, err)
	s, err := q.Solve(context.Background(), GroupWeights{Norm: []float64{0.001}, L1: []float64{0.001}}, 1e-9, nil)
	require.NoError(t, err)
	require.Contains(t, []lower.Status{lower.Stalled, lower.Exhausted, lower.Optimal}, s.Status) // by the rounding of the processor
	require.Less(t, q.Relative(s.Gap), 1e-7)
}
