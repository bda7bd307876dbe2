package completion

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

func normals(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

// Q R is the matrix and Q is orthonormal also where columns are of very different lengths, nearly dependent, zero, or
// more than rows.
func TestOrthonormal(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for name, change := range map[string]func(a *mat.Dense){
		"plain":   func(*mat.Dense) {},
		"lengths": func(a *mat.Dense) { scaleColumn(a, 2, 1e-9) },
		"near":    func(a *mat.Dense) { a.SetCol(3, mat.Col(nil, 2, a)); a.Set(0, 3, a.At(0, 3)*(1+1e-9)) },
		"zero":    func(a *mat.Dense) { scaleColumn(a, 1, 0) },
	} {
		for _, rows := range []int{4, 30} {
			a := mat.NewDense(rows, 6, normals(rng, rows*6))
			change(a)
			q, r := orthogonal(mat.DenseCopyOf(a))
			var back, unit mat.Dense
			back.Mul(q, r)
			require.True(t, mat.EqualApprox(a, &back, 1e-12), "%s, %d rows", name, rows)
			unit.Mul(q.T(), q)
			one := mat.NewDiagDense(unit.RawMatrix().Rows, nil)
			for i := range unit.RawMatrix().Rows {
				one.SetDiag(i, 1)
			}
			require.True(t, mat.EqualApprox(one, &unit, 1e-12), "%s, %d rows", name, rows)
		}
	}
}

func scaleColumn(a *mat.Dense, l int, c float64) {
	rows, _ := a.Dims()
	for i := range rows {
		a.Set(i, l, c*a.At(i, l))
	}
}

// softImpute is the objective after many accelerated proximal steps on the whole matrix, by dense singular value
// decompositions.
func softImpute(d *Data, weight float64) float64 {
	N := float64(len(d.Y))
	g, last := mat.NewDense(d.M, d.N, nil), mat.NewDense(d.M, d.N, nil)
	values := []float64{0}
	momentum := 1.0
	for range 400 {
		next := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		z := mat.NewDense(d.M, d.N, nil)
		z.Sub(g, last)
		z.Scale((momentum-1)/next, z)
		z.Add(g, z)
		momentum = next
		for e, y := range d.Y {
			v := z.At(d.Row[e], d.Col[e])
			z.Set(d.Row[e], d.Col[e], v+(y-v)) // a step of N
		}
		var svd mat.SVD
		svd.Factorize(z, mat.SVDThin)
		values = svd.Values(nil)
		var u, v mat.Dense
		svd.UTo(&u)
		svd.VTo(&v)
		for l, x := range values {
			values[l] = math.Max(0, x-N*weight)
			scaleColumn(&u, l, values[l])
		}
		last, g = g, mat.NewDense(d.M, d.N, nil)
		g.Mul(&u, v.T())
	}
	sum := 0.0
	for _, x := range values {
		sum += weight * x
	}
	for e, y := range d.Y {
		r := y - g.At(d.Row[e], d.Col[e])
		sum += r * r / (2 * N)
	}
	return sum
}

// sampled has a matrix of low rank with noise; the last row and column have no known entry.
func sampled(m, n, entries, rank int, seed uint64) Data {
	rng := rand.New(rand.NewPCG(seed, 7))
	a, b := normals(rng, m*rank), normals(rng, n*rank)
	d := Data{M: m, N: n, X: design.FromColumns(entries, 0, nil)}
	for _, at := range rng.Perm((m - 1) * (n - 1))[:entries] {
		i, l := at/(n-1), at%(n-1)
		d.Row, d.Col = append(d.Row, i), append(d.Col, l)
		d.Y = append(d.Y, inner(a[i*rank:(i+1)*rank], b[l*rank:(l+1)*rank])/math.Sqrt(float64(rank))+0.5*rng.NormFloat64())
	}
	return d
}

// Large completions have the objective of dense proximal steps, from nothing and along a path down to weights at which
// the rank is above that of the data, at a search's tolerance and at a fine one; the gap holds, and is recomputed from
// a dense decomposition.
func TestFactoredAgainstProximal(t *testing.T) {
	d := sampled(60, 75, 2200, 3, 1)
	c := must.Of(New(d, false))(t)
	require.False(t, c.interior != nil)
	top := c.LambdaMax()
	tols := []float64{1e-3, 1e-7}
	if testing.Short() {
		tols = tols[:1]
	}
	for _, tol := range tols {
		var start *Solution
		for _, share := range []float64{0.5, 0.2, 0.1} {
			name := fmt.Sprint(tol, share)
			s := must.Of(c.Solve(context.Background(), Weights{Nuclear: share * top}, Options{Tol: tol, Start: start}))(t)
			require.Equal(t, outcome.Converged, s.Status, name)
			require.LessOrEqual(t, c.Relative(s.Gap), tol, name)
			want := softImpute(&d, share*top)
			require.InDelta(t, want, s.Objective, s.Gap+1e-9, name)
			require.GreaterOrEqual(t, s.Objective, want-1e-9, name)
			again, err := c.Solve(context.Background(), Weights{Nuclear: share * top}, Options{Tol: tol, Start: start})
			require.NoError(t, err)
			require.Equal(t, s, again, "the same bytes")
			start = s

			// The residual, over N and shortened until no singular value is above the weight, is a point of the dual.
			norm := spectral(t, c, s.Residual) / float64(len(d.Y))
			shorten := math.Min(1, share*top/norm)
			bound := 0.0
			for e, r := range s.Residual {
				bound += (shorten*r*d.Y[e] - shorten*shorten*r*r/2) / float64(len(d.Y))
			}
			require.LessOrEqual(t, s.Objective-s.Gap, bound+1e-9, "%s: a gap no bound gives", name)
		}
	}
}

// With more features than have a block of the preconditioner factors have the solution of the interior-point method.
func TestManyFeatures(t *testing.T) {
	d := draw(5, 20, 20, blockMost+10, 0.9)
	small, large := d.problem(t, false), d.problem(t, false)
	large.interior = nil
	w := Weights{0.3 * small.LambdaMax(), []float64{0.3 * small.LambdaMax()}}
	a := must.Of(small.Solve(context.Background(), w, Options{Tol: 1e-9}))(t)
	b := must.Of(large.Solve(context.Background(), w, Options{Tol: 1e-7}))(t)
	require.Equal(t, outcome.Converged, b.Status)
	require.InDelta(t, a.Objective, b.Objective, 2e-7*small.groups.Scale)
	require.NotEmpty(t, b.Support)
}

// Products with features of rows, of columns and of neither, some left out, are those with the whole design.
func TestLines(t *testing.T) {
	const m, n, entries, p = 7, 5, 23, 6
	rng := rand.New(rand.NewPCG(3, 4))
	rows, cols := normals(rng, 2*m), normals(rng, 2*n)
	d := &Data{M: m, N: n, Y: make([]float64, entries)}
	x := mat.NewDense(entries, p, nil)
	for e, at := range rng.Perm(m * n)[:entries] {
		i, l := at/n, at%n
		d.Row, d.Col = append(d.Row, i), append(d.Col, l)
		x.SetRow(e, []float64{rows[2*i], cols[2*l], rng.NormFloat64(), rows[2*i+1], 0, cols[2*l+1]})
	}
	d.X = design.New(x)
	s := newLines(d)
	require.Equal(t, []int{0, 1, 2, 3, 4, 5}, s.all)
	for l, side := range []int{0, 1, -1, 0, 0, 1} {
		if side < 0 {
			require.Nil(t, s.value[l])
			continue
		}
		require.NotNil(t, s.value[l])
		require.Equal(t, side, s.of[l])
	}
	for _, set := range [][]int{nil, {2}, {1, 4}, s.all} {
		full := mat.NewVecDense(p, nil)
		c := normals(rng, len(set))
		if len(c) > 1 {
			c[1] = 0
		}
		for i, l := range set {
			full.SetVec(l, c[i])
		}
		to, v := normals(rng, entries), normals(rng, entries)
		want := mat.NewVecDense(entries, append([]float64{}, to...))
		var product, back mat.VecDense
		product.MulVec(x, full)
		want.AddScaledVec(want, -2, &product)
		s.push(to, -2, d.X, set, c)
		require.InDeltaSlice(t, want.RawVector().Data, to, 1e-13)

		back.MulVec(x.T(), mat.NewVecDense(entries, v))
		out := normals(rng, len(set))
		expected := append([]float64{}, out...)
		for i, l := range set {
			expected[i] += 0.5 * back.AtVec(l)
		}
		s.pull(out, 0.5, d.X, set, v)
		require.InDeltaSlice(t, expected, out, 1e-13)
	}
}
