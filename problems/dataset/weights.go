package dataset

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// RowWeights are those of the rows, ones where none are given, to be read only; none of nil.
func (d *Data) RowWeights() []float64 {
	if d == nil {
		return nil
	}
	if d.Weights != nil {
		return d.Weights
	}
	return slices.Repeat([]float64{1}, len(d.Y))
}

// RowOffset are the offsets of the rows, zeros where none are given, to be read only.
func (d *Data) RowOffset() []float64 {
	if d.Offset != nil {
		return d.Offset
	}
	return make([]float64, len(d.Y))
}

// WithoutOffset returns the division with the targets less the offset of their rows, for models whose loss depends on
// the difference of target and prediction alone; itself where there is no offset.
func WithoutOffset(v Division) Division {
	some := false
	out := changed(v, func(d *Data) {
		if d.Offset != nil {
			some, d.Y = true, slices.Clone(d.Y)
			floats.Sub(d.Y, d.Offset)
			d.Offset = nil
		}
	})
	if some {
		return out
	}
	return v
}

// Mean is the mean of a number for each row, by the weights of the rows.
func (d *Data) Mean(v []float64) float64 {
	if d.Weights == nil {
		return floats.Sum(v) / float64(len(v))
	}
	return floats.Dot(d.Weights, v) / floats.Sum(d.Weights)
}

// Spread is the mean of a number for each row, 0 without center, and its standard deviation by the weights of the rows,
// 1 where it vanishes.
func (d *Data) Spread(v []float64, center bool) (mean, sd float64) {
	mean = d.Mean(v)
	squares := make([]float64, len(v))
	for i, a := range v {
		squares[i] = (a - mean) * (a - mean)
		sd += squares[i] / float64(len(v))
	}
	if d.Weights != nil {
		sd = d.Mean(squares)
	}
	if sd = math.Sqrt(sd); !(sd > 1e-12*math.Abs(mean)) {
		sd = 1
	}
	if !center {
		mean = 0
	}
	return mean, sd
}

// EqualWeights returns rows without weights whose mean squares are those of d by its weights, for all coefficients b
// and, with constant, for all constants b0:
//
//	1/n sum_i (y'_i - x'_i b - b0)^2 = 1/W sum_i w_i (y_i - x_i b - b0)^2,   W = sum_i w_i.
//
// There are as many as d has; they are d itself where that has no weights. Without constant they are the rows times the
// roots of n w_i / W, sparse where d is.
//
// With constant, let z_i = (x_i, y_i), m their weighted mean, A the matrix with the rows (n w_i / W)^(1/2) (z_i - m),
// and q and e the unit vectors with the entries (w_i / W)^(1/2) and n^(-1/2). As q'A = 0, the right side is |A c|^2 /
// n + (m c + b0)^2 up to signs, with c = (b, -1). A rotation R in the plane of q and e that takes q to e leaves |A c|
// as it is, and the rows of B = R A have the sum 0, as e'B = (R'e)'A = q'A = 0. So m + B_i are the rows, with
//
//	B = A - (q + e) (e'A) / (1 + q'e),
//
// which is dense.
func (d *Data) EqualWeights(constant bool) *Data {
	if d == nil || d.Weights == nil {
		return d
	}
	n, p := d.Dims()
	total, size := floats.Sum(d.Weights), float64(n)
	all, root := make([]int, n), make([]float64, n)
	for i, w := range d.Weights {
		all[i], root[i] = i, math.Sqrt(size*w/total)
	}
	if !constant {
		out := d.ScaledRows(all, root)
		floats.Mul(out.Y, root)
		out.Weights = nil
		return out
	}
	mean, middle := make([]float64, p), d.Mean(d.Y)
	for i, w := range d.Weights {
		d.AddRow(mean, w/total, i)
	}
	x, y := mat.NewDense(n, p, nil), make([]float64, n)
	sum, sumY := make([]float64, p), 0.0 // the rows of A, summed
	cosine := 0.0                        // q'e
	for i := range n {
		row := x.RawRowView(i)
		d.Fill(row, i)
		floats.Sub(row, mean)
		floats.Scale(root[i], row)
		floats.Add(sum, row)
		y[i] = root[i] * (d.Y[i] - middle)
		sumY += y[i]
		cosine += root[i] / size
	}
	for i := range n {
		// q_i + e_i = (root_i + 1) / sqrt(n), e'A = sum / sqrt(n).
		share := (root[i] + 1) / (size * (1 + cosine))
		row := x.RawRowView(i)
		floats.AddScaled(row, -share, sum)
		floats.Add(row, mean)
		y[i] += middle - share*sumY
	}
	return &Data{X: x, Y: y, Features: d.Features, Target: d.Target}
}
