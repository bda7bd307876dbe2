package tune

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
)

// LDMMA, the lower-level duality gap, majorised (Chen, Xu, Jiang, So, AISTATS 2024). x solves the lower level for the
// weights lambda exactly where, for a dual point z of value d(z) at lambda,
//
//	gap = l(x) + sum_j lambda_j h_j - d(z) <= 0,  h_j >= P_j(x),
//
// whose products the method majorises by lambda_j h_j <= 1/2 (c_j h_j^2 + lambda_j^2 / c_j), with equality at
// c_j = lambda_j / h_j. Iterations solve min L(x) s.t. majorised gap <= epsilon, a convex program in x, h, lambda and
// z together, and set c anew. As nothing joins (x, h) and (lambda, z) but the sum, and L does not depend on the latter,
// their part is at its minimum, which by duality is -phi with
//
//	phi = min l(x) + 1/2 sum_j c_j h_j^2,  lambda_j = c_j h_j there,
//
// the solution of which is the fit at the weights lambda. So an iteration is this program and
//
//	min L(x)  s.t.  l(x) + 1/2 sum_j c_j h_j^2 <= phi + epsilon,
//
// both without any dual variable, and then c_j = lambda_j / h_j of the second. As lambda_j P_j(x) is below its
// majorant, its solution misses the least value of l + sum_j lambda_j P_j by epsilon at most. With folds, h_j is the
// sum of theirs, so that they share the weights.
//
// A step of log c is proportional to sqrt(epsilon). The authors begin with a large epsilon; its steps are long, but fit
// the validation rows. Here epsilon is small, and steps are multiples of those of the method: twice the last, and a
// quarter of it for as long as the fit has no lower validation error.
const (
	// gapShare is epsilon as a share of l at x = 0. On two sparse group lassos (600 features, 30 groups) 1e-2 ends 20 to
	// 25 % higher; steps are proportional to its root, and end early at 1e-5.
	gapShare = 1e-4
	// shippedRatio is c of the first iteration where nothing better is known, by the authors' lambda 0.01 and h 0.1.
	shippedRatio = 0.1
	// leastRatio keeps lambda and h in c above this share of the largest ones (the authors' floor is the same, absolute).
	leastRatio = 1e-6
	// mostStep bounds a step of log c: three decades.
	mostStep = 7
	// leastMultiple of a step is the last that is tried.
	leastMultiple = 1. / 64
	// majorisedTol ends the search where a shortened step lowers the validation error by less than this share;
	// majorisedSteps bounds the steps.
	majorisedTol, majorisedSteps = 1e-3, 100
)

// majorised is one of the two programs, compiled once with the roots of c and phi + epsilon as parameters.
type majorised struct {
	train, value convex.Expr // l, and that with the squares
	h            convex.Expr
	root, bound  *convex.Parameter
	solver       *convex.Solver
}

// majorise compiles the first program, or with upper the second.
func (t *task) majorise(upper bool) (*majorised, error) {
	p, m := &t.Program, convex.NewModel()
	n := len(p.H0)
	u, radii := m.Vector("u", n-p.Radii), convex.Const(make([]float64, p.Radii))
	validation := convex.Const(0)
	g := &majorised{train: validation, root: m.Parameter("roots of c", make([]float64, n)),
		bound: m.Parameter("phi + epsilon", []float64{0})}
	blocks := p.Blocks
	if p.Build != nil {
		blocks = append(blocks, p.Build)
	}
	for _, build := range blocks {
		r := m.Vector("r", p.Radii)
		level := build(m, convex.Stack(r, u))
		for _, c := range level.Constraints {
			m.Le("", c, 0)
		}
		radii = convex.Add(radii, r)
		g.train, validation = convex.Add(g.train, level.Train), convex.Add(validation, level.Validation)
	}
	g.h = convex.Stack(radii, u)
	for j := p.Radii; j < n; j++ {
		if p.Lo != nil && !math.IsInf(p.Lo[j], 0) {
			m.Ge("", convex.At(g.h, j), p.Lo[j])
		}
		if p.Hi != nil && !math.IsInf(p.Hi[j], 0) {
			m.Ge("", p.Hi[j], convex.At(g.h, j))
		}
	}
	g.value = convex.Add(g.train, convex.Scale(0.5, convex.SumSquares(convex.Scale(g.root, g.h))))
	if m.Minimize(g.value); upper {
		m.Minimize(validation)
		m.Le("", g.value, g.bound)
	}
	compiled, err := m.Compile()
	if err != nil {
		return nil, err
	}
	options := convex.SolverOptions{Backend: t.Backend, Options: t.Config.solver(), WorkingSets: true}
	g.solver, err = compiled.Solver(options)
	return g, err
}

