package sparse

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/deviance"
	"github.com/conetune/conetune/lower/design"
)

// Poisson is a penalised Poisson regression with the logarithm as link: targets y >= 0, counts for example, have the means exp(f) with f = X b + b0,
//
//	minimize over b (and b0)   1/n sum_i (y_i log(y_i / exp(f_i)) - y_i + exp(f_i)) + sum_j w1_j |b_j| + 1/2 sum_j w2_j b_j^2,
//
// half the mean deviance. Each feature needs a penalty but by [Terms]. The residual of its solutions is u_i = y_i - exp(f_i), minus the derivative of the loss.
// It is solved as [Logistic] is.
type Poisson struct{ smooth }

// NewPoisson checks the data: y has a number that is not negative for each row of x, and one that is positive if there is an intercept.
func NewPoisson(x *design.Matrix, y []float64, intercept bool) (*Poisson, error) {
	return PoissonOf(Sample{X: x, Y: y}, intercept)
}

// PoissonOf is [NewPoisson] of rows with weights and an offset, the logarithm of what a count is in proportion to, such as a time under observation.
func PoissonOf(s Sample, intercept bool) (*Poisson, error) {
	if _, err := rowsOf(s, "targets"); err != nil {
		return nil, err
	}
	for i, v := range s.Y {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("sparse: target of row %d is %g, expected a number that is not negative", i, v)
		}
	}
	o, b0 := newObserved(counts{}, s), 0.0
	if intercept {
		mean := o.mean(func(i int) float64 { return o.y[i] })
		if !(mean > 0) {
			return nil, fmt.Errorf("sparse: all targets are 0, and the intercept would be infinite; expected one that is positive")
		}
		if b0 = math.Log(mean); o.offset != nil {
			most := slices.Max(o.offset)
			b0 -= most + math.Log(o.mean(func(i int) float64 { return math.Exp(o.offset[i] - most) }))
		}
	}
	g, err := newSmooth(o, s.X, intercept, b0)
	if err != nil {
		return nil, err
	}
	if g.scale == 0 { // exp(b0) is all targets
		g.scale = 1
	}
	return &Poisson{g}, nil
}

// counts has half the deviance of y from exp(f) as its loss: exp(f) - y f, but for what only y decides.
type counts struct{}

func (counts) value(y, f float64) float64 { return deviance.HalfPoisson(y, math.Exp(f), f) }

func (counts) slope(y, f float64) float64 { return y - math.Exp(f) }

func (counts) curvature(y, u float64) float64 { return y - u }

// balance makes the means y - a add up to the targets.
func (counts) balance(y, weight, a []float64) {
	if weight != nil {
		y = slices.Clone(y)
		floats.Mul(y, weight)
	}
	sum := floats.Sum(y)
	factor := sum / (sum - floats.Sum(a))
	for i, v := range y {
		a[i] = v - factor*(v-a[i])
	}
}

func (counts) slopes(y float64) (low, high float64) { return math.Inf(-1), y }

// With is [Logistic.With].
func (g *Poisson) With(t Terms) (*Poisson, error) {
	out, err := g.with(t)
	return &Poisson{out}, err
}

// conjugate is y log y - m log m - a with the mean m = y - a.
func (counts) conjugate(y, a float64) float64 {
	m := math.Max(0, y-a)
	switch {
	case m == 0 && y == 0:
		return 0
	case m == 0:
		return y*math.Log(y) - y
	case y == 0:
		return m - m*math.Log(m)
	}
	return y*math.Log(y/m) + a*(math.Log(m)-1)
}
