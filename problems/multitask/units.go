package multitask

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// units are the way from the user's units, (x, y), to the model's, ((x - mean)/scale, (y - shift)/sd), and back.
type units struct {
	rows      *dataset.Data // as given
	intercept bool
	transform *dataset.Transform // of the features
	shift     []float64          // of the targets
	sd        float64
}

func newUnits(train *Data, o Options) units {
	n, p := train.X.Dims()
	_, q := train.Y.Dims()
	u := units{rows: asTable(train.X), intercept: o.Intercept, transform: dataset.NewTransform(asTable(train.X), o.Scaling, o.Intercept), shift: make([]float64, q), sd: 1}
	if !o.Standardize {
		for j := range p {
			u.transform.Scale[j] = 1
		}
	}
	variance := 0.0
	for k := range q {
		mean, v := stat.PopMeanVariance(mat.Col(nil, k, train.Y), nil)
		variance += v / float64(q)
		if o.Intercept {
			u.shift[k] = mean
		}
	}
	if o.Standardize && variance > 0 && n > 1 {
		u.sd = math.Sqrt(variance)
	}
	return u
}

// asTable is a table with some features, without targets that mean anything.
func asTable(x *mat.Dense) *dataset.Data {
	n, _ := x.Dims()
	return &dataset.Data{X: x, Y: make([]float64, n)}
}

// apply returns a copy in the unit of the model.
func (u units) apply(d *Data) *Data {
	y := mat.DenseCopyOf(d.Y)
	y.Apply(func(_, k int, v float64) float64 { return (v - u.shift[k]) / u.sd }, y)
	return &Data{X: u.transform.Apply(asTable(d.X)).Dense(), Y: y}
}

// fit turns B, row by row, into a predictor in the user's units:
//
//	y_k = shift_k + sd sum_j B_jk (x_j - mean_j) / scale_j.
func (u units) fit(b []float64, features, targets []string) problems.Fit {
	q := len(targets)
	f := problems.Fit{Coefficients: make([]float64, len(b)), Features: features, Targets: targets, Intercepts: make([]float64, q)}
	copy(f.Intercepts, u.shift)
	for j := range features {
		for k := range q {
			c := u.sd * b[j*q+k] / u.transform.Scale[j]
			f.Coefficients[j*q+k] = c
			f.Intercepts[k] -= c * u.transform.Mean[j]
		}
	}
	return f
}
