package sparse

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/outcome"
)

// table is what package glm is given, made ready by the first solve.
type table struct {
	of   glm.Table
	lock sync.Mutex
	data *glm.Data
}

// single is one fold that leaves nothing out.
func single(s Sample, intercept bool) *table {
	return &table{of: glm.Table{
		X: s.X, Y: [][]float64{s.Y}, Weights: s.Weights, Offset: s.Offset, Intercept: intercept, Folds: [][]int{nil},
	}}
}

func (t *table) ready(ctx context.Context) (d *glm.Data, err error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.data == nil {
		t.data, err = glm.New(ctx, &t.of)
	}
	return t.data, err
}

// solve returns a solution to a gap relative to the objective without coefficients.
func (g *Fit) solve(ctx context.Context, w *glm.Weights, tol float64, start *Solution) (*Solution, error) {
	n := g.p * g.k
	out := &Solution{
		Status: outcome.Cancelled, B: make([]float64, n), B0: make([]float64, g.k), Objective: g.null, Gap: g.null,
	}
	copy(out.B0, g.start[n:])
	if g.p == 0 {
		out.Status, out.Gap = outcome.Converged, 0
		return out, nil
	}
	d, err := g.table.ready(ctx)
	if ctx.Err() != nil {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	path := d.Path(ctx)
	if start != nil {
		path.From(ctx, g.toGLM(slices.Concat(start.B, start.B0)), start.path)
	}
	least := tol
	if g.k == 1 { // whose derivatives are asked for
		least = min(tol, mostTol)
	}
	s, err := path.Solve(ctx, w, least)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return out, nil
	}
	out.B, out.Objective, out.Gap = s.B[0], s.Objective[0], s.Gap*g.null
	copy(out.B0, s.B0[0])
	if g.table.of.Loss != nil && g.k == 1 { // with curvatures that are of use to others
		out.path = path
	}
	for j := range g.p + 1 {
		if g.shared(j) {
			b := out.B0
			if j < g.p {
				b = out.B[j*g.k : (j+1)*g.k]
			}
			floats.AddConst(-floats.Sum(b)/float64(len(b)), b)
		}
	}
	switch {
	case s.Gap <= tol:
		out.Status = outcome.Converged
	case s.Solved:
		out.Status = numerics.Exhausted
	default:
		out.Status = outcome.Stalled
	}
	return out, nil
}

// toGLM has the coefficients, which it changes, as they are in package glm.
func (g *Fit) toGLM(b []float64) []float64 {
	for j := range (len(b) + g.k - 1) / g.k {
		if g.shared(j) {
			floats.AddConst(-b[(j+1)*g.k-1], b[j*g.k:(j+1)*g.k])
		}
	}
	return b
}

// shared says that what adds the same to the coefficients of a feature in all of several classes changes nothing: they
// add up to 0, and in package glm the last is 0.
func (g *Fit) shared(j int) bool {
	lo, hi := g.terms.room(j)
	return g.k > 1 && g.terms.always(j) && math.IsInf(lo, -1) && math.IsInf(hi, 1)
}
