package fits

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// classified are normal rows; the label is the sign of the sum of the first three features, with noise.
func classified(seed uint64, n, p int) Rows {
	r := rand.New(rand.NewPCG(seed, 2))
	x, out := mat.NewDense(n, p, nil), Rows{}
	for i := range n {
		sum := 0.7 * r.NormFloat64()
		for j := range p {
			x.Set(i, j, r.NormFloat64())
			if j < 3 {
				sum += x.At(i, j)
			}
		}
		out.Y, out.Weights = append(out.Y, math.Copysign(1, sum)), append(out.Weights, 1+0.5*math.Copysign(1, sum))
	}
	out.X = design.New(x)
	return out
}

func machines(t *testing.T, folds int) []*SVM {
	var out []*SVM
	for k := range uint64(folds) {
		m := must.Of(NewSVM(classified(10+k, 60, 8), classified(20+k, 40, 8), 1e-6, 10))(t)
		out = append(out, m)
	}
	return out
}

func TestSVMGradientsAreFiniteDifferences(t *testing.T) {
	ctx := context.Background()
	var parts []lower.Fit
	for _, m := range machines(t, 3) {
		parts = append(parts, m)
	}
	for _, m := range machines(t, 3) {
		parts = append(parts, m.Squared())
	}
	folds := must.Of(lower.NewFolds(parts[:3]))(t)
	squared := must.Of(lower.NewFolds(parts[3:]))(t)
	for _, lambda := range []float64{1, 0.1, 0.01} { // a gap of the squared hinge is that of a larger step
		h := []float64{lambda}
		for j := range 8 {
			h = append(h, math.Pow(10, -float64(j%4)/2)*(0.9+0.01*float64(j)))
		}
		for _, m := range []lower.Fit{parts[0], folds, squared} {
			at := must.Of(m.Solve(ctx, h, 1e-14, nil))(t)
			require.True(t, at.Solved)
			adjoint := must.Of(m.Traits().Gradient(ctx, at, lower.Adjoint, 1e-10))(t)
			forward := must.Of(m.Traits().Gradient(ctx, at, lower.Forward, 1e-10))(t)
			require.InDeltaSlice(t, adjoint, forward, 1e-9)
			require.Positive(t, floats.Norm(adjoint, 1))
			step := 1e-6
			if m == squared {
				step = 1e-4
			}
			for i := range h {
				require.InDelta(t, differenceAt(t, m, at, i, step, 1e-14)*h[i], adjoint[i]*h[i], 1e-5, "%g %d", lambda, i)
			}
		}
	}
}

// The points have their validation loss by the definition; the descents keep the bounds and end no higher than the
// path. From bounds that cut off what counts they go down.
func TestSVMSearch(t *testing.T) {
	m := machines(t, 1)[0]
	val := classified(20, 40, 8)
	least := math.Inf(1)
	for _, h := range m.Traits().Path() {
		pt := must.Of(m.Solve(context.Background(), h, 1e-10, nil))(t)
		least = math.Min(least, pt.Validation)
		margin, sum := make([]float64, 40), 0.0
		val.X.Mul(margin, pt.X[0])
		for i, v := range margin {
			sum += val.Weights[i] / floats.Sum(val.Weights) * math.Max(0, 1-val.Y[i]*(v-pt.X[1][0]))
		}
		require.InDelta(t, sum, pt.Validation, 1e-12)
	}
	for _, run := range []func(context.Context, lower.Fit, hypergradient.Settings) (*hypergradient.Result,
		error){hypergradient.IGJO, hypergradient.IFDM, hypergradient.HOAG} {
		out := must.Of(run(context.Background(), m, hypergradient.Settings{Observe: func(_ int, at *lower.Point) {
			require.LessOrEqual(t, slices.Max(at.Lambda[1:]), 10.0)
			require.GreaterOrEqual(t, slices.Min(at.Lambda[1:]), 1e-6)
		}}))(t)
		require.LessOrEqual(t, out.Best.Validation, least)
		start := slices.Repeat([]float64{0.1}, m.Dim())
		at := must.Of(m.Solve(context.Background(), start, 1e-10, nil))(t)
		out = must.Of(run(context.Background(), m, hypergradient.Settings{Start: start}))(t)
		require.Less(t, out.Best.Validation, 0.6*at.Validation)
	}
}

// Of several points each fold starts from the one solved nearby.
func TestSVMStart(t *testing.T) {
	ctx := context.Background()
	var parts []lower.Fit
	for _, m := range machines(t, 2) {
		parts = append(parts, m)
	}
	all := must.Of(lower.NewFolds(parts))(t)
	var points []*lower.Point
	at := func(lambda, wbar float64) []float64 {
		h := slices.Repeat([]float64{wbar}, all.Dim())
		h[0] = lambda
		return h
	}
	for _, h := range [][]float64{at(1, 10), at(0.1, 0.3), at(1e-3, 10), at(1e-3, 0.01)} {
		pt := must.Of(all.Solve(ctx, h, 1e-10, nil))(t)
		points = append(points, pt)
	}
	from := all.Traits().Start(at(0.11, 0.29), points)
	for k, pt := range from.State.([]*lower.Point) {
		require.Same(t, points[1].State.([]*lower.Point)[k], pt)
	}
	pt := must.Of(all.Solve(ctx, at(0.11, 0.29), 1e-10, from))(t)
	require.True(t, pt.Solved)

	logistic, err := Logistic(labelled(Rows{X: design.FromColumns(4, 1, []float64{1, 2, 3, 4}), Y: []float64{1, 3, 2, 5}}),
		labelled(Rows{X: design.FromColumns(1, 1, []float64{1}), Y: []float64{1}}), false, sparse.Terms{})
	require.NoError(t, err)
	require.Nil(t, logistic.Traits().Start)
	mixed := must.Of(lower.NewFolds([]lower.Fit{logistic}))(t)
	require.Nil(t, mixed.Traits().Start)
}

func TestSVMErrors(t *testing.T) {
	good := classified(1, 10, 2)
	_, err := NewSVM(good, classified(1, 10, 3), 1e-6, 10)
	require.ErrorContains(t, err, "2 features of the training rows and 3")
	_, err = NewSVM(good, good, 0, 10)
	require.ErrorContains(t, err, "bounds of the support vector machine from 0")
	bad := good
	bad.Y = slices.Clone(good.Y)
	bad.Y[4] = 3
	_, err = NewSVM(good, bad, 1e-6, 10)
	require.ErrorContains(t, err, "validation rows of the support vector machine: sparse: label of row 4 is 3")
	_, err = NewSVM(bad, good, 1e-6, 10)
	require.ErrorContains(t, err, "label of row 4 is 3")
	bad = good
	bad.Weights = []float64{1}
	_, err = NewSVM(good, bad, 1e-6, 10)
	require.ErrorContains(t, err, "1 weights and 0 entries of the offset for 10 rows")
	m := must.Of(NewSVM(good, good, 1e-6, 10))(t)
	_, err = m.Solve(context.Background(), []float64{1}, 1e-8, nil)
	require.ErrorContains(t, err, "1 hyperparameters of the support vector machine, expected lambda and 2 bounds")
}
