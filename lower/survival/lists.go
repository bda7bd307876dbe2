package survival

import "math"

// Lists are the terms of a [Likelihood] as lists of who is at risk:
//
//	half deviance at f = Constant + sum_k Weight[k] log( sum_{e in Group[k]} exp(f[Row[e]] + Offset[e]) ) - sum_{i in Event} f_i.
type Lists struct {
	Row      []int
	Offset   []float64
	Group    [][]int // of entries e; most begin with all of one before
	Weight   []float64
	Event    []int
	Constant float64
}

// Lists are those of the likelihood.
func (l *Likelihood) Lists() Lists {
	out := Lists{Constant: l.saturated}
	all := make([]int, l.n) // from the last time on
	for e := range all {
		all[e] = e
		out.Row = append(out.Row, l.order[l.n-1-e])
	}
	out.Offset = make([]float64, l.n)
	for k := len(l.groups) - 1; k >= 0; k-- {
		g := l.groups[k]
		events := l.order[g.from : g.from+g.events]
		out.Event = append(out.Event, events...)
		count, m := l.terms(g)
		for j := count - 1; j > 0; j-- {
			group := append([]int(nil), all[:l.n-g.from-g.events]...)
			for _, i := range events {
				group = append(group, len(out.Row))
				out.Row, out.Offset = append(out.Row, i), append(out.Offset, math.Log(g.share(j)))
			}
			out.Group, out.Weight = append(out.Group, group), append(out.Weight, m)
		}
		out.Group, out.Weight = append(out.Group, all[:l.n-g.from:l.n-g.from]), append(out.Weight, m)
	}
	return out
}
