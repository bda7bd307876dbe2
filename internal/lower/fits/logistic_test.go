package fits

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/sparse"
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

func TestPoissonHypergradient(t *testing.T) {
	smoothHypergradient(t, 1e-14, 1e-5, func(train, val Rows, intercept bool) (lower.Fit, error) {
		return Poisson(counted(train), counted(val), intercept, sparse.Terms{})
	})
}

// So it is with factors, of which some are 0, and bounds, for all of these losses.
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

func TestLogisticHypergradient(t *testing.T) {
	smoothHypergradient(t, 1e-14, 1e-5, func(train, val Rows, intercept bool) (lower.Fit, error) {
		return Logistic(labelled(train), labelled(val), intercept, sparse.Terms{})
	})
}

// smoothHypergradient checks that hypergradients in both modes are finite differences, of relative length h, of the validation loss of refits.
func smoothHypergradient(t *testing.T, tol, h float64, of func(train, val Rows, intercept bool) (lower.Fit, error)) {
	for _, intercept := range []bool{false, true} {
		for _, compressed := range []bool{false, true} {
			for _, share := range []float64{0.3, 0.05} {
				train, val := generated(t, "60-30-0-p40", 4, compressed)
				m, err := of(train, val, intercept)
				require.NoError(t, err)
				lambda := []float64{share * m.LambdaMax(), 0.5 * share * m.LambdaMax()}
				gradients{tol: tol, h: h, share: 1e-4, forward: 1e-7}.check(t, m, lambda, intercept, compressed, share)
			}
		}
	}
}

func TestLogisticSearch(t *testing.T) {
	train, val := generated(t, "60-60-0-p40", 4, false)
	m, err := Logistic(labelled(train), labelled(val), true, sparse.Terms{})
	require.NoError(t, err)
	descend(t, m, 1+1e-8, hypergradient.Settings{}, hypergradient.IGJO, hypergradient.IFDM, hypergradient.HOAG)
	_, err = Logistic(train, val, true, sparse.Terms{})
	require.ErrorContains(t, err, "expected -1 or 1")
}
