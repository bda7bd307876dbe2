package sparse

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/design"
)

// Sample are rows of features with a target for each. The means over the rows that an objective has are by the weights: sum_i w_i l_i / sum_i w_i.
type Sample struct {
	X *design.Matrix
	Y []float64
	// Weights are positive numbers of any unit, one for each row; nil for equal ones.
	Weights []float64
	// Offset is a known term of the prediction of each row, which then is f = X b + b0 + offset; nil for none.
	Offset []float64
}

// check says what is wrong with the weights and the offset.
func (s Sample) check() error {
	n := len(s.Y)
	if s.Weights != nil && len(s.Weights) != n || s.Offset != nil && len(s.Offset) != n {
		return fmt.Errorf("sparse: %d weights and %d entries of the offset for %d rows", len(s.Weights), len(s.Offset), n)
	}
	for i, w := range s.Weights {
		if !(w > 0) || math.IsInf(w, 1) {
			return fmt.Errorf("sparse: weight of row %d is %g, expected a positive number", i, w)
		}
	}
	for i, o := range s.Offset {
		if math.IsNaN(o) || math.IsInf(o, 0) {
			return fmt.Errorf("sparse: offset of row %d is %g, expected a finite number", i, o)
		}
	}
	return nil
}

// meanOne are weights of rows with the mean 1; nil for equal ones.
func meanOne(weights []float64) []float64 {
	if weights == nil {
		return nil
	}
	out := slices.Clone(weights)
	floats.Scale(1/slices.Max(out), out) // before the sum, which might be too large
	floats.Scale(float64(len(out))/floats.Sum(out), out)
	return out
}

// observed are the losses of the rows of a sample as functions of X b + b0. With the weight v_i, of mean 1, and the offset o_i of row i that is
// v_i l(y_i, f + o_i); its conjugate at a is v_i l*(a / v_i) - a o_i.
type observed struct {
	loss   loss
	y      []float64
	weight []float64 // nil for equal ones
	offset []float64 // nil for none
}

// newObserved takes a sample that was checked. The offset of squares goes into the targets.
func newObserved(l loss, s Sample) observed {
	o := observed{loss: l, y: s.Y, weight: meanOne(s.Weights), offset: s.Offset}
	if _, ok := l.(squares); ok && o.offset != nil {
		o.y, o.offset = slices.Clone(s.Y), nil
		floats.Sub(o.y, s.Offset)
	}
	return o
}

// of are the target, the weight and the offset of row i.
func (o *observed) of(i int) (y, weight, offset float64) {
	y, weight = o.y[i], 1
	if o.weight != nil {
		weight = o.weight[i]
	}
	if o.offset != nil {
		offset = o.offset[i]
	}
	return y, weight, offset
}

// value is the loss of row i.
func (o *observed) value(i int, f float64) float64 {
	y, w, off := o.of(i)
	return w * o.loss.value(y, f+off)
}

// slope is minus its derivative.
func (o *observed) slope(i int, f float64) float64 {
	y, w, off := o.of(i)
	return w * o.loss.slope(y, f+off)
}

// curvature is its second derivative where the slope is u.
func (o *observed) curvature(i int, u float64) float64 {
	y, w, _ := o.of(i)
	return w * o.loss.curvature(y, u/w)
}

// conjugate is minus the conjugate at -a, for a = t u with t <= 1 and u a slope.
func (o *observed) conjugate(i int, a float64) float64 {
	y, w, off := o.of(i)
	return w*o.loss.conjugate(y, a/w) - a*off
}

// slopes are the least and the largest one of row i.
func (o *observed) slopes(i int) (low, high float64) {
	y, w, _ := o.of(i)
	low, high = o.loss.slopes(y)
	return w * low, w * high
}

// balance changes slopes such that they add up to 0 and stay slopes, by less the nearer they are to that.
func (o *observed) balance(a []float64) { o.loss.balance(o.y, o.weight, a) }

// mean is the mean of a number for each row by the weights.
func (o *observed) mean(of func(i int) float64) float64 {
	sum := 0.0
	for i := range o.y {
		if v := of(i); o.weight != nil {
			sum += o.weight[i] * v
		} else {
			sum += v
		}
	}
	return sum / float64(len(o.y))
}

// total is the mean loss of predictions f without the offset.
func (o *observed) total(f []float64) float64 {
	sum := 0.0
	for i, v := range f {
		sum += o.value(i, v)
	}
	return sum / float64(len(f))
}
