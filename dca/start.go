package dca

import (
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/convex"
)

// startFloor keeps every radius of the path's point above this share of the largest one: at
// a radius of 0 the lower level has no interior, and multipliers need not exist.
const startFloor = 1e-3

// pathStart moves the centre to the point with the least validation value on the path
//
//	x(lambda) in argmin l(x) + sum_i lambda_i P_i(x),  lambda in Program.Path,  r_i = P_i(x(lambda)).
//
// It leaves the centre alone where every point of the path is zero.
func (r *run) pathStart(ctx context.Context, lo, hi []float64) error {
	m := convex.NewModel()
	zero := make([]float64, len(r.program.H0))
	level := r.program.Build(m, convex.Const(zero...))
	rows := 0
	for _, c := range level.Constraints {
		rows += c.Len()
	}
	if rows != len(zero) || r.program.Radii != len(zero) {
		return r.program.errorf("PathStart needs one constraint for each hyperparameter, all radii; there are %d constraints, %d radii and %d hyperparameters", rows, r.program.Radii, len(zero))
	}
	objective, weights := level.Train, []*convex.Parameter(nil)
	common := len(r.program.Path[0]) == 1
	for _, c := range level.Constraints {
		if common {
			if weights == nil {
				weights = append(weights, m.Parameter("lambda", 1))
			}
			objective = objective.Plus(c.Sum().Weight(weights[0]))
			continue
		}
		for i := range c.Len() {
			w := m.Parameter("lambda", 1)
			weights = append(weights, w)
			objective = objective.Plus(c.At(i).Weight(w))
		}
	}
	m.Minimize(objective)
	m.Constrain(level.Set...)
	prog, err := m.Compile(convex.CompileOptions{})
	if err != nil {
		return r.program.errorf("path of the start: %w", err)
	}
	solver, err := prog.Solver(r.settings.convex())
	if err != nil {
		return r.program.errorf("path of the start: %w", err)
	}
	defer solver.Close()
	defer func() { r.extra.add(solver.Stats()) }()

	best := math.Inf(1)
	for _, lambda := range r.program.Path {
		if len(lambda) != len(weights) {
			return r.program.errorf("Path has entries of %d and of %d weights", len(weights), len(lambda))
		}
		for i, w := range weights {
			if err := w.Set(lambda[i : i+1]); err != nil {
				return err
			}
		}
		res, err := solver.Solve(ctx)
		if err != nil {
			return r.program.errorf("path of the start: %w", err)
		}
		if ctx.Err() != nil {
			return nil // the lower level's solve sees it next
		}
		if !usable(res) {
			continue
		}
		x := values(res, level.X)
		pt := point(level.X, x)
		var radii []float64
		for _, c := range level.Constraints {
			radii = append(radii, c.Eval(pt)...)
		}
		top := slices.Max(radii)
		if !(top > 0) {
			continue
		}
		for j := range radii {
			radii[j] = math.Max(lo[j], math.Min(hi[j], math.Max(radii[j], startFloor*top)))
		}
		if value := level.Validation.Eval(pt)[0]; value < best {
			best = value
			r.centre = iterate{x, radii}
		}
	}
	return nil
}
