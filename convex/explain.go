package convex

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
)

// Conflict is a constraint that contradicts others.
type Conflict struct {
	Constraint *Constraint
	// Weights are those of its entries, as [Result.Dual] has them: the sum of all constraints of [Model.Explain], each
	// with its weights, is a contradiction. Entries of weight 0 take no part.
	Weights []float64
}

// leastWeight is the share of the largest weight below which a constraint may take no part in a contradiction.
const leastWeight = 1e-6

// Explain returns constraints that contradict each other, attributes of variables among them under the names of these:
// without any one of them the others can be met, or it is not proven that they cannot. It is nil where the model is not
// proven infeasible. It solves a program without objective for about each constraint of the first proof (Chinneck,
// Dravnieks 1991, the deletion filter), by the native backend. The error is for a model that does not compile, and for
// an ended context.
func (m *Model) Explain(ctx context.Context) ([]Conflict, error) {
	if ctx == nil {
		return nil, errors.New("convex: Explain: the context is nil")
	}
	left, r, err := m.contradiction(ctx, m.constraints)
	if err != nil || r == nil {
		return nil, err
	}
	for i := 0; i < len(left); {
		fewer, proof, err := m.contradiction(ctx, slices.Delete(slices.Clone(left), i, i+1))
		switch {
		case err != nil:
			return nil, err
		case proof == nil:
			i++
		default: // what came before cannot be missed among fewer ones, either
			left, r = fewer, proof
		}
	}
	out := make([]Conflict, len(left))
	for i, c := range left {
		out[i] = Conflict{c, r.Dual(c)}
	}
	return out, nil
}

// contradiction returns those of the constraints that a proof of their infeasibility needs, with the proof for these
// alone; nil where there is none.
func (m *Model) contradiction(ctx context.Context, from []*Constraint) ([]*Constraint, *Result, error) {
	var proof *Result
	var proven []*Constraint
	for {
		p, err := m.compile(nil, from)
		if err != nil {
			return nil, nil, err
		}
		r, err := p.solve(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || r.Status != backends.PrimalInfeasible {
			return proven, proof, err
		}
		proven, proof = from, r
		weights, top := make([]float64, len(from)), 0.0
		for i, c := range from {
			weights[i] = floats.Norm(r.Dual(c), math.Inf(1))
			top = math.Max(top, weights[i])
		}
		var needed []*Constraint
		for i, c := range from {
			if weights[i] > leastWeight*top {
				needed = append(needed, c)
			}
		}
		if len(needed) == len(from) {
			return proven, proof, nil
		}
		from = needed
	}
}
