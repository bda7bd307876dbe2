package descent

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
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

// Status says how a solve ended.
type Status string

// The ways in which a solve ends.
const (
	// Optimal: the gap is below the tolerance.
	Optimal Status = "optimal"
	// Exhausted: the optimality conditions hold to rounding, and the gap cannot be
	// brought below the tolerance in floating point.
	Exhausted Status = "exhausted"
	// EpochLimit: Options.MaxEpochs were done.
	EpochLimit Status = "epoch limit"
	// Stalled: the gap no longer falls, because of rounding in data of very different sizes.
	Stalled Status = "stalled"
	// Cancelled: the context ended.
	Cancelled Status = "cancelled"
)

// Solution is a point, and how near to the optimum it is proven to be.
type Solution struct {
	Status Status
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
}

// Regression is a design with targets, prepared for many solves. It is not changed by
// solves, which may run at the same time.
type Regression struct {
	x         *Design
	y         []float64 // centred if there is an intercept
	intercept bool
	yMean     float64
	mean      []float64 // means of the columns; nil without intercept
	norm2     []float64 // squared norms of the (centred) columns
	scale     float64   // the objective at zero
	xty       []float64 // X'y of the (centred) data
	gram      *gram     // nil unless prepared
}

// NewRegression checks and prepares the data: y has a target for each row of x. It keeps a
// reference to the design.
func NewRegression(x *Design, y []float64, intercept bool) (*Regression, error) {
	n, p := x.Dims()
	switch {
	case n == 0:
		return nil, fmt.Errorf("descent: no rows")
	case len(y) != n:
		return nil, fmt.Errorf("descent: %d targets for %d rows", len(y), n)
	}
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("descent: target of row %d is %g, expected a finite number", i, v)
		}
	}
	g := &Regression{x: x, y: y, intercept: intercept, norm2: make([]float64, p), xty: make([]float64, p)}
	if intercept {
		g.yMean = floats.Sum(y) / float64(n)
		g.y = make([]float64, n)
		for i, v := range y {
			g.y[i] = v - g.yMean
		}
		g.mean = make([]float64, p)
	}
	for j := range p {
		sum, squares := x.sums(j)
		if math.IsNaN(squares) || math.IsInf(squares, 0) {
			return nil, fmt.Errorf("descent: column %d of the design has entries that are not finite or too large to square", j)
		}
		g.norm2[j] = squares
		if intercept {
			g.mean[j] = sum / float64(n)
			// A constant column has rounding errors only.
			if g.norm2[j] -= sum * g.mean[j]; g.norm2[j] < 1e-13*squares {
				g.norm2[j] = 0
			}
		}
		g.xty[j] = x.dot(j, g.y)
	}
	g.scale = floats.Dot(g.y, g.y) / (2 * float64(n))
	return g, nil
}

// gram is X'X / n of the (centred) columns, by rows.
type gram struct {
	p     int
	value []float64
}

func (m *gram) row(j int) []float64 { return m.value[j*m.p : (j+1)*m.p] }

const (
	// gramWork bounds the multiplications, and gramMost the features, for which Prepare computes X'X.
	gramWork, gramMost = 1e8, 2000
)

// Prepare makes the solves that follow cheaper, if there are to be many: it computes X'X unless the design is large. It must not
// run at the same time as a solve.
func (g *Regression) Prepare() {
	n, p := g.x.Dims()
	if g.gram != nil || p == 0 || p > gramMost || float64(n)*float64(p)*float64(p)/2 > gramWork {
		return
	}
	all := make([]int, p)
	for j := range all {
		all[j] = j
	}
	h := g.Hessian(all, nil).RawSymmetric()
	for i := range p { // the lower triangle
		for j := range i {
			h.Data[i*h.Stride+j] = h.Data[j*h.Stride+i]
		}
	}
	g.gram = &gram{p, h.Data}
}

// Dims returns the number n of rows and p of features.
func (g *Regression) Dims() (n, p int) { return g.x.Dims() }

// LambdaMax is the smallest common L1 weight at which all coefficients are zero.
func (g *Regression) LambdaMax() float64 {
	return floats.Norm(g.xty, math.Inf(1)) / float64(g.x.n)
}

// weights are the weights of each feature.
func (g *Regression) weights(w Weights) (w1, w2 []float64, err error) {
	if w1, err = spread("L1", w.L1, g.x.p); err != nil {
		return nil, nil, err
	}
	w2, err = spread("L2", w.L2, g.x.p)
	return w1, w2, err
}

func spread(name string, w []float64, p int) ([]float64, error) {
	if len(w) > 1 && len(w) != p {
		return nil, fmt.Errorf("descent: %d weights %s for %d features, expected none, one or %d", len(w), name, p, p)
	}
	for j, v := range w {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("descent: weight %s[%d] is %g, expected a finite number that is not negative", name, j, v)
		}
	}
	if len(w) == p && p > 0 {
		return w, nil
	}
	out := make([]float64, p)
	if len(w) == 1 {
		for j := range out {
			out[j] = w[0]
		}
	}
	return out, nil
}

func (o Options) withDefaults() (Options, error) {
	if !(o.Tol >= 0) || math.IsInf(o.Tol, 1) {
		return o, fmt.Errorf("descent: tolerance %g, expected a finite number that is not negative", o.Tol)
	}
	if o.MaxEpochs < 0 || o.Threads < 0 {
		return o, fmt.Errorf("descent: %d epochs and %d threads at most, expected numbers that are not negative", o.MaxEpochs, o.Threads)
	}
	if o.Tol == 0 {
		o.Tol = 1e-8
	}
	if o.MaxEpochs == 0 {
		o.MaxEpochs = 100000
	}
	o.Threads = max(1, o.Threads)
	return o, nil
}

// Solve returns a solution at the weights w. The error is for weights or options without meaning;
// how the solve ended is the status of the solution.
func (g *Regression) Solve(ctx context.Context, w Weights, o Options) (*Solution, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	w1, w2, err := g.weights(w)
	if err != nil {
		return nil, err
	}
	if o.Start != nil && len(o.Start.B) != g.x.p {
		return nil, fmt.Errorf("descent: the start has %d coefficients, expected %d", len(o.Start.B), g.x.p)
	}
	s := newSolve(g, w1, w2, o)
	status := s.run(ctx)
	out := s.solution()
	out.Status, out.Objective, out.Gap = status, s.objective, s.gap
	out.Outer, out.Epochs, out.Newton = s.outer, s.epochs, s.newtons
	return out, nil
}

// Relative is a gap in units of the objective at b = 0, that of [Options.Tol].
func (g *Regression) Relative(gap float64) float64 {
	if g.scale == 0 {
		return 0
	}
	return gap / g.scale
}
