package affine

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Total returns the sum of expressions, from the first one on, operands of length 1 being broadcast.
func Total(as ...Expr) Expr {
	out := Expr{N: as[0].N, C: slices.Clone(as[0].C)}
	vars, pars := merged{terms: slices.Clone(as[0].Vars)}, merged{terms: slices.Clone(as[0].Pars)}
	for _, a := range as[1:] {
		if out.N == 1 && a.N != 1 {
			out = Expr{N: 1, Vars: vars.list(), Pars: pars.list(), C: out.C}.broadcast(a.N)
			vars, pars = merged{terms: out.Vars}, merged{terms: out.Pars}
		}
		a = a.broadcast(out.N)
		vars.add(a.Vars)
		pars.add(a.Pars)
		switch {
		case out.C == nil:
			out.C = slices.Clone(a.C)
		case a.C != nil:
			floats.Add(out.C, a.C)
		}
	}
	out.Vars, out.Pars = vars.list(), pars.list()
	return out
}

// merged are terms, of which plain selections of the same entries become one.
type merged struct {
	terms []Term
	at    map[place][]int // of those that may be merged
	known int             // the number of terms in it
	gone  bool            // there are terms of factor zero, without a source
}

// place is what two selections share that can be merged, with little of their lists.
type place struct {
	v                       *Variable
	p                       *Parameter
	off, rows, first        int
	sum                     bool
	picks, entry, last, own int
}

// mergeable says that a term is a plain selection, and where.
func (t *Term) mergeable() (at place, ok bool) {
	if t.Mat != nil || !t.Plain() {
		return place{}, false
	}
	at = place{v: t.V, p: t.P, off: t.Off, rows: t.Rows, first: t.First, sum: t.Sum, picks: len(t.Idx), own: len(t.Into)}
	if t.Rows > 0 {
		at.entry, at.last = t.Entry(0), t.Entry(t.Rows-1)
	}
	return at, true
}

// add appends terms. Those that cancel go.
func (m *merged) add(b []Term) {
next:
	for _, t := range b {
		if at, ok := t.mergeable(); ok && len(m.terms) > 0 {
			m.index()
			for i, k := range m.at[at] {
				o := &m.terms[k]
				if !slices.Equal(o.Idx, t.Idx) || !slices.Equal(o.Into, t.Into) {
					continue
				}
				if o.Scale += t.Scale; o.Scale == 0 {
					m.at[at] = slices.Delete(m.at[at], i, i+1)
					o.V, o.P, m.gone = nil, nil, true
				}
				continue next
			}
		}
		m.terms = append(m.terms, t)
	}
}

// index brings the index up to date.
func (m *merged) index() {
	if m.at == nil {
		m.at = make(map[place][]int, len(m.terms))
	}
	for ; m.known < len(m.terms); m.known++ {
		if at, ok := m.terms[m.known].mergeable(); ok {
			m.at[at] = append(m.at[at], m.known)
		}
	}
}

// list are the terms left.
func (m *merged) list() []Term {
	if m.gone {
		return slices.DeleteFunc(m.terms, func(t Term) bool { return t.V == nil && t.P == nil })
	}
	return m.terms
}
