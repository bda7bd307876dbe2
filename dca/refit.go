package dca

import (
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
func (r *run) interpolates(low *lowerSolution) bool {
	return len(low.weak) > 0 && !slices.Contains(low.weak, false) && math.Abs(low.value) <= interpolation*r.low.scale
}

// leastNorm replaces the refit of the result, block by block, by the solution of
//
//	minimize |x|^2 s.t. l(x, h) <= v(h) + slack, constraints(x, h) <= 0, x in X
//
// and leaves it alone where that solve is of no use, for example after a
// cancellation. Where the model says which residuals vanish with l, and v(h) is 0
// up to rounding, they are set to zero instead of bounding l.
func (r *run) leastNorm(ctx context.Context, low *lowerSolution) error {
	var x [][]float64
	if ctx.Err() != nil {
		return nil
	}
	if r.low.joint.alone() {
		r.result.Message = notUnique
		return nil
	}
	if x, err := r.leastNormByFits(ctx, low); err != nil {
		return err
	} else if x != nil {
		r.shortest(low, x)
		return nil
	}
	if err := r.low.compile(); err != nil {
		return err
	}
	for i, b := range r.low.blocks {
		var forms []bool
		if !r.settings.splits() { // l <= v is a second-order cone
			forms = []bool{false}
		}
		if low.parts[i] <= slack*r.low.scale && len(b.level.Residuals) > 0 {
			forms = append([]bool{true}, forms...)
		}
		var part [][]float64
		for _, exact := range forms {
			var err error
			if part, err = r.leastNormBy(ctx, low, i, exact); err != nil {
				return err
			}
			if part != nil {
				break
			}
		}
		if part == nil {
			return nil
		}
		x = append(x, part...)
	}
	r.shortest(low, x)
	return nil
}

// shortest takes the point of least norm for the refit.
func (r *run) shortest(low *lowerSolution, x [][]float64) {
	r.result.Refit, r.result.LeastNorm = x, true
	r.result.RefitValue = r.sub.validation(iterate{x, low.h})
}

// leastNormByFits is the point of least norm of all parts by the fits, nil where they find none.
func (r *run) leastNormByFits(ctx context.Context, low *lowerSolution) (x [][]float64, err error) {
	j := r.low.joint
	if j == nil {
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

// leastNormBy solves one of the two forms for one block, nil if that gave no point.
func (r *run) leastNormBy(ctx context.Context, low *lowerSolution, block int, exact bool) ([][]float64, error) {
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
	prog, err := m.Compile()
	if err != nil {
		return nil, r.program.errorf("least-norm refit: %w", err)
	}
	if prog.LowRank() {
		// The matrix of least norm is of full rank, so that no working set would help.
		r.result.Message = notUnique
		return nil, nil
	}
	options := r.low.joint.bound(r.settings.convex())
	options.WorkingSets = false // a solution of least norm is dense
	solver, err := prog.Solver(options)
	if err != nil {
		return nil, r.program.errorf("least-norm refit: %w", err)
	}
	defer solver.Close()
	res, err := solver.Solve(ctx)
	if _, yes := r.low.joint.refused(err); yes {
		r.result.Message = notUnique
		return nil, nil
	}
	if err != nil {
		return nil, r.program.errorf("least-norm refit: %w", err)
	}
	r.extra.Add(solver.Stats())
	if !usable(res) {
		return nil, nil
	}
	return values(res, level.X), nil
}
