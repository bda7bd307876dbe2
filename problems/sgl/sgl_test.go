package sgl_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/sgl"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

var _ tune.Model = (*sgl.Model)(nil)

func solve(t testing.TB, m tune.Model, s dca.Settings) *dca.Result {
	t.Helper()
	var err error
	s.Backend, err = backends.Open("native")
	require.NoError(t, err)
	res, err := dca.Solve(context.Background(), m.Program(), s)
	require.NoError(t, err)
	return res
}

func small(t testing.TB) (*dataset.Split, *groups.Groups) {
	s, err := input.ReadDir("testdata/small")
	require.NoError(t, err)
	g, err := groups.ReadDir("testdata/small", s.Train.Features, false)
	require.NoError(t, err)
	return s, g
}

// The runs of an independent implementation in Python, see testdata/README.md.
func TestAgainstPython(t *testing.T) {
	raw, err := os.ReadFile("testdata/small/vfidca_cvxpy.json")
	require.NoError(t, err)
	var runs []struct {
		R0         float64   `json:"r0"`
		Tol        float64   `json:"tol"`
		Iterations int       `json:"iterations"`
		Validation float64   `json:"validation_error"`
		Test       float64   `json:"test_error"`
		Radii      []float64 `json:"radii"`
		Lambda     []float64 `json:"lambda"`
		Refit      struct {
			Validation float64 `json:"validation_error"`
			Test       float64 `json:"test_error"`
		} `json:"refit"`
		Trace [][]float64 `json:"trace"`
	}
	require.NoError(t, json.Unmarshal(raw, &runs))
	require.Len(t, runs, 3)
	split, g := small(t)
	for _, run := range runs {
		m, err := sgl.New(split, g, sgl.Options{R0: []float64{run.R0}})
		require.NoError(t, err)
		s := m.PaperSettings()
		s.Tol = run.Tol
		res := solve(t, m, s)
		require.Equal(t, dca.Converged, res.Status)
		require.Equal(t, run.Iterations, res.Iterations)
		e := m.Evaluate(res.X)
		require.InEpsilon(t, run.Validation, e.Validation, 2e-3)
		require.InEpsilon(t, run.Test, *e.Test, 2e-3)
		refit := m.Evaluate(res.Refit)
		require.InEpsilon(t, run.Refit.Validation, refit.Validation, 2e-3)
		require.InEpsilon(t, run.Refit.Test, *refit.Test, 2e-3)
		for j := range run.Radii {
			// Multipliers of the size of ECOS's tolerance, divided by rho, move its radii in each iteration.
			require.InEpsilon(t, run.Radii[j], res.H[j], 3e-3)
			require.InDelta(t, run.Lambda[j], res.Lambda[j], 2e-3)
		}
		for k, want := range run.Trace {
			it := res.Trace[k]
			require.Less(t, it.Residual, 1e-7)
			require.InEpsilon(t, want[0], it.UpperValue, 3e-3)
			require.Equal(t, want[2], it.Alpha)
			require.InDelta(t, want[3], it.Step, 1e-3)
			require.InDelta(t, want[4], it.T, 3e-3)
			if k > 0 { // theirs is the lower value at the start of the iteration
				require.InEpsilon(t, want[1], res.Trace[k-1].LowerValue, 3e-3)
			}
		}
	}
}

