package fits

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/lower/survival"
)

// timed replaces targets by times, some equal, that fall with them, every third one censored.
func timed(r Rows) Rows {
	y := slices.Clone(r.Y)
	for i, v := range y {
		y[i] = survival.Row(math.Ceil(10*math.Exp(-math.Tanh(v/2))), i%3 != 0)
	}
	return Rows{X: r.X, Y: y}
}

var coxGradients = gradients{tol: 1e-15, h: 1e-4, share: 1e-4, forward: 1e-9}

// Hypergradients in both modes are finite differences of the validation loss of refits, in both forms of it.
func TestCoxHypergradient(t *testing.T) {
	for _, o := range []CoxOptions{{}, {Grouped: true}, {Ties: survival.Efron, Grouped: true, Events: 7}, {Ties: survival.Efron}} {
		for _, compressed := range []bool{false, true} {
			for _, share := range []float64{0.3, 0.05} {
				train, val := generated(t, "60-30-0-p40", 4, compressed)
				m, err := NewCox(timed(train), timed(val), o)
				require.NoError(t, err)
				lambda := []float64{share * m.LambdaMax(), 0.5 * share * m.LambdaMax()}
				coxGradients.check(t, m, lambda, o, compressed, share)
			}
		}
	}
}

// So they are with weights, an offset, factors and bounds, which some coefficients are at.
func TestCoxTermsHypergradient(t *testing.T) {
	train, val := generated(t, "60-30-0-p40", 4, false)
	train, val = timed(train), timed(val)
	for _, r := range []*Rows{&train, &val} {
		for i := range r.Y {
			r.Weights, r.Offset = append(r.Weights, 1+math.Mod(float64(i), 4)), append(r.Offset, math.Sin(float64(i)))
		}
	}
	p := train.X.Columns()
	terms := sparse.Terms{Factors: slices.Repeat([]float64{1}, p), Upper: slices.Repeat([]float64{0.05}, p)}
	for j := range 3 {
		terms.Factors[j], terms.Upper[j] = float64(j)/2, math.Inf(1)
	}
	for _, o := range []CoxOptions{{Terms: terms}, {Ties: survival.Efron, Grouped: true, Terms: terms}} {
		m, err := NewCox(train, val, o)
		require.NoError(t, err)
		lambda := []float64{0.1 * m.LambdaMax(), 0.05 * m.LambdaMax()}
		require.Contains(t, coxGradients.check(t, m, lambda, o).X[0], 0.05)
	}
}

// The validation loss by hand: training rows at times 1 and 3, a validation row at 2, all events, and one feature. Alone the validation rows need two.
func TestCoxValidation(t *testing.T) {
	rows := func(x, y []float64) Rows { return Rows{X: design.FromColumns(len(y), 1, x), Y: y} }
	train, val := rows([]float64{1, 0}, []float64{1, 3}), rows([]float64{2}, []float64{2})
	m, err := NewCox(train, val, CoxOptions{Grouped: true})
	require.NoError(t, err)
	at, err := m.Solve(context.Background(), []float64{0.01, 0.1}, 1e-10, nil)
	require.NoError(t, err)
	b := at.X[0][0]
	one := math.Log(1 + math.Exp(2*b) + math.Exp(b))
	require.InDelta(t, 2*(one-b+math.Log(1+math.Exp(2*b))-2*b-(math.Log(1+math.Exp(b))-b)), at.Validation, 1e-14)
	m, err = NewCox(train, rows([]float64{2, 3}, []float64{2, -5}), CoxOptions{})
	require.NoError(t, err)
	at, err = m.Solve(context.Background(), []float64{0.01, 0.1}, 1e-10, nil)
	require.NoError(t, err)
	require.InDelta(t, 2*(math.Log(math.Exp(2*b)+math.Exp(3*b))-2*b), at.Validation, 1e-8)
	for want, bad := range map[string][2]Rows{
		"no event of the validation rows": {train, val},
		"no event has other rows at risk": {val, train},
		"the time of row 0 is +Inf":       {train, rows([]float64{1}, []float64{math.Inf(1)})},
		"2 features":                      {Rows{X: design.FromColumns(2, 2, []float64{1, 0, 2, 3}), Y: train.Y}, val},
	} {
		_, err := NewCox(bad[0], bad[1], CoxOptions{})
		require.ErrorContains(t, err, want)
	}
	_, err = NewCox(train, rows([]float64{2}, []float64{-2}), CoxOptions{Grouped: true})
	require.ErrorContains(t, err, "no event in the validation rows")
}

func TestCoxSearch(t *testing.T) {
	train, val := generated(t, "60-60-0-p40", 4, false)
	m, err := NewCox(timed(train), timed(val), CoxOptions{Grouped: true})
	require.NoError(t, err)
	descend(t, m, 1+1e-8, hypergradient.Settings{}, hypergradient.IGJO, hypergradient.IFDM, hypergradient.HOAG)
}
