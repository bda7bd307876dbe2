package completion

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// spectral bounds the norm of T by those of its blocks, with singular vectors of G, nil for none; rest is that of the
// last block.
func (f *factored) spectral(vectors [2]*mat.Dense) (bound, rest float64, found triplets) {
	if rest, found = f.lanczos(f.nuclear, vectors); vectors[0] == nil {
		return rest, rest, found
	}
	_, k := vectors[0].Dims()
	q, p := vectors[0].RawMatrix().Data, vectors[1].RawMatrix().Data
	tp, tq := f.times(p, k, false), f.times(q, k, true)
	core := gram(q, k, tp, k)
	addProduct(tp, -1, q, k, core, k)
	turned := make([]float64, k*k)
	transpose(turned, core, k, k)
	addProduct(tq, -1, p, k, turned, k)
	norm2 := func(r, c int, a []float64) float64 {
		var svd mat.SVD
		if !svd.Factorize(mat.NewDense(r, c, a), mat.SVDNone) {
			return math.Inf(1)
		}
		return svd.Values(nil)[0]
	}
	a, b, c := norm2(k, k, core), floats.Norm(tp, 2), floats.Norm(tq, 2)
	if f.end.Look() {
		return math.Inf(1), rest, found
	}
	return norm2(2, 2, []float64{a, b, c, rest}), rest, found
}
