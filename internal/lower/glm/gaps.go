package glm

import "slices"

// Gaps are entries of a table, by rising rows, with what each fold has more there than X. Gradients and predictions are
// those of the fold's own table. Products of the folds together are those of X where their curvatures are those of all,
// and those of squares or of one fold its own.
type Gaps struct {
	Row, Feature []int
	More         [][]float64
}

// mostGaps is the share of entries up to which gaps cost less than a table for each fold, with a curved loss.
const mostGaps = 0.05

// Shares says whether the folds of a table may have so many gaps: with a loss of rows, and products of all features.
func (t *Table) Shares(gaps int) bool {
	switch t.Loss.(type) {
	case Hazards, Multinomial, Pinball:
		return false
	}
	if t.Chained || t.Loss == nil && len(t.Folds) == 1 {
		return false
	}
	n, p := t.X.Dims()
	const each = 2 // matrices of a fold
	few := t.Loss == nil || float64(gaps) <= mostGaps*float64(n)*float64(p)
	return few && !Sparse(t.X) && byProducts(n, p, each*len(t.Folds))
}

// dots adds to the products of the columns with r what fold t has more, and rows to those of the rows with b.
func (g *Gaps) dots(t int, r, out []float64) {
	if g != nil {
		for e, v := range g.More[t] {
			out[g.Feature[e]] += v * r[g.Row[e]]
		}
	}
}

func (g *Gaps) rows(t int, b, out []float64) {
	if g != nil {
		for e, v := range g.More[t] {
			out[g.Row[e]] += v * b[g.Feature[e]]
		}
	}
}

// fill adds what a fold has more to some rows, rising, of p features, one after the other.
func (g *Gaps) fill(more []float64, rows []int, to []float64, p int) {
	if more == nil {
		return
	}
	e, _ := slices.BinarySearch(g.Row, rows[0])
	for l, i := range rows {
		for ; e < len(g.Row) && g.Row[e] <= i; e++ {
			if g.Row[e] == i {
				to[l*p+g.Feature[e]] += more[e]
			}
		}
	}
}
