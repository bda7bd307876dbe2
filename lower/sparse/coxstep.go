package sparse

import (
	"context"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/survival"
)

const (
	// coxFirst is the number of features that a working set takes in at least where so many want to be in it.
	coxFirst = 64
	// coxRidge and coxMostRidge are the shares of the diagonal that are added to second derivatives, which may be singular. They do not change where steps end.
	coxRidge, coxMostRidge = 1e-9, 1e-2
)

// step goes to the minimum of the model over a working set, as far as the objective falls. It says whether it did.
func (s *coxSolve) step(ctx context.Context) bool {
	s.choose()
	if len(s.set) == 0 {
		return false
	}
	curvatures := s.curvatures(ctx, s.point, s.a, s.set)
	if ctx.Err() != nil {
		return false
	}
	old := pick(s.b, s.set)
	for ridge := coxRidge; ridge <= coxMostRidge; ridge *= 100 {
		s.model(curvatures, old, ridge)
		to := slices.Clone(old)
		if s.problem.solve(ctx, to) && s.line(old, to) {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
	}
	return false
}

// pick are entries of a list.
func pick(list []float64, at []int) []float64 {
	out := make([]float64, len(at))
	for i, j := range at {
		out[i] = list[j]
	}
	return out
}

// choose makes the working set: what is not zero, and of the zeros that want to move those that do most.
func (s *coxSolve) choose() {
	s.set = s.set[:0]
	var list []ranked
	for j, v := range s.b {
		if v != 0 {
			s.set = append(s.set, j)
		} else if over := math.Abs(s.c[j]) - s.terms.weight(j)*s.w1; over > 0 && s.moves(j) {
			list = append(list, ranked{over, j})
		}
	}
	for _, r := range foremost(list, max(coxFirst, len(s.set))) {
		s.set = append(s.set, r.j)
	}
	slices.Sort(s.set)
}

// curvatures are the second derivatives of D/n over a set of features, by rows.
func (g *Cox) curvatures(ctx context.Context, point *survival.Point, a []float64, set []int) []float64 {
	n, threads := g.x.Rows(), runtime.GOMAXPROCS(0)
	share := slices.Clone(a)
	floats.Scale(1/g.n, share)
	out := g.x.Products(ctx, set, set, share, threads)
	terms, all := g.risk.Terms(), make([]int, len(set))
	means, column := make([]float64, terms*len(set)), make([]float64, n)
	for i, j := range set {
		clear(column)
		g.x.Axpy(1, j, column)
		point.Means(means[i*terms:(i+1)*terms], column)
		all[i] = i
	}
	weights := g.risk.Weights()
	floats.Scale(-1/g.n, weights)
	floats.Add(out, design.FromColumns(terms, len(set), means).Products(ctx, all, all, weights, threads))
	return out
}

// model makes the quadratic problem around the coefficients old.
func (s *coxSolve) model(curvatures, old []float64, ridge float64) {
	size := len(s.set)
	q := &s.problem
	q.resize(size)
	q.box = s.terms.of(s.set)
	copy(q.a, curvatures)
	largest := 0.0
	for i := range size {
		largest = math.Max(largest, q.a[i*size+i])
	}
	for i, j := range s.set {
		row := q.a[i*size : (i+1)*size]
		row[i] += ridge * (math.Abs(row[i]) + ridge*largest)
		factor := s.terms.weight(j)
		q.q[i], q.w[i] = floats.Dot(row, old)+s.c[j], factor*s.w1
		row[i] += factor * s.w2
	}
}

// line goes from old towards to, as far as the objective falls by a share of what the model promises. It says whether the objective fell, or the change is of the size of
// its rounding error.
func (s *coxSolve) line(old, to []float64) bool {
	value, promise := s.loss+s.penalty(s.b), 0.0
	for i, j := range s.set {
		promise += s.terms.weight(j)*(s.w1*(math.Abs(to[i])-math.Abs(old[i]))+s.w2/2*(to[i]*to[i]-old[i]*old[i])) - (to[i]-old[i])*s.c[j]
	}
	if !(promise < 0) {
		return false
	}
	for t := 1.0; t > 1e-8; t /= 2 {
		for i, j := range s.set {
			if s.b[j] = to[i]; t < 1 {
				s.b[j] = old[i] + t*(to[i]-old[i])
			}
		}
		s.predict()
		next := s.loss + s.penalty(s.b)
		if -promise <= rounded*value || next <= value+1e-4*t*promise && next < value {
			return true
		}
	}
	for i, j := range s.set {
		s.b[j] = old[i]
	}
	s.predict()
	return false
}

// CoxSystem solves systems with the second derivatives of the objective at a solution over its coefficients that are neither zero nor at a bound.
type CoxSystem struct {
	// Set are these.
	Set    []int
	factor factor.Definite
}

// System is that at weight w2, with a ridge of rounding size where the derivatives are singular. It is nil where the context ended, or they are no numbers.
func (g *Cox) System(ctx context.Context, s *CoxSolution, w2 float64) *CoxSystem {
	out := &CoxSystem{}
	for j, v := range s.B {
		if lo, hi := g.terms.room(j); v != 0 && lo < v && v < hi {
			out.Set = append(out.Set, j)
		}
	}
	k := len(out.Set)
	if k == 0 {
		return out
	}
	point := g.risk.At(s.F, nil)
	u, a := make([]float64, len(s.F)), make([]float64, len(s.F))
	point.Slopes(u, a)
	h := g.curvatures(ctx, point, a, out.Set)
	largest := 0.0
	for i := range k {
		h[i*k+i] += w2 * g.terms.weight(out.Set[i])
		largest = math.Max(largest, h[i*k+i])
	}
	for ridge := coxRidge * coxRidge; ridge <= coxMostRidge && ctx.Err() == nil; ridge *= 100 {
		if out.factor.Factor(k, func(j int, column []float64) {
			copy(column[j:k], h[j*k+j:(j+1)*k])
			column[j] += ridge * largest
		}) {
			return out
		}
	}
	return nil
}

// Solve puts the solution of the system in the place of its right side.
func (s *CoxSystem) Solve(v []float64) {
	if len(s.Set) > 0 {
		s.factor.Solve(v)
	}
}
