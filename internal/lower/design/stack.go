package design

// Stack has the rows of a and then those of b, which have the same columns. It is sparse where both are.
func Stack(a, b *Matrix) *Matrix {
	out := &Matrix{n: a.n + b.n, p: a.p}
	if a.Dense() || b.Dense() {
		out.dense = make([]float64, out.n*out.p)
		for j := range out.p {
			column := out.column(j)
			for k, m := range []*Matrix{a, b} {
				index, value := m.Column(j)
				to := column[k*a.n:]
				if index == nil {
					copy(to, value)
				}
				for q, i := range index {
					to[i] = value[q]
				}
			}
		}
		return out
	}
	out.start = make([]int, 1, out.p+1)
	for j := range out.p {
		for k, m := range []*Matrix{a, b} {
			index, value := m.Column(j)
			out.value = append(out.value, value...)
			for _, i := range index {
				out.index = append(out.index, k*a.n+i)
			}
		}
		out.start = append(out.start, len(out.index))
	}
	return out
}
