package dataset

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Transform is a change of the units of the features, z_j = (x_j - Mean_j) / Scale_j.
type Transform struct {
	// Mean and Scale have an entry for each feature.
	Mean, Scale []float64
}

// Standardize returns the split with each column of X brought to mean 0 and standard
// deviation 1 on the training rows (divisor n), and the transform that did it. A
// column that is constant there keeps the scale 1. The validation and test rows
// get the transform of the training rows. Without center, the means stay
// (Mean is 0) and only the scale changes, which keeps a model without intercept
// one. The targets stay as they are; s does not change.
func Standardize(s *Split, center bool) (*Split, *Transform) {
	t := NewTransform(s.Train, center)
	return &Split{Train: t.Apply(s.Train), Val: t.Apply(s.Val), Test: t.Apply(s.Test)}, t
}

// NewTransform returns the transform that brings each column of d to standard deviation 1, and with center to mean 0, as
// [Standardize] says.
func NewTransform(d *Data, center bool) *Transform {
	n, p := d.Dims()
	t := &Transform{Mean: make([]float64, p), Scale: make([]float64, p)}
	if n == 0 {
		for j := range t.Scale {
			t.Scale[j] = 1
		}
		return t
	}
	// Row by row, as X lies in memory. First the means and half the ranges ..
	lo, hi := slices.Clone(d.X.RawRowView(0)), slices.Clone(d.X.RawRowView(0))
	mean, half := make([]float64, p), make([]float64, p)
	for i := range n {
		for j, v := range d.X.RawRowView(i) {
			mean[j] += v / float64(n)
			lo[j], hi[j] = min(lo[j], v), max(hi[j], v)
		}
	}
	for j := range half {
		half[j] = hi[j]/2 - lo[j]/2
	}
	// .. then the variances, in units of the half range, whose squares stay in the
	// range of a float64 whatever the unit of the column.
	variance := make([]float64, p)
	for i := range n {
		for j, v := range d.X.RawRowView(i) {
			if half[j] > 0 {
				u := (v - mean[j]) / half[j]
				variance[j] += u * u / float64(n)
			}
		}
	}
	for j := range p {
		t.Scale[j] = 1
		if half[j] > 0 {
			t.Scale[j] = math.Sqrt(variance[j]) * half[j]
		} else {
			mean[j] = lo[j] // without the rounding of the sum
		}
	}
	if center {
		t.Mean = mean
	}
	return t
}

// Apply returns a copy of d in the units of the transform. It takes and returns
// nil too. It panics when d has another number of features.
func (t *Transform) Apply(d *Data) *Data {
	if d == nil {
		return nil
	}
	n, p := d.Dims()
	if p != len(t.Scale) {
		panic(mat.ErrShape)
	}
	z := mat.NewDense(n, p, nil)
	for i := range n {
		row := z.RawRowView(i)
		for j, v := range d.X.RawRowView(i) {
			row[j] = (v - t.Mean[j]) / t.Scale[j]
		}
	}
	return &Data{X: z, Y: d.Y, Features: d.Features, Target: d.Target}
}

// Undo returns the coefficients and the intercept for the features in their own units
// of a model for the transformed ones:
//
//	b0 + sum_j b_j (x_j - Mean_j) / Scale_j = (b0 - sum_j b_j Mean_j / Scale_j) + sum_j (b_j / Scale_j) x_j
//
// It panics when the number of coefficients is not that of the features.
func (t *Transform) Undo(b []float64, b0 float64) ([]float64, float64) {
	if len(b) != len(t.Scale) {
		panic(mat.ErrShape)
	}
	c := make([]float64, len(b))
	for j := range b {
		c[j] = b[j] / t.Scale[j]
		b0 -= c[j] * t.Mean[j]
	}
	return c, b0
}
