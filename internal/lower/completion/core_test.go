package completion

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
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

// penalised is the objective of a matrix alone at a solution, with the singular values of G, and a bound of the optimum:
// the residual, over N and shortened until no singular value is above the weight, is a point of the dual.
func penalised(t *testing.T, c *Problem, d *Data, weight float64, s *Solution) (objective, bound float64) {
	t.Helper()
	N := float64(len(d.Y))
	var g mat.Dense
	g.Mul(s.Left, s.Right.T())
	var svd mat.SVD
	require.True(t, svd.Factorize(&g, mat.SVDNone))
	objective = weight * floats.Sum(svd.Values(nil))
	shorten := math.Min(1, weight/(spectral(t, c, s.Residual)/N))
	for e, y := range d.Y {
		v, r := s.Residual[e], y-g.At(d.Row[e], d.Col[e])
		bound += (shorten*v*y - shorten*shorten*v*v/2) / N
		objective += r * r / (2 * N)
	}
	return objective, bound
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

// Large completions have their objective and a gap that a dense decomposition confirms, from nothing and along a path
// down to weights at which the rank is above that of the data, at a search's tolerance and at a fine one.
func TestFactoredAgainstDense(t *testing.T) {
	d := sampled(60, 75, 2200, 3, 1)
	c := must.Of(New(d, false))(t)
	require.False(t, c.interior != nil)
	top := c.LambdaMax()
	for _, tol := range []float64{1e-3, 1e-7} {
		var start *Solution
		for _, share := range []float64{0.5, 0.2, 0.1} {
			name := fmt.Sprint(tol, share)
			s := must.Of(c.Solve(context.Background(), []float64{share * top}, tol, start))(t)
			require.Equal(t, outcome.Converged, s.Status, name)
			require.LessOrEqual(t, c.Relative(s.Gap), tol, name)
			again := must.Of(c.Solve(context.Background(), []float64{share * top}, tol, start))(t)
			require.Equal(t, s, again, "the same bytes")
			start = s
			objective, bound := penalised(t, c, &d, share*top, s)
			require.InDelta(t, objective, s.Objective, 1e-9, name)
			require.LessOrEqual(t, s.Objective-s.Gap, bound+1e-9, "%s: a gap no bound gives", name)
		}
	}
}

// With more features than have a block of the preconditioner factors have the solution of the interior-point method.
func TestManyFeatures(t *testing.T) {
	d := draw(5, 20, 20, blockMost+10, 0.9)
	small, large := d.problem(t, false), d.problem(t, false)
	large.interior = nil
	w := weights(0.3*small.LambdaMax(), 0.3*small.LambdaMax(), d.groups)
	a := must.Of(small.Solve(context.Background(), w, 1e-9, nil))(t)
	b := must.Of(large.Solve(context.Background(), w, 1e-7, nil))(t)
	require.Equal(t, outcome.Converged, b.Status)
	require.InDelta(t, a.Objective, b.Objective, 2e-7*small.groups.Scale)
	require.NotZero(t, floats.Norm(b.B, 1))
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

// definition is the objective at a solution, with the singular values of G.
func definition(t *testing.T, d sample, w []float64, s *Solution) float64 {
	gamma := mat.NewDense(d.m, d.n, nil)
	if s.Left != nil {
		gamma.Mul(s.Left, s.Right.T())
	}
	loss := 0.0
	for k, y := range d.y {
		r := y - s.B0 - gamma.At(d.row[k], d.col[k])
		if d.x != nil {
			r -= floats.Dot(d.x.RawRowView(k), s.B)
		}
		loss += r * r / float64(2*len(d.y))
	}
	var svd mat.SVD
	require.True(t, svd.Factorize(gamma, mat.SVDNone))
	objective := loss + w[0]*floats.Sum(svd.Values(nil))
	for g, group := range d.groups {
		size := 0.0
		for _, j := range group {
			size = math.Hypot(size, s.B[j])
		}
		objective += w[1+g] * size
	}
	return objective
}

// The interior-point method reaches its gap, measured against a bound from the other method, at weights from 1e-4 of
// the largest to above it, for matrices of any shape, and with entries that are known twice.
func TestInteriorGap(t *testing.T) {
	ctx := context.Background()
	for _, intercept := range []bool{false, true} {
		for _, shape := range []struct{ m, n, p int }{{12, 12, 6}, {20, 9, 6}, {8, 30, 0}, {1, 25, 3}, {30, 1, 0},
			{30, 35, 30}} {
			d := draw(5, shape.m, shape.n, shape.p, 0.4)
			for k := range 3 { // again, with other values
				d.row, d.col, d.y = append(d.row, d.row[k]), append(d.col, d.col[k]), append(d.y, d.y[k]+0.3)
				if d.x != nil {
					d.x = mat.DenseCopyOf(d.x.Grow(1, 0))
					d.x.SetRow(len(d.y)-1, d.x.RawRowView(k))
				}
			}
			c := d.problem(t, intercept)
			require.True(t, c.interior != nil)
			other := d.problem(t, intercept)
			other.interior = nil
			top := c.LambdaMax()
			for _, share := range []float64{1.01, 0.9, 0.1, 0.01, 1e-3, 1e-4} {
				for _, ratio := range []float64{0.03, 1, 30} {
					w := weights(share*top, ratio*share*top, d.groups)
					s := must.Of(c.Solve(ctx, w, 1e-9, nil))(t)
					name := fmt.Sprint(intercept, shape, share, ratio)
					require.Equal(t, outcome.Converged, s.Status, name)
					require.Zero(t, s.Outer, name)
					require.LessOrEqual(t, s.Newton, 25, name)
					objective, unit := definition(t, d, w, s), c.groups.Scale
					require.InDelta(t, objective, s.Objective, 1e-9*unit, name)
					far := must.Of(other.Solve(ctx, w, 1e-10, s))(t)
					require.InDelta(t, far.Objective-far.Gap, objective, 1.2e-9*unit, name)
				}
			}
		}
	}
}

// The two methods for completions, which have nothing in common, have the same solutions and derivatives.
func TestInteriorAgainstNewton(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, intercept := range []bool{false, true} {
		for _, shape := range []struct{ m, n, p int }{{14, 12, 6}, {11, 20, 0}, {20, 20, 9}} {
			d := draw(8, shape.m, shape.n, shape.p, 0.5)
			small, large := d.problem(t, intercept), d.problem(t, intercept)
			large.interior = nil
			other := draw(9, shape.m, shape.n, shape.p, 0.2)
			x := design.FromColumns(len(other.y), 0, nil)
			if other.x != nil {
				x = design.New(other.x)
			}
			v := normals(rng, len(other.y))
			top := small.LambdaMax()
			for _, share := range []float64{0.3, 0.1, 0.03} {
				w := weights(share*top, 0.6*share*top, d.groups)
				a := must.Of(small.Solve(ctx, w, 1e-10, nil))(t)
				b := must.Of(large.Solve(ctx, w, 1e-12, nil))(t)
				require.InDelta(t, b.Objective, a.Objective, 2e-10*b.Objective+1e-10*small.groups.Scale)
				require.Equal(t, b.Left == nil, a.Left == nil)
				if a.Left != nil {
					var ga, gb mat.Dense
					ga.Mul(a.Left, a.Right.T())
					gb.Mul(b.Left, b.Right.T())
					require.True(t, mat.EqualApprox(&ga, &gb, 1e-4))
					_, ra := a.Left.Dims()
					_, rb := b.Left.Dims()
					require.Equal(t, rb, ra)
				}
				require.InDeltaSlice(t, b.B, a.B, 1e-4)
				da := small.Derivative(w, b, v, x, other.row, other.col, 1e-12)
				db := large.Derivative(w, b, v, x, other.row, other.col, 1e-12)
				unit := floats.Norm(db, math.Inf(1))
				require.InDeltaSlice(t, db, da, 1e-6*unit, "%v %v %g", intercept, shape, share)
				da = small.Derivative(w, a, v, x, other.row, other.col, 1e-12)
				require.InDelta(t, db[0], da[0], 1e-3*unit, "at the less accurate solution")
			}
		}
	}
}

// The constrained form at the norms of a penalised solution has the same solution, and multipliers that are the
// weights.
func TestWithin(t *testing.T) {
	ctx := context.Background()
	for _, intercept := range []bool{false, true} {
		for _, shape := range []struct{ m, n, p int }{{12, 12, 6}, {30, 20, 9}, {8, 30, 0}} {
			d := draw(5, shape.m, shape.n, shape.p, 0.4)
			c := d.problem(t, intercept)
			for _, share := range []float64{0.5, 0.1, 0.01, 1e-3} {
				w := weights(share*c.LambdaMax(), 0.5*share*c.LambdaMax(), d.groups)
				s := must.Of(c.Solve(ctx, w, 1e-11, nil))(t)
				const least = 1e-7 // in the place of zero
				r, loss := []float64{least}, 0.0
				var gamma mat.Dense
				if s.Left != nil {
					var svd mat.SVD
					gamma.Mul(s.Left, s.Right.T())
					require.True(t, svd.Factorize(&gamma, mat.SVDNone))
					r[0] = floats.Sum(svd.Values(nil))
				}
				for k := range d.groups {
					r = append(r, math.Max(least, c.groups.Size(k, s.B)))
				}
				for _, v := range s.Residual {
					loss += v * v / float64(2*len(d.y))
				}
				name := fmt.Sprint(intercept, shape, share)
				o, l := must.Both(c.Within(ctx, r, 1e-9))(t)
				require.Equal(t, outcome.Converged, o.Status, name)
				require.LessOrEqual(t, o.Newton, 25, name)
				slack := least * floats.Sum(w)
				require.InDelta(t, loss, o.Objective, 2e-9*c.groups.Scale+slack, name)
				if s.Left != nil {
					require.InEpsilon(t, w[0], l[0], 1e-3, name)
					var other mat.Dense
					other.Mul(o.Left, o.Right.T())
					require.True(t, mat.EqualApprox(&gamma, &other, 1e-2), name)
				} else {
					require.LessOrEqual(t, l[0], w[0]*(1+1e-3), name)
				}
				for k, norm := range r[1:] {
					if norm > least {
						require.InEpsilon(t, w[1+k], l[1+k], 1e-3, name)
					} else {
						require.LessOrEqual(t, l[1+k], w[1+k]*(1+1e-3), name)
					}
					require.LessOrEqual(t, c.groups.Size(k, o.B), norm*(1+1e-12), name)
				}
			}
		}
	}
	c := draw(5, 6, 6, 3, 0.8).problem(t, false)
	_, _, err := c.Within(ctx, []float64{1, 0}, 1e-8)
	require.ErrorContains(t, err, "bound 1 of a completion is 0")
	c.interior = nil
	_, _, err = c.Within(ctx, []float64{1, 1}, 1e-8)
	require.ErrorContains(t, err, "too many for the constrained form")
}

// At weights drawn at random, some of them next to those where a group or a direction of G leaves, derivatives are
// those of central differences along a random direction.
func TestDerivativeAtRandomWeights(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(3, 4))
	d := draw(8, 25, 20, 9, 0.4)
	c, other := d.problem(t, false), draw(9, 25, 20, 9, 0.1)
	x := design.New(other.x)
	v := normals(rng, len(other.y))
	value := func(w []float64, tol float64) (float64, *Solution) {
		s := must.Of(c.Solve(ctx, w, tol, nil))(t)
		f := make([]float64, len(v))
		x.Mul(f, s.B)
		if s.Left != nil {
			for k := range f {
				f[k] += floats.Dot(s.Left.RawRowView(other.row[k]), s.Right.RawRowView(other.col[k]))
			}
		}
		return floats.Dot(v, f), s
	}
	for trial := range 40 {
		w := []float64{0.01 * math.Exp(rng.NormFloat64()), 0, 0, 0}
		for g := range w[1:] {
			w[1+g] = 0.03 * math.Exp(rng.NormFloat64())
		}
		along := normals(rng, 4)
		_, s := value(w, 1e-10)
		derivative := c.Derivative(w, s, v, x, other.row, other.col, 1e-10)
		want, got, scale := 0.0, 0.0, 0.0
		for k, a := range derivative {
			got += along[k] * a * w[k]
			scale += math.Abs(a) * w[k]
		}
		const h = 1e-5
		for _, side := range []float64{h, -h} {
			u := make([]float64, 4)
			for k := range u {
				u[k] = w[k] * math.Exp(side*along[k])
			}
			f, _ := value(u, 1e-12)
			want += f / (2 * side)
		}
		require.InDelta(t, want, got, 1e-3*scale, "trial %d", trial)
	}
}
