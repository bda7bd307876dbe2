package completion

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// apply sets to to T x or, transposed, T'x, for T = R(w r) - rho (G - C).
func (f *factored) apply(to, x []float64, transposed bool) {
	clear(to)
	for s, w := range f.w {
		if w == 0 {
			continue
		}
		of, r := f.side(s), f.r[s]
		place, opposite := of.row, of.col
		if transposed {
			place, opposite = opposite, place
		}
		of.each(1, func(from, until int) {
			for at := from; at < until; at++ {
				e := of.entry(at)
				to[place[e]] += w * r[e] * x[opposite[e]]
			}
		})
	}
	if f.rho == 0 {
		return
	}
	low := func(c float64, a, b []float64, k int) {
		if transposed {
			a, b = b, a
		}
		addProduct(to, c, a, k, gram(b, k, x, 1), 1)
	}
	low(-f.rho, f.a, f.b, f.k)
	low(f.rho, f.ca, f.cb, f.kc)
}

// spectral bounds the norm of T by those of its blocks, with singular vectors of G, nil for none; rest is that of the
// last block.
func (f *factored) spectral(vectors [2]*mat.Dense) (bound, rest float64, found triplets) {
	if vectors[0] == nil {
		rest, found = f.lanczos(f.nuclear)
		return rest, rest, found
	}
	rest, found = f.lanczos(f.nuclear, vectors[0], vectors[1])
	_, k := vectors[0].Dims()
	q, p := vectors[0].RawMatrix().Data, vectors[1].RawMatrix().Data
	tp, tq := f.times(p, k, false), f.times(q, k, true)
	core := gram(q, k, tp, k)
	addProduct(tp, -1, q, k, core, k)
	turned := make([]float64, k*k)
	for i := range k {
		for l := range k {
			turned[i*k+l] = core[l*k+i]
		}
	}
	addProduct(tq, -1, p, k, turned, k)
	norm2 := func(r, c int, a []float64) float64 {
		var svd mat.SVD
		if !svd.Factorize(mat.NewDense(r, c, a), mat.SVDNone) {
			return math.Inf(1)
		}
		return svd.Values(nil)[0]
	}
	a, b, c := norm2(k, k, core), floats.Norm(tp, 2), floats.Norm(tq, 2)
	if f.over() {
		return math.Inf(1), rest, found
	}
	return norm2(2, 2, []float64{a, b, c, rest}), rest, found
}
