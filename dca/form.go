package dca

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/memory"
)

// form is the lower level, constrained or in penalty form, as conic programs: one for each of its blocks, solved side
// by side.
type form struct {
	program *Program
	name    string   // in errors
	penalty bool     // the rows of radii are in the objective, see [Penalized]
	blocks  []*block // nil before they are compiled
	joint   *joint   // what takes their place, nil where there is none
	options convex.SolverOptions
	workers int          // see [Settings]
	work    convex.Stats // of solvers that were closed
}

// block is one of the independent parts of the lower level.
type block struct {
	level Level
	// h are the hyperparameters, in penalty form the upper variables, of which there may be none.
	h *convex.Parameter
	// In penalty form: for each constraint of the level, the radius of each row, or -1, and the weights.
	rows     [][]int
	weights  []rowWeight
	compiled *convex.Program
	solver   *convex.Solver // nil before it is needed
}

// rowWeight is the weight of a row, that of its radius times a share.
type rowWeight struct {
	*convex.Parameter
	radius int
	share  float64
}

func newForm(p *Program, s *Settings, name string, penalty bool) form {
	f := form{program: p, name: name, penalty: penalty, workers: s.workers(), joint: newJoint(p, s, penalty)}
	f.options = f.joint.bound(s.convex())
	return f
}

func (f *form) wrap(err error) error { return f.program.errorf("%s: %w", f.name, err) }

// compile compiles the conic programs, unless that was done before.
func (f *form) compile() error {
	if f.blocks != nil {
		return nil
	}
	p, first := f.program, 0 // of the hyperparameters that are parameters
	var rows [][]int
	if f.penalty {
		var err error
		if rows, err = p.radiusRows(); err != nil {
			return err
		}
		first = p.Radii
	}
	var blocks []*block
	var models []*convex.Model
	share := make([]float64, first) // one over the number of blocks that have the radius
	for _, build := range p.builders() {
		m, b, h := convex.NewModel(), &block{}, convex.Const(make([]float64, first))
		if first < len(p.H0) {
			b.h = m.Parameter("h", p.H0[first:])
			h = convex.Stack(h, b.h)
		}
		b.level = build(m, h)
		if err := p.check(&b.level); err != nil {
			return err
		}
		if n := len(b.level.Constraints); f.penalty {
			b.rows, rows = rows[:n], rows[n:]
		}
		own := slices.Concat(b.rows...)
		for j := range share {
			if slices.Contains(own, j) {
				share[j]++
			}
		}
		blocks, models = append(blocks, b), append(models, m)
	}
	for j, n := range share {
		share[j] = 1 / n
	}
	for i, b := range blocks {
		if err := b.compile(models[i], share); err != nil {
			return f.wrap(err)
		}
	}
	f.blocks = blocks
	return nil
}

// compile compiles a block.
func (b *block) compile(m *convex.Model, share []float64) (err error) {
	objective := b.level.Train
	for c, constraint := range b.level.Constraints {
		if b.rows == nil {
			m.Le("", constraint, 0)
			continue
		}
		for _, part := range separate(constraint, b.rows[c]) {
			if part.radius < 0 {
				m.Le("", part.of, 0)
				continue
			}
			w := rowWeight{m.Parameter("lambda", []float64{0}), part.radius, share[part.radius]}
			b.weights = append(b.weights, w)
			objective = convex.Add(objective, convex.Scale(w.Parameter, part.of))
		}
	}
	m.Minimize(objective)
	b.compiled, err = m.Compile()
	return err
}

// separated are rows of a constraint that have no radius, -1, or one row that has.
type separated struct {
	of     convex.Expr
	radius int
}

// separate takes a constraint apart as far as it must be: norms of whole variables are what working sets need.
func separate(constraint convex.Expr, rows []int) (parts []separated) {
	switch {
	case len(rows) > 0 && slices.Max(rows) < 0:
		return []separated{{constraint, -1}}
	case len(rows) == 1:
		return []separated{{constraint, rows[0]}}
	}
	for i, j := range rows {
		parts = append(parts, separated{convex.At(constraint, i), j})
	}
	return parts
}

// wholeBelow is the number of lower-level variables up to which a block in penalty form has all of its columns whatever
// the settings: it is then set up once for all weights, which saves more than small programs would.
const wholeBelow = 400

// open makes the solver of a block, unless there is one.
func (f *form) open(b *block) (err error) {
	if b.solver != nil {
		return nil
	}
	size := 0
	for _, v := range b.level.X {
		size += v.Len()
	}
	options := f.options
	options.WorkingSets = options.WorkingSets && !(f.penalty && size <= wholeBelow)
	b.solver, err = b.compiled.Solver(options)
	return err
}

// results solves the conic programs with the values that set gives to the parameters of each block, as many at a time
// as there are workers. The results are nil where one is of no use.
func (f *form) results(ctx context.Context, set func(b *block) error) ([]*convex.Result, conic, error) {
	if err := f.compile(); err != nil {
		return nil, conic{}, err
	}
	for _, b := range f.blocks {
		if err := f.open(b); err != nil {
			return nil, conic{}, f.wrap(err)
		}
		if err := set(b); err != nil {
			return nil, conic{}, err
		}
	}
	results, errs := make([]*convex.Result, len(f.blocks)), make([]error, len(f.blocks))
	crew.Each(len(f.blocks), f.workers, func(i int) { results[i], errs[i] = f.blocks[i].solver.Solve(ctx) })
	for _, err := range errs {
		if c, yes := f.joint.refused(err); yes {
			return nil, c, nil
		}
		if err != nil {
			return nil, conic{}, f.wrap(err)
		}
	}
	c := summary(results...)
	if slices.ContainsFunc(results, func(r *convex.Result) bool { return !usable(r) }) {
		results = nil
	}
	return results, c, nil
}

