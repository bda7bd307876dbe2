package fits

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// Of several points a solve starts from that of the least objective, computed here anew from the coefficients, with
// factors of penalties; from each of them it comes to the same.
func TestMultinomialStart(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(5, 1))
	const n, p, k = 60, 4, 3
	columns, class := make([]float64, n*p), make([]float64, n)
	for i := range columns {
		columns[i] = rng.NormFloat64()
	}
	for i := range class {
		class[i] = float64(i % k)
	}
	rows := Rows{X: design.FromColumns(n, p, columns), Y: class}
	factors := []float64{1, 2, 0.5, 1}
	m := must.Of(NewMultinomial(rows, rows, k, true, sparse.Terms{Factors: factors}))(t)
	require.NotNil(t, m.Traits().Start)
	var points []*lower.Point
	for _, lambda := range [][]float64{{0.05, 0.01}, {0.01, 0.01}, {1e-3, 1}, {1e-3, 1e-3}} {
		pt := must.Of(m.Solve(ctx, lambda, 1e-10, nil))(t)
		points = append(points, pt)
	}
	objective := func(pt *lower.Point, lambda []float64) float64 {
		sum := pt.Validation // the validation rows are those of the training
		for e, b := range pt.X[0] {
			sum += factors[e/k] * (lambda[0]*math.Abs(b) + lambda[1]*b*b/2)
		}
		return sum
	}
	for _, lambda := range [][]float64{{0.045, 0.01}, {0.011, 0.012}, {2e-3, 0.9}, {1e-3, 1e-4}} {
		from := m.Traits().Start(lambda, points)
		for _, pt := range points {
			require.LessOrEqual(t, objective(from, lambda), objective(pt, lambda)*(1+1e-12))
		}
		want := must.Of(m.Solve(ctx, lambda, 1e-10, nil))(t)
		for _, start := range points {
			pt := must.Of(m.Solve(ctx, lambda, 1e-10, start))(t)
			require.InDelta(t, objective(want, lambda), objective(pt, lambda), 1e-9)
		}
	}
}

// classes are rows of three classes.
type classes struct {
	x     *mat.Dense
	class []int
}

func drawClasses(rng *rand.Rand, n, p int) classes {
	s := classes{mat.NewDense(n, p, nil), make([]int, n)}
	for i := range n {
		for j := range p {
			s.x.Set(i, j, rng.NormFloat64())
		}
		switch f := s.x.At(i, 0) - s.x.At(i, 1) + rng.NormFloat64(); {
		case f > 0.6:
			s.class[i] = 2
		case f > -0.6 || s.x.At(i, 2) > 1:
			s.class[i] = 1
		}
	}
	copy(s.class, []int{0, 1, 2})
	return s
}

func (s classes) rows() Rows {
	y := make([]float64, len(s.class))
	for i, k := range s.class {
		y[i] = float64(k)
	}
	return NewRows(s.x, y)
}

// loss is the mean one as an expression of B, entry (j, k) at 3 j + k, and intercepts.
func (s classes) loss(x []*convex.Variable) convex.Expr {
	n, p := s.x.Dims()
	var values []convex.Operand
	own := convex.Const(0)
	for k := range 3 {
		column, minus := make([]int, p), make([]float64, n)
		for j := range column {
			column[j] = 3*j + k
		}
		for i, y := range s.class {
			if y == k {
				minus[i] = -1
			}
		}
		f := convex.Add(convex.Mul(s.x, convex.Pick(x[0], column)), convex.At(x[1], k))
		values, own = append(values, f), convex.Add(own, convex.Dot(minus, f))
	}
	groups := make([][]int, n)
	for i := range groups {
		groups[i] = []int{i, n + i, 2*n + i}
	}
	return convex.Scale(1/float64(n), convex.Add(convex.Sum(convex.LogSumExp(convex.Stack(values...), groups...)), own))
}

// multinomial is a regression of three classes.
func multinomial(t *testing.T, rng *rand.Rand, n, m, p int) problem {
	train, val := drawClasses(rng, n, p), drawClasses(rng, m, p)
	f := must.Of(NewMultinomial(train.rows(), val.rows(), 3, true, sparse.Terms{}))(t)
	return problem{f, func(m *convex.Model) conicPart {
		x := []*convex.Variable{m.Vector("B", 3*p), m.Vector("c", 3)}
		m.Eq("", convex.Sum(x[1]), 0)
		one, two := penalties(m, x[0], sparse.Terms{})
		return conicPart{X: x, Validation: val.loss(x), Train: train.loss(x), Penalties: []convex.Expr{one, two}}
	}}
}
