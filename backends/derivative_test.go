package backends_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
)

// along is a problem with dense numbers, and a direction of them: P a diagonal, A by columns.
type along struct {
	p, q, a, b     []float64
	dp, dq, da, db []float64
	cone           backends.Cone
}

func newAlong(rng *rand.Rand, c backends.Cone, n int) *along {
	list := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	l := &along{list(n), list(n), list(n * c.Dim), list(c.Dim), list(n), list(n), list(n * c.Dim), list(c.Dim), c}
	for i, v := range l.p {
		l.p[i], l.dp[i] = 1+v*v, 0.2*l.dp[i]
	}
	for i := range c.Dim { // well conditioned
		l.a[i*c.Dim+i] += 3
	}
	return l
}

// dense has so many rows, and its numbers by columns.
func dense(rows int, v []float64) *sparse.CSC {
	return matrices.Of(rows, len(v)/rows, func(i, j int) float64 { return v[i+j*rows] })
}

func diagonal(v []float64) *sparse.CSC {
	ptr, ind := make([]int, len(v)+1), make([]int, len(v))
	for j := range v {
		ptr[j+1], ind[j] = j+1, j
	}
	return sparse.NewCSC(len(v), len(v), ptr, ind, v)
}

func (l *along) at(h float64) *backends.Problem {
	move := func(v, d []float64) []float64 { return floats.AddScaledTo(make([]float64, len(v)), v, h, d) }
	m := l.cone.Dim
	return &backends.Problem{P: diagonal(move(l.p, l.dp)), Q: move(l.q, l.dq), A: dense(m, move(l.a, l.da)),
		B: move(l.b, l.db), Cones: []backends.Cone{l.cone}}
}

// Solutions of random programs in one cone move as the derivative says, as far as differences of them can tell.
func TestDerivativeOfCones(t *testing.T) {
	inf := math.Inf(1)
	weights := []float64{0.5, 0.2, 0.3}
	for name, c := range map[string]backends.Cone{
		"zero": backends.Zero(3), "nonnegative": backends.Nonnegative(4),
		"box":          backends.Box([]float64{-1, -inf, 0.5, -1, 0}, []float64{1, 0, 0.5, inf, 0.1}),
		"second-order": backends.SecondOrder(5), "ray": backends.SecondOrder(1), "plane": backends.SecondOrder(2),
		"psd": backends.PSD(4), "exponential": backends.Exponential(), "dual exponential": backends.DualExponential(),
		"power": backends.Power(0.3), "dual power": backends.DualPower(0.6),
		"generalized power":      backends.GeneralizedPower(weights, 3),
		"dual generalized power": backends.DualGeneralizedPower(weights, 1),
	} {
		t.Run(name, func(t *testing.T) {
			tried, seen := 0, map[int]bool{}
			for seed := range uint64(80) {
				rng := rand.New(rand.NewPCG(seed, 11))
				l := newAlong(rng, c, c.Dim+1)
				solved := true // all of these, and not only as far as digits go
				solve := func(h float64) *backends.Solution {
					s := must.Of(must.Of(backends.Open("native"))(t).Setup(l.at(h),
						backends.Options{Eps: 5e-13, MaxIterations: 60}))(t)
					defer s.Close()
					found := must.Of(s.Solve(context.Background()))(t)
					solved = solved && found.Status == backends.Optimal
					return found
				}
				at := solve(0)
				p := l.at(0)
				d := must.Of(backends.NewDerivative(t.Context(), p, backends.Point{X: at.X, S: at.S, Z: at.Z}))(t)
				u, v := make([]float64, len(l.q)), make([]float64, c.Dim)
				var m mat.Dense
				m.Mul(mat.NewDense(len(l.q), c.Dim, l.da), mat.NewDense(c.Dim, 1, at.Z))
				for j := range u {
					u[j] = -l.dp[j]*at.X[j] - l.dq[j] - m.At(j, 0)
				}
				for i := range v {
					v[i] = l.db[i]
					for j, x := range at.X {
						v[i] -= l.da[j*c.Dim+i] * x
					}
				}
				x, z, err := d.Solve(t.Context(), u, v)
				require.NoError(t, err)
				const h = 2e-2
				sixth, fourth := make([]float64, len(u)), make([]float64, len(u)) // differences of these orders
				dual, dual4 := make([]float64, len(v)), make([]float64, len(v))
				for k, w := range [][2]float64{{-1, 0}, {9, 5}, {-45, -40}, {}, {45, 40}, {-9, -5}, {1, 0}} {
					if k != 3 {
						side := solve(float64(k-3) * h)
						floats.AddScaled(sixth, w[0]/(60*h), side.X)
						floats.AddScaled(fourth, w[1]/(60*h), side.X)
						floats.AddScaled(dual, w[0]/(60*h), side.Z)
						floats.AddScaled(dual4, w[1]/(60*h), side.Z)
					}
				}
				size, sizeZ := math.Max(1, floats.Norm(sixth, inf)), math.Max(1, floats.Norm(dual, inf))
				if !solved || !floats.EqualApprox(sixth, fourth, 1e-5*size) || !floats.EqualApprox(dual, dual4, 1e-5*sizeZ) {
					continue
				}
				tried++
				require.Empty(t, d.Kinks, "seed %d: %v %v", seed, at.S, at.Z)
				require.NotContains(t, d.Loose, true)
				switch {
				case floats.Norm(at.S, 2) < 1e-6:
					seen[-1] = true
				case floats.Norm(at.Z, 2) < 1e-6:
					seen[1] = true
				default:
					seen[0] = true
				}
				require.InDeltaSlice(t, sixth, x, 1e-5*size, "seed %d: at %v with %v", seed, at.S, at.Z)
				require.InDeltaSlice(t, dual, z, 1e-5*sizeZ, "seed %d", seed)
			}
			require.Greater(t, tried, 10)
		})
	}
}

