package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/lower/design"
)

// Logistic is a penalised logistic regression, with targets y of -1 and 1 and f = X b + b0,
//
//	minimize over b (and b0)   1/n sum_i log(1 + exp(-y_i f_i)) + sum_j w1_j |b_j| + 1/2 sum_j w2_j b_j^2.
//
// Each feature needs a penalty but by [Terms]. The residual of its solutions is u_i = y_i / (1 + exp(y_i f_i)), minus the derivative of the loss. It is
// solved by proximal Newton steps (Lee, Sun, Saunders, SIAM J. Optim. 2014) of a [Regression] each, and not changed by solves, which may run at the same time.
type Logistic struct{ smooth }

// NewLogistic checks the data: y has -1 or 1 for each row of x, and both if there is an intercept.
func NewLogistic(x *design.Matrix, y []float64, intercept bool) (*Logistic, error) {
	return LogisticOf(Sample{X: x, Y: y}, intercept)
}

// LogisticOf is [NewLogistic] of rows with weights and an offset.
func LogisticOf(s Sample, intercept bool) (*Logistic, error) {
	n, err := rowsOf(s, "labels")
	if err != nil {
		return nil, err
	}
	ones := 0
	for i, v := range s.Y {
		if v != -1 && v != 1 {
			return nil, fmt.Errorf("sparse: label of row %d is %g, expected -1 or 1", i, v)
		}
		if v > 0 {
			ones++
		}
	}
	o, b0 := newObserved(logLoss{}, s), 0.0
	if intercept {
		if ones == 0 || ones == n {
			return nil, fmt.Errorf("sparse: all labels are %g, and the intercept would be infinite; expected -1 and 1", s.Y[0])
		}
		b0 = o.logOdds()
	}
	g, err := newSmooth(o, s.X, intercept, b0)
	if err != nil {
		return nil, err
	}
	return &Logistic{g}, nil
}

// logOdds is the best intercept at b = 0. With an offset it is between the log odds of the labels less the largest and less the smallest offset, where the sum of the
// slopes, which falls, is 0.
func (o *observed) logOdds() float64 {
	var sum [2]float64
	for i := range o.y {
		y, w, _ := o.of(i)
		sum[int(y+1)/2] += w
	}
	odds := math.Log(sum[1] / sum[0])
	if o.offset == nil {
		return odds
	}
	lo, hi := odds-slices.Max(o.offset), odds-slices.Min(o.offset)
	for { // down to neighbouring numbers
		c, sum := lo+(hi-lo)/2, 0.0
		if c <= lo || c >= hi {
			return c
		}
		for i := range o.y {
			sum += o.slope(i, c)
		}
		if sum > 0 {
			lo = c
		} else {
			hi = c
		}
	}
}

// logLoss is log(1 + exp(-y f)) for y = -1 and 1.
type logLoss struct{}

func (logLoss) value(y, f float64) float64 {
	m := y * f
	return math.Max(-m, 0) + log1p(math.Exp(-math.Abs(m))) // without overflow
}

func (logLoss) slope(y, f float64) float64 { return y / (1 + math.Exp(y*f)) }

func (logLoss) curvature(_, u float64) float64 { return math.Abs(u) * (1 - math.Abs(u)) }

// balance makes the larger of the sums over the two classes as small as the other.
func (logLoss) balance(y, _, a []float64) {
	var sums [2]float64
	for i, v := range y {
		if v > 0 {
			sums[1] += a[i]
		} else {
			sums[0] -= a[i]
		}
	}
	least := math.Min(sums[0], sums[1])
	for i, v := range y {
		if v > 0 {
			a[i] *= least / sums[1]
		} else {
			a[i] *= least / sums[0]
		}
	}
}

func (logLoss) slopes(y float64) (low, high float64) { return math.Min(0, y), math.Max(0, y) }

// With returns the regression with terms, which need common weights; it keeps features without a penalty that do not depend on each other and on the intercept, and leaves
// the coefficients of the others at zero.
func (g *Logistic) With(t Terms) (*Logistic, error) {
	out, err := g.with(t)
	return &Logistic{out}, err
}

// conjugate is the entropy of |a|.
func (logLoss) conjugate(_, a float64) float64 {
	v := math.Abs(a)
	if v > 0 && v < 1 {
		return -(v*math.Log(v) + (1-v)*log1p(-v))
	}
	return 0
}

// log1p is log(1 + x) for -1 < x <= 1, to a few units in the last place: the logarithm of the rounded sum, which has instructions of its own, times what rounding changes the sum by (W. Kahan).
func log1p(x float64) float64 {
	u := 1 + x
	if u == 1 {
		return x
	}
	return math.Log(u) * (x / (u - 1))
}
