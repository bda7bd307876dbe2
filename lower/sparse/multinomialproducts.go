package sparse

import (
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/lower/design"
)

// placed is an entry at a place of a vector. Lists of them are in the order of the features, so that each is read once for all classes.
type placed struct {
	entry
	at int
}

// place lists the entries of a set by features.
func place(set []entry) []placed {
	out := make([]placed, len(set))
	for i, e := range set {
		out[i] = placed{e, i}
	}
	slices.SortFunc(out, func(a, b placed) int {
		if a.feature != b.feature {
			return a.feature - b.feature
		}
		return a.class - b.class
	})
	return out
}

const (
	// productRows of a feature and of each class stay in the cache, and productEntries are those of one part of a product. They do not depend on the threads, so that neither does rounding.
	productRows, productEntries = 512, 256
	// productWork is the number of multiplications that pays for threads.
	productWork = 1 << 20
)

// productThreads is the number of threads for a product.
func (g *Multinomial) productThreads(list []placed) int {
	if len(list)*len(g.class) < productWork {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// add adds to the predictions of each class, by rows, what the coefficients v of a list make of the features.
func (g *Multinomial) add(rows [][]float64, list []placed, v []float64) {
	n := len(g.class)
	if !g.x.Dense() {
		for _, e := range list {
			if e.feature == design.Ones {
				floats.AddConst(v[e.at], rows[e.class])
			} else if v[e.at] != 0 {
				g.x.Axpy(v[e.at], e.feature, rows[e.class])
			}
		}
		return
	}
	crew.Each((n+productRows-1)/productRows, g.productThreads(list), func(block int) {
		lo, hi := block*productRows, min(n, (block+1)*productRows)
		for _, e := range list {
			if e.feature == design.Ones {
				floats.AddConst(v[e.at], rows[e.class][lo:hi])
			} else if v[e.at] != 0 {
				_, column := g.x.Column(e.feature)
				dense.Axpy(v[e.at], column[lo:hi], rows[e.class][lo:hi])
			}
		}
	})
}

// correlate sets the entries of a list in out to the products of their features with the rows of their classes.
func (g *Multinomial) correlate(out []float64, list []placed, rows [][]float64) {
	n := len(g.class)
	crew.Each((len(list)+productEntries-1)/productEntries, g.productThreads(list), func(k int) {
		part := list[k*productEntries : min(len(list), (k+1)*productEntries)]
		if !g.x.Dense() {
			for _, e := range part {
				if e.feature == design.Ones {
					out[e.at] = floats.Sum(rows[e.class])
				} else {
					out[e.at] = g.x.Dot(e.feature, rows[e.class])
				}
			}
			return
		}
		for _, e := range part {
			out[e.at] = 0
		}
		for lo := 0; lo < n; lo += productRows {
			hi := min(n, lo+productRows)
			for _, e := range part {
				if e.feature == design.Ones {
					out[e.at] += floats.Sum(rows[e.class][lo:hi])
				} else {
					_, column := g.x.Column(e.feature)
					out[e.at] += dense.Dot(column[lo:hi], rows[e.class][lo:hi])
				}
			}
		}
	})
}
