package survival

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
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
	for _, far := range []float64{-2000, 2000} { // hazards of a row of value 0 are no numbers
		moved := New(y, nil, Breslow).At([]float64{far, far, far, far, far}, nil).Baseline()
		require.InDelta(t, math.Exp(-2*0.7), moved.Survival(far+math.Log(2), 3), 1e-12)
	}
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

// repeated are rows as often as their weights say.
func repeated(y, f, w []float64) (times, values []float64) {
	for i := range y {
		for range int(w[i]) {
			times, values = append(times, y[i]), append(values, f[i])
		}
	}
	return times, values
}

// weighedDeviance is the half deviance with weights w, nil for ones, of the definition in coxph of R's survival
// (Therneau, Grambsch, Modeling survival data, 2000, section 7.1): with Efron's rule each of the d terms of a time has
// the mean weight of its events.
func weighedDeviance(y, f, w []float64, ties Ties) (sum float64) {
	if w == nil {
		w = slices.Repeat([]float64{1}, len(y))
	}
	done := map[float64]bool{}
	for i := range y {
		if y[i] < 0 || done[y[i]] {
			continue
		}
		done[y[i]] = true
		rest, own, ownBest, d, total := 0.0, 0.0, 0.0, 0.0, 0.0
		for j := range y {
			switch {
			case y[j] == y[i]:
				own += w[j] * math.Exp(f[j])
				ownBest += w[j]
				sum -= w[j] * f[j]
				d, total = d+1, total+w[j]
			case math.Abs(y[j]) >= y[i]:
				rest += w[j] * math.Exp(f[j])
			}
		}
		if ties == Breslow {
			sum += total * (math.Log(rest+own) - math.Log(ownBest))
			continue
		}
		for k := 0.0; k < d; k++ {
			sum += total / d * (math.Log(rest+own*(1-k/d)) - math.Log(ownBest*(1-k/d)))
		}
	}
	return sum
}

// weighed draws rows with weights.
func weighed(r *rand.Rand, n int, draw func() float64) (y, f, w []float64) {
	y, f = times(r, n)
	for range y {
		w = append(w, draw())
	}
	return y, f, w
}

// With Breslow's rule a row of weight 2 is two rows; so it is in hazards, shares and the concordance.
func TestWeightsAreRows(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	for range 50 {
		y, f, w := weighed(r, 3+r.IntN(25), func() float64 { return float64(1 + r.IntN(3)) })
		l := New(y, w, Breslow)
		times, values := repeated(y, f, w)
		other := New(times, nil, Breslow)
		require.InDelta(t, other.HalfDeviance(values), l.HalfDeviance(f), 1e-10)
		require.Equal(t, float64(Events(times)), l.Weight())
		a, b := l.At(f, nil).Baseline(), other.At(values, nil).Baseline()
		require.Equal(t, b.Times, a.Times)
		require.InDeltaSlice(t, b.Hazard, a.Hazard, 1e-12*(1+b.Hazard[max(0, len(b.Hazard)-1)]))
		ta, sa := KaplanMeier(y, w)
		tb, sb := KaplanMeier(times, nil)
		require.Equal(t, tb, ta)
		require.InDeltaSlice(t, sb, sa, 1e-12)
		ca, _ := Concordance(Part{Y: y, F: f, Weights: w})
		cb, _ := Concordance(Part{Y: times, F: values})
		if math.IsNaN(cb) {
			require.True(t, math.IsNaN(ca))
			continue
		}
		require.InDelta(t, cb, ca, 1e-12)
	}
}

// The half deviance is that of the definition, and does not change with a constant, its derivatives are finite
// differences, and the losses of events have it as their sum, for both rules of ties.
func TestWeightedLikelihood(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	const h = 1e-5
	for _, ties := range []Ties{Breslow, Efron} {
		for k := range 50 {
			y, f, w := weighed(r, 2+r.IntN(15), func() float64 { return math.Exp(2 * r.NormFloat64()) })
			if k < 20 {
				w = nil
			}
			l := New(y, w, ties)
			p := l.At(f, nil)
			require.InDelta(t, weighedDeviance(y, f, w, ties), p.HalfDeviance, 1e-9*(1+p.HalfDeviance))
			for _, shift := range []float64{0, 1000, -1000} {
				moved := slices.Clone(f)
				floats.AddConst(shift, moved)
				require.InDelta(t, p.HalfDeviance, l.HalfDeviance(moved), 1e-9*(1+p.HalfDeviance))
			}
			u, a, means := make([]float64, len(f)), make([]float64, len(f)), make([]float64, l.terms)
			p.Slopes(u, a)
			d, up, down := make([]float64, len(f)), make([]float64, len(f)), make([]float64, len(f))
			for i := range d {
				d[i] = r.NormFloat64()
				up[i], down[i] = f[i]+h*d[i], f[i]-h*d[i]
			}
			first, second := 0.0, 0.0
			for i, v := range d {
				first -= u[i] * v
				second += a[i] * v * v
				own := 0.0
				if y[i] > 0 {
					own = l.weightOf(i)
				}
				require.InDelta(t, own-u[i], a[i], 1e-12*(1+own))
			}
			p.Means(means, d)
			for k, m := range l.Weights() {
				second -= m * means[k] * means[k]
			}
			high, mid, low := weighedDeviance(y, up, w, ties), weighedDeviance(y, f, w, ties), weighedDeviance(y, down, w, ties)
			require.InDelta(t, (high-low)/(2*h), first, 1e-6*(1+math.Abs(first)))
			require.InDelta(t, (high-2*mid+low)/(h*h), second, 1e-3*(1+math.Abs(second)))
			sum := 0.0
			losses, weights := p.EventLosses()
			for k, v := range losses {
				weight := 1.0
				if w != nil {
					weight = weights[k]
				}
				sum += weight * v
			}
			require.InDelta(t, p.HalfDeviance, sum, 1e-9*(1+sum))
		}
	}
}
