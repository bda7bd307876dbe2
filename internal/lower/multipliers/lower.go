package multipliers

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// Lower solves the lower level within radii, each time from the solve before. It is for one goroutine at a time.
type Lower struct {
	fit    bilevel.Joint
	solver bilevel.JointSolver
	m      []float64
	loose  bool // penalties may be above their radii by what the tolerance of the loss allows
}

// NewLower begins at multipliers that are far too large for most radii.
func NewLower(fit bilevel.Joint) *Lower {
	return &Lower{loose: fit.Traits().Compact(), fit: fit, solver: fit.Joint(),
		m: slices.Repeat([]float64{firstShare * fit.LambdaMax()}, fit.Dim())}
}

// First takes another weight for the first multipliers, common to all.
func (s *Lower) First(weight float64) { s.m = slices.Repeat([]float64{weight}, s.fit.Dim()) }

// Begin implements [bilevel.WithinSolver].
func (s *Lower) Begin(ctx context.Context, m []float64, x [][]float64) error {
	s.m = slices.Clone(m)
	return s.solver.Model(ctx, x)
}

const (
	// firstShare of LambdaMax is the first multiplier.
	firstShare = 0.1
	// rounds bounds the models and working sets of one solve.
	rounds = 60
	// idleShare is the share of the tolerance that multipliers do at their floors at most, and fineShare that of the
	// increase of the dual function that is worth a step.
	idleShare, fineShare = 0.1, 1e-4
	// mostWork bounds the multiplications that one program may take, for each part, see [bilevel.JointSolver]: about a
	// quarter of a minute. Programs that are solved take a hundredth of it; those that come there, on tables whose
	// solutions have thousands of coefficients, would take minutes.
	mostWork = 1e10
	// violated is how much of a radius a penalty may be above it.
	violated = 1e-8
	// rounded is a share of an objective that is rounding, and patience is for how many rounds the gap may stay as it is.
	rounded, patience = 1e-13, 5
	// fell is the relative fall of the merit function by which a round is not idle.
	fell = 1e-10
	// enough times the tolerance is a gap that is taken where rounding lets it get no smaller.
	enough = 20
	// exactly is the rounding error of constraints of a subproblem, relative to their terms.
	exactly = 1e-11
	// halvings bounds the points on a step of the models.
	halvings = 30
)

// dual is the dual function at radii, whose maximum is wanted to tol.
func (s *Lower) dual(radii []float64, tol float64) *dual {
	floor := make([]float64, len(radii))
	for j, r := range radii {
		floor[j] = idleShare * tol / (r * float64(len(radii)))
	}
	f := &dual{floor: floor, most: math.Inf(1), tol: fineShare * tol, loose: s.loose}
	most := s.solver.Work() + mostWork
	f.at = func(ctx context.Context, m []float64) (*dualPoint, error) {
		if s.solver.Work() > most {
			return nil, nil
		}
		pt, err := s.solver.Solve(ctx, weighted(m, tol))
		if pt == nil || err != nil {
			return nil, err
		}
		out := &dualPoint{m: m, value: pt.Objective - floats.Dot(m, radii), slope: make([]float64, len(m))}
		floats.SubTo(out.slope, pt.Penalties, radii)
		for _, row := range pt.Curvature[1:] {
			out.curvature = append(out.curvature, row[1:])
		}
		out.enough = s.solver.Quadratic() && pt.Train <= tol/2 && slices.Max(out.slope) <= 0
		return out, nil
	}
	return f
}

// Solve implements [bilevel.WithinSolver].
func (s *Lower) Solve(ctx context.Context, radii []float64, tol float64) (*bilevel.Within, error) {
	f := s.dual(radii, tol)
	out := &bilevel.Within{Gap: math.Inf(1)}
	if err := s.solver.Model(ctx, nil); err != nil {
		return nil, err
	}
	merit, from := math.Inf(1), s.solver.X()
	var stall numerics.Stall
	far, floor := reach(firstReach), f.floor
	for range rounds {
		f.floor = far.floors(s.m, floor)
		at, err := f.maximize(ctx, s.m)
		if at == nil || err != nil {
			return out, err
		}
		s.m = at.m
		// The solver's last solution is perhaps that of a step that was not taken.
		last := weighted(s.m, tol)
		last.Flat = true
		if pt, err := s.solver.Solve(ctx, last); pt == nil || err != nil {
			return out, err
		}
		c, err := s.solver.Check(ctx, weighted(s.m, tol))
		if err != nil {
			return nil, err
		}
		if at.enough { // losses are not negative, so that no multiplier is needed
			return &bilevel.Within{X: s.solver.X(), Lambda: make([]float64, len(radii)), Loss: c.Train, Gap: c.Train,
				Solved: true}, nil
		}
		slack, over := 0.0, 0.0
		for j, p := range c.Penalties {
			slack += s.m[j] * (radii[j] - p)
			over = math.Max(over, (p-radii[j])/radii[j])
		}
		if math.IsInf(c.Gap, 1) {
			return out, nil
		}
		gap := c.Gap + math.Abs(slack)
		idle := stall.Idle(gap)
		within := over <= violated || s.loose
		if gap < out.Gap && within || out.X == nil {
			*out = bilevel.Within{X: s.solver.X(), Lambda: slices.Clone(s.m), Loss: c.Train - slack, Gap: gap}
		}
		if gap <= tol && within {
			out.Solved = true
			return out, nil
		}
		held := far.holds(s.m, f.floor, floor)
		if !held && !c.Grew && (idle > patience || s.solver.Quadratic()) {
			out.Solved = out.Gap <= enough*tol
			return out, nil
		}
		far = far.next(c.Grew)
		if s.solver.Quadratic() {
			continue
		}
		x := s.solver.X()
		value := halve(s.merit(c.Values, radii), merit, func() float64 {
			x = between(from, x)
			return s.merit(s.fit.Values(x), radii)
		})
		// a bound that is far off, as with multipliers near zero, says nothing of the steps
		if value < merit-fell*math.Abs(merit) {
			stall.Restart()
		}
		merit, from = value, x
		if err := s.solver.Model(ctx, x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// merit is the exact penalty function that steps of the models have to lower.
func (s *Lower) merit(v bilevel.Values, radii []float64) float64 {
	sum := v.Train
	for j, p := range v.Penalties {
		sum += 2 * s.m[j] * math.Max(0, p-radii[j])
	}
	return sum
}

// weighted are the weights of l + m'P, whose least value is wanted to a small share of tol.
func weighted(m []float64, tol float64) *bilevel.JointWeights {
	return &bilevel.JointWeights{Train: 1, Penalties: m, Tol: fineShare * tol}
}

// halve has a step halved until the merit function, of some value, is no larger than before, and returns it.
func halve(value, before float64, half func() float64) float64 {
	for range halvings {
		if value <= before+rounded*math.Abs(before) || math.IsInf(before, 1) {
			break
		}
		value = half()
	}
	return value
}

// between is the middle of two points.
func between(a, b [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for k := range a {
		out[k] = make([]float64, len(a[k]))
		for j := range a[k] {
			out[k][j] = a[k][j] + 0.5*(b[k][j]-a[k][j])
		}
	}
	return out
}
