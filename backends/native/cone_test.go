package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
)

// interior returns a random point of the cone, at distance margin of its boundary.
func interior(rng *rand.Rand, c cone, n int, margin float64) []float64 {
	v := normals(rng, n)
	c.addUnit(v, c.shift(v)+margin)
	return v
}

// eachCone runs fn on the examples of all kinds of cones, so that a new kind needs no test of its own for what
// holds of every cone. Matrices take the plain form, in which H is at hand.
func eachCone(t *testing.T, fn func(t *testing.T, rng *rand.Rand, c cone, n int)) {
	eachExample(t, func(t *testing.T, e backends.Cone, k kind) {
		c := cone(newNonnegative(e.Dim))
		if k.maker != nil {
			c = k.maker(e, workOf(k.examples, dense.Within{}))
		}
		if m, ok := c.(*semidefinite); ok {
			m.form = denseRows
		}
		fn(t, rand.New(rand.NewPCG(1, uint64(e.Dim))), c, e.Dim)
	})
}

func eachExample(t *testing.T, fn func(t *testing.T, e backends.Cone, k kind)) {
	for _, k := range kinds {
		if k.place == equationRows || k.place == boundRows {
			continue
		}
		require.NotEmpty(t, k.examples, "the row of the %v cone has no examples", k.kind)
		for i, e := range k.examples {
			require.Equal(t, k.kind, e.Kind)
			t.Run(fmt.Sprintf("%s/%d of dimension %d", k.kind, i, e.Dim), func(t *testing.T) { fn(t, e, k) })
		}
	}
}

// mapMatrix returns the matrix of a linear map.
func mapMatrix(mul func(out, v []float64), n int) *mat.Dense {
	h := mat.NewDense(n, n, nil)
	e, col := make([]float64, n), make([]float64, n)
	for j := range n {
		e[j] = 1
		mul(col, e)
		e[j] = 0
		h.SetCol(j, col)
	}
	return h
}

// The scaling maps z to s, and its matrix is symmetric and positive definite. That of matrices in the inverse form
// maps s to z.
func TestScalingMapsDualToPrimal(t *testing.T) {
	eachCone(t, func(t *testing.T, rng *rand.Rand, c cone, n int) {
		for _, margin := range []float64{1, 1e-3} {
			s, z := interior(rng, c, n, margin), interior(rng, c, n, margin)
			require.True(t, c.scale(s, z))
			requireScaling(t, c.mulH, z, s)
			if m, ok := c.(*semidefinite); ok {
				m.form = eliminateRows
				require.True(t, c.scale(s, z))
				requireScaling(t, m.mulSym, s, z)
				m.form = denseRows
			}
		}
	})
}

// Smoothing leads to the central path, s = -mu grad F*(z), and keeps s - z, from near the path at least.
func TestSmooth(t *testing.T) {
	eachCone(t, func(t *testing.T, rng *rand.Rand, c cone, n int) {
		for _, mu := range []float64{1, 1e-3, 1e-6} {
			z := interior(rng, c, n, 1)
			s := scaled(-mu/100, gradientOf(t, c, z))
			v := slices.Clone(s)
			axpy(-1, z, v)
			for range 2 { // the second time nothing is left to do
				c.smooth(s, z, mu)
				require.InDeltaSlice(t, scaled(-mu, gradientOf(t, c, z)), s, 1e-6*dense.MaxAbs(s))
				left := slices.Clone(s)
				axpy(-1, z, left)
				require.InDeltaSlice(t, v, left, 1e-7*(1+dense.MaxAbs(v)))
			}
			s, z = interior(rng, c, n, 0), interior(rng, c, n, 1e-5)
			c.smooth(s, z, mu)
			require.True(t, c.scale(s, z), "inside, from anywhere")
		}
	})
}

// Smoothed pairs are inside also where mu is far below the rounding of s and z, and smoothing allocates nothing that
// Options.Memory would have to count.
func TestSmoothLargePairs(t *testing.T) {
	eachCone(t, func(t *testing.T, rng *rand.Rand, c cone, n int) {
		if _, ok := c.(*nonsymmetric); !ok {
			for _, size := range []float64{1e2, 1e4, 1e6, 1e8} {
				s, z := scaled(size, normals(rng, n)), scaled(size, normals(rng, n))
				c.smooth(s, z, 1e-8)
				require.True(t, c.scale(s, z), "size %g", size)
			}
		}
		s, z := interior(rng, c, n, 1), interior(rng, c, n, 1)
		require.Zero(t, testing.AllocsPerRun(3, func() { c.smooth(s, z, 1e-3) }))
	})
}

