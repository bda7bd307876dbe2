package sparse

import (
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/lower"
)

// manyEntries is the number of entries of a design up to which fits end with a whole Newton step where the gap is small enough without it: it costs little, and
// coefficients have twice the digits that the gap asks for.
const manyEntries = 200_000

// keptColumns bounds the columns of a sparse design whose matrices are kept with a solution, to start from: those of many points take memory, and it is not long to form them anew.
const keptColumns = 200

// clone is a solver that goes on from the same state.
func (s *jointSolver) clone() *jointSolver {
	out := *s
	out.columns, out.at, out.a, out.b = slices.Clone(s.columns), slices.Clone(s.at), slices.Clone(s.a), slices.Clone(s.b)
	for k := range out.models {
		m := &out.models[k]
		m.gram = slices.Clone(m.gram)
		for i, row := range m.gram {
			m.gram[i] = slices.Clone(row)
		}
		m.linear, m.implicit = slices.Clone(m.linear), implicitModel{}
	}
	out.problem, out.without, out.last = quadratic{}, implicit{}, nil
	return &out
}

// fitRounds bounds the models, and fitPatience those in a row that leave the gap as it is.
const fitRounds, fitPatience = 100, 4

// fit solves at fixed weights to a gap of tol, absolute, from where the solver is. Where the gap no longer falls, enough is one that is taken. Where it comes to
// no end, what it has come to is no solution.
func (s *jointSolver) fit(ctx context.Context, w *lower.JointWeights, tol, enough float64) (out *Solution, ended bool, err error) {
	out = &Solution{Status: lower.EpochLimit, Gap: math.Inf(1)}
	if err := s.Model(ctx, nil); err != nil {
		return nil, false, err
	}
	s.ready(training)
	merit := s.objective(w, lower.Values{Train: s.models[training].at, Penalties: s.penalties()})
	least, idle := math.Inf(1), 0
	accuracy, last := growingAccuracy, s.quadratic || s.base.x.Stored() >= manyEntries
	for ; out.Outer < fitRounds; out.Outer++ {
		if !s.minimise(ctx, w, accuracy) {
			return s.unfinished(ctx, out), false, nil
		}
		value := s.descend(w, merit)
		c, err := s.Check(ctx, w)
		if err != nil {
			return nil, false, err
		}
		if math.IsInf(c.Gap, 1) {
			return s.unfinished(ctx, out), false, nil
		}
		merit = value
		if accuracy = growingAccuracy; !c.Grew {
			accuracy = math.Max(bestAccuracy, accuracy*math.Min(1, c.Gap/merit))
		}
		out.Objective, out.Gap = c.Objective, c.Gap
		if idle++; c.Gap < 0.5*least {
			least, idle = c.Gap, 0
		}
		switch {
		case c.Gap <= tol && last:
			out.Status = lower.Optimal
		case idle > fitPatience && !c.Grew:
			if out.Status = lower.Exhausted; c.Gap > enough {
				out.Status = lower.Stalled
				return s.fill(out), false, nil
			}
		default:
			if c.Gap <= tol { // a whole Newton step more, for derivatives
				last, s.models[training].curvature = true, nil
			}
			if err := s.Model(ctx, nil); err != nil {
				return nil, false, err
			}
			continue
		}
		if s.sets[training].X.Dense() || len(s.columns) <= keptColumns {
			out.engine = s
		}
		return s.fill(out), true, nil
	}
	return s.unfinished(ctx, out), false, nil
}

// fill puts the last point into a solution.
func (s *jointSolver) fill(out *Solution) *Solution {
	x := s.X()
	out.B, out.Residual = x[0], s.seen[training].slopes
	if out.Residual == nil {
		out.Residual = s.look(training, s.b).slopes
	}
	if s.intercept {
		out.B0 = x[1][0]
	}
	for j, v := range out.B {
		if v != 0 {
			out.Support = append(out.Support, j)
		}
	}
	return out
}

// unfinished is where a fit comes to no end.
func (s *jointSolver) unfinished(ctx context.Context, out *Solution) *Solution {
	if ctx.Err() != nil {
		out.Status = lower.Cancelled
	}
	return s.fill(out)
}

// growingAccuracy is that of solves while features are missing, and bounds that of the others, which goes with the gap.
const growingAccuracy = 1e-3

// descend shortens the step from a to b until the objective is no larger than at a, and returns it.
func (s *jointSolver) descend(w *lower.JointWeights, merit float64) float64 {
	for try := 0; ; try++ {
		look := s.look(training, s.b)
		value := s.objective(w, lower.Values{Train: look.loss, Penalties: s.penalties()})
		if value <= merit+rounded*math.Abs(merit) || try == 50 {
			s.seen[training] = look
			return value
		}
		for i, v := range s.a {
			s.b[i] = (v + s.b[i]) / 2
		}
	}
}
