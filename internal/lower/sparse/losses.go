package sparse

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/survival"
)

// Squares has half the squares of y - f as the loss, the elastic net.
func Squares(s Sample, intercept bool, t Terms) (*Fit, error) {
	return fitOf(glm.Huber{Threshold: math.Inf(1)}, s, intercept, t)
}

// Logistic has the loss log(1 + exp(-y f)) of labels y of -1 and 1, and both if there is an intercept.
func Logistic(s Sample, intercept bool, t Terms) (*Fit, error) {
	return fitOf(glm.Logistic{}, s, intercept, t)
}

// Poisson has half the deviance of counts y >= 0 from exp(f), and one that is positive if there is an intercept. The
// offset is the logarithm of what a count is in proportion to, such as a time under observation.
func Poisson(s Sample, intercept bool, t Terms) (*Fit, error) {
	return fitOf(glm.Poisson{}, s, intercept, t)
}

// fitOf is the fit of a loss that is a sum over the rows of a sample.
func fitOf(l glm.Loss, s Sample, intercept bool, t Terms) (*Fit, error) {
	if err := s.Check(l); err != nil {
		return nil, err
	}
	if intercept && slices.Min(s.Y) == slices.Max(s.Y) {
		const infinite = "and the intercept would be infinite; expected"
		switch l.(type) {
		case glm.Logistic:
			return nil, fmt.Errorf("sparse: all labels are %g, %s -1 and 1", s.Y[0], infinite)
		case glm.Poisson:
			if s.Y[0] == 0 {
				return nil, fmt.Errorf("sparse: all targets are 0, %s one that is positive", infinite)
			}
		}
	}
	n := len(s.Y)
	_, quadratic := l.(glm.Huber)
	rows, constants := newRows(l, s, meanOne(s.Weights, n), float64(n)), []float64{0}
	if intercept {
		constants[0] = rows.level()
	}
	g := &Fit{intercept: intercept, quadratic: quadratic, adds: true, table: single(s, intercept)}
	if quadratic {
		y := slices.Clone(s.Y)
		if s.Offset != nil {
			floats.Sub(y, s.Offset)
		}
		g.table.of.Y, g.table.of.Offset = [][]float64{y}, nil
	} else {
		g.table.of.Loss = l
	}
	return newFit(g, rows, constants, t)
}

// level is the best constant without features, by Newton's method with steps that are cut.
func (r *rowSet) level() float64 {
	const steps, most, exact = 100, 2, 1e-15
	constant, n := 0.0, r.x.X.Rows()
	eta, pull, curve := make([]float64, n), make([]float64, n), make([]float64, n)
	_, squares := r.loss.(glm.Huber)
	sum := r.of().Sum
	for range steps {
		for i := range eta {
			if eta[i] = constant; r.offset != nil {
				eta[i] += r.offset[i]
			}
		}
		sum(eta, pull, curve)
		step := floats.Sum(pull) / floats.Sum(curve)
		if !squares {
			step = math.Max(-most, math.Min(most, step))
		}
		if constant += step; !(math.Abs(step) > exact*math.Abs(constant)) || squares {
			break
		}
	}
	return constant
}

// Cox has the half deviance of the partial likelihood of times, minus those of censored rows, over the number of rows,
// see [survival.Likelihood]: proportional hazards (Simon, Friedman, Hastie, Tibshirani, JSS 39, 2011). A constant
// changes nothing, so that there is no intercept.
func Cox(s Sample, ties survival.Ties, t Terms) (*Fit, error) {
	n, loss := len(s.Y), glm.Hazards{Ties: ties}
	if err := s.Check(loss); err != nil {
		return nil, err
	}
	weights := meanOne(s.Weights, n)
	rows := newRows(loss, s, weights, float64(n))
	if !(rows.look(make([]float64, n)).value > 0) {
		return nil, fmt.Errorf("sparse: no event has other rows at risk, so that there is nothing to fit")
	}
	of := single(s, false)
	of.of.Weights, of.of.Loss = weights, loss
	return newFit(&Fit{table: of}, rows, []float64{0}, t)
}

// Multinomial has minus the logarithm of the probability exp(f_y) / sum_k exp(f_k) of the class y of a row, an integer
// from 0 on, each of which has a row. All classes have coefficients, as in glmnet and scikit-learn.
func Multinomial(s Sample, classes int, intercept bool, t Terms) (*Fit, error) {
	if classes < 2 {
		return nil, fmt.Errorf("sparse: %d classes, expected at least 2", classes)
	}
	n, loss := len(s.Y), glm.Multinomial{Classes: classes}
	if err := s.Check(loss); err != nil {
		return nil, err
	}
	weights, constants := meanOne(s.Weights, n), make([]float64, classes)
	for i, k := range s.Y {
		constants[int(k)] += weights[i]
	}
	for k, v := range constants {
		if v == 0 {
			return nil, fmt.Errorf("sparse: no row has class %d of %d", k, classes)
		}
		constants[k] = math.Log(v)
	}
	floats.AddConst(-floats.Sum(constants)/float64(classes), constants)
	of := single(s, intercept)
	of.of.Loss = loss
	return newFit(&Fit{intercept: intercept, table: of}, newRows(loss, s, weights, float64(n)), constants, t)
}

// with are other rows of the same loss: of a mean, or times whose half deviance, by the weights as they are, is divided
// by n.
func (r *rowSet) with(s Sample, n float64) (*rowSet, error) {
	if _, ok := r.loss.(glm.Hazards); !ok {
		return newRows(r.loss, s, meanOne(s.Weights, len(s.Y)), float64(len(s.Y))), nil
	}
	if !(n > 0) {
		return nil, fmt.Errorf("sparse: half deviances are shared out to %g, expected a positive number", n)
	}
	weights := s.Weights
	if weights == nil {
		weights = meanOne(nil, len(s.Y))
	}
	return newRows(r.loss, s, weights, n), nil
}