// Matrices beyond eigenOrder have no eigenvectors computed: S and Z are moved inside. With the eigenvalues 1 and 0 of S
// and 0 and 1 of Z the products then are mu (1 + mu).
func TestSmoothLargeMatrices(t *testing.T) {
	const mu = 1e-4
	n := eigenOrder + 10
	c := newSemidefinite(n, newMatrixWork(n, dense.Within{}))
	s := make([]float64, backends.PSD(n).Dim)
	at := 0
	for j := range n { // S = vv', Z = I - vv', v = (1, .., 1)/sqrt(n)
		for i := j; i < n; i++ {
			if s[at] = 1 / float64(n); i > j {
				s[at] *= math.Sqrt2
			}
			at++
		}
	}
	z := scaled(-1, s)
	c.addUnit(z, 1)
	c.smooth(s, z, mu)
	require.True(t, c.scale(s, z))
	require.InDelta(t, mu*(1+mu), dot(s, z)/float64(n), 1e-10)
}

// counted counts the looks at a barrier.
type counted struct {
	barrier
	looks int
}

func (c *counted) insideS(s []float64) bool { c.looks++; return c.barrier.insideS(s) }
func (c *counted) insideZ(z []float64) bool { c.looks++; return c.barrier.insideZ(z) }

func (c *counted) gradientAt(g, z []float64) bool { c.looks++; return c.barrier.gradientAt(g, z) }

// Complementary pairs on the boundary, smoothed to a mu as small as the rounding allows and smaller, take a bounded
// number of derivatives: Newton's method ends where rounding leaves nothing to gain. s is on the boundary, and z is the
// normal of the cone there.
func TestSmoothFar(t *testing.T) {
	const a = 0.3
	for name, b := range map[string]barrier{
		"exponential": exponentials(false)(backends.Exponential()), "power": powers(false)(backends.Power(a))} {
		looks := &counted{barrier: b}
		c := newNonsymmetric(looks, 3, dense.Within{})
		for _, root := range []float64{1e-1, 1e-2, 1e-4, 1e-5, 1e-6, 1e-7} {
			for i := range 100 {
				u := vec3{math.Sin(float64(i)), math.Cos(float64(i * i)), math.Sin(float64(3*i + 1))}
				e := math.Exp(u[0])
				s, z := vec3{u[0], 1, e}, vec3{-e, -e * (1 - u[0]), 1} // e^u0 <= w
				if name == "power" {
					x, y := e, math.Exp(u[1])
					w := math.Pow(x, a) * math.Pow(y, 1-a)
					s, z = vec3{x, y, w}, vec3{a * w / x, (1 - a) * w / y, -1}
				}
				z = z.times(math.Exp(u[2]))
				v := s.plus(-1, z)
				looks.looks = 0
				c.smooth(s[:], z[:], root*root)
				require.Less(t, looks.looks, 500, "%s, sqrt(mu) = %g", name, root)
				if d := s.plus(-1, z); root >= 1e-4 {
					require.InDeltaSlice(t, v[:], d[:], 1e-5, "%s, sqrt(mu) = %g", name, root)
				}
			}
		}
	}
}

// requireScaling checks a map for that.
func requireScaling(t *testing.T, mul func(out, v []float64), from, to []float64) {
	n := len(from)
	out := make([]float64, n)
	mul(out, from)
	require.InDeltaSlice(t, to, out, 1e-8*dense.MaxAbs(to))
	h := mapMatrix(mul, n)
	var diff mat.Dense
	diff.Sub(h, h.T())
	require.Less(t, mat.Norm(&diff, 1), 1e-10*mat.Norm(h, 1))
	var chol mat.Cholesky
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, h.At(i, j))
		}
	}
	require.True(t, chol.Factorize(sym))
}