// at is what a function of a block and a point says of each, in their order, at x and the values h of their parameters.
func (f *form) at(x [][]float64, h []float64, of func(b *block, pt convex.Point)) {
	for _, b := range f.blocks {
		n := len(b.level.X)
		pt := point(b.level.X, x[:n])
		if b.h != nil {
			pt[b.h] = h
		}
		of(b, pt)
		x = x[n:]
	}
}

// gradient is that of the validation loss of all blocks in the weights and parameters h, given the results of all; nil
// where there are none. Where a solution is degenerate, it is that of the least norm.
func (f *form) gradient(ctx context.Context, results []*convex.Result) ([]float64, error) {
	if results == nil {
		return nil, nil
	}
	out := make([]float64, len(f.program.H0))
	for i, b := range f.blocks {
		g, err := results[i].Gradient(ctx, b.level.Validation)
		if err != nil && !errors.Is(err, convex.ErrDegenerate) {
			return nil, f.program.errorf("gradient: %w", err)
		}
		for _, w := range b.weights {
			out[w.radius] += w.share * g[w.Parameter][0]
		}
		if b.h != nil {
			floats.Add(out[len(out)-len(g[b.h]):], g[b.h])
		}
	}
	return out, nil
}

// Stats adds up what the conic solvers did.
func (f *form) Stats() convex.Stats {
	s := f.work
	if f.joint != nil {
		s.Iterations += f.joint.fits
	}
	for _, b := range f.blocks {
		if b.solver != nil {
			s.Add(b.solver.Stats())
		}
	}
	return s
}

// Close frees the solvers, which further solves make anew.
func (f *form) Close() (first error) {
	for _, b := range f.blocks {
		if b.solver == nil {
			continue
		}
		f.work.Add(b.solver.Stats())
		if err := b.solver.Close(); err != nil && first == nil {
			first = err
		}
		b.solver = nil
	}
	return first
}

// conic sums up one or several conic solves: the status of the first that is of no use or, if all are, of the first
// that missed its tolerances; the largest residual, NaN where there was no solve; iterations and sizes of working sets
// in all; and what they were solved by.
type conic struct {
	status             backends.Status
	residual           float64
	iterations, active int
	engine             string // several joined by commas
	note               string // what else there is to say of a solve of no use
}

// by says what a solution was found by.
func (s *Solution) by(c conic) { s.conic, s.Status, s.Residual = c, c.status, c.residual }

// none is that of no solve.
func none(status backends.Status) conic { return conic{status: status, residual: math.NaN()} }

// summary adds up conic results.
func summary(results ...*convex.Result) conic {
	c := conic{status: backends.Optimal}
	sure := true // no result of no use yet
	for _, r := range results {
		c.iterations += r.Iterations
		c.active += r.Active
		if !strings.Contains(c.engine, r.Engine) {
			c.engine = strings.TrimPrefix(c.engine+","+r.Engine, ",")
		}
		switch {
		case !usable(r) && sure:
			c.status, c.residual, sure = r.Status, r.Residuals.Max(), false
		case sure:
			c.residual = math.Max(c.residual, r.Residuals.Max())
			if c.status == backends.Optimal {
				c.status = r.Status
			}
		}
	}
	return c
}

// zeros returns x = 0.
func zeros(vars []*convex.Variable) [][]float64 {
	x := make([][]float64, len(vars))
	for i, v := range vars {
		x[i] = make([]float64, v.Len())
	}
	return x
}

// values reads the variables' values.
func values(res *convex.Result, vars []*convex.Variable) [][]float64 {
	out := make([][]float64, len(vars))
	for i, v := range vars {
		out[i] = res.Value(v)
	}
	return out
}

// rescueMemory bounds a conic program that takes the place of fits, in bytes. Most of them are the factors of matrices
// of the rows and columns in use; larger ones take minutes for each solve, and then there is more to be gained by other
// settings.
const rescueMemory int64 = 1 << 30

// bound returns the options of conic programs, which are to be small where they take the place of fits. j may be nil.
func (j *joint) bound(o convex.SolverOptions) convex.SolverOptions {
	if j != nil && (o.Options.Memory == 0 || o.Options.Memory > rescueMemory) {
		o.Options.Memory = rescueMemory
	}
	return o
}

// refused says whether an error is that a conic program in the place of fits is too large, which is how its solve ended
// then. j may be nil.
func (j *joint) refused(err error) (c conic, yes bool) {
	var large *backends.MemoryError
	if j == nil || !errors.As(err, &large) {
		return c, false
	}
	note := fmt.Sprintf(
		"not solved by the fit, and the conic program in its place needs %s of memory, %s at most are spent on it",
		memory.Format(large.Need), memory.Format(large.Limit))
	j.debug("dca: " + note)
	return conic{status: backends.NumericalError, residual: math.NaN(), note: note}, true
}
