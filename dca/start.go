package dca

import (
	"context"
	"math"
	"slices"
)

// startFloor keeps every radius of the path's point above this share of the largest one: at
// a radius of 0 the lower level has no interior, and multipliers need not exist.
const startFloor = 1e-3

// pathStart moves the centre to the point with the least validation value on the path
//
//	x(lambda) in argmin l(x) + sum_i lambda_i P_i(x),  lambda in Program.Path,  r_i = P_i(x(lambda)).
//
// It leaves the centre alone where every point of the path is zero.
func (r *run) pathStart(ctx context.Context) error {
	penalized, err := NewPenalized(*r.program, r.settings)
	if err != nil {
		return err
	}
	defer penalized.Close()
	defer func() { r.extra.Add(penalized.Stats()) }()

	best := math.Inf(1)
	part, idle := math.Inf(1), 0 // the least validation value of this part of the path, and the points since then
	for k, lambda := range r.program.Path {
		if len(lambda) == 1 {
			lambda = slices.Repeat(lambda, r.program.Radii)
		}
		if k > 0 && lambda[0] > r.program.Path[k-1][0] {
			part, idle = math.Inf(1), 0
		}
		if r.program.PathRise > 0 && idle >= r.program.PathRise {
			continue
		}
		r.begin(StagePenalty, k+1, len(r.program.Path))
		s, err := penalized.Solve(ctx, lambda, nil)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil // the lower level's solve sees it next
		}
		if s.X == nil || !(slices.Max(s.Radii) > 0) {
			continue
		}
		if idle++; s.Validation < part {
			part, idle = s.Validation, 0
		}
		if s.Validation < best {
			best = s.Validation
			r.found, r.result.StartWeights = s, lambda
			r.centre = iterate{s.X, r.program.StartAt(s.Radii, nil)}
		}
	}
	return nil
}

// takeStart makes the solution that the start was chosen by the result of a run that ends before its first iteration.
func (r *run) takeStart() {
	f := r.found
	if f == nil {
		return
	}
	r.result.X, r.result.H, r.result.Lambda, r.result.Refit, r.result.Weighted = f.X, f.Radii, f.Lambda, f.X, true
	r.result.TrainValue, r.result.LowerValue = f.Train, f.Train
	r.result.UpperValue, r.result.RefitValue = f.Validation, f.Validation
	if !r.accepts(f.X, f.X) {
		r.result.X, r.result.Lambda, r.result.Refit = nil, nil, nil
	}
}

// StartAt is the start h = (r, u) at a solution of the penalty form with P_i(x) = radii: within the bounds, and with no
// radius so much smaller than the others that the lower level has hardly an interior. Upper are the upper variables,
// nil for those of H0.
func (p *Program) StartAt(radii, upper []float64) []float64 {
	h := slices.Clone(p.H0)
	copy(h, radii)
	copy(h[p.Radii:], upper)
	if p.Radii > 0 {
		top := slices.Max(h[:p.Radii])
		for j := range p.Radii {
			h[j] = math.Max(h[j], startFloor*top)
		}
	}
	lo, hi := p.bounds()
	clip(h, lo, hi)
	return h
}
