package survival

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// times draws times, some equal, and values.
func times(r *rand.Rand, n int) (y, f []float64) {
	for range n {
		y = append(y, Row(float64(1+r.IntN(n/2+1)), r.Float64() < 0.6))
		f = append(f, 2*r.NormFloat64())
	}
	return y, f
}

// The concordance is that of a count over all pairs, and its standard error that of finite differences in the weights
// of the rows.
func TestConcordance(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	weighted := func(y, f, w []float64) float64 {
		good, all := 0.0, 0.0
		for i := range y {
			for j := range y {
				ti, tj := math.Abs(y[i]), math.Abs(y[j])
				if y[i] < 0 || !(ti < tj || ti == tj && y[j] < 0) {
					continue
				}
				all += w[i] * w[j]
				switch {
				case f[i] > f[j]:
					good += w[i] * w[j]
				case f[i] == f[j]:
					good += w[i] * w[j] / 2
				}
			}
		}
		return good / all
	}
	for range 50 {
		y, f := times(r, 5+r.IntN(30))
		y[0], y[1] = 0.5, 100
		for i := range f {
			f[i] = math.Round(f[i])
		}
		w := slices.Repeat([]float64{1}, len(y))
		c, se := Concordance(Part{Y: y, F: f})
		require.InDelta(t, weighted(y, f, w), c, 1e-13)
		sum := 0.0
		for i := range w {
			const h = 1e-5
			w[i] = 1 + h
			up := weighted(y, f, w)
			w[i] = 1 - h
			down := weighted(y, f, w)
			w[i] = 1
			sum += math.Pow((up-down)/(2*h), 2)
		}
		require.InDelta(t, math.Sqrt(sum), se, 1e-8)
	}
	c, _ := Concordance(Part{Y: []float64{-1, -2}, F: []float64{1, 2}})
	require.True(t, math.IsNaN(c))
}

// Without features Breslow's hazard is that of Nelson and Aalen, the sum of events over those at risk.
func TestBaseline(t *testing.T) {
	y := []float64{1, 2, 2, -3, 4}
	b := New(y, nil, Breslow).At(make([]float64, 5), nil).Baseline()
	require.Equal(t, []float64{1, 2, 4}, b.Times)
	require.InDeltaSlice(t, []float64{1.0 / 5, 1.0/5 + 2.0/4, 1.0/5 + 2.0/4 + 1}, b.Hazard, 1e-15)
	require.Equal(t, 1.0, b.Survival(0, 0.99))
	require.InDelta(t, math.Exp(-2*0.7), b.Survival(math.Log(2), 3), 1e-15)
	require.InDelta(t, math.Exp(-0.2), b.Survival(0, 1), 1e-15)
	efron := New(y, nil, Efron).At(make([]float64, 5), nil).Baseline()
	require.InDelta(t, 1.0/5+1.0/4+1.0/3, efron.Hazard[1], 1e-15)
}

// The pairs of several parts are those of each, and the shares of a textbook's six rows: 6, 6, 6+, 7, 10, 13+ weeks.
func TestParts(t *testing.T) {
	a, b := Part{Y: []float64{1, 2, -3}, F: []float64{3, 1, 2}}, Part{Y: []float64{1, 2}, F: []float64{1, 2}}
	one, _ := Concordance(a)
	require.InDelta(t, 2.0/3, one, 1e-15)
	both, _ := Concordance(a, b)
	require.InDelta(t, 0.5, both, 1e-15)
	times, share := KaplanMeier([]float64{6, -13, 6, -6, 10, 7}, nil)
	require.Equal(t, []float64{6, 7, 10, 13}, times)
	require.InDeltaSlice(t, []float64{4.0 / 6, 4.0 / 6 * 2 / 3, 4.0 / 6 / 3, 4.0 / 6 / 3}, share, 1e-15)
}

// Events and censored rows at time 0 count as those of any first time: only the order of times matters.
func TestTimeZero(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 50 {
		later, f := times(r, 2+r.IntN(20))
		y := make([]float64, len(later))
		for i, v := range later {
			y[i] = Row(math.Abs(v)-1, v > 0)
		}
		require.Equal(t, Events(later), Events(y))
		for _, ties := range []Ties{Breslow, Efron} {
			require.Equal(t, New(later, nil, ties).HalfDeviance(f), New(y, nil, ties).HalfDeviance(f))
		}
		wantLess, wantPairs := concordant(Part{Y: later, F: f})
		less, pairs := concordant(Part{Y: y, F: f})
		require.Equal(t, wantLess, less)
		require.Equal(t, wantPairs, pairs)
		_, want := KaplanMeier(later, nil)
		_, share := KaplanMeier(y, nil)
		require.Equal(t, want, share)
	}
}

func TestCheck(t *testing.T) {
	require.NoError(t, Check([]float64{1, -2, 0, Row(0, false)}))
	require.ErrorContains(t, Check([]float64{1, math.Inf(-1)}), "the time of row 1 is +Inf")
	require.Error(t, Check([]float64{math.NaN()}))
	require.Equal(t, -3.0, Row(3, false))
	require.Equal(t, 1, Events([]float64{1, -2}))
}

// The lists are another way to write the likelihood.
func TestLists(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for _, ties := range []Ties{Breslow, Efron} {
		for range 20 {
			y, f := times(r, 1+r.IntN(30))
			lists := New(y, nil, ties).Lists()
			sum := lists.Constant
			for k, group := range lists.Group {
				risk := 0.0
				for _, e := range group {
					risk += math.Exp(f[lists.Row[e]] + lists.Offset[e])
				}
				sum += lists.Weight[k] * math.Log(risk)
			}
			for _, i := range lists.Event {
				sum -= f[i]
			}
			want := weighedDeviance(y, f, nil, ties)
			require.InDelta(t, want, sum, 1e-11*(1+want))
		}
	}
}
