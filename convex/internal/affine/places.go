package affine

import (
	"cmp"
	"slices"
)

// Places find the terms that add to a row, of which there may be as many as rows.
type Places struct {
	all  []int // terms that add to all rows, one after the other
	ptr  []int // those of row i among the others are hits[ptr[i]:ptr[i+1]]; nil for none
	hits []hit
}

// hit says that row own of a term adds to the row of an expression that becomes row into of another.
type hit struct{ term, own, into int }

// Spread is what a term adds to, as many rows in their order as it is high.
type Spread interface {
	Height() int
	Row(r int) int
}

// NewPlaces finds the terms of an expression of n rows.
func NewPlaces(n, terms int, of func(term int) Spread) *Places {
	p := &Places{}
	var parts []int
	for t := range terms {
		if s := of(t); s.Height() == n && (n == 0 || s.Row(n-1) == n-1) {
			p.all = append(p.all, t)
		} else {
			parts = append(parts, t)
		}
	}
	if parts == nil {
		return p
	}
	each := func(visit func(row int, h hit)) {
		for _, t := range parts {
			s := of(t)
			for r := range s.Height() {
				visit(s.Row(r), hit{term: t, own: r})
			}
		}
	}
	p.ptr = make([]int, n+2)
	each(func(row int, _ hit) { p.ptr[row+2]++ })
	for i := range n {
		p.ptr[i+2] += p.ptr[i+1]
	}
	p.hits = make([]hit, p.ptr[n+1])
	each(func(row int, h hit) {
		p.hits[p.ptr[row+1]] = h
		p.ptr[row+1]++
	})
	return p
}

// Pick visits the terms that add to some rows, which may repeat, with the own rows of each and the places in the list
// that these go to.
func (p *Places) Pick(rows []int, visit func(term int, own, into []int)) {
	var hits []hit
	if p.ptr != nil {
		for k, i := range rows {
			for _, h := range p.hits[p.ptr[i]:p.ptr[i+1]] {
				h.into = k
				hits = append(hits, h)
			}
		}
		slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(a.term-b.term, a.into-b.into) })
	}
	var places []int
	if len(p.all) > 0 {
		places = Consecutive(0, len(rows))
	}
	all := p.all
	for len(rows) > 0 && len(all)+len(hits) > 0 {
		if len(all) > 0 && (len(hits) == 0 || all[0] < hits[0].term) {
			visit(all[0], rows, places)
			all = all[1:]
			continue
		}
		t := hits[0].term
		var own, into []int
		for ; len(hits) > 0 && hits[0].term == t; hits = hits[1:] {
			own, into = append(own, hits[0].own), append(into, hits[0].into)
		}
		visit(t, own, into)
	}
}

// Index is an expression in which terms are found by their rows.
type Index struct {
	of         Expr
	vars, pars *Places
}

// Index makes that of an expression.
func (a Expr) Index() *Index {
	return &Index{a, NewPlaces(a.N, len(a.Vars), func(t int) Spread { return &a.Vars[t] }),
		NewPlaces(a.N, len(a.Pars), func(t int) Spread { return &a.Pars[t] })}
}

// Pick returns the entries idx[0], idx[1], .., which may repeat.
func (x *Index) Pick(idx []int) Expr {
	a, out := x.of, Expr{N: len(idx)}
	x.vars.Pick(idx, func(t int, own, into []int) { out.Vars = a.Vars[t].picked(out.Vars, own, into) })
	x.pars.Pick(idx, func(t int, own, into []int) { out.Pars = a.Pars[t].picked(out.Pars, own, into) })
	if a.C != nil {
		out.C = make([]float64, len(idx))
		for k, i := range idx {
			out.C[k] = a.C[i]
		}
	}
	return out
}
