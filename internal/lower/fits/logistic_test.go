package fits

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// labelled replaces targets by their signs.
func labelled(r Rows) Rows {
	y := slices.Clone(r.Y)
	for i := range y {
		y[i] = math.Copysign(1, y[i])
	}
	return Rows{X: r.X, Y: y}
}

// counted replaces targets by counts that grow with them.
func counted(r Rows) Rows {
	y := slices.Clone(r.Y)
	for i, v := range y {
		y[i] = math.Round(2 * math.Exp(math.Tanh(v/2)))
	}
	return Rows{X: r.X, Y: y}
}

// Hypergradients in both modes are finite differences with factors, of which some are 0, and bounds, for all losses.
func TestTermsHypergradient(t *testing.T) {
	terms := sparse.Terms{}
	for j := range 40 {
		terms.Factors = append(terms.Factors, []float64{1, 0.4, 2, 1}[j%4])
		terms.Lower = append(terms.Lower, []float64{0, math.Inf(-1), -0.2}[j%3])
		terms.Upper = append(terms.Upper, []float64{math.Inf(1), 0.1}[j%2])
	}
	terms.Factors[2], terms.Factors[7] = 0, 0
	smoothHypergradient(t, 1e-18, 1e-3, func(train, val Rows, intercept bool) (lower.Fit, error) {
		return ElasticNet(train, val, intercept, terms)
	})
	smoothHypergradient(t, 1e-18, 1e-3, func(train, val Rows, intercept bool) (lower.Fit, error) {
		return Logistic(labelled(train), labelled(val), intercept, terms)
	})
	smoothHypergradient(t, 1e-18, 1e-3, func(train, val Rows, intercept bool) (lower.Fit, error) {
		return Poisson(counted(train), counted(val), intercept, terms)
	})
}

// So it is with a weight for each feature.
func TestWeightedHypergradients(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		train, val := generated(t, "60-30-0-p40", 4, compressed)
		logistic := must.Of(WeightedLogistic(labelled(train), labelled(val), true, sparse.Terms{}))(t)
		poisson := must.Of(WeightedPoisson(counted(train), counted(val), true, sparse.Terms{}))(t)
		for _, m := range []lower.Fit{logistic, poisson} {
			for _, share := range []float64{0.6, 0.2} {
				gradients{tol: 1e-14, h: 1e-5, share: 1e-4, forward: 1e-7}.check(t, m, rolling(m, share), compressed, share)
			}
		}
	}
}

// smoothHypergradient checks that hypergradients in both modes are finite differences, of relative length h, of the
// validation loss of refits.
func smoothHypergradient(t *testing.T, tol, h float64, of func(train, val Rows, intercept bool) (lower.Fit, error)) {
	for _, intercept := range []bool{false, true} {
		for _, compressed := range []bool{false, true} {
			for _, share := range []float64{0.3, 0.05} {
				train, val := generated(t, "60-30-0-p40", 4, compressed)
				m := must.Of(of(train, val, intercept))(t)
				lambda := []float64{share * m.LambdaMax(), 0.5 * share * m.LambdaMax()}
				gradients{tol: tol, h: h, share: 1e-4, forward: 1e-7}.check(t, m, lambda, intercept, compressed, share)
			}
		}
	}
}

func TestLogisticSearch(t *testing.T) {
	train, val := generated(t, "60-60-0-p40", 4, false)
	m := must.Of(Logistic(labelled(train), labelled(val), true, sparse.Terms{}))(t)
	descend(t, m, 1+1e-8, hypergradient.Settings{}, hypergradient.IGJO, hypergradient.IFDM, hypergradient.HOAG)
	_, err := Logistic(train, val, true, sparse.Terms{})
	require.ErrorContains(t, err, "expected -1 or 1")
}

// Radii that hold nothing back leave the maximum of the likelihood, where the bound of the multipliers says nothing
// until the gradient is rounding. The maximum is Newton's, in this test.
func TestLogisticWithinLooseRadii(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 1))
		const n, p = 6750, 100
		x, y := mat.NewDense(n, p, nil), make([]float64, n)
		truth := make([]float64, p)
		for j := range 20 {
			truth[j] = rng.NormFloat64()
		}
		for i := range n {
			f := 0.0
			for j := range p {
				v := rng.NormFloat64()
				x.Set(i, j, v)
				f += v * truth[j]
			}
			y[i] = math.Copysign(1, f+2*rng.NormFloat64())
		}
		b := mat.NewVecDense(p, nil)
		value := 0.0
		for range 30 {
			var f, gradient, step mat.VecDense
			f.MulVec(x, b)
			slope, root := mat.NewVecDense(n, nil), mat.NewDense(n, p, nil)
			value = 0
			for i := range n {
				q := 1 / (1 + math.Exp(y[i]*f.AtVec(i)))
				value += math.Log1p(math.Exp(-y[i]*f.AtVec(i))) / n
				slope.SetVec(i, -y[i]*q/n)
				for j := range p {
					root.Set(i, j, x.At(i, j)*math.Sqrt(q*(1-q)/n))
				}
			}
			gradient.MulVec(x.T(), slope)
			var hessian mat.Dense
			hessian.Mul(root.T(), root)
			require.NoError(t, step.SolveVec(&hessian, &gradient))
			b.SubVec(b, &step)
		}
		l1, l2 := 0.0, 0.0
		for j := range p {
			l1 += math.Abs(b.AtVec(j))
			l2 += b.AtVec(j) * b.AtVec(j) / 2
		}
		rows := NewRows(x, y)
		m := must.Of(Logistic(rows, rows, false, sparse.Terms{}))(t)
		for _, share := range []float64{1.05, 1.23, 3} {
			at := must.Of(m.Within().Solve(ctx, []float64{share * l1, share * l2}, 7e-10))(t)
			require.True(t, at.Solved, "seed %d, share %v, gap %v", seed, share, at.Gap)
			require.InDelta(t, value, at.Loss, 1e-8)
			for j := range p {
				require.InDelta(t, b.AtVec(j), at.X[0][j], 1e-3)
			}
		}
	}
}
