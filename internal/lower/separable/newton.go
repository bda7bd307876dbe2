package separable

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// direction is a step in the multipliers.
type direction struct {
	m0 float64
	of []shift
}

const (
	// loose, capped and tied are what becomes of a group's coefficients where their norm is above: its radius moves for it
	// alone, not at all, or for several parts at once.
	below = iota
	loose
	capped
	tied
)

// classify finds out what the groups of each part are, which radii move with nothing above, which groups are tied, and
// what the groups' multipliers lose in t.
func (a *ascent) classify() (kind [][]uint8, free []bool, ties []int, reach float64) {
	at := a.at
	kind = make([][]uint8, len(at.of))
	for t := range kind {
		kind[t] = make([]uint8, len(a.groups))
	}
	free = make([]bool, len(a.groups))
	for g := range free {
		r, between, above, _ := a.bound(g, at, at.t)
		if above == 0 {
			free[g] = between
			continue
		}
		as, slope := uint8(capped), float64(above)
		switch {
		case between && above == 1:
			as, slope = loose, 0.5
		case between:
			as = tied
			ties = append(ties, g)
		}
		reach += a.rho * slope
		for t := range at.of {
			if at.of[t].norms[g]-at.t > r {
				kind[t][g] = as
			}
		}
	}
	return kind, free, ties, reach
}

// direction is the step of Newton's method, nil where there is none.
func (a *ascent) direction() *direction {
	at := a.at
	kind, free, ties, reach := a.classify()
	ok := make([]bool, len(a.parts))
	crew.Each(len(a.parts), a.workers, func(t int) { ok[t] = a.build(t, kind[t]) })
	if slices.Contains(ok, false) {
		return nil
	}
	b := &border{m0: -1, t: -1, tied: ties}
	add := func() int { b.n++; return b.n - 1 }
	if !a.fixed {
		b.m0 = add()
	}
	if a.shared {
		for range a.parts {
			b.ms = append(b.ms, add())
		}
	}
	outer := b.n
	if !a.fixed && at.t > 0 && reach > 0 {
		b.t = add()
	}
	b.first = b.n
	b.n += len(ties)
	a.fill(b, kind, free, reach)

	out := &direction{of: make([]shift, len(a.parts))}
	solved := make([][][]float64, len(a.parts)) // B^-1 of the columns
	crew.Each(len(a.parts), a.workers, func(t int) {
		s := &a.newton[t]
		out.of[t].u = slices.Clone(a.slope[t])
		s.solve(out.of[t].u)
		solved[t] = make([][]float64, b.n)
		for i, c := range b.columns[t] {
			if c != nil {
				solved[t][i] = slices.Clone(c)
				s.solve(solved[t][i])
			}
		}
	})
	right := make([]float64, b.n)
	for i := range right {
		right[i] = -b.slope[i]
		for t := range a.parts {
			if c := b.columns[t][i]; c != nil {
				right[i] -= floats.Dot(c, out.of[t].u)
				for l := range right {
					if y := solved[t][l]; y != nil {
						b.m.Set(i, l, b.m.At(i, l)+floats.Dot(c, y))
					}
				}
			}
		}
	}
	d := a.few(b, outer, right)
	if d == nil {
		return nil
	}
	for t, p := range a.parts {
		s := &out.of[t]
		for i, y := range solved[t] {
			if y != nil && d[i] != 0 {
				floats.AddScaled(s.u, d[i], y)
			}
		}
		s.c = make([]float64, len(a.centre[t]))
		s.c0 = p.mulTrans(s.c, s.u)
		if b.ms != nil {
			s.ms = d[b.ms[t]]
		}
	}
	if b.m0 >= 0 {
		out.m0 = d[b.m0]
	}
	return out
}

// stretch bounds how much a multiplier grows or falls in one step, leastShare of alpha is the least m_0.
const stretch, leastShare = 10, 1e-12

// few solves for the step of the border: what is minimised, e, is eliminated, and the rest, m, is a small quadratic
// program.
func (a *ascent) few(b *border, outer int, right []float64) []float64 {
	inner := b.n - outer
	z := mat.NewDense(max(1, inner), outer+1, nil) // S_ee^-1 (S_em, right_e)
	if inner > 0 {
		s := mat.NewSymDense(inner, nil)
		for i := range inner {
			for j := i; j < inner; j++ {
				s.SetSym(i, j, b.m.At(outer+i, outer+j))
			}
			for j := range outer {
				z.Set(i, j, b.m.At(outer+i, j))
			}
			z.Set(i, outer, right[outer+i])
		}
		var chol mat.Cholesky
		if !chol.Factorize(s) {
			return nil
		}
		_ = chol.SolveTo(z, z) // an error says that the condition is bad
	}
	rest := func(i, j int, v float64) float64 {
		for l := range inner {
			v -= b.m.At(i, outer+l) * z.At(l, j)
		}
		return v
	}
	q := numerics.Boxed{G: make([]float64, outer), Lo: make([]float64, outer), Hi: make([]float64, outer),
		Most: math.Inf(1)}
	for i := range outer {
		q.G[i] = -rest(i, outer, right[i])
		row := make([]float64, outer)
		for j := range outer {
			row[j] = -(rest(i, j, b.m.At(i, j)) + rest(j, i, b.m.At(j, i))) / 2
		}
		q.K = append(q.K, row)
	}
	a.box(b, &q)
	d := make([]float64, b.n)
	if outer > 0 {
		copy(d, q.Solve())
	}
	for l := range inner {
		d[outer+l] = z.At(l, outer)
		for j := range outer {
			d[outer+l] -= z.At(l, j) * d[j]
		}
	}
	return d
}

// box sets the bounds of the step of the multipliers.
func (a *ascent) box(b *border, q *numerics.Boxed) {
	if b.m0 >= 0 {
		floor := math.Max(leastShare*a.alpha, a.at.m0/stretch)
		q.Lo[b.m0] = math.Min(0, floor-a.at.m0)
		q.Hi[b.m0] = (stretch - 1) * a.at.m0
		q.Most = math.Max(0, a.rest(a.at))
		if q.Most <= 1e-15*a.alpha {
			q.Most = 0
		}
	}
	for t, i := range b.ms {
		ms := a.at.of[t].ms
		q.Lo[i] = -ms
		q.Hi[i] = stretch * math.Max(a.at.m0, ms)
	}
}
