package glm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/design"
)

// Quadratic is the problem
//
//	minimize over b   1/2 b'Hb - q'b + sum_j (Second_j / 2 b_j^2 + First_j |b_j|)   subject to Lower <= b <= Upper
//
// of models of losses to second order, as subproblems of VF-iDCA have it. It is solved by Newton steps past the zeros
// and bounds on their way, and sweeps that let others in, until these find none: exactly but for rounding.
type Quadratic struct {
	First, Second, Lower, Upper []float64
	// Spent counts the multiplications of products with directions, of all solves.
	Spent float64

	f      *fold
	stack  columns
	renew  func() // has the work begin from the coefficients, without the rounding of steps
	system *newton
	size   float64 // of the gradients
}

// Rows are those of a model of a loss, with minus its derivatives in the predictions at a point, and its curvatures.
type Rows struct {
	X           *design.Matrix
	Pull, Curve []float64
}

const (
	// quadraticRounds bounds the Newton steps, and quadraticSweeps the sweeps between two.
	quadraticRounds, quadraticSweeps = 200, 10
	// roundedShare is the share of the size of derivatives that is rounding, and solvedShare that where steps are by
	// conjugate gradients, to firstAccuracy while signs change and to bestAccuracy then. Where these do not get on, two
	// are the last ones, or one where solvedEnough is reached.
	roundedShare, solvedShare, solvedEnough = 1e-13, 1e-12, 1e-9
	firstAccuracy, bestAccuracy             = 1e-2, 1e-8
	// mostSparseFactor bounds the order of factors of sparse columns, whose products with directions cost little.
	mostSparseFactor = 600
	// curvatureAccuracy is that of what is divided by the second derivatives.
	curvatureAccuracy = 1e-6
)

// SolveProducts solves for H by its columns, from b on, which it changes. It says whether it came to an end.
func (p *Quadratic) SolveProducts(ctx context.Context, h, q, b []float64) bool {
	n := len(b)
	p.ready(n)
	l := &local{q: 1, features: p.f.d.all, place: p.f.d.all, h: h, lda: n}
	p.renew = func() {
		l.r = append(l.r[:0], q...)
		for j, v := range b {
			if v != 0 {
				dense.Axpy(-v, l.column(j), l.r)
			}
		}
	}
	p.size = floats.Norm(q, math.Inf(1))
	return p.solve(ctx, l, b)
}

// SolveRows is SolveProducts where 1/2 b'Hb - q'b are models of losses at a point, by their rows, of some of the
// columns, less linear'b.
func (p *Quadratic) SolveRows(ctx context.Context, rows []Rows, columns []int, point, linear, b []float64) bool {
	p.ready(len(b))
	s := p.stacked(rows, columns)
	s.linear = linear
	r := s.r[0]
	first := slices.Clone(r)
	p.renew = func() {
		copy(r, first)
		for j, v := range b {
			if d := v - point[j]; d != 0 {
				s.x.Axpy(-d, j, r)
			}
		}
	}
	p.size = 0
	for j := range b {
		p.size = max(p.size, math.Abs(s.at(j, 0)))
	}
	return p.solve(ctx, s, b)
}

// stacked are the columns of models one below the other, times the roots of the curvatures.
func (p *Quadratic) stacked(rows []Rows, list []int) *residual {
	var root, r []float64
	full := true
	for _, of := range rows {
		full = full && of.X.Dense()
		for i, c := range of.Curve {
			root = append(root, math.Sqrt(c))
			r = append(r, of.Pull[i]/math.Sqrt(c))
		}
	}
	n, c := len(root), &p.stack
	all := indices.Range(0, n)
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(i)
	}
	c.begin(n, full)
	for _, j := range list {
		from, squares := 0, 0.0
		for _, of := range rows {
			k := of.X.Rows()
			_, more := c.add(of.X, j, all[:k], at, from, root)
			from, squares = from+k, squares+more
		}
		c.end(0, max(squares, math.SmallestNonzeroFloat64))
	}
	return &residual{
		x: c.matrix(), place: p.f.d.all, mean: c.mean, squares: c.squares, weight: 1, count: n, root: root, even: true,
		r: [][]float64{r}, shift: make([]float64, 1),
	}
}

