package completion

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// sample are entries of an m x n matrix: a part of rank 2, features of the entries' rows, and noise.
type sample struct {
	m, n     int
	row, col []int
	x        *mat.Dense
	y        []float64
	groups   [][]int
}

func draw(seed uint64, m, n, p int, share float64) sample {
	rng := rand.New(rand.NewPCG(seed, 3))
	d := sample{m: m, n: n, groups: lowertest.EqualGroups(p, 3)}
	a, b, features := normals(rng, 2*m), normals(rng, 2*n), normals(rng, max(1, m*p))
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

func (d sample) problem(t testing.TB, intercept bool) *Problem {
	return must.Of(New(d.data(), intercept))(t)
}

func (d sample) data() Data {
	x := design.FromColumns(len(d.y), 0, nil)
	if d.x != nil {
		x = design.New(d.x)
	}
	return Data{M: d.m, N: d.n, Row: d.row, Col: d.col, Y: d.y, X: x, Groups: d.groups}
}

// scatter adds a v at the known entries to a matrix.
func scatter(c *Problem, to *mat.Dense, a float64, v []float64) {
	for k, x := range v {
		i, j := c.row[k], c.col[k]
		to.Set(i, j, to.At(i, j)+a*x)
	}
}

// spectral is the largest singular value of the matrix that has v at the known entries and zeros elsewhere.
func spectral(t *testing.T, c *Problem, v []float64) float64 {
	t.Helper()
	full := mat.NewDense(c.m, c.n, nil)
	scatter(c, full, 1, v)
	var svd mat.SVD
	require.True(t, svd.Factorize(full, mat.SVDNone))
	return svd.Values(nil)[0]
}

// With all entries known and no features, G is the singular value decomposition with its values lowered by m n w_0.
func TestKnownMatrix(t *testing.T) {
	d := draw(6, 9, 7, 0, 1.1)
	c := d.problem(t, false)
	full := mat.NewDense(9, 7, nil)
	scatter(c, full, 1, d.y)
	var svd mat.SVD
	require.True(t, svd.Factorize(full, mat.SVDThin))
	values := svd.Values(nil)
	w := []float64{values[1] * 0.5 / 63}
	s := must.Of(c.Solve(context.Background(), w, 1e-13, nil))(t)
	var u, v, want, got mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	for k, x := range values {
		lowered := math.Max(0, x-63*w[0])
		for i := range 9 {
			u.Set(i, k, u.At(i, k)*lowered)
		}
	}
	want.Mul(&u, v.T())
	got.Mul(s.Left, s.Right.T())
	require.True(t, mat.EqualApprox(&want, &got, 1e-7))
	zero := must.Of(c.Solve(context.Background(), []float64{c.LambdaMax() * 1.0001}, 1e-8, s))(t)
	require.Nil(t, zero.Left)
}

func TestNonsense(t *testing.T) {
	d := draw(7, 5, 5, 3, 0.8)
	narrow := d.data()
	narrow.N = 4
	_, err := New(narrow, false)
	require.ErrorContains(t, err, "outside of a matrix of 5 x 4")
	short := d.data()
	short.Row = d.row[1:]
	_, err = New(short, false)
	require.ErrorContains(t, err, "column indices")
	c := must.Of(New(d.data(), false))(t)
	_, err = c.Solve(context.Background(), []float64{0, 1}, 1e-8, nil)
	require.ErrorContains(t, err, "weight 0 of a completion is 0")
	_, err = c.Solve(context.Background(), []float64{1}, 1e-8, nil)
	require.ErrorContains(t, err, "1 weights, expected one of the nuclear norm and one for each of")
}

func TestStopped(t *testing.T) {
	c := draw(3, 9, 8, 2, 0.5).problem(t, true)
	lowertest.StopsInTime(t, map[string]func(ctx context.Context) lowertest.End{
		"completion": func(ctx context.Context) lowertest.End {
			s := must.Of(c.Solve(ctx, []float64{0.1 * c.LambdaMax(), 0.1 * c.LambdaMax()}, 1e-8, nil))(t)
			return lowertest.End{Status: s.Status, Objective: s.Objective}
		},
	})
}

// A completion of many blocks and of products large enough for several threads has the same bytes on one thread and on
// several, and the gap that a dense decomposition of its residual gives.
func TestSameBytesOnAnyThreads(t *testing.T) {
	d := sampled(300, 260, 20000, 4, 9)
	c := must.Of(New(d, false))(t)
	weight := 0.08 * c.LambdaMax()
	solve := func(threads int) *Solution {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		return must.Of(c.Solve(context.Background(), []float64{weight}, 1e-3, nil))(t)
	}
	one := solve(1)
	require.Equal(t, outcome.Converged, one.Status)
	_, k := one.Left.Dims()
	require.Greater(t, len(d.Y)*6*k, besideLeast)
	for _, threads := range []int{2, 5} {
		require.Equal(t, one, solve(threads), fmt.Sprint(threads))
	}
	objective, bound := penalised(t, c, &d, weight, one)
	require.InDelta(t, objective, one.Objective, 1e-9)
	require.LessOrEqual(t, one.Objective-one.Gap, bound+1e-9)
}

// A matrix of rank one, of which one entry is not known.
func ExampleProblem_Solve() {
	d := Data{
		M: 2, N: 2,
		Row: []int{0, 0, 1}, Col: []int{0, 1, 0},
		Y: []float64{4, 2, 2},
		X: design.FromColumns(3, 0, nil),
	}
	c, err := New(d, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := c.Solve(context.Background(), []float64{1e-4}, 1e-8, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, rank := s.Left.Dims()
	g := 0.0
	for k := range rank {
		g += s.Left.At(1, k) * s.Right.At(1, k)
	}
	fmt.Printf("%s: rank %d, the entry is %.1f\n", s.Status, rank, g)
	// Output: converged: rank 1, the entry is 1.0
}
