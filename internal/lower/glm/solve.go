package glm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/crew"
)

// Solution are the fits of all folds.
type Solution struct {
	// B are the coefficients of each fold, feature j and target k at j q + k, and B0 its constants.
	B, B0 [][]float64
	// Validation are the mean losses 1/(2 sum omega q) sum omega |y - B'x - b0|^2 on the validation rows.
	Validation []float64
	// Gap is the largest duality gap of a fold, relative to its loss without coefficients; Solved says that all met the
	// tolerance, or the limits of rounding.
	Gap    float64
	Solved bool
	// Objective is that of each fold.
	Objective []float64
}

// Path solves at one vector of weights after the other, each fit from the one before. It is for one goroutine at a
// time.
type Path struct {
	d     *Data
	folds []*fold
	steps int
	model *Data // of a loss that is not of squares: the table with the weights of the products
}

// Steps counts the solves.
func (p *Path) Steps() int { return p.steps }

// Path begins without coefficients.
func (d *Data) Path(ctx context.Context) *Path {
	p := &Path{d: d, folds: make([]*fold, len(d.folds))}
	crew.Each(len(d.folds), d.threads, func(t int) { p.folds[t] = d.newFold(t) })
	if d.curved != nil {
		d.slopes(ctx, p.folds)
	}
	return p
}

// From begins at the coefficients b, of classes with the constants after them.
func (p *Path) From(ctx context.Context, b []float64) {
	d := p.d
	crew.Each(len(p.folds), d.threads, func(t int) {
		f := p.folds[t]
		f.last = nil
		var used []int
		for u, members := range d.units {
			if !f.inWork[u] && slices.ContainsFunc(members, func(j int) bool { return nonzero(b[j*d.q : (j+1)*d.q]) }) {
				used = append(used, u)
			}
		}
		f.join(used)
		if pt := f.point; pt != nil {
			step := make([]float64, d.p)
			for _, j := range f.features() {
				step[j] = b[j] - f.b[j]
				d.entries().Axpy(step[j], j, pt.eta)
				f.b[j] = b[j]
			}
			d.gaps.rows(t, step, pt.eta)
			d.level(pt)
			return
		}
		f.products.begin(f)
		for _, j := range f.features() {
			f.move(b[j*d.q:(j+1)*d.q], []int{j})
		}
	})
	if d.curved != nil {
		d.slopes(ctx, p.folds)
		return
	}
	d.products.gradients(ctx, p.folds)
}

// innerTol is the share of the tolerance of the gap to which sweeps go, and tighter the factor by which it falls where
// that was not enough.
const innerTol, tighter, tightenings = 0.1, 1e-2, 6

// Solve solves to a relative gap of tol. The error is for weights without meaning; where the context ends, the solution
// is not solved.
func (p *Path) Solve(ctx context.Context, w *Weights, tol float64) (*Solution, error) {
	return p.SolveEach(ctx, slices.Repeat([]*Weights{w}, len(p.folds)), tol)
}

// SolveEach is Solve with weights of its own for each fold.
func (p *Path) SolveEach(ctx context.Context, weights []*Weights, tol float64) (*Solution, error) {
	if len(weights) != len(p.folds) {
		return nil, fmt.Errorf("glm: weights for %d folds, expected %d", len(weights), len(p.folds))
	}
	for _, w := range weights {
		if err := p.d.check(w); err != nil {
			return nil, err
		}
	}
	p.steps++
	d := p.d
	for t, f := range p.folds {
		f.weights, f.solved, f.ended = weights[t], false, false
	}
	if d.curved != nil {
		p.solveCurved(ctx, tol)
		return p.Solution(ctx), nil
	}
	if d.chained {
		p.solveChains(ctx, tol)
		return p.Solution(ctx), nil
	}
	inner := make([]float64, len(p.folds))
	left := make([]int, len(p.folds)) // tightenings
	crew.Each(len(p.folds), d.threads, func(t int) {
		f := p.folds[t]
		f.joins = f.propose(f.weights)
		inner[t], left[t] = innerTol*tol*f.null(), tightenings
	})
	p.rounds(ctx, math.MaxInt, d.products.gradients, func(f *fold) {
		f.products.begin(f)
		f.settle(ctx, f.weights, ending{fall: inner[f.number], again: left[f.number] < tightenings/2})
	}, func(f *fold) {
		t := f.number
		if f.joins = f.violators(f.weights); len(f.joins) > 0 {
			return
		}
		f.measure(f.weights)
		null := f.null()
		if f.solved = f.gap <= tol*null; !f.solved {
			inner[t] *= tighter
			left[t]--
			f.ended, f.solved = left[t] == 0, left[t] == 0 && f.gap <= roundingGap*null
		}
	})
	return p.Solution(ctx), nil
}

