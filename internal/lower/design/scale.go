package design

import "slices"

// ScaleRows returns the matrix with its rows times n factors and, where column is set, these as a column more at the end.
func (d *Matrix) ScaleRows(factors []float64, column bool) *Matrix {
	out := &Matrix{n: d.n, p: d.p, start: d.start, index: d.index}
	if column {
		out.p++
	}
	if d.dense != nil {
		out.dense = make([]float64, out.p*d.n)
		factors := factors[:d.n]
		for k := range d.p {
			to, from := out.dense[k*d.n:(k+1)*d.n], d.column(k)[:d.n]
			for i, f := range factors {
				to[i] = from[i] * f
			}
		}
		if column {
			copy(out.dense[d.p*d.n:], factors)
		}
		return out
	}
	out.value = make([]float64, len(d.value), len(d.value)+d.n)
	for k, v := range d.value {
		out.value[k] = v * factors[d.index[k]]
	}
	if column {
		out.index, out.value = slices.Grow(slices.Clone(d.index), d.n), append(out.value, factors...)
		for i := range d.n {
			out.index = append(out.index, i)
		}
		out.start = append(slices.Clone(d.start), len(out.value))
	}
	return out
}
