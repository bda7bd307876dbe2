package augmented

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
)

// TestProjection has the three properties that a projection has and nothing else (Moreau): p in K, p - w in K*, and
// both orthogonal; and the differences of the projection beside its derivative.
func TestProjection(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 1))
	for n := range 20_000 {
		w := make([]float64, 3)
		for k := range w {
			w[k] = draw.NormFloat64() * math.Pow(10, 4*draw.Float64()-2)
			if n%7 == k {
				w[k] = 0
			}
		}
		if n%5 == 0 { // near the boundary
			w[1] = math.Abs(w[1]) + 1e-3
			w[2] = w[1]*math.Exp(min(30, w[0]/w[1])) + 1e-3*draw.NormFloat64()
		}
		for _, c := range []backends.Cone{backends.Exponential(), backends.DualExponential()} {
			e := exponential{dual: c.Kind == backends.DualExponentialCone}
			p, z := make([]float64, 3), make([]float64, 3)
			b := e.project(p, w)
			floats.SubTo(z, p, w)
			size := floats.Norm(w, 2)
			require.LessOrEqual(t, c.Distance(p), 1e-12*size, "%v %v: %v", c.Kind, w, p)
			require.LessOrEqual(t, c.DualDistance(z), 1e-12*size, "%v %v: %v", c.Kind, w, p)
			require.InDelta(t, 0, floats.Dot(p, z), 1e-12*size*size, "%v %v: %v", c.Kind, w, p)
			for range 3 {
				v := []float64{draw.NormFloat64(), draw.NormFloat64(), draw.NormFloat64()}
				bv := b.times(v)
				share := floats.Dot(bv[:], v) / floats.Dot(v, v)
				require.True(t, share >= -1e-12 && share <= 1+1e-12, "%v %v: %v", c.Kind, w, b)
			}
			requireDerivative(t, &e, w, b)
		}
	}
}

// The brackets of the root end where exponentials overflow and at points that are not finite.
func TestProjectionEnds(t *testing.T) {
	values := []float64{0, 1, -1, 1e-300, 1e300, -1e300, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, u := range values {
		for _, v := range values {
			for _, w := range values {
				projectExponential(make([]float64, 3), []float64{u, v, w})
			}
		}
	}
}

// requireDerivative compares with differences where they are good: on both sides of the point the same, as they are not
// at edges.
func requireDerivative(t *testing.T, e *exponential, w []float64, b bend) {
	t.Helper()
	if floats.Norm(w, math.Inf(1)) > 100*math.Min(math.Abs(w[0]), math.Abs(w[1])) {
		return // the boundary bends within the steps
	}
	h := 1e-6 * floats.Norm(w, 2)
	for k := range 3 {
		v := make([]float64, 3)
		v[k] = 1
		left := func(step float64) (out [3]float64) {
			at, p := append([]float64(nil), w...), make([]float64, 3)
			at[k] += step
			e.project(p, at)
			for i := range out {
				out[i] = at[i] - p[i]
			}
			return out
		}
		up, mid, down := left(h), left(0), left(-h)
		bv := b.times(v)
		for i := range 3 {
			after, before := (up[i]-mid[i])/h, (mid[i]-down[i])/h
			if math.Abs(after-before) < 1e-5 {
				require.InDelta(t, (after+before)/2, bv[i], 1e-4, "%v", w)
			}
		}
	}
}