// The refit solves the penalised form with the reported multipliers. Where b^(g) is not zero, with
// n times the gradient of the loss g,
//
//	g_j + lambda_g b_j / |b^(g)| + lambda_l1 sign(b_j) = 0,  |g_j| <= lambda_l1 where b_j = 0,
//
// and elsewhere g, soft-thresholded at lambda_l1, has norm at most lambda_g.
func TestLambdaIsThePenalty(t *testing.T) {
	split, g := small(t)
	binding := 0
	for _, r0 := range [][]float64{{0.8, 0.1, 1, 0.2, 0.3, 0.1, 4}, {3, 3, 3, 3, 3, 3, 2}, {2, .01, 1.5, .01, .01, .01, 50}} {
		m, err := sgl.New(split, g, sgl.Options{R0: r0})
		require.NoError(t, err)
		s := m.PaperSettings()
		s.MaxIter = 1
		res := solve(t, m, s)
		b := res.Refit[0]
		n, p := split.Train.X.Dims()
		grad := make([]float64, p)
		for i := range n {
			r := mat.Dot(split.Train.Dense().RowView(i), mat.NewVecDense(p, b)) - split.Train.Y[i]
			for j := range p {
				grad[j] += split.Train.X.At(i, j) * r / float64(n)
			}
		}
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

// Permuting the features and renumbering the groups permutes the result.
func TestInvariance(t *testing.T) {
	split, g := small(t)
	_, p := split.Train.Dims()
	turn := func(d *dataset.Data) *dataset.Data {
		n, _ := d.Dims()
		out := &dataset.Data{X: mat.NewDense(n, p, nil), Y: d.Y, Features: d.Features, Target: d.Target}
		for i := range n {
			for j := range p {
				out.Dense().Set(i, j, d.X.At(i, (7*j)%p)) // 7 and p have no common divisor
			}
		}
		return out
	}
	number := make([]int, p)
	for k, members := range g.Members {
		for _, j := range members {
			number[j] = k
		}
	}
	turned := make([]int, p)
	for j := range p {
		turned[j] = 10 - number[(7*j)%p]
	}
	h, err := groups.Of(turned)
	require.NoError(t, err)
	a, err := sgl.New(split, g, sgl.Options{R0: []float64{1.5}})
	require.NoError(t, err)
	b, err := sgl.New(&dataset.Split{Train: turn(split.Train), Val: turn(split.Val), Test: turn(split.Test)}, h, sgl.Options{R0: []float64{1.5}})
	require.NoError(t, err)
	x, y := solve(t, a, a.PaperSettings()), solve(t, b, b.PaperSettings())
	require.Equal(t, x.Iterations, y.Iterations)
	for j := range p {
		require.InDelta(t, x.Refit[0][(7*j)%p], y.Refit[0][j], 1e-4)
	}
	for k := range 6 {
		require.InDelta(t, x.H[k], y.H[5-k], 1e-4)
	}
	require.InDelta(t, x.H[6], y.H[6], 1e-4)
}

func TestBadInput(t *testing.T) {
	split, g := small(t)
	few, err := groups.Equal(23, 1)
	require.NoError(t, err)
	_, err = sgl.New(split, few, sgl.Options{})
	require.ErrorContains(t, err, "feature 23 is in no group")
	_, err = sgl.New(split, nil, sgl.Options{})
	require.ErrorContains(t, err, "no groups")
	_, err = sgl.New(split, g, sgl.Options{R0: []float64{1, 2}})
	require.ErrorContains(t, err, "2 radii to start from, expected one or 7")
	_, err = sgl.New(split, g, sgl.Options{R0: []float64{-1}})
	require.ErrorContains(t, err, `radius of "group0" is -1`)
	_, err = sgl.New(&dataset.Split{}, g, sgl.Options{})
	require.Error(t, err)
}

// Where the target has nothing to do with the features, the model selected is mostly the mean of all rows; where it has, never. --stop-folds 1 selects all
// the same.
func TestNothingToSelect(t *testing.T) {
	g, err := groups.Equal(60, 20)
	require.NoError(t, err)
	b := make([]float64, 60)
	for strength, least := range map[float64]int{0: 5, 2: 0} {
		for j := range 3 {
			b[j] = strength
		}
		found := 0
		for seed := range uint64(8) {
			s := modeltest.Split(seed+1, 40, 30, 20, b, 1)
			m, err := sgl.New(s, g, sgl.Options{Intercept: true, Standardize: true})
			require.NoError(t, err)
			r, err := tune.Run(context.Background(), m, tune.Config{})
			require.NoError(t, err)
			if !strings.Contains(r.Message, "nothing selected") {
				continue
			}
			found++
			for _, c := range r.RefitFit.Coefficients {
				require.Zero(t, c)
			}
			require.InDelta(t, floats.Sum(slices.Concat(s.Train.Y, s.Val.Y))/70, r.RefitFit.Intercept, 1e-9)
			all, err := tune.Run(context.Background(), m, tune.Config{StopFolds: 1})
			require.NoError(t, err)
			require.NotContains(t, all.Message, "nothing selected")
			require.Greater(t, floats.Norm(all.RefitFit.Coefficients, 1), 1e-6)
		}
		require.GreaterOrEqual(t, found, least)
		if strength > 0 {
			require.Zero(t, found)
		}
	}
}
