package completion

// tangent is a direction or a gradient in the factors A (m x k) and B (n x k) of a completion, both by rows, and
// in the coefficients of the groups in use, S: all of them one after the other.
type tangent struct{ all, A, B, S []float64 }

// zero is a tangent of zeros.
func (f *factored) zero() tangent {
	n := len(f.set)
	if f.j.intercept {
		n++
	}
	return f.tangent(make([]float64, len(f.a)+len(f.b)+n))
}

// tangent takes the numbers of one.
func (f *factored) tangent(all []float64) tangent {
	a, b := len(f.a), len(f.a)+len(f.b)
	return tangent{all, all[:a:a], all[a:b:b], all[b:]}
}
