package survival

import (
	"math"
	"slices"

	"github.com/conetune/conetune/internal/indices"
)

// Lists are the terms of a [Likelihood] as lists of who is at risk:
//
//	half deviance at f = Constant + sum_k Weight[k] log( sum_{e in Group[k]} exp(f[Row[e]] + Offset[e]) )
//	                   - sum_j EventWeight[j] f_i, i = Event[j].
type Lists struct {
	Row         []int
	Offset      []float64
	Group       [][]int // of entries e; most begin with all of one before
	Weight      []float64
	Event       []int
	EventWeight []float64
	Constant    float64
}

// Lists are those of the likelihood.
func (l *Likelihood) Lists() Lists {
	out := Lists{Constant: l.saturated}
	all := indices.Range(0, l.n) // from the last time on
	shift := func(i int) float64 {
		if l.shift == nil {
			return 0
		}
		return l.shift[i]
	}
	for _, i := range slices.Backward(l.order) {
		out.Row, out.Offset = append(out.Row, i), append(out.Offset, shift(i))
	}
	for _, g := range slices.Backward(l.groups) {
		events := l.order[g.from : g.from+g.events]
		out.Event = append(out.Event, events...)
		for _, i := range events {
			out.EventWeight = append(out.EventWeight, l.weightOf(i))
		}
		for j := g.terms - 1; j > 0; j-- {
			group := append([]int(nil), all[:l.n-g.from-g.events]...)
			for _, i := range events {
				group = append(group, len(out.Row))
				out.Row, out.Offset = append(out.Row, i), append(out.Offset, math.Log(g.share(j))+shift(i))
			}
			out.Group, out.Weight = append(out.Group, group), append(out.Weight, g.m)
		}
		out.Group, out.Weight = append(out.Group, all[:l.n-g.from:l.n-g.from]), append(out.Weight, g.m)
	}
	return out
}
