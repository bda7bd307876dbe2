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
// It is for one goroutine at a time.
type Penalized struct {
	program  *Program
	level    Level
	rows     [][]int // for each constraint of the level, the radius of each row, or -1
	kindOf   []int   // for each radius
	weights  []*convex.Parameter
	upper    *convex.Parameter // nil without upper variables
	compiled *convex.Program
	options  convex.SolverOptions
	solver   *convex.Solver
	closed   Stats // of solvers that were forgotten
}

// PenalizedSolution is the outcome at one vector of weights.
type PenalizedSolution struct {
	// Result is what the conic solver says; X is nil where that is of no use.
	Result *convex.Result
	// X are the values of the lower-level variables.
	X [][]float64
	// Radii are the P_i(x), for a radius of several constraints the largest.
	Radii []float64
	// Train and Validation are l and L at x.
	Train, Validation float64
}

// Kinds returns the radii in groups that penalise alike: those whose constraints
// P_i(x) <= r_i are in one entry of [Level.Constraints], in the order of the first radius. A sparse
// group lasso has two kinds, the norms of the groups and the l1 norm.
func (p *Program) Kinds() ([][]int, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	rows, err := p.radiusRows()
	if err != nil {
		return nil, err
	}
	seen := make([]bool, p.Radii)
	var kinds [][]int
	for _, row := range rows {
		var kind []int
		for _, j := range row {
			if j >= 0 && !seen[j] {
				seen[j] = true
				kind = append(kind, j)
			}
		}
		if kind != nil {
			slices.Sort(kind)
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b []int) int { return a[0] - b[0] })
	return kinds, nil
}

// radiusRows finds the radius of each row of the constraints, -1 for rows without one. As rows with a
// radius are P_i(x) - r_i, the radii j + 1 and then (j + 1)^2 tell by how much a row falls.
func (p *Program) radiusRows() ([][]int, error) {
	m := convex.NewModel()
	h := m.Parameter("h", len(p.H0))
	level, err := p.build(m, h.Expr())
	if err != nil {
		return nil, err
	}
	probe := func(radius func(j float64) float64) ([][]float64, error) {
		values := slices.Clone(p.H0)
		for j := range p.Radii {
			values[j] = radius(float64(j))
		}
		if err := h.Set(values); err != nil {
			return nil, err
		}
		var out [][]float64
		for _, c := range level.Constraints {
			if err := c.Err(); err != nil {
				return nil, p.errorf("%w", err)
			}
			out = append(out, c.Eval(convex.Point{}))
		}
		return out, nil
	}
	var at [3][][]float64
	for k, radius := range []func(float64) float64{
		func(float64) float64 { return 0 }, func(j float64) float64 { return j + 1 }, func(j float64) float64 { return (j + 1) * (j + 1) },
	} {
		var err error
		if at[k], err = probe(radius); err != nil {
			return nil, err
		}
	}
	rows := make([][]int, len(level.Constraints))
	constrained := make([]bool, p.Radii)
	for c := range rows {
		rows[c] = make([]int, len(at[0][c]))
		for i, base := range at[0][c] {
			fall := base - at[1][c][i]
			square := base - at[2][c][i]
			j := int(math.Round(fall)) - 1
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(base)) }
			switch {
			case fall == 0 && square == 0:
				rows[c][i] = -1
			case j >= 0 && j < p.Radii && near(fall, float64(j+1)) && near(square, float64((j+1)*(j+1))):
				rows[c][i] = j
				constrained[j] = true
			default:
				return nil, p.errorf("row %d of constraint %d is not P(x) - r_j for one radius r_j, so that there is no penalty form", i, c)
			}
		}
	}
	if j := slices.Index(constrained, false); j >= 0 {
		return nil, p.errorf("radius %d is in no constraint P(x) - r_j, so that there is no penalty form", j)
	}
	return rows, nil
}

// wholeBelow is the number of lower-level variables up to which the penalty form has all of its columns whatever
// the settings: it is then set up once for all weights, which saves more than small programs would.
const wholeBelow = 400

// NewPenalized compiles the penalty form with one weight for each kind; a kind is a list
// of radii, which have to be in one kind each. Nil means one weight for each radius. Of the settings, those of
// the conic solver count.
func NewPenalized(p Program, kinds [][]int, s Settings) (*Penalized, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	rows, err := p.radiusRows()
	if err != nil {
		return nil, err
	}
	if kinds == nil {
		for j := range p.Radii {
			kinds = append(kinds, []int{j})
		}
	}
	kindOf := make([]int, p.Radii)
	for j := range kindOf {
		kindOf[j] = -1
	}
	for k, kind := range kinds {
		for _, j := range kind {
			if j < 0 || j >= p.Radii || kindOf[j] >= 0 {
				return nil, p.errorf("kind %d of penalties has radius %d, which is another kind's or none of the %d", k, j, p.Radii)
			}
			kindOf[j] = k
		}
	}
	if j := slices.Index(kindOf, -1); j >= 0 {
		return nil, p.errorf("radius %d is in no kind of penalties", j)
	}

	q := &Penalized{program: &p, rows: rows, kindOf: kindOf, options: s.convex()}
	m := convex.NewModel()
	for range kinds {
		q.weights = append(q.weights, m.Parameter("lambda", 1))
	}
	h := convex.Const(make([]float64, p.Radii)...)
	if n := len(p.H0) - p.Radii; n > 0 {
		q.upper = m.Parameter("u", n)
		if err := q.upper.Set(p.H0[p.Radii:]); err != nil {
			return nil, err
		}
		h = convex.Stack(h, q.upper.Expr())
	}
	if q.level, err = p.build(m, h); err != nil {
		return nil, err
	}
	size := 0
	for _, v := range q.level.X {
		size += v.Len()
	}
	q.options.WorkingSets = q.options.WorkingSets && size > wholeBelow
	objective := q.level.Train
	for c, constraint := range q.level.Constraints {
		penalties, joint := q.split(c, constraint, kindOf)
		for _, penalty := range penalties {
			objective = objective.Plus(penalty)
		}
		for _, g := range joint {
			m.Constrain(convex.LessEqual(g, convex.Const(0)))
		}
	}
	m.Minimize(objective)
	m.Constrain(q.level.Set...)
	if q.compiled, err = m.Compile(convex.CompileOptions{}); err != nil {
		return nil, p.errorf("penalty form: %w", err)
	}
	if err := q.Forget(); err != nil {
		return nil, err
	}
	return q, nil
}

