package dca

import (
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// Penalized is the lower level of a program in penalty form,
//
//	minimize over x  l(x, u) + sum_k w_k sum_{i in kind k} P_i(x)   s.t.  g(x, u) <= 0,  x in X,
//
// compiled once with the weights w and the upper variables u as parameters. A solution for the
// multipliers of the constrained form as weights solves that form, and the other way round with r_i = P_i(x).
//
// Blocks are solved side by side. Where B of them have constraints with the radius r_i, as the folds of a cross-validation
// have, its multiplier is the sum of theirs, and so each penalises with w / B: min l(x)/B + w/B P(x) in each
// block is min l(x) + w P(x). It is for one goroutine at a time.
type Penalized struct {
	program *Program
	blocks  []*penalizedBlock
	kindOf  []int     // of each radius
	share   []float64 // of each radius, one over the number of blocks that have it
	kinds   int
	options convex.SolverOptions
	workers int
	open    bool
	joint   *joint // evaluates the functions in the place of the blocks, which are not compiled before they are needed; nil where there is none
	closed  Stats  // of solvers that were forgotten
}

// penalizedBlock is the penalty form of one block.
type penalizedBlock struct {
	level    Level
	rows     [][]int // for each constraint of the level, the radius of each row, or -1
	weights  []*convex.Parameter
	vectors  []weightVector
	upper    *convex.Parameter // nil without upper variables
	compiled *convex.Program
	solver   *convex.Solver
}

// weightVector are the weights of the rows of one constraint.
type weightVector struct {
	parameter *convex.Parameter
	kinds     []int     // of the rows
	share     []float64 // of the radii of the rows
}

// PenalizedSolution is the outcome at one vector of weights.
type PenalizedSolution struct {
	// Status is that of the first block whose result is of no use or, where all are, of the
	// first that missed its tolerances. Residual is the largest residual, NaN where [Program.Fit] was taken; Gap is the gap of
	// that, NaN where conic programs were.
	Status        backends.Status
	Residual, Gap float64
	// X are the values of the lower-level variables; nil where a result is of no use.
	X [][]float64
	// Radii are the P_i(x), for a radius of several constraints the largest.
	Radii []float64
	// Train and Validation are l and L at x; NaN without it.
	Train, Validation float64

	conic conic
}

// wholeBelow is the number of lower-level variables up to which a block has all of its columns whatever the
// settings: it is then set up once for all weights, which saves more than small programs would.
const wholeBelow = 400

// NewPenalized compiles the penalty form with one weight for each kind; a kind is a list
// of radii, which have to be in one kind each. Nil means one weight for each radius. Of the settings, those of
// the conic solver count.
func NewPenalized(p Program, kinds [][]int, s Settings) (*Penalized, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	if p.Radii < len(p.H0) {
		p.Fit = nil // has no penalty form with weights of the radii alone
	}
	if kinds == nil {
		for j := range p.Radii {
			kinds = append(kinds, []int{j})
		}
	}
	q := &Penalized{program: &p, kinds: len(kinds), workers: s.Workers, kindOf: make([]int, p.Radii), open: true, joint: newJoint(&p, &s)}
	q.options = q.joint.bound(s.convex())
	for j := range q.kindOf {
		q.kindOf[j] = -1
	}
	for k, kind := range kinds {
		for _, j := range kind {
			if j < 0 || j >= p.Radii || q.kindOf[j] >= 0 {
				return nil, p.errorf("kind %d of penalties has radius %d, which is another kind's or none of the %d", k, j, p.Radii)
			}
			q.kindOf[j] = k
		}
	}
	if j := slices.Index(q.kindOf, -1); j >= 0 {
		return nil, p.errorf("radius %d is in no kind of penalties", j)
	}
	if q.joint != nil {
		return q, nil
	}
	return q, q.compileAll()
}

// compileAll compiles the conic programs, unless that was done before.
func (q *Penalized) compileAll() error {
	if q.blocks != nil {
		return nil
	}
	rows, err := q.program.radiusRows()
	if err != nil {
		return err
	}
	var models []*convex.Model
	var blocks []*penalizedBlock
	for _, build := range q.program.builders() {
		m := convex.NewModel()
		b, err := q.block(m, build, q.kinds)
		if err != nil {
			return err
		}
		n := len(b.level.Constraints)
		b.rows, rows = rows[:n], rows[n:]
		blocks, models = append(blocks, b), append(models, m)
	}
	q.blocks = blocks
	q.share = q.shares()
	for i, b := range q.blocks {
		if err := q.compile(models[i], b); err != nil {
			return err
		}
	}
	return q.reopen()
}

// shares are one over the number of blocks that have a radius, for each radius.
func (q *Penalized) shares() []float64 {
	share := make([]float64, q.program.Radii)
	for _, b := range q.blocks {
		has := make([]bool, len(share))
		for _, rows := range b.rows {
			for _, j := range rows {
				if j >= 0 && !has[j] {
					has[j] = true
					share[j]++
				}
			}
		}
	}
	for j, n := range share {
		share[j] = 1 / n
	}
	return share
}

// block builds the functions of a block into m.
func (q *Penalized) block(m *convex.Model, build func(m *convex.Model, h convex.Affine) Level, kinds int) (*penalizedBlock, error) {
	p, b := q.program, &penalizedBlock{}
	for range kinds {
		b.weights = append(b.weights, m.Parameter("lambda", 1))
	}
	h := convex.Const(make([]float64, p.Radii)...)
	if n := len(p.H0) - p.Radii; n > 0 {
		b.upper = m.Parameter("u", n)
		if err := b.upper.Set(p.H0[p.Radii:]); err != nil {
			return nil, err
		}
		h = convex.Stack(h, b.upper.Expr())
	}
	b.level = build(m, h)
	return b, p.check(&b.level)
}

// compile compiles a block with its rows.
func (q *Penalized) compile(m *convex.Model, b *penalizedBlock) error {
	objective := b.level.Train
	for c, constraint := range b.level.Constraints {
		penalties, joint := b.split(m, constraint, b.rows[c], q)
		for _, penalty := range penalties {
			objective = objective.Plus(penalty)
		}
		for _, g := range joint {
			m.Constrain(convex.LessEqual(g, convex.Const(0)))
		}
	}
	m.Minimize(objective)
	m.Constrain(b.level.Set...)
	var err error
	if b.compiled, err = m.Compile(); err != nil {
		return q.program.errorf("penalty form: %w", err)
	}
	return nil
}

// split divides the rows of a constraint into weighted penalties and constraints g(x, u). A constraint
// that goes as a whole is not taken apart: norms of whole variables are what working sets need.
func (b *penalizedBlock) split(m *convex.Model, constraint convex.Convex, rows []int, q *Penalized) (penalties, joint []convex.Convex) {
	if len(rows) == 0 {
		return nil, nil
	}
	kind := func(i int) int {
		if rows[i] < 0 {
			return -1
		}
		return q.kindOf[rows[i]]
	}
	whole := true
	kinds, share := make([]int, len(rows)), make([]float64, len(rows))
	for i, j := range rows {
		kinds[i] = kind(i)
		if j >= 0 {
			share[i] = q.share[j]
		}
		whole = whole && kinds[i] == kinds[0] && share[i] == share[0]
	}
	switch {
	case whole && kind(0) < 0:
		return nil, []convex.Convex{constraint}
	case whole:
		return []convex.Convex{constraint.Sum().Weight(b.weights[kind(0)]).Scale(share[0])}, nil
	case slices.Min(kinds) >= 0:
		v := m.Parameter("lambda", len(rows))
		if sum := constraint.WeightedSum(v); sum.Err() == nil {
			b.vectors = append(b.vectors, weightVector{v, kinds, share})
			return []convex.Convex{sum}, nil
		}
	}
	for i := range rows {
		if k := kind(i); k >= 0 {
			penalties = append(penalties, constraint.At(i).Weight(b.weights[k]).Scale(share[i]))
		} else {
			joint = append(joint, constraint.At(i))
		}
	}
	return penalties, joint
}

// Forget makes the next solve independent of those before, as that of a new Penalized.
func (q *Penalized) Forget() error {
	if fit := q.program.Fit; fit != nil {
		fit.Forget()
	}
	return q.reopen()
}

// reopen sets up new solvers.
func (q *Penalized) reopen() error {
	if err := q.Close(); err != nil {
		return err
	}
	q.open = true
	for _, b := range q.blocks {
		size := 0
		for _, v := range b.level.X {
			size += v.Len()
		}
		options := q.options
		options.WorkingSets = options.WorkingSets && size > wholeBelow
		var err error
		if b.solver, err = b.compiled.Solver(options); err != nil {
			return q.program.errorf("penalty form: %w", err)
		}
	}
	return nil
}

// Cold makes the next solve begin without the point of the one before, for weights
// that are far from the last ones. What was set up stays.
func (q *Penalized) Cold() {
	if fit := q.program.Fit; fit != nil {
		fit.Cold()
	}
	for _, b := range q.blocks {
		if b.solver != nil {
			b.solver.Cold()
		}
	}
}

// set gives the parameters of the block their values.
func (b *penalizedBlock) set(weights, upper []float64) error {
	for k, w := range b.weights {
		if err := w.Set(weights[k : k+1]); err != nil {
			return err
		}
	}
	for _, v := range b.vectors {
		w := make([]float64, len(v.kinds))
		for i, k := range v.kinds {
			w[i] = v.share[i] * weights[k]
		}
		if err := v.parameter.Set(w); err != nil {
			return err
		}
	}
	if upper != nil && b.upper != nil {
		return b.upper.Set(upper)
	}
	return nil
}

// Solve solves the penalty form at the weights, positive and one for each kind, and the
// upper variables, of which nil leaves the last. It starts from the solve before.
func (q *Penalized) Solve(ctx context.Context, weights, upper []float64) (*PenalizedSolution, error) {
	if !q.open {
		return nil, backends.ErrClosed
	}
	if n := q.kinds; len(weights) != n {
		return nil, q.program.errorf("penalty form: %d weights, expected %d", len(weights), n)
	}
	for k, w := range weights {
		if !(w > 0) || math.IsInf(w, 1) {
			return nil, q.program.errorf("penalty form: weight %d is %v, expected a positive finite number", k, w)
		}
	}
	if s, err := q.direct(ctx, weights); s != nil || err != nil {
		return s, err
	}
	if err := q.compileAll(); err != nil {
		return nil, err
	}
	weights = q.clipped(weights)
	for _, b := range q.blocks {
		if err := b.set(weights, upper); err != nil {
			return nil, err
		}
	}
	results := make([]*convex.Result, len(q.blocks))
	err := sideBySide(len(q.blocks), q.workers, func(i int) (err error) {
		results[i], err = q.blocks[i].solver.Solve(ctx)
		return err
	})
	if c, yes := q.joint.refused(err); yes {
		s := &PenalizedSolution{conic: c, Residual: c.residual, Gap: math.NaN(), Train: math.NaN(), Validation: math.NaN()}
		s.refuse()
		return s, nil
	}
	if err != nil {
		return nil, q.program.errorf("penalty form: %w", err)
	}
	s := &PenalizedSolution{conic: summary(results...), Gap: math.NaN(), Train: math.NaN(), Validation: math.NaN()}
	s.Status, s.Residual = s.conic.status, s.conic.residual
	if slices.ContainsFunc(results, func(r *convex.Result) bool { return !usable(r) }) {
		return s, nil
	}
	for i, b := range q.blocks {
		s.X = append(s.X, values(results[i], b.level.X)...)
	}
	q.score(s)
	if !s.finite() || q.worse(s.X) {
		s.refuse()
	}
	return s, nil
}

// finite says that all numbers of a solution are.
func (s *PenalizedSolution) finite() bool {
	return finite(s.Train, s.Validation) && finite(s.Radii...) && allFinite(s.X)
}

// refuse makes a solution one that was not found.
func (s *PenalizedSolution) refuse() {
	s.X, s.Radii = nil, nil
	s.Status = backends.NumericalError
	s.conic.status = s.Status
}

// each are the weights of the radii.
func (q *Penalized) each(weights []float64) []float64 {
	each := make([]float64, q.program.Radii)
	for j, k := range q.kindOf {
		each[j] = weights[k]
	}
	return each
}

// looseGap is the relative gap of fits that only tell whether a validation loss is above another by the factor clearly.
const looseGap, clearly = 3e-2, 1.01

// above says whether the validation loss at the weights is clearly above a value, of fits of compact points, which take long. A solve at these weights
// begins where this ends.
func (q *Penalized) above(ctx context.Context, weights []float64, value float64) (bool, error) {
	if q.program.Fit == nil || !q.joint.compact() || math.IsInf(value, 1) {
		return false, nil
	}
	pt, err := q.program.Fit.SolveTo(ctx, q.each(weights), looseGap)
	if err != nil {
		return false, q.program.errorf("penalty form: %w", err)
	}
	return pt.Solved && pt.Validation > clearly*value, nil
}

// direct is by [Program.Fit]; nil where there is none, or where it cannot.
func (q *Penalized) direct(ctx context.Context, weights []float64) (*PenalizedSolution, error) {
	if q.program.Fit == nil {
		return nil, nil
	}
	pt, err := q.program.Fit.Solve(ctx, q.each(weights))
	if err != nil {
		return nil, q.program.errorf("penalty form: %w", err)
	}
	switch {
	case pt.Solved:
	case q.joint.alone() || ctx.Err() != nil: // and not by conic programs, for nobody
		s := &PenalizedSolution{Residual: math.NaN(), Gap: pt.Gap, Train: math.NaN(), Validation: math.NaN()}
		s.refuse()
		return s, nil
	default:
		return nil, nil
	}
	s := &PenalizedSolution{Status: backends.Optimal, Residual: math.NaN(), Gap: pt.Gap, X: pt.X, conic: conic{status: backends.Optimal, residual: math.NaN()}}
	if q.score(s); !s.finite() {
		if q.joint.alone() {
			s.refuse()
			return s, nil
		}
		return nil, nil
	}
	return s, nil
}

// score computes the radii and the losses at X.
func (q *Penalized) score(s *PenalizedSolution) {
	s.Radii, s.Train, s.Validation = make([]float64, q.program.Radii), 0, 0
	if q.joint != nil {
		var rows []float64
		s.Validation, s.Train, rows = q.joint.values(iterate{s.X, make([]float64, len(s.Radii))})
		for i, v := range rows {
			j := i % len(s.Radii)
			s.Radii[j] = math.Max(s.Radii[j], v)
		}
		return
	}
	x := s.X
	for _, b := range q.blocks {
		pt := point(b.level.X, x[:len(b.level.X)])
		x = x[len(b.level.X):]
		s.Train += b.level.Train.Eval(pt)[0]
		s.Validation += b.level.Validation.Eval(pt)[0]
		for j, v := range q.program.penalties(&b.level, b.rows, pt) {
			s.Radii[j] = math.Max(s.Radii[j], v)
		}
	}
}

// Stats adds up what the conic solvers did.
func (q *Penalized) Stats() Stats {
	s := q.closed
	for _, b := range q.blocks {
		if b.solver != nil {
			s.add(b.solver.Stats())
		}
	}
	return s
}

// Close frees the solvers. Further calls do nothing.
func (q *Penalized) Close() error {
	q.open = false
	var first error
	for _, b := range q.blocks {
		if b.solver == nil {
			continue
		}
		q.closed.add(b.solver.Stats())
		if err := b.solver.Close(); err != nil && first == nil {
			first = err
		}
		b.solver = nil
	}
	return first
}
