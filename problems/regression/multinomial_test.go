package regression_test

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// split has targets 3, 5 and 8, by how large a combination of the features is.
func classesSplit(seed uint64, train int) *dataset.Split {
	s := modeltest.Split(seed, train, 40, 30, []float64{2, -1, 0.5, 0, 0, 0}, 0.7)
	for _, d := range []*dataset.Data{s.Train, s.Val, s.Test} {
		for i, y := range d.Y {
			switch {
			case y < -1 && d.X.At(i, 3) < 1:
				d.Y[i] = 3
			case y < 1:
				d.Y[i] = 5
			default:
				d.Y[i] = 8
			}
		}
	}
	return s
}

// meanLoss is the mean of minus the logarithm of the probability of the label, from the definition.
func meanMultinomial(d *dataset.Data, f problems.Fit) float64 {
	sum := 0.0
	for i, y := range d.Y {
		total, own := 0.0, 0.0
		for k, v := range f.Values(floats.AddTo(make([]float64, 6), d.Dense().RawRowView(i), make([]float64, 6))) {
			if total += math.Exp(v); f.Labels[k] == y {
				own = math.Exp(v)
			}
		}
		sum -= math.Log(own/total) / float64(len(d.Y))
	}
	return sum
}
