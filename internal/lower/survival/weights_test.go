package survival

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

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
			u, a, means := make([]float64, len(f)), make([]float64, len(f)), make([]float64, l.Terms())
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