// For s = (1, -r u) and z = (1, r u) with a unit vector u, H maps z to s with
// w = s/sqrt(d), d = 1 - r^2, and the eigenvalues are (1 + r)^2/d, its inverse,
// and 1. The smallest is known to the relative accuracy of the largest, which is
// that of d.
func TestEigenvaluesNearTheBoundary(t *testing.T) {
	for _, n := range []int{2, 3, 4} {
		for _, d := range []float64{1e-2, 1e-6, 1e-10} {
			s, z := make([]float64, n), make([]float64, n)
			r := math.Sqrt(1 - d)
			s[0], z[0] = 1, 1
			s[n-1], z[n-1] = -r, r
			c := newSecondOrder(n)
			require.True(t, c.scale(s, z))
			q, values := make([]float64, n*n), make([]float64, n)
			c.basis(nil, q, values)
			require.InEpsilon(t, (1+r)*(1+r)/d, values[0], 1e-15/d+1e-12)
			require.InEpsilon(t, d/((1+r)*(1+r)), values[1], 1e-15/d+1e-12)
			require.InEpsilon(t, 1, values[0]*values[1], 1e-14)
		}
	}
}

// The end of the longest step is on the boundary, and no step is longer than the limit. With nonsymmetric cones it is
// inside, and what is a little longer leads outside.
func TestStepEndsOnTheBoundary(t *testing.T) {
	eachExample(t, func(t *testing.T, e backends.Cone, k kind) {
		c, n := cone(newNonnegative(e.Dim)), e.Dim
		if k.maker != nil {
			c = k.maker(e, workOf(k.examples, dense.Within{}))
		}
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		_, nonsymmetric := c.(*nonsymmetric)
		for range 50 {
			s, z := interior(rng, c, n, 0.5), interior(rng, c, n, 0.5)
			ds, dz := make([]float64, n), make([]float64, n)
			for i := range n {
				ds[i], dz[i] = rng.NormFloat64(), rng.NormFloat64()
			}
			require.True(t, c.scale(s, z))
			a := c.step(s, z, ds, dz, 10)
			require.GreaterOrEqual(t, a, 0.0)
			require.LessOrEqual(t, a, 10.0)
			worst := outsideAt(c, e, s, z, ds, dz, a)
			require.LessOrEqual(t, worst, 1e-9)
			switch {
			case a == 10:
			case nonsymmetric:
				require.LessOrEqual(t, worst, 0.0)
				require.Positive(t, outsideAt(c, e, s, z, ds, dz, a*(1+2*boundaryError)))
			default:
				require.InDelta(t, 0, worst, 1e-9)
			}
		}
	})
}

// outsideAt says how far a step leads outside, as the cone has it, or where that does not tell the cone from its dual,
// as package backends has it.
func outsideAt(c cone, e backends.Cone, s, z, ds, dz []float64, a float64) float64 {
	s, z = slices.Clone(s), slices.Clone(z)
	axpy(a, ds, s)
	axpy(a, dz, z)
	if _, ok := c.(*nonsymmetric); ok {
		return max(e.Distance(s), e.DualDistance(z))
	}
	return max(c.shift(s), c.shift(z))
}

// gradientOf returns the gradient at z of the barrier F* of the dual cone, which is what combined adds to
// s for the target 1 and without a second-order term.
func gradientOf(t *testing.T, c cone, z []float64) []float64 {
	n := len(z)
	s, zero, d := make([]float64, n), make([]float64, n), make([]float64, n)
	unit(c, s, zero)
	clear(zero)
	require.True(t, c.scale(s, z))
	c.combined(d, s, z, zero, slices.Clone(zero), 1)
	axpy(-1, s, d)
	return d
}

// along returns z + a u + b v.
func along(z []float64, a float64, u []float64, b float64, v []float64) []float64 {
	out := slices.Clone(z)
	axpy(a, u, out)
	axpy(b, v, out)
	return out
}

