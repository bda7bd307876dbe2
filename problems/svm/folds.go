package svm

import (
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems"
)

// Folds returns the training and the validation rows of each fold in the unit of the model: standardised if the model is.
func (m *Model) Folds() (train, val []problems.LabelledRows) {
	for _, f := range m.cv.Folds {
		train, val = append(train, m.rows.part(f.Train, m.weights)), append(val, m.rows.part(f.Val, m.weights))
	}
	return train, val
}

func (r *rows) part(index []int, classes [2]float64) problems.LabelledRows {
	_, p := r.x.Dims()
	x, out := mat.NewDense(len(index), p, nil), problems.LabelledRows{}
	for k, i := range index {
		x.SetRow(k, r.x.RawRowView(i))
		out.Y, out.Weights = append(out.Y, r.y[i]), append(out.Weights, r.weight(i, classes))
	}
	out.X = x
	if r.sparse {
		out.X = compressed(x)
	}
	return out
}
