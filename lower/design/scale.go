package design

import "slices"

// ScaleRows returns the matrix with its rows times n factors and, where column is set, these as a column more at the end.
func (d *Matrix) ScaleRows(factors []float64, column bool) *Matrix {
	return d.ScaleRowsIn(nil, factors, column)
}

// ScaleRowsIn is ScaleRows in the memory of a former result, which must not be used any more; nil for none.
func (d *Matrix) ScaleRowsIn(former *Matrix, factors []float64, column bool) *Matrix {
	out := &Matrix{n: d.n, p: d.p, start: d.start, index: d.index}
	if former == nil {
		former = new(Matrix)
	}
	if column {
		out.p++
	}
	if d.dense != nil {
		out.dense = room(former.dense, out.p*d.n)
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
	entries := len(d.value)
	if column {
		entries += d.n
		if len(former.index) == entries {
			out.start, out.index = former.start, former.index
		} else {
			out.index = slices.Grow(slices.Clone(d.index), d.n)
			for i := range d.n {
				out.index = append(out.index, i)
			}
			out.start = append(slices.Clone(d.start), entries)
		}
	}
	out.value = room(former.value, entries)
	for k, v := range d.value {
		out.value[k] = v * factors[d.index[k]]
	}
	copy(out.value[len(d.value):], factors)
	return out
}

// room is the memory of a slice where it has so many entries, and else new.
func room(former []float64, entries int) []float64 {
	if len(former) == entries {
		return former
	}
	return make([]float64, entries)
}