// The barrier of the dual cone is logarithmically homogeneous of the degree of the cone. On the central path, where s =
// -mu grad F*(z), the scaling is mu times its Hessian, and the second-order term -1/2 F*”'(z)[u, dz] with Hess u = ds:
// both are those of finite differences.
func TestBarrierByDifferences(t *testing.T) {
	eachCone(t, func(t *testing.T, rng *rand.Rand, c cone, n int) {
		e, z := make([]float64, n), make([]float64, n)
		unit(c, e, z)
		require.InDeltaSlice(t, e, scaled(-1, gradientOf(t, c, z)), 1e-9, "s = e is minus the gradient at z = e")
		const mu, target = 0.7, 0.4
		for range 10 {
			z := interior(rng, c, n, 1)
			g := gradientOf(t, c, z)
			require.InDelta(t, -float64(c.degree()), dot(g, z), 1e-8*float64(1+c.degree()))
			s := scaled(-mu, g)
			v, hv, hz, ds, d := interior(rng, c, n, -0.5), make([]float64, n), make([]float64, n), make([]float64, n),
				make([]float64, n)
			require.True(t, c.scale(s, z))
			c.mulH(hv, v)
			c.mulH(hz, z)
			require.InDeltaSlice(t, s, hz, 1e-7*(1+dense.MaxAbs(s)))
			for i := range ds { // what the pure Newton direction solves
				ds[i] = -s[i] - hv[i]
			}
			c.combined(d, s, z, ds, v, target)
			u := along(z, 1, v, 0, v) // Hess^-1 ds = -mu (z + v)
			dense.Scale(u, -mu)

			step := 1e-5 / (1 + dense.MaxAbs(v))
			up, down := gradientOf(t, c, along(z, step, v, 0, v)), gradientOf(t, c, along(z, -step, v, 0, v))
			for i := range hv {
				require.InDelta(t, mu*(up[i]-down[i])/(2*step), hv[i], 1e-5*(1+dense.MaxAbs(hv)))
			}
			du, dv := 2e-4/(1+dense.MaxAbs(u)), 2e-4/(1+dense.MaxAbs(v))
			third := gradientOf(t, c, along(z, du, u, dv, v))
			axpy(-1, gradientOf(t, c, along(z, du, u, -dv, v)), third)
			axpy(-1, gradientOf(t, c, along(z, -du, u, dv, v)), third)
			axpy(1, gradientOf(t, c, along(z, -du, u, -dv, v)), third)
			dense.Scale(third, 1/(4*du*dv))
			for i := range d {
				require.InDelta(t, s[i]+target*g[i]-third[i]/2, d[i], 1e-4*(1+dense.MaxAbs(third)))
			}
		}
	})
}

func scaled(a float64, v []float64) []float64 {
	out := slices.Clone(v)
	dense.Scale(out, a)
	return out
}

func TestScaleRejectsPointsOutside(t *testing.T) {
	require.False(t, newNonnegative(2).scale([]float64{1, 0}, []float64{1, 1}))
	require.False(t, newSecondOrder(2).scale([]float64{1, 1}, []float64{1, 0}))
	require.False(t, newSecondOrder(3).scale([]float64{1, 0, 0}, []float64{math.NaN(), 0, 0}))
}

// nonsymmetricExamples returns the examples of such cones.
func nonsymmetricExamples() map[string]*nonsymmetric {
	out := map[string]*nonsymmetric{}
	for _, k := range kinds {
		for i, e := range k.examples {
			if k.maker == nil {
				continue
			}
			if c, ok := k.maker(e, workOf(k.examples, dense.Within{})).(*nonsymmetric); ok {
				out[fmt.Sprintf("%s/%d", k.kind, i)] = c
			}
		}
	}
	return out
}

// pair returns a point inside K and one inside K*.
func pair(rng *rand.Rand, c *nonsymmetric) (s, z []float64) {
	for {
		s, z = slices.Clone(c.centre), slices.Clone(c.centre)
		for i := range s {
			s[i] += 0.8 * rng.NormFloat64()
			z[i] += 0.8 * rng.NormFloat64()
		}
		if c.b.insideS(s) && c.b.insideZ(z) {
			return s, z
		}
	}
}

// minusGradient returns -grad F*(z).
func minusGradient(c *nonsymmetric, z []float64) []float64 {
	g := make([]float64, len(z))
	c.b.gradientAt(g, z)
	return scaled(-1, g)
}

// TestSolveHessian: L'z is what factor says, and Hess F*(z)^-1 has its digits near the boundary, too, where the
// condition of the Hessian is beyond them: with Hess F*(z) z = -grad F*(z), F*”'(z)[z, z] is 2 grad F*(z).
func TestSolveHessian(t *testing.T) {
	for name, c := range nonsymmetricExamples() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			n := len(c.centre)
			for range 20 {
				_, inside := pair(rng, c)
				direction := normals(rng, n)
				edge := stepInside(100, func(a float64) bool { return c.b.insideZ(along(inside, a, direction, 0, direction)) })
				for _, off := range []float64{1, 1e-3, 1e-6, 1e-9} {
					z := along(inside, edge*(1-off), direction, 0, direction)
					g := minusGradient(c, z)
					first, second, out := make([]float64, n), make([]float64, n), make([]float64, n)
					c.b.factor(c.factor, first)
					c.direction(second, z)
					size := 0.0 // of the terms of L'z
					for i, v := range z {
						size = max(size, math.Abs(v)*dense.MaxAbs(c.factor[i*n:i*n+n]))
					}
					require.InDeltaSlice(t, second, first, 1e-6*(1+size), "off %g", off)
					c.b.third(out, slices.Clone(g), z)
					require.InDeltaSlice(t, scaled(-2, g), out, 1e-5*dense.MaxAbs(g), "off %g", off)
				}
			}
		})
	}
}

