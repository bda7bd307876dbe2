package machine

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/outcome"
)

// Up to fewRows rows paths are followed, and up to manyRows where they take less work than Newton steps: about as many
// exchanges as there are rows, each of which looks at all stored entries, against tens of factors of order p, whose
// work is pathWork p^3 in this measure. Beyond they take longer, hundreds of times as long where w = 0 is the solution.
const fewRows, manyRows, pathWork = 500, 2000, 8

// manyState is what a solution for many rows keeps to start from, in little room.
type manyState struct {
	c      float64   // before it is put in the middle of an interval
	side   []int8    // of each row: 0 or 1 is its share, 2 another one
	others []float64 // the shares of those, in order
	once   sync.Once // makes the state
}

// pack keeps c and the shares.
func pack(pt *hinges) *manyState {
	k := &manyState{c: pt.z[pt.rows.p], side: make([]int8, len(pt.shares))}
	for i, b := range pt.shares {
		switch b {
		case 0, 1:
			k.side[i] = int8(b)
		default:
			k.side[i] = 2
			k.others = append(k.others, b)
		}
	}
	return k
}

// shares are those that were kept.
func (k *manyState) shares() []float64 {
	out, at := make([]float64, len(k.side)), 0
	for i, s := range k.side {
		out[i] = float64(s)
		if s > 1 {
			out[i] = k.others[at]
			at++
		}
	}
	return out
}

// sides are those of rows and features, with the factor of the rows at their kinks, as a path has them at its end.
func (m *Solution) sides(g *Problem) *state {
	if m.many == nil {
		return m.state
	}
	m.many.once.Do(func() {
		s := &state{box: make([]int8, g.rows.p)}
		for j, w := range m.W {
			if math.Abs(w) >= m.bound[j] {
				s.box[j] = int8(math.Copysign(1, w))
			}
		}
		held := indices.Where(m.many.shares(), inside)
		s.kinks.scale(g, s.box, held)
		unknowns := 1 // w_j inside the box, and c
		for _, b := range s.box {
			if b == 0 {
				unknowns++
			}
		}
		for _, i := range held {
			if len(s.kinks.held) == unknowns {
				break // the others depend on these
			}
			if !s.kinks.hold(g, s.box, i) {
				// It depends on the others, at whose kinks it is at its own.
				s.kinks.held = s.kinks.held[:s.kinks.chol.Order()]
			}
		}
		m.state = s
	})
	return m.state
}

// begin is the point that a solve within bounds sets out from: the start cut to the box, or w = 0; false where it was
// ended.
func (g *Problem) begin(a *augmented, start *Solution) bool {
	if start == nil || start.many == nil {
		if !g.squared {
			a.width = widest
		}
		return !a.end.Look()
	}
	p := g.rows.p
	a.box.cut(a.z[:p], start.W)
	if a.z[p] = start.many.c; g.squared {
		return !a.end.Look() && a.measure()
	}
	a.shares = start.many.shares()
	copy(a.prox, a.shares)
	return !a.end.Look() && a.measure() && a.sum()
}

// solveMany solves by the method for many rows.
func (g *Problem) solveMany(ctx context.Context, lambda float64, bound []float64, tol float64,
	start *Solution) *Solution {
	a := newAugmented(g, box{lambda, bound}, tol)
	a.end.Begin(ctx, 0)
	defer a.end.End()
	out := &Solution{lambda: lambda, bound: bound, Status: outcome.Cancelled}
	if g.begin(a, start) {
		out.Status = a.run()
	}
	p := g.rows.p
	out.W, out.C, out.Exchanges, out.Objective, out.Gap = a.z[:p:p], a.z[p], a.steps, a.value, a.gap
	if out.Status == outcome.Cancelled {
		out.Gap = math.Inf(1)
	}
	out.many = pack(a.hinges)
	scale := a.scales()
	out.v = make([]float64, p)
	out.total = a.multipliers(scale)
	for k, s := range scale {
		floats.AddScaled(out.v, s, a.sums[k][:p])
	}
	if out.Status != outcome.Cancelled && !g.squared && !slices.ContainsFunc(a.shares, inside) {
		out.middle(g, func(i int) bool { return 2*a.shares[i] > 1 })
	}
	return out
}
