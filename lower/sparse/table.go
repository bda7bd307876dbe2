package sparse

import (
	"context"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/glm"
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

// solve returns a solution to a gap relative to scale, the objective without coefficients.
func (t *table) solve(
	ctx context.Context, scale float64, w *glm.Weights, tol float64, start *Solution,
) (*Solution, error) {
	p := t.of.X.(*design.Matrix).Columns()
	out := &Solution{Status: lower.Cancelled, B: make([]float64, p), B0: []float64{0}, Objective: scale, Gap: scale}
	if t.of.Intercept {
		out.B0[0] = floats.Sum(t.of.Y[0]) / float64(len(t.of.Y[0]))
	}
	if p == 0 {
		out.Status, out.Gap = lower.Optimal, 0
		return out, nil
	}
	d, err := t.ready(ctx)
	if ctx.Err() != nil {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	path := d.Path(ctx)
	if start != nil {
		path.From(ctx, start.B, start.path)
	}
	s, err := path.Solve(ctx, w, min(tol, mostTol))
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return out, nil
	}
	out.B, out.B0, out.Objective, out.Gap = s.B[0], s.B0[0], s.Objective[0], s.Gap*scale
	if t.of.Loss != nil {
		out.path = path
	}
	for j, v := range out.B {
		if v != 0 {
			out.Support = append(out.Support, j)
		}
	}
	switch {
	case s.Gap <= tol:
		out.Status = lower.Optimal
	case s.Solved:
		out.Status = lower.Exhausted
	default:
		out.Status = lower.Stalled
	}
	return out, nil
}
