package sparse

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
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
	// MaxEpochs bounds the epochs of coordinate descent over all working sets. Default 100000.
	MaxEpochs int
	// Start is a solution of the same regression at other weights to start from, or nil.
	Start *Solution
	// Threads bounds the threads of the products with all features. Default 1.
	Threads int
}

// Solution is a point, and how near to the optimum it is proven to be.
type Solution struct {
	Status lower.Status
	// B are the p coefficients, B0 the intercept.
	B  []float64
	B0 float64
	// Support are the indices of the coefficients that are not zero, rising.
	Support []int
	// Residual is y - X b - b0.
	Residual []float64
	// Objective is the value at B, Gap bounds its distance from the optimum.
	Objective, Gap float64
	// Outer counts working sets, Epochs epochs of coordinate descent, Newton the Newton steps.
	Outer, Epochs, Newton int

	engine *jointSolver // what found it, for those that start from it; nil for other engines
}

// Regression is a design with targets, prepared for many solves. It is not changed by
// solves, which may run at the same time.
type Regression struct{ data *leastsquares.Data }

// NewRegression checks and prepares the data: y has a target for each row of x. It keeps a
// reference to the design.
func NewRegression(x *design.Matrix, y []float64, intercept bool) (*Regression, error) {
	data, err := leastsquares.New(x, y, intercept)
	if err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	return &Regression{data}, nil
}

// Prepare makes the solves that follow cheaper, if there are to be many: it computes X'X unless the design is large. It must not
// run at the same time as a solve.
func (g *Regression) Prepare() { g.data.Prepare() }

// PrepareRows is Prepare with other bounds for sparse designs: X'X is computed where its entries are few by rows, however many the columns would have
// to be multiplied. Solutions are the same up to their tolerance.
func (g *Regression) PrepareRows() { g.data.PrepareRows() }

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

func (o Options) withDefaults() (Options, error) {
	l, err := leastsquares.Limits{Tol: o.Tol, MaxEpochs: o.MaxEpochs, Threads: o.Threads}.WithDefaults()
	if err != nil {
		return o, fmt.Errorf("sparse: %w", err)
	}
	o.Tol, o.MaxEpochs, o.Threads = l.Tol, l.MaxEpochs, l.Threads
	return o, nil
}

// Solve returns a solution at the weights w. The error is for weights or options without meaning;
// how the solve ended is the status of the solution.
func (g *Regression) Solve(ctx context.Context, w Weights, o Options) (*Solution, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	w1, w2, err := w.spread(g.data.X.Columns())
	if err != nil {
		return nil, err
	}
	if o.Start != nil && len(o.Start.B) != g.data.X.Columns() {
		return nil, fmt.Errorf("sparse: the start has %d coefficients, expected %d", len(o.Start.B), g.data.X.Columns())
	}
	s := newSolve(g.data, w1, w2, o)
	status := s.run(ctx)
	out := newSolution(&s.Point)
	out.Status, out.Objective, out.Gap = status, s.objective, s.gap
	out.Outer, out.Epochs, out.Newton = s.outer, s.epochs, s.newtons
	return out, nil
}

// newSolution is a point as the outcome of a solve, whose other numbers the caller fills in.
func newSolution(s *leastsquares.Point) *Solution {
	b0, support := s.Solution()
	return &Solution{B: s.B, B0: b0, Support: support, Residual: s.R}
}

// Relative is a gap in units of the objective at b = 0, that of [Options.Tol].
func (g *Regression) Relative(gap float64) float64 { return g.data.Relative(gap) }

// Hessian is X_S'X_S / n + diag(w2) of the columns S, centred if there is an intercept; w2 holds a
// weight for each of the p features, or is nil.
func (g *Regression) Hessian(set []int, w2 []float64) *mat.SymDense {
	return g.data.Hessian(set, w2, nil)
}
