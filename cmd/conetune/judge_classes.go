package main

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/metrics"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// addClasses is add for a fit with a value for each label.
func (d *judged) addClasses(rows *dataset.Data, f tune.Fit, train []float64) {
	share := make([]float64, len(f.Labels))
	for _, y := range train {
		share[slices.Index(f.Labels, y)] += 1 / float64(len(train))
	}
	row := make([]float64, len(f.Features))
	for i, y := range rows.Y {
		rows.Fill(row, i)
		p := metrics.Softmax(f.Values(row))
		d.Y, d.Value = append(d.Y, float64(slices.Index(f.Labels, y))), append(d.Value, float64(floats.MaxIdx(p)))
		d.probability, d.share = append(d.probability, p), append(d.share, share)
	}
}

// confusion counts the rows of each of so many labels by predicted labels.
func (d *judged) confusion(labels int) [][]int {
	n := make([][]int, labels)
	for k := range n {
		n[k] = make([]int, labels)
	}
	for i, y := range d.Y {
		called := int(d.Value[i])
		if d.probability == nil {
			if called = 0; d.Value[i] > 0 {
				called = 1
			}
		}
		n[int(y)][called]++
	}
	return n
}
