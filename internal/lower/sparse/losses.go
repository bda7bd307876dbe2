package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/survival"
)

// Squares has half the squares of y - f as the loss, the elastic net.
func Squares(s Sample, intercept bool, t Terms) (*Fit, error) {
	return newFit(glm.Huber{Threshold: math.Inf(1)}, s, intercept, t, nil)
}

// Logistic has the loss log(1 + exp(-y f)) of labels y of -1 and 1, and both if there is an intercept.
func Logistic(s Sample, intercept bool, t Terms) (*Fit, error) {
	return newFit(glm.Logistic{}, s, intercept, t, nil)
}

// Poisson has half the deviance of counts y >= 0 from exp(f), and one that is positive if there is an intercept. The
// offset is the logarithm of what a count is in proportion to, such as a time under observation.
func Poisson(s Sample, intercept bool, t Terms) (*Fit, error) {
	return newFit(glm.Poisson{}, s, intercept, t, nil)
}

// Cox has the half deviance of the partial likelihood of times, minus those of censored rows, over the number of rows,
// see [survival.Likelihood]: proportional hazards (Simon, Friedman, Hastie, Tibshirani, JSS 39, 2011). A constant
// changes nothing, so that there is no intercept.
func Cox(s Sample, ties survival.Ties, t Terms) (*Fit, error) {
	return newFit(glm.Hazards{Ties: ties}, s, false, t, nil)
}

// Multinomial has minus the logarithm of the probability exp(f_y) / sum_k exp(f_k) of the class y of a row, an integer
// from 0 on, each of which has a row. All classes have coefficients, as in glmnet and scikit-learn.
func Multinomial(s Sample, classes int, intercept bool, t Terms) (*Fit, error) {
	if classes < 2 {
		return nil, fmt.Errorf("sparse: %d classes, expected at least 2", classes)
	}
	return newFit(glm.Multinomial{Classes: classes}, s, intercept, t, nil)
}

// Groups is a fit of squares for the sparse group lasso, whose features are divided into groups,
//
//	minimize over b (and b0)   1/(2n) |y - X b - b0|^2 + sum_g w_g |b^(g)|_2 + sum_j w1_j |b_j|
//
// with weights for [Fit.SolveAt]. members lists the features of each group, and each feature is in one; the lists are
// kept.
func Groups(s Sample, intercept bool, members [][]int) (*Fit, error) {
	var units [][]int
	for k, group := range members {
		if len(group) != 1 || group[0] != k { // else they are features
			units = members
		}
	}
	return newFit(glm.Huber{Threshold: math.Inf(1)}, s, intercept, Terms{}, units)
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
		for k := range l.Classes {
			if !slices.Contains(s.Y, float64(k)) {
				return fmt.Errorf("sparse: no row has class %d of %d", k, l.Classes)
			}
		}
	}
	return nil
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
