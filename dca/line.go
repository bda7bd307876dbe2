package dca

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// A start from the functions of the program alone.
//
// The h at which the lower level has a point are a convex set, as are those that Joint allows. Two convex programs find
// points of it,
//
//	open:  minimise l(x, h)            over x and h,  r_i = P_i(x)
//	shut:  minimise sum_i r_i / open_i + |u - u_0|^2
//
// so that every point between them has a solution, whatever H0 is, and differences of the two are the scales of h. The
// valleys of F(h) = L(x~(h), h) on the line between them, in logarithms of the distance from shut, are where compass
// searches begin, along each entry of h and all that are positive, in logarithms of these. They go as far as F falls,
// past kinks of F and slopes without bounds at radii near 0, at which iterations stop, and these go on from the best.
// One more begins at the best of some random points.

const (
	// lineStep is the factor from point to point of the line, a quarter of a decade. It ends where a decade has raised v
	// by less than lineRise of what all of it has, and at the latest at lineLast of open.
	lineStep, lineRise, lineLast = 0.5623413251903491, 0.01, 1e-12
	// openEps is the tolerance of open, which need not exist, as where labels are told apart.
	openEps = 1e-4
	// compassFirst and compassLast are the first factor and the last of the compass search, whose steps are halved in
	// logarithms; compassGain is the share of F below which it has not fallen.
	compassFirst, compassLast, compassGain = 2, 1.02, 1e-4
	// scatterEach are the random points for each entry of h, scatterMost all, and scatterLeast of the largest radius the
	// least.
	scatterEach, scatterMost, scatterLeast = 30, 300, 1e-3
	// compassEach bounds the lower levels of the search, for each entry of h, and compassMost all.
	compassEach, compassMost = 60, 1000
	// leastScale times the largest difference of open and shut is the least scale.
	leastScale = 1e-9
)

// Weights are the largest multipliers of each radius along the line of a program, near which its largest weights of
// interest lie in penalty form; 0 where there are none.
func (p Program) Weights(ctx context.Context, s Settings) (high []float64, stats convex.Stats, err error) {
	if s, err = p.prepared(s); err != nil {
		return nil, stats, err
	}
	high = make([]float64, p.Radii)
	l, err := p.newLine(ctx, &s)
	if l == nil {
		return high, stats, err
	}
	form, err := newConstrained(&p, &s)
	if err != nil {
		return nil, stats, err
	}
	defer form.Close()
	list, err := l.solve(ctx, form.solve)
	for _, at := range list {
		for j, v := range at.Lambda {
			high[j] = math.Max(high[j], v)
		}
	}
	return high, form.Stats(), err
}

// line are the two ends, and the scale of each entry.
type line struct{ open, shut, scale []float64 }

// solveAt solves the lower level at h.
type solveAt func(ctx context.Context, h []float64) (*Solution, error)

// objective is a function of a level and its h.
type objective func(l *Level, h convex.Expr) convex.Expr

// anywhere minimises a function over x and h, and returns h with the least radii and bounds that x allows; nil where
// there is no point.
func (p *Program) anywhere(ctx context.Context, s *Settings, eps float64, of objective) ([]float64, error) {
	m := convex.NewModel()
	h := m.Vector("h", len(p.H0))
	level, err := p.build(m, h)
	if err != nil {
		return nil, err
	}
	for _, c := range level.Constraints {
		m.Le("", c, 0)
	}
	lo, hi := p.bounds()
	p.within(m, h, lo, hi)
	m.Minimize(of(&level, h))
	options := s.convex()
	options.Options.Eps = max(s.Solver.WithDefaults().Eps, eps)
	res, _, err := p.solved(ctx, m, "start", options)
	if err != nil || res == nil {
		return nil, err
	}
	out := slices.Clone(res.Value(h))
	rows, err := p.boundRows(p.Radii + p.Bounds)
	if err != nil { // they stand in other ways, too
		return out, nil
	}
	pt := point(level.X, values(res, level.X))
	pt[h] = res.Value(h)
	copy(out[:p.Radii+p.Bounds], lo)
	level.raise(out, rows, pt, pt[h])
	return out, nil
}

