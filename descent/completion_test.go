package descent

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// completionData are entries of an m x n matrix: a part of rank 2, features of the entries' rows, and noise.
type completionData struct {
	m, n     int
	row, col []int
	x        *mat.Dense
	y        []float64
	groups   [][]int
}

func completionSample(seed uint64, m, n, p int, share float64) completionData {
	rng := rand.New(rand.NewPCG(seed, 3))
	d := completionData{m: m, n: n, groups: equalGroups(p, 3)}
	normal := func(k int) []float64 {
		v := make([]float64, k)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	a, b, features := normal(2*m), normal(2*n), normal(max(1, m*p))
	var rows []float64
	for i := range m {
		for j := range n {
			if rng.Float64() > share {
				continue
			}
			d.row, d.col = append(d.row, i), append(d.col, j)
			f := features[i*p : (i+1)*p]
			rows = append(rows, f...)
			y := 1 + a[2*i]*b[2*j] + a[2*i+1]*b[2*j+1] + 0.1*rng.NormFloat64()
			for k := range min(p, 3) {
				y += f[k]
			}
			d.y = append(d.y, y)
		}
	}
	if p > 0 {
		d.x = mat.NewDense(len(d.y), p, rows)
	}
	return d
}

func (d completionData) problem(t testing.TB, intercept bool) *Completion {
	x := NewColumns(len(d.y), 0, nil)
	if d.x != nil {
		x = NewDesign(d.x)
	}
	g, err := NewRegression(x, d.y, intercept)
	require.NoError(t, err)
	groups, err := NewGroups(g, d.groups)
	require.NoError(t, err)
	c, err := NewCompletion(groups, d.m, d.n, d.row, d.col)
	require.NoError(t, err)
	return c
}

// With r the residual as a matrix over the known entries: r / N = w_0 (U V' + W), where G = U S V', W is orthogonal to U and V and of
// spectral norm at most 1; X_g'r / N = w_g b_g / |b_g|, or of norm at most w_g. All from the definition.
func TestCompletionOptimality(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, shape := range []struct{ m, n, p int }{{12, 12, 6}, {20, 9, 6}, {8, 30, 0}, {1, 25, 3}, {15, 15, 9}} {
			d := completionSample(5, shape.m, shape.n, shape.p, 0.6)
			c := d.problem(t, intercept)
			top := c.LambdaMax()
			for _, share := range []float64{1.01, 0.5, 0.1, 0.01} {
				w := CompletionWeights{share * top, []float64{0.7 * share * top}}
				s, err := c.Solve(context.Background(), w, Options{Tol: 1e-12}, nil)
				require.NoError(t, err)
				require.Contains(t, []Status{Optimal, Exhausted}, s.Status, "%v %v %g", intercept, shape, share)
				N := float64(len(d.y))
				full := mat.NewDense(d.m, d.n, nil)
				gamma := mat.NewDense(d.m, d.n, nil)
				if s.Left != nil {
					gamma.Mul(s.Left, s.Right.T())
				}
				r := make([]float64, len(d.y))
				for k, y := range d.y {
					r[k] = y - s.B0 - gamma.At(d.row[k], d.col[k])
					if d.x != nil {
						r[k] -= floats.Dot(d.x.RawRowView(k), s.B)
					}
					full.Set(d.row[k], d.col[k], r[k]/N)
				}
				if intercept {
					require.InDelta(t, 0, floats.Sum(r)/N, 1e-9)
				} else {
					require.Zero(t, s.B0)
				}
				var svd mat.SVD
				require.True(t, svd.Factorize(full, mat.SVDNone))
				require.Less(t, svd.Values(nil)[0], w.Nuclear*(1+1e-5))
				if s.Left != nil {
					require.True(t, svd.Factorize(gamma, mat.SVDNone))
					// <r / N, G> = w_0 |G|_*
					var inner float64
					for i := range d.m {
						inner += floats.Dot(full.RawRowView(i), gamma.RawRowView(i))
					}
					require.InEpsilon(t, w.Nuclear*floats.Sum(svd.Values(nil)), inner, 1e-6)
				}
				for _, group := range d.groups {
					var norm, size, along float64
					for _, j := range group {
						g := floats.Dot(mat.Col(nil, j, d.x), r) / N
						norm, size, along = math.Hypot(norm, g), math.Hypot(size, s.B[j]), along+g*s.B[j]
					}
					require.Less(t, norm, w.Norm[0]*(1+1e-5))
					require.InDelta(t, w.Norm[0]*size, along, 1e-6*(1+size)*w.Norm[0])
				}
			}
		}
	}
}

// With all entries known and no features, G is the singular value decomposition with its values lowered by m n w_0.
func TestCompletionOfAKnownMatrix(t *testing.T) {
	d := completionSample(6, 9, 7, 0, 1.1)
	c := d.problem(t, false)
	full := mat.NewDense(9, 7, nil)
	c.scatter(full, 1, d.y)
	var svd mat.SVD
	require.True(t, svd.Factorize(full, mat.SVDThin))
	values := svd.Values(nil)
	w := CompletionWeights{Nuclear: values[1] * 0.5 / 63}
	s, err := c.Solve(context.Background(), w, Options{Tol: 1e-13}, nil)
	require.NoError(t, err)
	var u, v, want, got mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	for k, x := range values {
		lowered := math.Max(0, x-63*w.Nuclear)
		for i := range 9 {
			u.Set(i, k, u.At(i, k)*lowered)
		}
	}
	want.Mul(&u, v.T())
	got.Mul(s.Left, s.Right.T())
	require.True(t, mat.EqualApprox(&want, &got, 1e-7))
	zero, err := c.Solve(context.Background(), CompletionWeights{Nuclear: c.LambdaMax() * 1.0001}, Options{}, s)
	require.NoError(t, err)
	require.Nil(t, zero.Left)
}

func TestCompletionOfNonsense(t *testing.T) {
	d := completionSample(7, 5, 5, 3, 0.8)
	g, err := NewRegression(NewDesign(d.x), d.y, false)
	require.NoError(t, err)
	groups, err := NewGroups(g, d.groups)
	require.NoError(t, err)
	_, err = NewCompletion(groups, 5, 4, d.row, d.col)
	require.ErrorContains(t, err, "outside of a matrix of 5 x 4")
	_, err = NewCompletion(groups, 5, 5, d.row[1:], d.col)
	require.ErrorContains(t, err, "column indices")
	c, err := NewCompletion(groups, 5, 5, d.row, d.col)
	require.NoError(t, err)
	_, err = c.Solve(context.Background(), CompletionWeights{Nuclear: 0, Norm: []float64{1}}, Options{}, nil)
	require.ErrorContains(t, err, "nuclear norm is 0")
	_, err = c.Solve(context.Background(), CompletionWeights{Nuclear: 1}, Options{}, nil)
	require.ErrorContains(t, err, "no penalty")
}
