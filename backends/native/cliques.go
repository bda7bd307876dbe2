package native

import (
	"cmp"
	"slices"

	"github.com/conetune/conetune/backends/internal/order"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/stop"
)

// clique is a set of columns of a semidefinite cone: a node of the clique tree of a chordal pattern, see component.
type clique struct {
	own       []int32 // the columns that its parent has not
	separator []int32 // those of the parent that it has, too
	parent    int     // -1 for a root
	row       int     // the first one of its cone
	variables []int32 // with entries in what is its own of the matrix, or if open the other rows of these
	below     int     // entries of the separators of its children
	open      bool    // see component
}

func (c *clique) order() int { return len(c.own) + len(c.separator) }

// above is the number of entries that it shares with its parent.
func (c *clique) above() int { return triangle(len(c.separator)) }

func triangle(n int) int { return n * (n + 1) / 2 }

// cliquesOf returns the maximal cliques of the pattern of the Cholesky factor of a pattern with n columns,
// given by the entries above its diagonal in compressed columns, in an order of little fill, and of each column the
// clique that it is an own one of, and its number in that order. Children come before their parents. It is nil where
// one would have as many columns as the whole, but for some, or the stop was reached.
func cliquesOf(n int, ptr, ind []int32, s *stop.Stop) (cliques []clique, of, number []int32) {
	perm := order.AMD(n, ptr, ind, order.Options{Stop: s})
	if perm == nil {
		return nil, nil, nil
	}
	number = make([]int32, n)
	for k, j := range perm {
		number[j] = int32(k)
	}
	later := make([][]int32, n) // by number, the columns after one that it is linked to, in the end those of the factor
	for j := range int32(n) {
		for _, i := range ind[ptr[j]:ptr[j+1]] {
			a, b := min(number[i], number[j]), max(number[i], number[j])
			later[a] = append(later[a], b)
		}
	}
	in, children := make([]int32, n), make([][]int32, n)
	for j := range int32(n) {
		list := later[j]
		for _, c := range children[j] {
			list = append(list, later[c][1:]...)
		}
		if s.Reached(8 * (1 + len(list))) {
			return nil, nil, nil
		}
		slices.Sort(list)
		list = slices.Compact(list)
		if later[j] = list; len(list) > wholeClique*n/10 {
			return nil, nil, nil
		}
		in[j] = int32(len(cliques))
		for _, c := range children[j] {
			if len(later[c]) == len(list)+1 { // its clique is that of c
				in[j] = in[c]
			}
		}
		if int(in[j]) == len(cliques) {
			cliques = append(cliques, clique{parent: -1})
		}
		cliques[in[j]].own = append(cliques[in[j]].own, j)
		for _, c := range children[j] {
			if in[c] != in[j] {
				child := &cliques[in[c]]
				child.parent, child.separator = int(in[j]), slices.Clone(later[c])
			}
		}
		if len(list) > 0 {
			children[list[0]] = append(children[list[0]], j)
		}
	}
	// the last own column of a child comes before that of its parent
	at, sorted := make([]int, len(cliques)), indices.Range(0, len(cliques))
	slices.SortFunc(sorted, func(a, b int) int {
		return cmp.Compare(cliques[a].own[len(cliques[a].own)-1], cliques[b].own[len(cliques[b].own)-1])
	})
	out := make([]clique, len(cliques))
	for k, c := range sorted {
		out[k], at[c] = cliques[c], k
	}
	for k := range out {
		c := &out[k]
		if c.parent >= 0 {
			c.parent = at[c.parent]
			out[c.parent].below += c.above()
		}
		for _, list := range [2][]int32{c.own, c.separator} {
			for i, j := range list {
				list[i] = perm[j]
			}
		}
	}
	of = make([]int32, n)
	for j, k := range in {
		of[perm[j]] = int32(at[k])
	}
	return out, of, number
}

const (
	// A clique of more than so many tenths of the columns leaves nothing to gain.
	wholeClique = 8
	// The operations in an iteration for each matrix product of the order of a cone, and for a cone however small.
	productsOfCone = 10
	workOfCone     = 5000
	// Decomposed, an iteration is to take less than this part of the operations.
	decomposedWork = 0.5
)

// work estimates the multiplications of an iteration, as gram counts them, for a clique with so many columns and
// variables, of which those below are eliminated from the Newton systems with it.
func (c *clique) work() float64 {
	n, all, rest := float64(c.order()), float64(len(c.variables)+c.above()+c.below), float64(len(c.variables)+c.above())
	if c.open { // each entry has a variable
		all = float64(len(c.variables) + triangle(c.order()))
	}
	return workOfCone + productsOfCone*n*n*n/gemmGain + pickCost*all*all + (all*all*all-rest*rest*rest)/(3*gemmGain)
}

// merged is a clique with one of its children.
func (c *clique) merged(child *clique) clique {
	return clique{own: slices.Concat(c.own, child.own), separator: c.separator, parent: c.parent, open: c.open,
		variables: union(c.variables, child.variables), below: c.below - child.above() + child.below}
}

// union returns what is in one of two ascending lists.
func union(a, b []int32) []int32 {
	out := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		first := min(a[0], b[0])
		out = append(out, first)
		if a[0] == first {
			a = a[1:]
		}
		if len(b) > 0 && b[0] == first {
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// merge joins cliques with their parents where that is less work, and returns those that are left, parents first. It is
// nil where that is not much less than the work for the whole cone.
func merge(cliques []clique, whole float64, s *stop.Stop) (out []clique) {
	gone := indices.Range(0, len(cliques)) // the clique that it is a part of now
	left := 0.0
	for k := range cliques {
		c := &cliques[k]
		if c.parent >= 0 {
			p := &cliques[c.parent]
			both := p.merged(c)
			if s.Reached(4 * len(both.variables)) {
				return nil
			}
			if both.work() <= p.work()+c.work() {
				gone[k], *p = c.parent, both
				continue
			}
		}
		left += c.work()
	}
	if left > decomposedWork*whole {
		return nil
	}
	at := make([]int, len(cliques))
	for k := len(cliques) - 1; k >= 0; k-- {
		if gone[k] != k {
			at[k] = at[gone[k]]
			continue
		}
		c := cliques[k]
		if c.parent >= 0 {
			c.parent = at[c.parent]
		}
		at[k] = len(out)
		out = append(out, c)
	}
	return out
}