// rounds takes rounds of each fold, with what joins its working set, until it is judged to be solved, or ended without.
// Between these, the gradients of all features are made for several folds together, with one pass over the columns: for
// as many sets of folds as there are threads, so that they need not wait for each other.
func (p *Path) rounds(
	ctx context.Context, most int, gradients func(ctx context.Context, folds []*fold), round, judge func(f *fold),
) {
	threads, n := p.d.threads, len(p.folds)
	sets := min(threads, n)
	crew.Each(sets, threads, func(s int) {
		open := slices.Clone(p.folds[s*n/sets : (s+1)*n/sets])
		open = slices.DeleteFunc(open, func(f *fold) bool { return f.solved || f.ended })
		for k := 0; len(open) > 0 && k < most && ctx.Err() == nil; k++ {
			crew.Each(len(open), threads, func(i int) {
				open[i].join(open[i].joins)
				round(open[i])
			})
			gradients(ctx, open)
			crew.Each(len(open), threads, func(i int) { judge(open[i]) })
			open = slices.DeleteFunc(open, func(f *fold) bool { return f.solved || f.ended })
		}
	})
}

// roundingGap is the relative gap that rounding may leave where the conditions of optimality hold.
const roundingGap = 1e-6

func (d *Data) check(w *Weights) error {
	if len(w.Norm) != len(d.units) || w.L1 != nil && len(w.L1) != d.p || w.L2 != nil && len(w.L2) != d.p {
		return fmt.Errorf("glm: %d, %d and %d weights for %d units of %d features", len(w.Norm), len(w.L1), len(w.L2),
			len(d.units), d.p)
	}
	if d.chained && (slices.Max(w.Norm) > slices.Min(w.Norm) || w.L1 != nil || w.L2 != nil) || !d.chained &&
		w.Fusion != 0 || !(w.Fusion >= 0) {
		return fmt.Errorf("glm: weights %g to %g of norms and %g of differences, expected those of a chain to be equal, "+
			"and of the latter none elsewhere",
			slices.Min(w.Norm), slices.Max(w.Norm), w.Fusion)
	}
	for _, list := range [][]float64{w.Norm, w.L1, w.L2} {
		for j, v := range list {
			if !(v >= 0) {
				return fmt.Errorf("glm: weight %d is %g, expected one that is not negative", j, v)
			}
		}
	}
	return nil
}

// Solution has the fits where the path stands.
func (p *Path) Solution(ctx context.Context) *Solution {
	d := p.d
	s := &Solution{Solved: ctx.Err() == nil, B: make([][]float64, len(p.folds)), B0: make([][]float64, len(p.folds)),
		Validation: make([]float64, len(p.folds)), Objective: make([]float64, len(p.folds))}
	crew.Each(len(p.folds), d.threads, func(t int) {
		f := p.folds[t]
		b := make([]float64, d.p*d.q)
		for _, j := range f.support() {
			copy(b[j*d.q:(j+1)*d.q], f.b[j*d.q:])
		}
		s.B[t], s.Objective[t] = b, f.objective
		if pt := f.point; pt != nil {
			s.Validation[t], s.B0[t] = d.losses(f), []float64{pt.b0}
			if d.classes > 1 {
				first := d.p - len(pt.constants)
				s.B[t], s.B0[t] = b[:first:first], append(b[first:], 0)
			}
			return
		}
		b0 := f.intercepts()
		s.Validation[t] = d.products.validation(f)
		if d.intercept {
			for k := range b0 {
				b0[k] += d.targets[k]
				for _, j := range f.support() {
					b0[k] -= d.center[j] * b[j*d.q+k]
				}
			}
		}
		s.B0[t] = b0
		if d.chained {
			s.B[t] = slices.Clone(f.chain.b)
		}
	})
	for _, f := range p.folds {
		s.Gap = max(s.Gap, f.gap/max(f.null(), math.SmallestNonzeroFloat64))
		s.Solved = s.Solved && f.solved
	}
	return s
}
