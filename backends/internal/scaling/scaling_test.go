package scaling

import (
	"math"
	"slices"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// distorted multiplies the rows of intervals and the columns of p, and its
// objective, by numbers that are far apart.
func distorted(p *backends.Problem) *backends.Problem {
	n, m := p.Dims()
	s := &Scaling{d: slices.Repeat([]float64{1}, n), e: slices.Repeat([]float64{1}, m), c: 1e7}
	for j := range s.d {
		s.d[j] = math.Pow(10, float64(j%5)-2)
	}
	first := 0
	for k, c := range p.Cones {
		for i := range c.Dim {
			s.e[first+i] = math.Pow(10, float64(2*(k%3)-3))
		}
		first += c.Dim
	}
	return s.Problem(p)
}

func TestScaledPointIsTheSame(t *testing.T) {
	for _, shape := range backendtest.Shapes() {
		c := backendtest.NewCase(shape, 1)
		p := distorted(c.Problem)
		s := New(p)
		require.NotNil(t, s, shape.Name)
		scaled := s.Problem(p)
		require.NoError(t, scaled.Validate())
		n, m := p.Dims()
		x, sl, z := make([]float64, n), make([]float64, m), make([]float64, m)
		for j := range x {
			x[j] = float64(j%7) - 3
		}
		for i := range z {
			sl[i], z[i] = float64(i%5)-2, float64(i%3)-1
		}
		point := s.Scale(backends.Point{X: x, S: sl, Z: z})

		// Objectives and rows agree to rounding: the factors are powers of two.
		_, primal, dual := backends.Recheck(p, x, sl, z)
		_, primalScaled, dualScaled := backends.Recheck(scaled, point.X, point.S, point.Z)
		assert.InEpsilon(t, primal*s.c, primalScaled, 1e-12, shape.Name)
		assert.InEpsilon(t, dual*s.c, dualScaled, 1e-9, shape.Name)

		back := s.Scale(backends.Point{X: x, S: sl, Z: z})
		s.Unscale(back.X, back.S, back.Z)
		assert.Equal(t, x, back.X)
		assert.Equal(t, sl, back.S)
		assert.Equal(t, z, back.Z)
		assert.Equal(t, scaled.B, s.Rows(p.B))
		assert.Equal(t, scaled.Q, s.Objective(p.Q))
	}
}

func TestFactorsArePowersOfTwoAndSharedByCones(t *testing.T) {
	a := sparse.NewCSC(5, 2, []int{0, 5, 7}, []int{0, 1, 2, 3, 4, 1, 4}, []float64{1e9, 3, 1e-5, 7, 2, 1e3, 5})
	p := &backends.Problem{Q: []float64{1, 1}, A: a, B: make([]float64, 5), Cones: []backends.Cone{backends.Zero(1),
		backends.SecondOrder(3), backends.Nonnegative(1)}}
	s := New(p)
	require.NotNil(t, s)
	for _, v := range append(append([]float64{s.c}, s.d...), s.e...) {
		fraction, _ := math.Frexp(v)
		assert.Equal(t, 0.5, fraction)
	}
	assert.Equal(t, s.e[1], s.e[2])
	assert.Equal(t, s.e[1], s.e[3])
}

func TestGoodProblemsStayAsTheyAre(t *testing.T) {
	for _, c := range backendtest.Cases() {
		if n, _ := c.Problem.Dims(); n > 0 {
			assert.Nil(t, New(c.Problem), c.Name)
		}
	}
	p := &backends.Problem{Q: []float64{1}}
	var none *Scaling
	assert.Same(t, p, none.Problem(p))
	assert.Equal(t, []float64{2}, none.Rows([]float64{2}))
	assert.Equal(t, []float64{3}, none.Objective([]float64{3}))
}

func TestRatiosBecomeSmall(t *testing.T) {
	n := 40
	ptr, ind, data := []int{0}, []int{}, []float64{}
	for j := range n { // entries of 1e-6 to 1e6, one factor a row and one a column
		for i := range n {
			if (i+j)%3 == 0 {
				ind, data = append(ind, i), append(data, math.Pow(10, float64(i%7-3)+float64(j%7-3)))
			}
		}
		ptr = append(ptr, len(ind))
	}
	q := make([]float64, n)
	q[0] = 1
	p := &backends.Problem{Q: q, A: sparse.NewCSC(n, n, ptr, ind, data), B: make([]float64, n),
		Cones: []backends.Cone{backends.Nonnegative(n)}}
	s := New(p)
	require.NotNil(t, s)
	spread, _ := s.measure(p)
	assert.Less(t, spread, 10.)
}

// TestZeroStaysZero has a column whose factor, 2^682, times that of the objective, 2^820, is beyond the numbers.
func TestZeroStaysZero(t *testing.T) {
	p := &backends.Problem{
		Q: []float64{0, 1e-154, 0},
		A: sparse.NewCSC(3, 3, []int{0, 2, 4, 5}, []int{0, 1, 0, 2, 0}, []float64{-1, -1, -3, -1, 1e-300}),
		B: make([]float64, 3),
		Cones: []backends.Cone{backends.Zero(1), backends.Box([]float64{-1.142987391282275e-100, -5.714936956411375e-101},
			[]float64{1.142987391282275e-100, 5.714936956411375e-101})},
	}
	s := New(p)
	require.NotNil(t, s)
	require.True(t, math.IsInf(s.c*s.d[2], 1))
	q := s.Problem(p).Q
	assert.Zero(t, q[0])
	assert.InDelta(t, 1, q[1], 0.5)
	assert.Zero(t, q[2])
}

// TestTailsAreNoScale has a Gaussian kernel, whose entries fall to 1e-82, with columns in units of 1e-4 to 1e4.
func TestTailsAreNoScale(t *testing.T) {
	const n = 40
	unit := func(j int) float64 { return math.Pow(10, float64(2*(j*j%7)-4)) }
	p := &backends.Problem{Q: make([]float64, n), P: matrices.Of(n, n, func(i, j int) float64 {
		if i > j {
			return 0
		}
		return math.Exp(-float64((i-j)*(i-j))/8) * unit(i) * unit(j)
	})}
	d, _ := New(p).Factors()
	for j := range n {
		assert.InEpsilon(t, 1, d[j]*unit(j), 0.5)
	}
}
