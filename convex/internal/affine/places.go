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

// Picked is a term that adds to some rows, with those of its own and the places in their list that these go to.
type Picked struct {
	Term      int
	Own, Into []int
}

// Pick returns the terms that add to some rows, which may repeat, in their order.
func (p *Places) Pick(rows []int) (out []Picked) {
	if len(p.all) > 0 && len(rows) > 0 {
		places := Consecutive(0, len(rows))
		for _, t := range p.all {
			out = append(out, Picked{t, rows, places})
		}
	}
	if p.ptr == nil {
		return out
	}
	var hits []hit
	for k, i := range rows {
		for _, h := range p.hits[p.ptr[i]:p.ptr[i+1]] {
			h.into = k
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(a.term-b.term, a.into-b.into) })
	for k, h := range hits {
		if k == 0 || hits[k-1].term != h.term {
			out = append(out, Picked{Term: h.term})
		}
		last := &out[len(out)-1]
		last.Own, last.Into = append(last.Own, h.own), append(last.Into, h.into)
	}
	slices.SortStableFunc(out, func(a, b Picked) int { return a.Term - b.Term })
	return out
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
	for _, p := range x.vars.Pick(idx) {
		out.Vars = a.Vars[p.Term].picked(out.Vars, p.Own, p.Into)
	}
	for _, p := range x.pars.Pick(idx) {
		out.Pars = a.Pars[p.Term].picked(out.Pars, p.Own, p.Into)
	}
	if a.C != nil {
		out.C = make([]float64, len(idx))
		for k, i := range idx {
			out.C[k] = a.C[i]
		}
	}
	return out
}