// ready has room for n coefficients.
func (p *Quadratic) ready(n int) {
	if p.f == nil || p.f.d.p != n {
		d := &Data{p: n, q: 1, n: math.MaxInt, units: indices.Singles(n), single: true, all: indices.Range(0, n)}
		p.f = &fold{d: d, step: make([]float64, 1), one: make([]int, 1), working: d.all, part: new(part)}
	}
}

// solve solves by some work.
func (p *Quadratic) solve(ctx context.Context, work work, b []float64) bool {
	f, w := p.f, &Weights{Norm: p.First, L2: p.Second}
	f.d.lower, f.d.upper = p.Lower, p.Upper
	f.b, f.work, f.weights, p.system = b, work, w, nil
	p.size = max(p.size, floats.Norm(p.First, math.Inf(1)))
	accuracy, least, idle := firstAccuracy, math.Inf(1), 0
	direction := func(features, unit []int, g []float64, w *Weights) []float64 {
		p.system = p.systemOf(features)
		step := p.system.solve(ctx, g, accuracy)
		p.Spent += p.system.spent
		return step
	}
	p.renew()
	for range quadraticRounds {
		_, cut := f.newton(f.active(), w, direction)
		if p.renew(); ctx.Err() != nil {
			return false
		}
		free, held := p.violations()
		if direct := p.system == nil || p.system.diagonal == nil; !cut && held <= roundedShare*p.size {
			stalled := accuracy == bestAccuracy && free > least/2
			if direct || free <= solvedShare*p.size || stalled && (free <= solvedEnough*p.size || idle > 0) {
				break
			}
			if idle++; free <= least/2 {
				idle = 0
			}
			accuracy, least = bestAccuracy, min(least, free)
			continue
		}
		before := f.signs()
		f.sweep(f.working, w)
		for range quadraticSweeps {
			after := f.signs()
			if slices.Equal(before, after) || ctx.Err() != nil {
				break
			}
			before = after
			f.sweep(f.active(), w)
		}
	}
	return finite.All(b...)
}

// systemOf is that of Newton steps of some features.
func (p *Quadratic) systemOf(features []int) *newton {
	most := math.MaxInt
	if s, ok := p.f.work.(*residual); ok && s.x.Dense() {
		most = mostFactor
	} else if ok {
		most = mostSparseFactor
	}
	return p.f.system(features, features, p.f.weights, most)
}

// violations are the largest ones of the conditions of optimality, of what is free to move and of what is not.
func (p *Quadratic) violations() (free, held float64) {
	f, w := p.f, p.f.weights
	for j, b := range f.b {
		g := f.work.at(j, 0) - p.Second[j]*b
		if lo, hi := f.d.bounds(j); b != 0 && lo < b && b < hi {
			free = max(free, math.Abs(g-math.Copysign(w.Norm[j], b)))
		} else if out := math.Copysign(1, b); b != 0 {
			held = max(held, w.Norm[j]-g*out)
		} else if g > 0 && hi > 0 || g < 0 && lo < 0 {
			held = max(held, math.Abs(g)-w.Norm[j])
		}
	}
	return free, held
}

// signs are those of the coefficients, twice as large at bounds.
func (f *fold) signs() []int8 {
	out := make([]int8, len(f.b))
	for j, b := range f.b {
		if b != 0 {
			if out[j] = int8(math.Copysign(1, b)); f.atBound(j) {
				out[j] *= 2
			}
		}
	}
	return out
}

// Free are the coefficients of the last solution that may move both ways without a kink.
func (p *Quadratic) Free() (free []int) {
	for j, b := range p.f.b {
		if lo, hi := p.f.d.bounds(j); (b != 0 || p.First[j] == 0) && lo < b && b < hi {
			free = append(free, j)
		}
	}
	return free
}

// Divide returns v divided by the second derivatives in what is free.
func (p *Quadratic) Divide(ctx context.Context, free []int, v []float64) []float64 {
	if p.system == nil || !slices.Equal(p.system.features, free) {
		p.system = p.systemOf(free)
	}
	return p.system.solve(ctx, v, curvatureAccuracy)
}
