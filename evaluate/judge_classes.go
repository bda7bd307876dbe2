package evaluate

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// addClasses is add for a fit with a value for each label.
func (d *Judged) addClasses(rows *dataset.Data, f tune.Fit, from *dataset.Data) {
	share := make([]float64, len(f.Labels))
	for k, label := range f.Labels {
		share[k] = from.Mean(is(from.Y, label))
	}
	row := make([]float64, len(f.Features))
	for i, y := range rows.Y {
		rows.Fill(row, i)
		p := Softmax(f.Values(row))
		d.Y, d.Value = append(d.Y, float64(slices.Index(f.Labels, y))), append(d.Value, float64(floats.MaxIdx(p)))
		d.Probability, d.Share = append(d.Probability, p), append(d.Share, share)
	}
}

// is has 1 for the values that are a label, and 0 for the others.
func is(values []float64, label float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		if v == label {
			out[i] = 1
		}
	}
	return out
}

// Confusion counts the rows of each of so many labels by predicted labels, or sums up their weights.
func (d *Judged) Confusion(labels int) [][]float64 {
	n := make([][]float64, labels)
	for k := range n {
		n[k] = make([]float64, labels)
	}
	for i, y := range d.Y {
		called := int(d.Value[i])
		if d.Probability == nil {
			if called = 0; d.Value[i] > 0 {
				called = 1
			}
		}
		if d.Weight == nil {
			n[int(y)][called]++
		} else {
			n[int(y)][called] += d.Weight[i]
		}
	}
	return n
}
