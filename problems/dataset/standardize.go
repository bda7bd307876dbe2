package dataset

import (
	"slices"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/indices"
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
	t, of, full := &Transform{Mean: make([]float64, p)}, scaling.Of(d), indices.Range(0, p)
	if d.Sparse() {
		full = d.Full()
	}
	var mean, deviation []float64
	if of == ByDeviation || of != scaling && len(full) > 0 { // where nothing else was asked for
		mean, deviation = d.Moments()
	}
	switch of {
	case ByLargest:
		t.Scale = d.largest()
	case Together:
		t.Scale = slices.Repeat([]float64{typical(d.sizes())}, p)
	default:
		t.Scale = slices.Clone(deviation)
	}
	if mean != nil {
		for _, j := range full {
			if t.Scale[j] = deviation[j]; center {
				t.Mean[j] = mean[j]
			}
		}
	}
	for j, s := range t.Scale {
		if s == 0 {
			t.Scale[j] = 1
		}
	}
	return t
}

// Apply returns a copy of d in the units of the transform, sparse where d is and most columns are not centred. It takes
// and returns nil too. It panics when d has another number of features.
func (t *Transform) Apply(d *Data) *Data {
	if d == nil {
		return nil
	}
	n, p := d.Dims()
	if p != len(t.Scale) {
		panic(mat.ErrShape)
	}
	out := *d
	centred := indices.Where(t.Mean, func(v float64) bool { return v != 0 })
	if x, ok := d.compressed(); ok && 2*len(centred) <= p {
		raw := x.RawMatrix()
		start, at, from := withAll(raw.Indptr, raw.Ind, raw.Data, centred)
		value := make([]float64, len(from))
		for k, j := range at {
			value[k] = (from[k] - t.Mean[j]) / t.Scale[j]
		}
		out.X = sparse.NewCSR(n, p, start, at, value) // the indices are shared
		return &out
	}
	out.X = t.later(d).whole()
	return &out
}

// withAll are compressed rows that store all entries of some columns, in rising order: these themselves where they do.
func withAll(start, at []int, value []float64, columns []int) (s, a []int, v []float64) {
	if len(columns) == 0 {
		return start, at, value
	}
	stored := 0
	for _, j := range at {
		if _, found := slices.BinarySearch(columns, j); found {
			stored++
		}
	}
	n := len(start) - 1
	if stored == n*len(columns) {
		return start, at, value
	}
	s = append(s, 0)
	for i := range n {
		left := columns
		for k := start[i]; k < start[i+1]; k++ {
			for ; len(left) > 0 && left[0] < at[k]; left = left[1:] {
				a, v = append(a, left[0]), append(v, 0)
			}
			if len(left) > 0 && left[0] == at[k] {
				left = left[1:]
			}
			a, v = append(a, at[k]), append(v, value[k])
		}
		a, v = append(a, left...), append(v, make([]float64, len(left))...)
		s = append(s, len(a))
	}
	return s, a, v
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
