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

// definition is the objective at a solution, with the singular values of G.
func definition(t *testing.T, d sample, w Weights, s *Solution) float64 {
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
	objective := loss + w.Nuclear*floats.Sum(svd.Values(nil))
	for _, group := range d.groups {
		size := 0.0
		for _, j := range group {
			size = math.Hypot(size, s.B[j])
		}
		objective += w.Norm[0] * size
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
					w := Weights{share * top, []float64{ratio * share * top}}
					s := must.Of(c.Solve(ctx, w, Options{Tol: 1e-9}))(t)
					name := fmt.Sprint(intercept, shape, share, ratio)
					require.Equal(t, outcome.Converged, s.Status, name)
					require.Zero(t, s.Outer, name)
					require.LessOrEqual(t, s.Newton, 25, name)
					objective, unit := definition(t, d, w, s), c.groups.Scale
					require.InDelta(t, objective, s.Objective, 1e-9*unit, name)
					far := must.Of(other.Solve(ctx, w, Options{Tol: 1e-10, Start: s}))(t)
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
			v := make([]float64, len(other.y))
			for i := range v {
				v[i] = rng.NormFloat64()
			}
			top := small.LambdaMax()
			for _, share := range []float64{0.3, 0.1, 0.03} {
				w := Weights{share * top, []float64{0.6 * share * top}}
				a := must.Of(small.Solve(ctx, w, Options{Tol: 1e-10}))(t)
				b := must.Of(large.Solve(ctx, w, Options{Tol: 1e-12}))(t)
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
				na, da := must.Both(small.Derivative(w, b, v, x, other.row, other.col, 1e-12))(t)
				nb, db := must.Both(large.Derivative(w, b, v, x, other.row, other.col, 1e-12))(t)
				unit := math.Max(math.Abs(nb), floats.Norm(append([]float64{0}, db...), math.Inf(1)))
				require.InDelta(t, nb, na, 1e-6*unit, "%v %v %g", intercept, shape, share)
				for g := range db {
					require.InDelta(t, db[g], da[g], 1e-6*unit, "%v %v %g", intercept, shape, share)
				}
				na = must.First(small.Derivative(w, a, v, x, other.row, other.col, 1e-12))(t)
				require.InDelta(t, nb, na, 1e-3*unit, "at the less accurate solution")
			}
			_, _, err := small.Derivative(Weights{1, []float64{1}}, &Solution{}, v[1:], x, other.row, other.col, 0)
			require.ErrorContains(t, err, "expected as many as its rows")
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
				w := Weights{share * c.LambdaMax(), []float64{0.5 * share * c.LambdaMax()}}
				s := must.Of(c.Solve(ctx, w, Options{Tol: 1e-11}))(t)
				const least = 1e-7 // in the place of zero
				r, loss := Bounds{Nuclear: least}, 0.0
				var gamma mat.Dense
				if s.Left != nil {
					var svd mat.SVD
					gamma.Mul(s.Left, s.Right.T())
					require.True(t, svd.Factorize(&gamma, mat.SVDNone))
					r.Nuclear = floats.Sum(svd.Values(nil))
				}
				for k := range d.groups {
					r.Norm = append(r.Norm, math.Max(least, c.groups.Size(k, s.B)))
				}
				for _, v := range s.Residual {
					loss += v * v / float64(2*len(d.y))
				}
				name := fmt.Sprint(intercept, shape, share)
				o, l := must.Both(c.Within(ctx, r, Options{Tol: 1e-9}))(t)
				require.Equal(t, outcome.Converged, o.Status, name)
				require.LessOrEqual(t, o.Newton, 25, name)
				slack := least * (w.Nuclear + float64(len(d.groups))*w.Norm[0])
				require.InDelta(t, loss, o.Objective, 2e-9*c.groups.Scale+slack, name)
				if s.Left != nil {
					require.InEpsilon(t, w.Nuclear, l.Nuclear, 1e-3, name)
					var other mat.Dense
					other.Mul(o.Left, o.Right.T())
					require.True(t, mat.EqualApprox(&gamma, &other, 1e-2), name)
				} else {
					require.LessOrEqual(t, l.Nuclear, w.Nuclear*(1+1e-3), name)
				}
				for k, norm := range r.Norm {
					if norm > least {
						require.InEpsilon(t, w.Norm[0], l.Norm[k], 1e-3, name)
					} else {
						require.LessOrEqual(t, l.Norm[k], w.Norm[0]*(1+1e-3), name)
					}
					require.LessOrEqual(t, c.groups.Size(k, o.B), norm*(1+1e-12), name)
				}
			}
		}
	}
	c := draw(5, 6, 6, 3, 0.8).problem(t, false)
	_, _, err := c.Within(ctx, Bounds{1, []float64{0}}, Options{})
	require.ErrorContains(t, err, "bound 1 of a completion is 0")
	c.interior = nil
	_, _, err = c.Within(ctx, Bounds{1, []float64{1}}, Options{})
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
	v := make([]float64, len(other.y))
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	value := func(w Weights, tol float64) (float64, *Solution) {
		s := must.Of(c.Solve(ctx, w, Options{Tol: tol}))(t)
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
		w := Weights{0.01 * math.Exp(rng.NormFloat64()), []float64{0, 0, 0}}
		for g := range w.Norm {
			w.Norm[g] = 0.03 * math.Exp(rng.NormFloat64())
		}
		along := make([]float64, 4)
		for i := range along {
			along[i] = rng.NormFloat64()
		}
		_, s := value(w, 1e-10)
		nuclear, groups := must.Both(c.Derivative(w, s, v, x, other.row, other.col, 1e-10))(t)
		want, scale := 0.0, math.Abs(nuclear)*w.Nuclear
		got := along[0] * nuclear * w.Nuclear
		for g, a := range groups {
			got += along[1+g] * a * w.Norm[g]
			scale += math.Abs(a) * w.Norm[g]
		}
		const h = 1e-5
		for _, side := range []float64{h, -h} {
			u := Weights{w.Nuclear * math.Exp(side*along[0]), make([]float64, 3)}
			for g := range u.Norm {
				u.Norm[g] = w.Norm[g] * math.Exp(side*along[1+g])
			}
			f, _ := value(u, 1e-12)
			want += f / (2 * side)
		}
		require.InDelta(t, want, got, 1e-3*scale, "trial %d", trial)
	}
}