// newLine finds the ends; nil where the set of h is empty, the search for them was stopped, or fits stand for conic
// programs, which would be large.
func (p *Program) newLine(ctx context.Context, s *Settings) (*line, error) {
	if p.Fit != nil {
		return nil, nil
	}
	open, err := p.anywhere(ctx, s, openEps, func(l *Level, _ convex.Expr) convex.Expr { return l.Train })
	if open == nil {
		return nil, err
	}
	both, n := p.Radii+p.Bounds, len(p.H0)
	weights := make([]float64, n)
	for j, v := range open {
		weights[j] = 1 / math.Max(math.Abs(v), leastScale*floats.Norm(open, math.Inf(1)))
	}
	shut, err := p.anywhere(ctx, s, 0, func(_ *Level, h convex.Expr) convex.Expr {
		sum := convex.Expr(convex.Const(0))
		if both > 0 {
			sum = convex.Dot(weights[:both], convex.Slice(h, 0, both))
		}
		if both < n {
			sum = convex.Add(sum, convex.SumSquares(convex.Sub(convex.Slice(h, both, n), p.H0[both:])))
		}
		return sum
	})
	if shut == nil {
		return nil, err
	}
	l := line{open: open, shut: shut}
	for j, v := range open {
		l.scale = append(l.scale, math.Max(math.Abs(v-shut[j]), 1/weights[j]))
	}
	return &l, nil
}

// at is a point of the line.
func (l *line) at(share float64) []float64 { return mixed(l.shut, l.open, share) }

// solve solves the lower level along the line and returns those that have a solution.
func (l *line) solve(ctx context.Context, at solveAt) (list []*Solution, err error) {
	for share := 1.0; share > lineLast && ctx.Err() == nil; share *= lineStep {
		low, err := at(ctx, l.at(share))
		if err != nil {
			return nil, err
		}
		if low.X == nil {
			continue
		}
		list = append(list, low)
		if n := len(list) - 1; n >= 4 && list[n].Value-list[n-4].Value < lineRise*(list[n].Value-list[0].Value) {
			break
		}
	}
	return list, nil
}

// lineStart moves the centre to where line and compass lead.
func (r *run) lineStart(ctx context.Context, l *line) error {
	at := func(ctx context.Context, h []float64) (*Solution, error) {
		h = slices.Clone(h)
		if err := r.sub.move(ctx, h); err != nil {
			return nil, err
		}
		low, err := r.lower(ctx, h)
		if accept := r.settings.Accept; err == nil && low.X != nil && accept != nil && !accept(low.X, low.X) {
			low.refuse()
		}
		return low, err
	}
	list, err := l.solve(ctx, at)
	if err != nil || len(list) == 0 {
		return err
	}
	starts := numerics.Valleys(list, r.score)
	low, err := r.scattered(ctx, list, at)
	if err != nil {
		return err
	}
	if low != nil {
		starts = append(starts, low)
	}
	for k, low := range starts {
		best, err := r.compass(ctx, l.scale, low, at)
		if err != nil {
			return err
		}
		if k == 0 || r.score(best) < r.score(r.current) {
			r.current = best
		}
	}
	r.centre = iterate{r.current.X, r.current.h}
	return nil
}

