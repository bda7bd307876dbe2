package design

// ScaleRows returns the matrix with its rows times n factors and, where column is set, these as a column more at the end.
func (d *Matrix) ScaleRows(factors []float64, column bool) *Matrix {
	out := &Matrix{n: d.n, p: d.p, start: d.start, index: d.index}
	if d.dense != nil {
		columns := d.p
		if column {
			columns++
		}
		out.dense = make([]float64, columns*d.n)
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
	} else {
		out.value = make([]float64, len(d.value), len(d.value)+d.n)
		for k, v := range d.value {
			out.value[k] = v * factors[d.index[k]]
		}
		if column {
			out.index = append([]int(nil), d.index...)
			for i, v := range factors {
				out.index, out.value = append(out.index, i), append(out.value, v)
			}
			out.start = append(append([]int(nil), d.start...), len(out.value))
		}
	}
	if column {
		out.p++
	}
	return out
}