// at solves the program, and returns h and l + 1/2 sum_j c_j h_j^2. h is nil where the solver gives no point.
func (g *majorised) at(ctx context.Context, c []float64, bound float64) (h []float64, value float64, err error) {
	root := make([]float64, len(c))
	for j := range c {
		root[j] = math.Sqrt(c[j])
	}
	if err := cmp.Or(g.solver.Set(g.root, root), g.solver.Set(g.bound, []float64{bound})); err != nil {
		return nil, 0, err
	}
	r, err := g.solver.Solve(ctx)
	if err != nil || r.Status != backends.Optimal && r.Status != backends.Inaccurate {
		return nil, 0, err
	}
	pt := r.Point()
	return g.h.Eval(pt), g.value.Eval(pt)[0], nil
}

// gapSearch is a run of LDMMA.
type gapSearch struct {
	task         *task
	fits         *evaluator
	lower, upper *majorised
	shares       float64 // blocks, in each of which l is a share of the loss
}

// gapPoint is a fit for the weights lambda_j = c_j h_j.
type gapPoint struct {
	c, lambda  []float64
	phi        float64
	validation float64 // +Inf where there is none
}

// spent says that all evaluations of the configuration are made.
func (s *gapSearch) spent() bool {
	return s.task.Config.Evaluations > 0 && s.task.trials >= s.task.Config.Evaluations
}

// fit solves the first program, and records the fit at its weights.
func (s *gapSearch) fit(ctx context.Context, c []float64) (gapPoint, error) {
	at := gapPoint{c: c, validation: math.Inf(1)}
	if s.spent() {
		return at, nil
	}
	h, phi, err := s.lower.at(ctx, c, 0)
	if h == nil || err != nil {
		return at, err
	}
	at.phi, at.lambda = phi, make([]float64, len(h))
	floats.MulTo(at.lambda, c, h)
	p := &s.task.Program
	tr, err := s.try(ctx, at.lambda, p.StartAt(nil, h[p.Radii:])[p.Radii:]) // within their bounds
	if tr.X != nil && err == nil {
		at.validation = tr.Errors.Validation
	}
	return at, err
}

// try records the fit at the weights of radii, times the blocks, and upper variables.
func (s *gapSearch) try(ctx context.Context, lambda, upper []float64) (trial, error) {
	t := s.task
	t.begin(dca.Place{Stage: dca.StageDescent, Point: t.trials})
	weights := slices.Clone(lambda[:t.Program.Radii])
	floats.Scale(s.shares, weights)
	tr, err := s.fits.with(ctx, lower.Positive(weights), upper)
	if err == nil && ctx.Err() == nil {
		t.record(tr)
	}
	return tr, err
}

