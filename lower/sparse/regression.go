package sparse

import (
	"context"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/glm"
	"github.com/conetune/conetune/lower/internal/leastsquares"
)

// Weights are those of the penalties: each nil for 0, of length 1 for a common one, or
// of length p.
type Weights struct {
	// L1 holds w1, L2 holds w2.
	L1, L2 []float64
}

// Options of one solve. The zero value asks for the defaults.
type Options struct {
	// Tol bounds the duality gap at the end, relative to the objective at b = 0 (with an intercept, at its
	// best b0). Default 1e-8.
	Tol float64
	// Start is a solution of the same regression at other weights to start from, or nil.
	Start *Solution
}

// Regression is a design with targets, prepared for many solves. It is not changed by
// solves, which may run at the same time.
type Regression struct {
	data  *leastsquares.Data
	table *table
}

// NewRegression checks and prepares the data: y has a target for each row of x. It keeps a
// reference to the design.
func NewRegression(x *design.Matrix, y []float64, intercept bool) (*Regression, error) {
	data, err := leastsquares.New(x, y, intercept)
	if err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	return &Regression{data, single(Sample{X: x, Y: y}, intercept)}, nil
}

// Dims returns the number n of rows and p of features.
func (g *Regression) Dims() (n, p int) { return g.data.X.Dims() }

// LambdaMax is the smallest common L1 weight at which all coefficients are zero.
func (g *Regression) LambdaMax() float64 {
	return floats.Norm(g.data.XtY, math.Inf(1)) / float64(g.data.X.Rows())
}

// spread returns the weights of p features.
func (w Weights) spread(p int) (w1, w2 []float64, err error) {
	if w1, err = leastsquares.Spread("L1", w.L1, p); err == nil {
		w2, err = leastsquares.Spread("L2", w.L2, p)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("sparse: %w", err)
	}
	return w1, w2, nil
}

// defaultTol is the default of [Options.Tol]. Solves of squares are to mostTol at least, which takes a Newton step more: derivatives want the support.
const defaultTol, mostTol = 1e-8, 1e-9

// check fills in the default, and says what is wrong with the options for p features.
func (o *Options) check(p int) error {
	switch {
	case !(o.Tol >= 0) || math.IsInf(o.Tol, 1):
		return fmt.Errorf("sparse: tolerance %g, expected a finite number that is not negative", o.Tol)
	case o.Start != nil && len(o.Start.B) != p:
		return fmt.Errorf("sparse: the start has %d coefficients, expected %d", len(o.Start.B), p)
	case o.Tol == 0:
		o.Tol = defaultTol
	}
	return nil
}

// Solve returns a solution at the weights w. The error is for weights or options without meaning;
// how the solve ended is the status of the solution.
func (g *Regression) Solve(ctx context.Context, w Weights, o Options) (*Solution, error) {
	w1, w2, err := w.spread(g.data.X.Columns())
	if err != nil {
		return nil, err
	}
	return g.table.solve(ctx, g.data.Scale, &glm.Weights{Norm: w1, L2: w2}, o)
}

// table is what package glm is given, made ready by the first solve.
type table struct {
	of   glm.Table
	lock sync.Mutex
	data *glm.Data
}

// single is one fold that leaves nothing out.
func single(s Sample, intercept bool) *table {
	return &table{of: glm.Table{X: s.X, Y: [][]float64{s.Y}, Weights: s.Weights, Offset: s.Offset, Intercept: intercept, Folds: [][]int{nil}}}
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
func (t *table) solve(ctx context.Context, scale float64, w *glm.Weights, o Options) (*Solution, error) {
	p := t.of.X.(*design.Matrix).Columns()
	if err := o.check(p); err != nil {
		return nil, err
	}
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
	if o.Start != nil {
		path.From(ctx, o.Start.B, o.Start.path)
	}
	s, err := path.Solve(ctx, w, min(o.Tol, mostTol))
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
	case s.Gap <= o.Tol:
		out.Status = lower.Optimal
	case s.Solved:
		out.Status = lower.Exhausted
	default:
		out.Status = lower.Stalled
	}
	return out, nil
}

// Relative is a gap in units of the objective at b = 0, that of [Options.Tol].
func (g *Regression) Relative(gap float64) float64 { return g.data.Relative(gap) }

// Hessian is X_S'X_S / n + diag(w2) of the columns S, centred if there is an intercept; w2 holds a
// weight for each of the p features, or is nil.
func (g *Regression) Hessian(set []int, w2 []float64) *mat.SymDense {
	return g.data.Hessian(set, w2, nil)
}
