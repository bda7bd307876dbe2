package leastsquares

import (
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/stop"
)

// Hessian is X_S'X_S / n + diag(w2) of the columns S, centred if there is an intercept; w2 holds a
// weight for each of the p features, or is nil. It is nil where end, which may be nil, is reached before.
func (g *Data) Hessian(set []int, w2 []float64, end *stop.Stop) *mat.SymDense {
	if len(set) == 0 {
		return &mat.SymDense{}
	}
	h := mat.NewSymDense(len(set), nil)
	products := g.sparseProducts
	if g.X.Dense() {
		products = g.denseProducts
	}
	if !products(h, set, end) {
		return nil
	}
	for i, j := range set {
		if w2 != nil {
			h.SetSym(i, i, h.At(i, i)+w2[j])
		}
		if g.Mean == nil {
			continue
		}
		for l, m := range set[i:] {
			h.SetSym(i, i+l, h.At(i, i+l)-g.Mean[j]*g.Mean[m])
		}
	}
	return h
}

// denseProducts sets h to X_S'X_S / n, not centred, in blocks of rows. It says whether it came to the end.
func (g *Data) denseProducts(h *mat.SymDense, set []int, end *stop.Stop) bool {
	n := g.X.Rows()
	columns := make([][]float64, len(set))
	for l, j := range set {
		_, columns[l] = g.X.Column(j)
	}
	return factor.AddOuters(h, 1/float64(n), n, end, func(i int, row []float64) {
		for l, c := range columns {
			row[l] = c[i]
		}
	})
}

// sparseProducts is denseProducts for a sparse design.
func (g *Data) sparseProducts(h *mat.SymDense, set []int, end *stop.Stop) bool {
	n, raw := float64(g.X.Rows()), h.RawSymmetric()
	dots := g.X.NewDots(set)
	for i := range set {
		if end.Look() {
			return false
		}
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+len(set)]
		dots.From(i, row)
		for l := range row {
			row[l] /= n
		}
	}
	return true
}
