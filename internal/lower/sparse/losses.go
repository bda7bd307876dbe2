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
	if err := s.check("targets"); err != nil {
		return nil, err
	}
	for i, v := range s.Y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("sparse: target of row %d is %g, expected a finite number", i, v)
		}
	}
	return fitOf(glm.Huber{Threshold: math.Inf(1)}, s, intercept, true, t)
}

// Logistic has the loss log(1 + exp(-y f)) of labels y of -1 and 1, and both if there is an intercept.
func Logistic(s Sample, intercept bool, t Terms) (*Fit, error) {
	if err := s.check("labels"); err != nil {
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
	if intercept && (ones == 0 || ones == len(s.Y)) {
		return nil, fmt.Errorf("sparse: all labels are %g, and the intercept would be infinite; expected -1 and 1", s.Y[0])
	}
	return fitOf(glm.Logistic{}, s, intercept, false, t)
}

// Poisson has half the deviance of counts y >= 0 from exp(f), and one that is positive if there is an intercept. The
// offset is the logarithm of what a count is in proportion to, such as a time under observation.
func Poisson(s Sample, intercept bool, t Terms) (*Fit, error) {
	if err := s.check("targets"); err != nil {
		return nil, err
	}
	for i, v := range s.Y {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("sparse: target of row %d is %g, expected a number that is not negative", i, v)
		}
	}
	if intercept && floats.Sum(s.Y) == 0 {
		return nil, fmt.Errorf("sparse: all targets are 0, and the intercept would be infinite; expected one that is positive")
	}
	return fitOf(glm.Poisson{}, s, intercept, false, t)
}

// fitOf is the fit of a loss that is a sum over the rows of a sample, which were checked.
func fitOf(l glm.Loss, s Sample, intercept, quadratic bool, t Terms) (*Fit, error) {
	n := len(s.Y)
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
	if err := s.check("times"); err != nil {
		return nil, err
	}
	if err := survival.Check(s.Y); err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	n, loss := len(s.Y), glm.Hazards{Ties: ties}
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
	if err := s.check("classes"); err != nil {
		return nil, err
	}
	if classes < 2 {
		return nil, fmt.Errorf("sparse: %d classes, expected at least 2", classes)
	}
	if err := checkClasses(s.Y, classes); err != nil {
		return nil, err
	}
	n, loss := len(s.Y), glm.Multinomial{Classes: classes}
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

// checkClasses says which of the classes of rows is none.
func checkClasses(y []float64, classes int) error {
	for i, v := range y {
		if v < 0 || v >= float64(classes) || v != math.Trunc(v) {
			return fmt.Errorf("sparse: class of row %d is %g, expected 0 to %d", i, v, classes-1)
		}
	}
	return nil
}

// with are other rows of the same loss: of a mean, or times whose half deviance, by the weights as they are, is divided
// by n.
func (r *rowSet) with(s Sample, n float64) (*rowSet, error) {
	switch r.loss.(type) {
	case glm.Multinomial:
		if err := checkClasses(s.Y, r.x.K); err != nil {
			return nil, err
		}
	case glm.Hazards:
		if err := survival.Check(s.Y); err != nil {
			return nil, fmt.Errorf("sparse: %w", err)
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
	return newRows(r.loss, s, meanOne(s.Weights, len(s.Y)), float64(len(s.Y))), nil
}
