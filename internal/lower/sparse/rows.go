package sparse

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/survival"
)

// Sample are rows of features with a target for each. The means over the rows that an objective has are by the
// weights: sum_i w_i l_i / sum_i w_i.
type Sample struct {
	X *design.Matrix
	Y []float64
	// Weights are positive numbers of any unit, one for each row; nil for equal ones.
	Weights []float64
	// Offset is a known term of the prediction of each row, which then is f = X b + b0 + offset; nil for none.
	Offset []float64
}

// Check says what is wrong with the features, the targets of a loss, the weights and the offset.
func (s Sample) Check(l glm.Loss) error {
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	called, all, want, good := "target", "targets", "a finite number", finite
	switch l := l.(type) {
	case glm.Logistic:
		called, all, want, good = "label", "labels", "-1 or 1", func(v float64) bool { return v == -1 || v == 1 }
	case glm.Poisson:
		want, good = "a number that is not negative", func(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
	case glm.Hazards:
		called, all = "time", "times"
	case glm.Multinomial:
		called, all, want = "class", "classes", fmt.Sprintf("0 to %d", l.Classes-1)
		good = func(v float64) bool { return v >= 0 && v < float64(l.Classes) && v == math.Trunc(v) }
	}
	n := s.X.Rows()
	switch {
	case n == 0:
		return fmt.Errorf("sparse: no rows")
	case len(s.Y) != n:
		return fmt.Errorf("sparse: %d %s for %d rows", len(s.Y), all, n)
	case s.Weights != nil && len(s.Weights) != n || s.Offset != nil && len(s.Offset) != n:
		return fmt.Errorf("sparse: %d weights and %d entries of the offset for %d rows", len(s.Weights), len(s.Offset), n)
	}
	for _, column := range []struct {
		called string
		values []float64
		want   string
		good   func(v float64) bool
	}{
		{called, s.Y, want, good},
		{"weight", s.Weights, "a positive number", func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }},
		{"offset", s.Offset, "a finite number", finite},
	} {
		for i, v := range column.values {
			if !column.good(v) {
				return fmt.Errorf("sparse: %s of row %d is %g, expected %s", column.called, i, v, column.want)
			}
		}
	}
	for j := range s.X.Columns() {
		if _, _, err := s.X.Sums(j); err != nil {
			return fmt.Errorf("sparse: %w", err)
		}
	}
	return nil
}

// degenerate says why targets that are fine each have no fit.
func (s Sample) degenerate(l glm.Loss, intercept bool) error {
	const infinite = "and the intercept would be infinite; expected"
	switch l := l.(type) {
	case glm.Logistic:
		if intercept && slices.Min(s.Y) == slices.Max(s.Y) {
			return fmt.Errorf("sparse: all labels are %g, %s -1 and 1", s.Y[0], infinite)
		}
	case glm.Poisson:
		if intercept && slices.Max(s.Y) == 0 {
			return fmt.Errorf("sparse: all targets are 0, %s one that is positive", infinite)
		}
	case glm.Hazards:
		if !(survival.New(s.Y, nil, l.Ties).HalfDeviance(make([]float64, len(s.Y))) > 0) {
			return fmt.Errorf("sparse: no event has other rows at risk, so that there is nothing to fit")
		}
	case glm.Multinomial:
		if l.Classes < 2 {
			return fmt.Errorf("sparse: %d classes, expected at least 2", l.Classes)
		}
		for k := range l.Classes {
			if !slices.Contains(s.Y, float64(k)) {
				return fmt.Errorf("sparse: no row has class %d of %d", k, l.Classes)
			}
		}
	}
	return nil
}

// meanOne are weights of n rows with the mean 1.
func meanOne(weights []float64, n int) []float64 {
	if weights == nil {
		return slices.Repeat([]float64{1}, n)
	}
	out := slices.Clone(weights)
	floats.Scale(1/slices.Max(out), out) // before the sum, which might be too large
	floats.Scale(float64(n)/floats.Sum(out), out)
	return out
}

// rowSet are rows with their loss, a function of the predictions, of one class after the other, that is convex and not
// negative. It is not changed.
type rowSet struct {
	x      design.Classes
	loss   glm.Loss
	of     func() glm.Coupled
	offset []float64
	n      float64 // by which the sum is divided
}

// look is a loss at some predictions.
type look struct {
	x     design.Classes
	value float64
	// Minus its derivatives in the predictions, and second ones, of rows alone where none are coupled.
	slopes, curve []float64
	coupled       glm.Coupled
	n             float64 // by which that is divided
}

// newRows takes a sample that was checked, with the weights that count.
func newRows(l glm.Loss, s Sample, weights []float64, n float64) *rowSet {
	r := &rowSet{x: design.Classes{X: s.X, K: 1}, loss: l, offset: s.Offset, n: n}
	if m, ok := l.(glm.Multinomial); ok {
		r.x.K = m.Classes
	} else if l == nil {
		l = glm.Huber{Threshold: math.Inf(1)}
	}
	r.of = l.Rows(s.Y)(glm.Counted{Weights: weights})
	return r
}

// leastCurvature bounds second derivatives of the loss of a row from below.
const leastCurvature = 1e-8

// predictions are those of entries with coefficients, without the offset.
func (r *rowSet) predictions(entries []int, b []float64) []float64 {
	eta := make([]float64, r.x.K*r.x.X.Rows())
	for i, v := range b {
		if v != 0 {
			r.x.Axpy(v, entries[i], eta)
		}
	}
	return eta
}

// look is the loss at predictions without the offset, which belong to the caller.
func (r *rowSet) look(eta []float64) *look {
	if r.offset != nil {
		eta = slices.Clone(eta)
		floats.Add(eta, r.offset)
	}
	pull, curve := make([]float64, len(eta)), make([]float64, len(eta))
	of := r.of()
	value := of.Sum(eta, pull, curve) / r.n
	floats.Scale(1/r.n, pull)
	for i, v := range curve {
		if of.Second == nil {
			curve[i] = max(leastCurvature, v) / r.n
		}
	}
	return &look{x: r.x, value: value, slopes: pull, curve: curve, coupled: of, n: r.n}
}

// matrix are the second derivatives over a set of entries, by rows.
func (l *look) matrix(ctx context.Context, set []int) []float64 {
	threads := runtime.GOMAXPROCS(0)
	if l.coupled.Second == nil {
		return l.x.X.Gram(ctx, l.x.Features(set), l.curve, threads)
	}
	out := l.coupled.Second(ctx, l.x, set, threads)
	floats.Scale(1/l.n, out)
	return out
}