// H maps z to s and the shadow of s to that of z, and is symmetric and positive definite.
func TestNonsymmetricScaling(t *testing.T) {
	for name, c := range nonsymmetricExamples() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			n := len(c.centre)
			for range 20 {
				s, z := pair(rng, c)
				require.True(t, c.scale(s, z))
				shadow, image := make([]float64, n), make([]float64, n)
				require.True(t, c.b.shadow(shadow, s))
				requireScaling(t, c.mulH, z, s)
				c.mulH(image, shadow)
				size := dense.MaxAbs(s) + dense.MaxAbs(c.gradient)
				require.InDeltaSlice(t, scaled(-1, c.gradient), image, 1e-6*size)
				require.InDeltaSlice(t, s, minusGradient(c, shadow), 1e-6*size)
			}
		})
	}
}

// The search for a step inside of a cone ends whatever its limit is.
func TestStepInsideEnds(t *testing.T) {
	never := func(float64) bool { return false }
	for _, limit := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1} {
		require.Zero(t, stepInside(limit, never))
	}
}

// randomDefinite returns a positive definite matrix with eigenvalues between low and 1.
func randomDefinite(rng *rand.Rand, n int, low float64) []float64 {
	g := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q, scaled, m mat.Dense
	qr.QTo(&q)
	scaled.CloneFrom(&q)
	for j := range n {
		v := math.Pow(low, rng.Float64())
		for i := range n {
			scaled.Set(i, j, q.At(i, j)*v)
		}
	}
	m.Mul(&scaled, q.T())
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			out[i+j*n] = (m.At(i, j) + m.At(j, i)) / 2
		}
	}
	return out
}

// The smallest eigenvalue, plain or in the metric of a factor, is bounded from
// below within the accuracy promised, against a full decomposition.
func TestSmallestEigenvalue(t *testing.T) {
	for _, n := range []int{2, 3, 10, 40, 41, 60, 150} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			e := newEigenWork(n, dense.Within{})
			for round := range 6 {
				m := make([]float64, n*n)
				for j := range n {
					for i := range j + 1 {
						m[i+j*n] = rng.NormFloat64()
						m[j+i*n] = m[i+j*n]
					}
				}
				var f *triangular
				want := mat.NewSymDense(n, append([]float64(nil), m...))
				if round%2 == 1 {
					v := randomDefinite(rng, n, math.Pow(10, -float64(round)))
					f = newTriangular(n, dense.Within{})
					require.True(t, f.factor(v))
					var chol mat.Cholesky
					require.True(t, chol.Factorize(mat.NewSymDense(n, v)))
					var l mat.TriDense
					chol.LTo(&l)
					var inv mat.Dense
					require.NoError(t, inv.Inverse(&l))
					var x, y mat.Dense
					x.Mul(&inv, want)
					y.Mul(&x, inv.T())
					for i := range n {
						for j := i; j < n; j++ {
							want.SetSym(i, j, y.At(i, j))
						}
					}
				}
				var eigen mat.EigenSym
				require.True(t, eigen.Factorize(want, false))
				exact := eigen.Values(nil)[0]
				got := e.smallest(m, n, f, math.Inf(1))
				require.LessOrEqual(t, got, exact+1e-9*math.Abs(exact))
				require.GreaterOrEqual(t, got, exact-0.03*math.Abs(exact)-1e-9)
			}
		})
	}
}

// With one weight the root has the closed form (exp(right) - 1)/2.
func TestConjugateRoot(t *testing.T) {
	left := func(r float64) (value, slope, bend float64) { // 2 log(1 + 2r) - log(1 + 2r)
		return math.Log1p(2 * r), 2 / (1 + 2*r), -4 / (1 + 2*r) / (1 + 2*r)
	}
	for right := 1e-300; right < 700; right *= 3 {
		r, ok := conjugateRoot(right, 1, left)
		require.True(t, ok, "%g", right)
		require.InEpsilon(t, math.Expm1(right)/2, r, 1e-12, "%g", right)
	}
	for _, right := range []float64{0, -1, math.NaN(), math.Inf(1), 1e5} {
		_, ok := conjugateRoot(right, 1, left)
		require.False(t, ok, "%g", right)
	}
}
