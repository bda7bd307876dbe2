package backends

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/conetune/conetune/internal/matrices"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// upperOf returns the upper triangle of a symmetric matrix.
func upperOf(a mat.Matrix) *mat.Dense {
	n, _ := a.Dims()
	out := mat.NewDense(n, n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.Set(i, j, a.At(i, j))
		}
	}
	return out
}

// TestConvexity draws matrices Q diag(w) Q' with chosen eigenvalues, scales their rows and columns by
// powers of ten, and asks for exactly those with a negative one to be refused, with a direction that proves it
// in dense arithmetic.
func TestConvexity(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range 400 {
		n := 2 + rng.IntN(12)
		var qr mat.QR
		qr.Factorize(mat.NewDense(n, n, normals(rng, n*n, 1)))
		var q mat.Dense
		qr.QTo(&q)
		w := make([]float64, n)
		negative := rng.IntN(2) == 0
		for j := range w {
			if rng.IntN(3) > 0 { // zeros are common
				w[j] = math.Pow(10, -3*rng.Float64())
			}
		}
		w[0] = 1
		if negative {
			w[n-1] = -math.Pow(10, -2*rng.Float64())
		}
		var p mat.Dense
		p.Mul(&q, mat.NewDiagDense(n, w))
		p.Mul(&p, q.T())
		decades := rng.IntN(9)
		for j := range n {
			by := math.Pow(10, float64(rng.IntN(2*decades+1)-decades))
			for i := range n {
				p.Set(i, j, p.At(i, j)*by)
				p.Set(j, i, p.At(j, i)*by)
			}
		}
		err := new(convexity).check(matrices.Compress(upperOf(&p)))
		if !negative {
			require.NoError(t, err)
			continue
		}
		var nonconvex *ProblemError
		require.ErrorAs(t, err, &nonconvex)
		d := mat.NewVecDense(n, nonconvex.Direction)
		for i := range n { // rounding made the two triangles differ
			for j := range i {
				p.Set(i, j, p.At(j, i))
			}
		}
		value := mat.Inner(d, &p, d)
		assert.Less(t, value, 0.0)
		assert.InEpsilon(t, value, nonconvex.Curvature, 1e-2)
		variable := slices.IndexFunc(nonconvex.Direction, func(v float64) bool { return math.Abs(v) == 1 })
		assert.Contains(t, err.Error(), fmt.Sprintf("largest in variable %d", variable))
		assert.Equal(t, 1.0, floats.Norm(nonconvex.Direction, math.Inf(1)))
	}
}

// TestConvexityByHand has the small matrices that a factorisation of the diagonal alone, or of
// positive pivots alone, would get wrong.
func TestConvexityByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      []float64 // 2 x 2, or 3 x 3
		convex bool
	}{
		{"a negative diagonal", []float64{-1, 0, 0, 1}, false},
		{"an entry beside a zero", []float64{0, 1, 1, 4}, false},
		{"an entry below a zero", []float64{4, -1, -1, 0}, false},
		{"a tiny entry beside a zero", []float64{1e8, 1e-8, 1e-8, 0}, false},
		{"singular", []float64{4, -4, -4, 4}, true},
		{"nearly singular", []float64{1, 1 - 1e-9, 1 - 1e-9, 1}, true},
		{"just not", []float64{1, 1 + 1e-3, 1 + 1e-3, 1}, false},
		{"rounded", []float64{1, 1 + 2e-16, 1 + 2e-16, 1}, true},
		{"rank one of far scales", []float64{1e16, 1e8, 1e8, 1}, true},
		{"huge", []float64{1e300, 1e301, 1e301, 1e300}, false},
		{"all minors of two are positive", []float64{1, -0.6, -0.6, -0.6, 1, -0.6, -0.6, -0.6, 1}, false},
		{"rank two", []float64{1, -0.5, -0.5, -0.5, 1, -0.5, -0.5, -0.5, 1}, true},
		{"an empty row", []float64{2, 0, 2, 0, 0, 0, 2, 0, 2}, true},
	} {
		n := int(math.Sqrt(float64(len(c.p))))
		err := new(convexity).check(matrices.Compress(upperOf(mat.NewDense(n, n, c.p))))
		assert.Equal(t, c.convex, err == nil, c.name)
	}
	// Between convex and not: [1 1+e; 1+e 1] has the eigenvalue -e.
	for _, e := range []float64{1e-10, 1e-7, 5e-5} {
		c := new(convexity)
		assert.NoError(t, c.check(matrices.Compress(upperOf(mat.NewDense(2, 2, []float64{1, 1 + e, 1 + e, 1})))))
		assert.InEpsilon(t, e, c.shift, 0.03)
	}
	assert.NoError(t, new(convexity).check(nil))
}

func TestExactSum(t *testing.T) {
	var s exactSum
	s.addProduct(1e16, 1)
	s.addProduct(1e-3, 1e-3)
	s.addProduct(-1e16, 1)
	assert.InEpsilon(t, 1e-6, s.value(), 1e-9)
	assert.Less(t, s.bound(), 1e-13)
	s = exactSum{}
	s.addTriple(1e9+1, 1e9-1, 1)
	s.addTriple(-1e9, 1e9, 1)
	assert.Equal(t, -1.0, s.value())
	s.addProduct(1e200, 1e200)
	assert.False(t, s.bound() < math.Inf(1))
}
