package regression

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/problems/dataset"
)

// Rows with weights. The losses of training, validation and test rows are means by them, and so are the units. Mean
// squares by weights are those of other rows without weights ([dataset.Data.EqualWeights]), for whatever coefficients
// and constant, and on these all programs and fits work but for sparse tables with an intercept; the rows as they are
// stand beside them, where rows are taken out, put together or scored. Other losses are weighed row by row.

// mostFilled bounds the entries of a sparse table that is filled in.
const mostFilled = 1e8

// checkWeights says why rows with weights cannot be fitted.
func (d *data) checkWeights() error {
	for _, rows := range append([]*dataset.Data{d.user.Table(), d.user.Tests()}, d.held...) {
		if rows == nil || rows.Weights == nil || d.keeps(rows) || !rows.Sparse() || !d.options.Intercept {
			continue
		}
		if n, p := rows.Dims(); float64(n)*float64(p) > mostFilled {
			return fmt.Errorf("a sparse table of %d rows and %d features with weights of rows goes without an intercept, "+
				"which would fill it in", n, p)
		}
	}
	return nil
}

// keeps says that rows keep their weights, in programs and fits.
func (d *data) keeps(rows *dataset.Data) bool {
	weighing := d.net.Weighing && rows.Sparse() && d.options.Intercept
	return rows.Weights != nil && (!d.squares() || d.net.KeepTarget || weighing)
}

// observes says that fits have to know weights or offsets of rows.
func (d *data) observes() bool {
	return slices.ContainsFunc(append([]*dataset.Data{d.user.Table()}, d.held...), func(rows *dataset.Data) bool {
		return d.keeps(rows) || rows.Offset != nil
	})
}

// equal are rows with the same mean losses, without weights where that can be.
func (d *data) equal(rows *dataset.Data) *dataset.Data {
	if rows == nil || d.keeps(rows) {
		return rows
	}
	return rows.EqualWeights(d.options.Intercept)
}

// newPart takes rows in the unit of the model, with their weights.
func (d *data) newPart(fit, choose *dataset.Data) part {
	p := part{fit: fit, choose: choose, train: d.equal(fit)}
	p.val = p.train
	if choose != fit {
		p.val = d.equal(choose)
	}
	return p
}
