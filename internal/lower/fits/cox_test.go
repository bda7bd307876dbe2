package fits

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// timed replaces targets by times, some equal, that fall with them, every third one censored.
func timed(r Rows) Rows {
	y := slices.Clone(r.Y)
	for i, v := range y {
		y[i] = survival.Row(math.Ceil(10*math.Exp(-math.Tanh(v/2))), i%3 != 0)
	}
	return Rows{X: r.X, Y: y}
}

var coxGradients = gradients{tol: 1e-15, h: 1e-4, share: 1e-4, forward: 1e-9}

// Hypergradients in both modes are finite differences of the validation loss of refits, in both forms of it.
func TestCoxHypergradient(t *testing.T) {
	for _, o := range []CoxOptions{{}, {Grouped: true}, {Ties: survival.Efron, Grouped: true, Events: 7},
		{Ties: survival.Efron}} {
		for _, compressed := range []bool{false, true} {
			for _, share := range []float64{0.3, 0.05} {
				train, val := generated(t, "60-30-0-p40", 4, compressed)
				m := must.Of(NewCox(timed(train), timed(val), o))(t)
				lambda := []float64{share * m.LambdaMax(), 0.5 * share * m.LambdaMax()}
				coxGradients.check(t, m, lambda, o, compressed, share)
			}
		}
	}
}

// So they are with weights, an offset, factors and bounds, which some coefficients are at.
func TestCoxTermsHypergradient(t *testing.T) {
	train, val := generated(t, "60-30-0-p40", 4, false)
	train, val = timed(train), timed(val)
	for _, r := range []*Rows{&train, &val} {
		for i := range r.Y {
			r.Weights, r.Offset = append(r.Weights, 1+math.Mod(float64(i), 4)), append(r.Offset, math.Sin(float64(i)))
		}
	}
	p := train.X.Columns()
	terms := sparse.Terms{Factors: slices.Repeat([]float64{1}, p), Upper: slices.Repeat([]float64{0.05}, p)}
	for j := range 3 {
		terms.Factors[j], terms.Upper[j] = float64(j)/2, math.Inf(1)
	}
	for _, o := range []CoxOptions{{Terms: terms}, {Ties: survival.Efron, Grouped: true, Terms: terms}} {
		m := must.Of(NewCox(train, val, o))(t)
		lambda := []float64{0.1 * m.LambdaMax(), 0.05 * m.LambdaMax()}
		require.Contains(t, coxGradients.check(t, m, lambda, o).X[0], 0.05)
	}
}

// The validation loss by hand: training rows at times 1 and 3, a validation row at 2, all events, and one feature.
// Alone the validation rows need two.
func TestCoxValidation(t *testing.T) {
	rows := func(x, y []float64) Rows { return Rows{X: design.FromColumns(len(y), 1, x), Y: y} }
	train, val := rows([]float64{1, 0}, []float64{1, 3}), rows([]float64{2}, []float64{2})
	m := must.Of(NewCox(train, val, CoxOptions{Grouped: true}))(t)
	at := must.Of(m.Solve(context.Background(), []float64{0.01, 0.1}, 1e-10, nil))(t)
	b := at.X[0][0]
	one := math.Log(1 + math.Exp(2*b) + math.Exp(b))
	require.InDelta(t, 2*(one-b+math.Log(1+math.Exp(2*b))-2*b-(math.Log(1+math.Exp(b))-b)), at.Validation, 1e-14)
	m = must.Of(NewCox(train, rows([]float64{2, 3}, []float64{2, -5}), CoxOptions{}))(t)
	at = must.Of(m.Solve(context.Background(), []float64{0.01, 0.1}, 1e-10, nil))(t)
	require.InDelta(t, 2*(math.Log(math.Exp(2*b)+math.Exp(3*b))-2*b), at.Validation, 1e-8)
	for want, bad := range map[string][2]Rows{
		"no event of the validation rows": {train, val},
		"no event has other rows at risk": {val, train},
		"time of row 0 is +Inf":           {train, rows([]float64{1}, []float64{math.Inf(1)})},
		"2 features":                      {Rows{X: design.FromColumns(2, 2, []float64{1, 0, 2, 3}), Y: train.Y}, val},
	} {
		_, err := NewCox(bad[0], bad[1], CoxOptions{})
		require.ErrorContains(t, err, want)
	}
	_, err := NewCox(train, rows([]float64{2}, []float64{-2}), CoxOptions{Grouped: true})
	require.ErrorContains(t, err, "no event in the validation rows")
}