// starts are c at the two best local minima of the path, as descents along a hypergradient begin, or at the selection
// of an earlier method.
func (s *gapSearch) starts(ctx context.Context) (starts [][]float64, err error) {
	t, p := s.task, &s.task.Program
	path, upper := p.Path, p.H0[p.Radii:]
	if t.Start != nil {
		path, upper = [][]float64{t.Start.Lambda}, t.Start.Upper
	}
	var fits []trial
	stride := 1
	if most := max(1, t.Config.Evaluations/3); t.Config.Evaluations > 0 { // as descents along a hypergradient
		stride = (len(path) + most - 1) / most
	}
	for i := 0; i < len(path); i += stride {
		lambda := path[i]
		for len(lambda) < p.Radii {
			lambda = append(slices.Clone(lambda), lambda[0])
		}
		tr, err := s.try(ctx, scaled(lambda, 1/s.shares), upper)
		if err != nil {
			return nil, err
		}
		if tr.X != nil {
			fits = append(fits, tr)
		}
	}
	validation := func(tr trial) float64 { return tr.Errors.Validation }
	minima := numerics.Valleys(fits, validation)
	slices.SortStableFunc(minima, func(a, b trial) int { return cmp.Compare(validation(a), validation(b)) })
	for _, at := range minima[:min(2, len(minima))] {
		c := slices.Repeat([]float64{shippedRatio}, len(p.H0))
		radii, err := t.penalties(at)
		if err != nil {
			return nil, err
		}
		h := p.StartAt(radii, at.Upper)
		for j := range p.Radii {
			c[j] = at.Lambda[j] / s.shares / (h[j] * s.shares)
		}
		starts = append(starts, c)
	}
	if starts == nil {
		starts = [][]float64{slices.Repeat([]float64{shippedRatio}, len(p.H0))}
	}
	return starts, nil
}

// step is that of log c at a point, nil where there is none.
func (s *gapSearch) step(ctx context.Context, at gapPoint, epsilon float64) ([]float64, error) {
	h, _, err := s.upper.at(ctx, at.c, at.phi+epsilon)
	if h == nil || err != nil {
		return nil, err
	}
	step, lambda, least := make([]float64, len(h)), leastRatio*slices.Max(at.lambda), leastRatio*slices.Max(h)
	for j := range step {
		step[j] = math.Log(math.Max(at.lambda[j], lambda) / math.Max(h[j], least) / at.c[j])
	}
	return step, nil
}

// down goes down from c, and says how it ended: empty where the validation error can tell.
func (s *gapSearch) down(ctx context.Context, c []float64) (outcome.Stop, error) {
	config := &s.task.Config
	epsilon := cmp.Or(config.Epsilon, gapShare*math.Abs(s.lower.train.Eval(convex.Point{})[0]))
	at, err := s.fit(ctx, c)
	multiple := 1.0
	for range cmp.Or(config.MaxIter, majorisedSteps) {
		if err != nil || math.IsInf(at.validation, 1) {
			return "", err
		}
		step, err := s.step(ctx, at, epsilon)
		if step == nil || err != nil {
			return "", err
		}
		next, short := gapPoint{validation: math.Inf(1)}, false
		for ; multiple >= leastMultiple; multiple /= 4 {
			c := slices.Clone(at.c)
			for j := range c {
				c[j] *= math.Exp(math.Max(-mostStep, math.Min(mostStep, multiple*step[j])))
			}
			if next, err = s.fit(ctx, c); err != nil || next.validation < at.validation || ctx.Err() != nil {
				break
			}
			short = true
		}
		gain := at.validation - next.validation
		if !(gain > 0) || short && gain < cmp.Or(config.Tol, majorisedTol)*at.validation {
			return "", err
		}
		at, multiple = next, 2*multiple
	}
	return outcome.IterationLimit, err
}

// ldmma runs LDMMA.
func (t *task) ldmma(ctx context.Context) (*Result, error) {
	s := &gapSearch{task: t, shares: float64(max(1, len(t.Program.Blocks)))}
	var err error
	if s.fits, err = t.evaluator(ctx, nil); err != nil {
		return nil, err
	}
	defer s.fits.close()
	if s.lower, err = t.majorise(false); err != nil {
		return nil, err
	}
	defer s.lower.solver.Close()
	if s.upper, err = t.majorise(true); err != nil {
		return nil, err
	}
	defer s.upper.solver.Close()
	starts, err := s.starts(ctx)
	if err != nil {
		return nil, err
	}
	var status outcome.Stop
	for _, c := range starts {
		ended, err := s.down(ctx, c)
		if err != nil {
			return nil, err
		}
		status = cmp.Or(status, ended)
	}
	t.stats.Add(s.lower.solver.Stats())
	t.stats.Add(s.upper.solver.Stats())
	s.fits.close()
	return t.finish(ctx, status, "")
}