// The projection onto the cone of the nuclear norm, min |x - v|^2/2 over x in K, by that of the singular values onto
// the cone of the 1-norm: v0 + y of the bound, max(0, sigma - y) of these, y >= 0 such that both agree.
func projectNuclear(rows, cols int, v []float64) []float64 {
	x := mat.NewDense(rows, cols, nil)
	for k, e := range v[1:] {
		x.Set(k%rows, k/rows, e)
	}
	var svd mat.SVD
	svd.Factorize(x, mat.SVDThin)
	low, high := 0.0, 1e3
	values := svd.Values(nil)
	for range 200 {
		y := (low + high) / 2
		sum := v[0] + y
		for _, sigma := range values {
			sum -= math.Max(0, sigma-y)
		}
		if sum < 0 {
			low = y
		} else {
			high = y
		}
	}
	out := make([]float64, len(v))
	out[0] = math.Max(0, v[0]+high)
	for i, sigma := range values {
		values[i] = math.Max(0, sigma-high)
	}
	var u, w mat.Dense
	svd.UTo(&u)
	svd.VTo(&w)
	x.Product(&u, mat.NewDiagDense(len(values), values), w.T())
	for k := range v[1:] {
		out[1+k] = x.At(k%rows, k/rows)
	}
	return out
}

func TestDerivativeOfNuclearNorms(t *testing.T) {
	const rows, cols, n = 2, 3, 7
	tried := map[bool]int{}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 12))
		v, dv := make([]float64, n), make([]float64, n)
		for i := range v {
			v[i], dv[i] = rng.NormFloat64(), rng.NormFloat64()
		}
		at := func(h float64) []float64 { return floats.AddScaledTo(make([]float64, n), v, h, dv) }
		s := projectNuclear(rows, cols, v)
		q, ones := floats.ScaleTo(make([]float64, n), -1, v), make([]float64, n)
		minus := make([]float64, n)
		for i := range ones {
			ones[i], minus[i] = 1, -1
		}
		p := &backends.Problem{P: diagonal(ones), Q: q, A: diagonal(minus), B: make([]float64, n),
			Cones: []backends.Cone{backends.NuclearNorm(rows, cols)}}
		d := must.Of(backends.NewDerivative(t.Context(), p, backends.Point{X: s, S: s,
			Z: floats.SubTo(make([]float64, n), s, v)}))(t)
		require.Empty(t, d.Kinks)
		x, _, err := d.Solve(t.Context(), dv, make([]float64, n))
		require.NoError(t, err)
		const h = 1e-6
		want := projectNuclear(rows, cols, at(h))
		floats.Sub(want, projectNuclear(rows, cols, at(-h)))
		floats.Scale(1/(2*h), want)
		require.InDeltaSlice(t, want, x, 1e-6, "seed %d", seed)
		tried[floats.Norm(s, 2) > 0 && !floats.Equal(s, v)]++
	}
	require.Greater(t, tried[true], 5)
}

func TestDerivativeErrors(t *testing.T) {
	p := &backends.Problem{P: diagonal([]float64{1}), Q: []float64{0}, A: dense(2, []float64{1, 1}),
		B: []float64{1, 1}, Cones: []backends.Cone{backends.Zero(2)}}
	at := backends.Point{X: []float64{1}, S: []float64{0, 0}, Z: []float64{-0.5, -0.5}}
	d := must.Of(backends.NewDerivative(t.Context(), p, at))(t)
	x, _, err := d.Solve(t.Context(), []float64{0}, []float64{1, 0})
	require.ErrorIs(t, err, backends.ErrDegenerate) // dx = 1 and dx = 0
	require.InDelta(t, 0.5, x[0], 1e-9)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = d.Solve(ended, []float64{0}, []float64{1, 1})
	require.ErrorIs(t, err, context.Canceled)
	_, err = backends.NewDerivative(ended, p, at)
	require.ErrorIs(t, err, context.Canceled)
	x, _, err = d.Solve(t.Context(), []float64{0}, []float64{1, 1})
	require.NoError(t, err)
	require.InDelta(t, 1, x[0], 1e-9)

	at.Z = at.Z[:1]
	_, err = backends.NewDerivative(t.Context(), p, at)
	require.ErrorContains(t, err, "Point")
	const order = 3000
	m := backends.PSD(order).Dim
	p = &backends.Problem{Q: []float64{0}, A: sparse.NewCSC(m, 1, []int{0, 1}, []int{0}, []float64{1}),
		B: make([]float64, m), Cones: []backends.Cone{backends.PSD(order)}}
	_, err = backends.NewDerivative(t.Context(), p, backends.Point{X: []float64{0}, S: p.B, Z: p.B})
	var large *backends.MemoryError
	require.ErrorAs(t, err, &large)
}
