package sparse

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
)

// Joint is a regression on training and validation rows at once, with penalties |b|_1 and 1/2 |b|^2, weighted by factors and within bounds where there are [Terms],
//
//	minimize over b (and b0)   v L(b, b0) + t l(b, b0) + rho/2 (|b - c|^2 + (b0 - c0)^2) + m_1 |b|_1 + m_2/2 |b|^2
//
// with L and l means of a loss over the rows of each set, as subproblems of VF-iDCA have it, see [lower.Joint].
//
// # Method
//
// The losses are replaced by their models to second order, whose matrices X_W'D X_W / n over a working set W of features are formed once; for
// squares they are exact for ever, and else they are formed anew when the curvatures D have changed. Over W the problem then is one
// of the order of W whatever the rows, solved by coordinate descent and Newton steps with the signs fixed. Missing features are found by their
// correlations with the residuals.
type Joint struct {
	quadratic bool
	sets      [2]Sample // validation, training
	rows      [2]observed
	intercept bool
	base      *smooth // of the training rows, nil for plain squares
}

// The sets of a [Joint].
const (
	validating = iota
	training
)

// JointSquares has half the mean squared error as its losses.
func JointSquares(train, val Sample, intercept bool) (*Joint, error) {
	return newJoint(squares{}, true, train, val, intercept)
}

// Joint adds validation rows.
func (g *smooth) Joint(val Sample) (*Joint, error) {
	j, err := newJoint(g.loss, g.quadratic, Sample{X: g.x, Y: g.y, Weights: g.weight, Offset: g.offset}, val, g.intercept)
	if err != nil {
		return nil, err
	}
	j.base, j.rows[training] = g, g.observed
	return j, nil
}

func newJoint(l loss, quadratic bool, train, val Sample, intercept bool) (*Joint, error) {
	n, p := train.X.Dims()
	m, q := val.X.Dims()
	if n == 0 || m == 0 && val.Y != nil || p != q || len(train.Y) != n || len(val.Y) != m && val.Y != nil {
		return nil, fmt.Errorf("sparse: %d x %d training rows with %d targets and %d x %d validation rows with %d do not fit together", n, p, len(train.Y), m, q, len(val.Y))
	}
	out := &Joint{quadratic: quadratic, sets: [2]Sample{val, train}, intercept: intercept}
	for k, s := range out.sets {
		if err := s.check(); err != nil {
			return nil, err
		}
		out.rows[k] = newObserved(l, s)
	}
	return out, nil
}

// Features is their number p.
func (g *Joint) Features() int { return g.sets[training].X.Columns() }

// Shape is that of a point: p coefficients and, if there is one, the intercept.
func (g *Joint) Shape() []int {
	if g.intercept {
		return []int{g.Features(), 1}
	}
	return []int{g.Features()}
}

// Values are the losses and the penalties.
func (g *Joint) Values(x [][]float64) lower.Values {
	var losses [2]float64
	for k := range g.sets {
		losses[k] = g.rows[k].total(g.predict(k, x))
	}
	one, two := g.terms().penalties(x[0])
	return lower.Values{Validation: losses[validating], Train: losses[training], Penalties: []float64{one, two}}
}

// Validation is the mean loss of a point over the validation rows, and its derivative in the prediction of each of them.
func (g *Joint) Validation(x [][]float64) (value float64, derivative []float64) {
	f, rows := g.predict(validating, x), &g.rows[validating]
	value = rows.total(f)
	for i, v := range f {
		f[i] = -rows.slope(i, v) / float64(len(f))
	}
	return value, f
}

// terms are those of the features.
func (g *Joint) terms() terms {
	if g.base == nil {
		return terms{}
	}
	return g.base.terms
}

// predict is X b + b0 on the rows of a set.
func (g *Joint) predict(set int, x [][]float64) []float64 {
	f := make([]float64, len(g.sets[set].Y))
	g.sets[set].X.Mul(f, x[0])
	if g.intercept {
		floats.AddConst(x[1][0], f)
	}
	return f
}

// squares is (y - f)^2 / 2.
type squares struct{}

func (squares) value(y, f float64) float64     { return (y - f) * (y - f) / 2 }
func (squares) slope(y, f float64) float64     { return y - f }
func (squares) curvature(_, _ float64) float64 { return 1 }
func (squares) conjugate(y, a float64) float64 { return a*y - a*a/2 }

func (squares) slopes(float64) (low, high float64) { return math.Inf(-1), math.Inf(1) }

func (squares) balance(_, weight, a []float64) {
	if weight == nil {
		floats.AddConst(-floats.Sum(a)/float64(len(a)), a)
		return
	}
	floats.AddScaled(a, -floats.Sum(a)/floats.Sum(weight), weight)
}

// dual is a lower bound of l + m_1 |b|_1 + m_2/2 |b|^2 from balanced slopes a of the training rows and c = X'a, as in the comment on [smooth]: the better one
// of those for t = 1 and for the t that needs no m_2.
func (g *Joint) dual(a, c []float64, m1, m2 float64) float64 {
	rows := &g.rows[training]
	n := float64(len(rows.y))
	terms, t := g.terms(), 1.0
	for j, v := range c {
		t = math.Min(t, terms.share(j, v/n, terms.weight(j)*m1))
	}
	at := func(t, m2 float64) float64 {
		sum := 0.0
		for i, v := range a {
			sum += rows.conjugate(i, t*v)
		}
		sum /= n
		for j, v := range c {
			f := terms.weight(j)
			sum -= terms.conjugate(j, t*v/n, f*m1, f*m2)
		}
		return sum
	}
	bound := at(t, m2)
	if t < 1 && m2 > 0 {
		bound = math.Max(bound, at(1, m2))
	}
	return bound
}