// scattered is the best of random points of the box that the line spans, in logarithms of what is positive. Where h are
// no radii or bounds, their own ranges are its sides, as far as these are finite.
func (r *run) scattered(ctx context.Context, list []*Solution, at solveAt) (best *Solution, err error) {
	both := r.program.Radii + r.program.Bounds
	low, high := slices.Clone(list[0].h), slices.Clone(list[0].h)
	for j := range low {
		for _, s := range list {
			low[j], high[j] = math.Min(low[j], s.h[j]), math.Max(high[j], s.h[j])
		}
		lo, hi := r.sub.lo[j], r.sub.hi[j]
		switch {
		case j < both:
			low[j] = math.Max(low[j]/compassFirst, scatterLeast*high[j]) // as shut is the least of their sum only
		case !math.IsInf(lo, 0) && !math.IsInf(hi, 0):
			low[j], high[j] = lo, hi
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range min(scatterMost, scatterEach*len(low)) {
		h := make([]float64, len(low))
		for j := range h {
			if u := rng.Float64(); low[j] > 0 {
				h[j] = low[j] * math.Pow(high[j]/low[j], u)
			} else {
				h[j] = low[j] + u*(high[j]-low[j])
			}
		}
		s, err := at(ctx, h)
		if err != nil || ctx.Err() != nil {
			return best, err
		}
		if s.X != nil && (best == nil || r.score(s) < r.score(best)) {
			best = s
		}
	}
	return best, nil
}

// compass goes from a point to where no step leads down, along each entry of h and all that are positive, and returns
// the best. Radii that hold nothing back are made slack, steps of them lead down from where they would, and none up.
func (r *run) compass(ctx context.Context, scale []float64, best *Solution, at solveAt) (*Solution, error) {
	trials := min(compassMost, compassEach*len(scale)) // left
	rows, _ := r.program.boundRows(len(best.weak))     // nil where they stand in other ways, too
	along := func(axis int, step float64) (gained bool, err error) {
		from, least := r.slack(best, rows)
		weak := axis < len(best.weak) && best.weak[axis]
		if weak {
			from[axis] = math.Min(from[axis], least[axis])
		}
		for ; trials > 0 && ctx.Err() == nil && !(weak && step > 0); step *= 2 {
			h := slices.Clone(from)
			for j := range h {
				switch {
				case axis != j && axis < len(h):
				case r.sub.lo[j] >= 0:
					h[j] *= math.Exp(step)
				case axis == j:
					h[j] += step * scale[j]
				}
			}
			trials--
			low, err := at(ctx, h)
			f := r.score(best)
			if err != nil || low.X == nil || !(r.score(low) < f-compassGain*math.Abs(f)) {
				return gained, err
			}
			best, gained = low, true
		}
		return gained, nil
	}
	err := numerics.Compass(math.Log(compassFirst), math.Log(compassLast), len(scale)+1, along,
		func(float64) bool { return false })
	out := *best
	if out.h, _ = r.slack(best, rows); !r.program.keeps(out.h) {
		out.h = best.h
	}
	return &out, err
}

// slackness times P_i(x~) is the radius where its multiplier vanishes.
const slackness = 1.25

// slack is h with slack radii and bounds where the multipliers vanish: x~, v and its subgradient stay. One that is
// tight without holding anything back would stop the others at the next kink of F. least are the P_i(x~) in their
// places.
func (r *run) slack(low *Solution, rows [][]int) (h, least []float64) {
	h, least = slices.Clone(low.h), slices.Clone(low.h)
	if rows == nil {
		return h, least
	}
	clear(least[:len(low.weak)])
	r.sub.level.raise(least, rows, r.sub.at(iterate{low.X, low.h}), low.h)
	for j, weak := range low.weak {
		if weak {
			h[j] = math.Max(h[j], slackness*least[j])
		}
	}
	r.sub.clip(h)
	return h, least
}

// keeps says whether h keeps what Joint has, up to rounding.
func (p *Program) keeps(h []float64) bool {
	if p.Joint == nil {
		return true
	}
	tol := jointSlack * math.Max(1, floats.Norm(h, math.Inf(1)))
	for _, c := range p.Joint(convex.Const(h)) {
		if !(floats.Max(c.Eval(convex.Point{})) <= tol) {
			return false
		}
	}
	return true
}

// jointSlack is what Joint may be above 0, relative to h, as conic solvers have rounding.
const jointSlack = 1e-7

// leastSize of the largest entry is the least size of one in distances.
const leastSize = 1e-3

// nearest moves h within its bounds, and where Joint is above 0 to the nearest point, relative to the size of each
// entry of some others, where it is not.
func (p *Program) nearest(ctx context.Context, s *Settings, h, of, lo, hi []float64) error {
	if clip(h, lo, hi); p.keeps(h) {
		return nil
	}
	m := convex.NewModel()
	to := m.Vector("h", len(h))
	p.within(m, to, lo, hi)
	distances := mat.NewDiagDense(len(h), nil)
	for j, v := range of {
		distances.SetDiag(j, 1/math.Max(math.Abs(v), leastSize*floats.Norm(of, math.Inf(1))))
	}
	m.Minimize(convex.SumSquares(convex.Mul(distances, convex.Sub(to, h))))
	found, _, err := p.solved(ctx, m, "start", s.convex())
	if err != nil || found == nil {
		return err
	}
	copy(h, found.Value(to))
	clip(h, lo, hi)
	return nil
}

// clip moves h into bounds.
func clip(h, lo, hi []float64) {
	for j := range h {
		h[j] = math.Max(lo[j], math.Min(hi[j], h[j]))
		if h[j] == 0 {
			h[j] = 0 // not -0
		}
	}
}

// solved solves a program once, and says what the solver did; nil without a usable result.
func (p *Program) solved(ctx context.Context, m *convex.Model, what string, o convex.SolverOptions) (*convex.Result,
	convex.Stats, error) {
	prog, err := m.Compile()
	if err != nil {
		return nil, convex.Stats{}, p.errorf("%s: %w", what, err)
	}
	solver, err := prog.Solver(o)
	if err != nil {
		return nil, convex.Stats{}, p.errorf("%s: %w", what, err)
	}
	defer solver.Close()
	res, err := solver.Solve(ctx)
	if err != nil {
		return nil, solver.Stats(), p.errorf("%s: %w", what, err)
	}
	if !usable(res) {
		return nil, solver.Stats(), nil
	}
	return res, solver.Stats(), nil
}
