package dca

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/stop"
)

const (
	// interpolation is the share of |l| at x = 0 below which the value of the lower level is 0.
	interpolation = 1e-7
	// slack is what the least-norm refit may give away in l, as a share of the same; it keeps an
	// interior for the conic solver.
	slack = 1e-9
)

// notUnique is the message where the refit is not the one of least norm.
const notUnique = "the lower level interpolates, so that its solution is not unique: the refit is one of many"

// interpolates says whether low is a solution among many: v = 0 and no radius holds anything back.
func (r *run) interpolates(low *Solution) bool {
	return len(low.weak) > 0 && !slices.Contains(low.weak, false) && math.Abs(low.Value) <= interpolation*r.low.scale
}

// leastNorm replaces the refit of the result, block by block, by the solution of
//
//	minimize |x|^2 s.t. l(x, h) <= v(h) + slack, constraints(x, h) <= 0, x in X
//
// and leaves it alone where that solve is of no use, for example after a cancellation. Where the model says which
// residuals vanish with l, and v(h) is 0 up to rounding, they are set to zero instead of bounding l.
func (r *run) leastNorm(ctx context.Context, low *Solution) error {
	if ctx.Err() != nil {
		return nil
	}
	x, err := r.leastNormByFits(ctx, low)
	if x == nil && err == nil && !r.low.joint.alone() {
		x, err = r.leastNormByConic(ctx, low)
	}
	switch {
	case err != nil:
		return err
	case x == nil:
		r.result.Message = cmp.Or(r.result.Message, notUnique)
	default:
		r.result.Refit, r.result.LeastNorm = x, true
		r.result.RefitValue, _, _ = r.sub.values(iterate{x, low.h})
	}
	return nil
}

// leastNormByFits is the point of least norm of all parts by the fits, nil where they find none.
func (r *run) leastNormByFits(ctx context.Context, low *Solution) (x [][]float64, err error) {
	j := r.low.joint
	if j == nil || j.alone() {
		return nil, nil
	}
	for t, part := range j.parts {
		least := part.Traits().LeastNorm
		if least == nil || !(low.parts[t]*float64(len(j.parts)) <= slack*j.scale[t]) {
			return nil, nil
		}
		found, err := stop.Do(ctx, nil, func() ([][]float64, error) { return least(ctx, low.h, slack*j.scale[t]) })
		if found == nil || err != nil {
			return nil, err
		}
		x = append(x, found...)
	}
	return x, nil
}

// leastNormByConic is that by conic programs, block by block.
func (r *run) leastNormByConic(ctx context.Context, low *Solution) (x [][]float64, err error) {
	if err := r.low.compile(); err != nil {
		return nil, err
	}
	for i, b := range r.low.blocks {
		if b.compiled.LowRank() {
			return nil, nil // the matrix of least norm is of full rank, so that no working set would help
		}
		var part [][]float64
		if low.parts[i] <= slack*r.low.scale && len(b.level.Residuals) > 0 {
			if part, err = r.leastNormBy(ctx, low, i, true); err != nil {
				return nil, err
			}
		}
		if part == nil && !r.settings.splits() { // l <= v is a second-order cone
			part, err = r.leastNormBy(ctx, low, i, false)
		}
		if part == nil || err != nil {
			return nil, err
		}
		x = append(x, part...)
	}
	return x, nil
}

// leastNormBy solves one of the two forms for one block, nil if that gave no point.
func (r *run) leastNormBy(ctx context.Context, low *Solution, block int, exact bool) ([][]float64, error) {
	m := convex.NewModel()
	h := m.Parameter("h", low.h)
	level := r.program.builders()[block](m, h)
	norm := convex.SumSquares(level.X[0])
	for _, v := range level.X[1:] {
		norm = convex.Add(norm, convex.SumSquares(v))
	}
	m.Minimize(norm)
	if exact {
		for _, residual := range level.Residuals {
			m.Eq("", residual, 0)
		}
	} else {
		m.Le("", level.Train, low.parts[block]+slack*r.low.scale)
	}
	for _, c := range level.Constraints {
		m.Le("", c, 0)
	}
	options := r.low.options
	options.WorkingSets = false // a solution of least norm is dense
	res, stats, err := r.program.solved(ctx, m, "least-norm refit", options)
	r.extra.Add(stats)
	if _, yes := r.low.joint.refused(err); yes {
		return nil, nil
	}
	if res == nil || err != nil {
		return nil, err
	}
	return values(res, level.X), nil
}
