package regression

import (
	"errors"
	"math"

	"github.com/conetune/conetune/problems/dataset"
)

// Rows with weights. The losses of training, validation and test rows are means by them, and so are the units. Mean squares by weights are those of other rows without
// weights ([dataset.Data.EqualWeights]), for whatever coefficients and constant, and on these all programs and fits work; the rows as they are stand beside
// them, where rows are taken out, put together or scored.

// checkWeights says why rows with weights cannot be fitted.
func (d *Data) checkWeights(parts []*dataset.Split) error {
	weighs := func(rows *dataset.Data) bool { return rows != nil && rows.Weights != nil }
	tables := []*dataset.Data{d.user.Table(), d.user.Tests()}
	for _, p := range parts {
		tables = append(tables, p.Val)
	}
	for _, rows := range tables {
		if !weighs(rows) {
			continue
		}
		if _, ok := d.loss.(Squares); !ok {
			return errors.New("rows with weights go with squared losses")
		}
		if rows.Sparse() && d.options.Intercept {
			return errors.New("a sparse table with weights of rows goes without an intercept, which would fill it in")
		}
	}
	return nil
}

// newPart takes rows in the unit of the model, with their weights.
func (d *Data) newPart(fit, choose, user *dataset.Data) part {
	p := part{fit: fit, choose: choose, train: fit.EqualWeights(d.options.Intercept), user: user}
	p.val = p.train
	if choose != fit {
		p.val = choose.EqualWeights(d.options.Intercept)
	}
	return p
}

// weightedError is the standard error of a mean of losses by weights, sum_i w_i l_i / sum_i w_i, as of independent losses, of which n are of a row of their own.
func weightedError(losses, weights []float64, n int) float64 {
	total, mean := 0.0, 0.0
	for i, w := range weights {
		total += w
		mean += w * losses[i]
	}
	mean /= total
	sum := 0.0
	for i, w := range weights {
		sum += w * w * (losses[i] - mean) * (losses[i] - mean)
	}
	all := float64(len(losses))
	return math.Sqrt(sum*all/(all-1)) / total * math.Sqrt(all/float64(n))
}