// lives are rows with times, negative for censored ones, weights and an offset.
type lives struct {
	x                  *mat.Dense
	y, weights, offset []float64
}

func drawLives(rng *rand.Rand, n, p int) lives {
	s := lives{x: mat.NewDense(n, p, nil)}
	for i := range n {
		for j := range p {
			s.x.Set(i, j, rng.NormFloat64())
		}
		t := math.Ceil(8 * math.Exp(s.x.At(i, 1)/2-s.x.At(i, 0)+rng.NormFloat64()/2))
		if rng.Float64() < 0.3 {
			t = -t
		}
		s.y, s.weights, s.offset = append(s.y, t), append(s.weights, 0.5+rng.Float64()), append(s.offset, rng.NormFloat64()/2)
	}
	return s
}

func (s lives) rows() Rows {
	r := NewRows(s.x, s.y)
	r.Weights, r.Offset = s.weights, s.offset
	return r
}

// deviance is half of it with Breslow's rule for ties, divided by a number, as an expression of b: the sum over events
// of w_i (log sum_{j at risk} w_j exp(f_j) - f_i), less that for the best values.
func (s lives) deviance(b convex.Expr, by float64) convex.Expr {
	own, logs := make([]float64, len(s.y)), make([]float64, len(s.y))
	for i, w := range s.weights {
		logs[i] = math.Log(w)
	}
	f := convex.Add(convex.Mul(s.x, b), s.offset)
	sum, at := convex.Const(0), map[float64]float64{}
	for i, y := range s.y {
		if y < 0 {
			continue
		}
		own[i] = -s.weights[i]
		at[y] += s.weights[i]
		var risk []int
		for j, v := range s.y {
			if math.Abs(v) >= y {
				risk = append(risk, j)
			}
		}
		sum = convex.Add(sum, convex.Scale(s.weights[i], convex.Sum(convex.LogSumExp(convex.Add(f, logs), [][]int{risk}...))))
	}
	best := 0.0
	for _, w := range at {
		best -= w * math.Log(w)
	}
	return convex.Scale(1/by, convex.Add(sum, convex.Add(convex.Dot(own, f), best)))
}

// total is the sum of the weights, and that of the events.
func (s lives) total() (all, events float64) {
	for i, w := range s.weights {
		if all += w; s.y[i] > 0 {
			events += w
		}
	}
	return all, events
}

// cox is a Cox regression with weights, an offset, factors and bounds.
func cox(t *testing.T, rng *rand.Rand, n, m, p int) problem {
	train, val := drawLives(rng, n, p), drawLives(rng, m, p)
	terms := sparse.Terms{Factors: make([]float64, p), Lower: slices.Repeat([]float64{math.Inf(-1)}, p),
		Upper: slices.Repeat([]float64{0.6}, p)}
	for j := range p {
		terms.Factors[j] = float64(1 + j%2)
	}
	terms.Factors[1], terms.Upper[1] = 0, math.Inf(1)
	f := must.Of(NewCox(train.rows(), val.rows(), CoxOptions{Terms: terms}))(t)
	all, _ := train.total()
	_, events := val.total()
	return problem{f, func(m *convex.Model) conicPart {
		b := m.Vector("b", p)
		one, two := penalties(m, b, terms)
		return conicPart{
			X: []*convex.Variable{b}, Validation: val.deviance(b, events/2), Train: train.deviance(b, all),
			Penalties: []convex.Expr{one, two},
		}
	}}
}

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
