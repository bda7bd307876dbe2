package dataset

import (
	"slices"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"
)

// Transform is a change of the units of the features, z_j = (x_j - Mean_j) / Scale_j.
type Transform struct {
	// Mean and Scale have an entry for each feature.
	Mean, Scale []float64
}

// NewTransform returns the transform that brings each column of d to the unit that the scaling says. With center,
// columns get mean 0 there where the scaling centres them; without, the means stay (Mean is 0) and only the scale
// changes, which keeps a model without intercept one. A column without a spread keeps the scale 1.
func NewTransform(d *Data, scaling Scaling, center bool) *Transform {
	_, p := d.Dims()
	t := &Transform{Mean: make([]float64, p)}
	switch scaling.Of(d) {
	case ByLargest:
		t.Scale = d.largest()
	case Together:
		t.Scale = slices.Repeat([]float64{typical(d.sizes())}, p)
	default:
		mean, deviation := d.Moments()
		t.Scale = deviation
		if center && !d.Sparse() {
			t.Mean = mean
		}
	}
	for j, s := range t.Scale {
		if s == 0 {
			t.Scale[j] = 1
		}
	}
	return t
}

// Apply returns a copy of d in the units of the transform, sparse where d is and nothing is centred. It takes and
// returns nil too. It panics when d has another number of features.
func (t *Transform) Apply(d *Data) *Data {
	if d == nil {
		return nil
	}
	n, p := d.Dims()
	if p != len(t.Scale) {
		panic(mat.ErrShape)
	}
	out := *d
	if x, ok := d.compressed(); ok && !slices.ContainsFunc(t.Mean, func(v float64) bool { return v != 0 }) {
		raw := x.RawMatrix()
		value := make([]float64, len(raw.Data))
		for k, j := range raw.Ind {
			value[k] = raw.Data[k] / t.Scale[j]
		}
		out.X = sparse.NewCSR(n, p, raw.Indptr, raw.Ind, value) // the indices are shared
		return &out
	}
	out.X = t.later(d).whole()
	return &out
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