// split divides the rows of a constraint into weighted penalties and constraints g(x, u). A constraint
// that goes as a whole is not taken apart: norms of whole variables are what working sets need.
func (q *Penalized) split(c int, constraint convex.Convex, kindOf []int) (penalties, joint []convex.Convex) {
	rows := q.rows[c]
	if len(rows) == 0 {
		return nil, nil
	}
	kind := func(i int) int {
		if rows[i] < 0 {
			return -1
		}
		return kindOf[rows[i]]
	}
	whole := true
	for i := range rows {
		whole = whole && kind(i) == kind(0)
	}
	switch {
	case whole && kind(0) < 0:
		return nil, []convex.Convex{constraint}
	case whole:
		return []convex.Convex{constraint.Sum().Weight(q.weights[kind(0)])}, nil
	}
	for i := range rows {
		if k := kind(i); k >= 0 {
			penalties = append(penalties, constraint.At(i).Weight(q.weights[k]))
		} else {
			joint = append(joint, constraint.At(i))
		}
	}
	return penalties, joint
}

// Forget makes the next solve independent of those before, as that of a new Penalized.
func (q *Penalized) Forget() error {
	if err := q.Close(); err != nil {
		return err
	}
	var err error
	if q.solver, err = q.compiled.Solver(q.options); err != nil {
		return q.program.errorf("penalty form: %w", err)
	}
	return nil
}

// Solve solves the penalty form at the weights, positive and one for each kind, and the
// upper variables, of which nil leaves the last. It starts from the solve before.
func (q *Penalized) Solve(ctx context.Context, weights, upper []float64) (*PenalizedSolution, error) {
	if q.solver == nil {
		return nil, backends.ErrClosed
	}
	if len(weights) != len(q.weights) {
		return nil, q.program.errorf("penalty form: %d weights, expected %d", len(weights), len(q.weights))
	}
	for k, w := range q.weights {
		if !(weights[k] > 0) {
			return nil, q.program.errorf("penalty form: weight %d is %v, expected a positive number", k, weights[k])
		}
		if err := w.Set(weights[k : k+1]); err != nil {
			return nil, err
		}
	}
	if upper != nil && q.upper != nil {
		if err := q.upper.Set(upper); err != nil {
			return nil, err
		}
	}
	res, err := q.solver.Solve(ctx)
	if err != nil {
		return nil, q.program.errorf("penalty form: %w", err)
	}
	s := &PenalizedSolution{Result: res}
	if !usable(res) {
		return s, nil
	}
	s.X = values(res, q.level.X)
	pt := point(q.level.X, s.X)
	s.Train, s.Validation = q.level.Train.Eval(pt)[0], q.level.Validation.Eval(pt)[0]
	s.Radii = q.program.penalties(&q.level, q.rows, pt)
	return s, nil
}

// penalties returns the P_i(x) of a level built with radii of 0.
func (p *Program) penalties(level *Level, rows [][]int, pt convex.Point) []float64 {
	out := make([]float64, p.Radii)
	for c, constraint := range level.Constraints {
		if !slices.ContainsFunc(rows[c], func(j int) bool { return j >= 0 }) {
			continue
		}
		for i, v := range constraint.Eval(pt) {
			if j := rows[c][i]; j >= 0 {
				out[j] = math.Max(out[j], v)
			}
		}
	}
	return out
}

// Penalties returns the P_i(x), the smallest radii that x keeps; for a radius of several constraints that is the
// largest of them. Upper are the upper variables, nil for those of H0.
func (p *Program) Penalties(x [][]float64, upper []float64) ([]float64, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	rows, err := p.radiusRows()
	if err != nil {
		return nil, err
	}
	h := make([]float64, len(p.H0))
	copy(h[p.Radii:], p.H0[p.Radii:])
	copy(h[p.Radii:], upper)
	m := convex.NewModel()
	level, err := p.build(m, convex.Const(h...))
	if err != nil {
		return nil, err
	}
	if len(x) != len(level.X) {
		return nil, p.errorf("values of %d variables, expected %d", len(x), len(level.X))
	}
	for i, v := range level.X {
		if len(x[i]) != v.Len() {
			return nil, p.errorf("%d values of variable %s, expected %d", len(x[i]), v.Name(), v.Len())
		}
	}
	return p.penalties(&level, rows, point(level.X, x)), nil
}

// Stats adds up what the conic solvers did.
func (q *Penalized) Stats() Stats {
	s := q.closed
	if q.solver != nil {
		s.add(q.solver.Stats())
	}
	return s
}

// Close frees the solver. Further calls do nothing.
func (q *Penalized) Close() error {
	if q.solver == nil {
		return nil
	}
	q.closed.add(q.solver.Stats())
	solver := q.solver
	q.solver = nil
	return solver.Close()
}
