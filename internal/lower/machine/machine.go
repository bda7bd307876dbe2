package machine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/outcome"
)

// Problem is a support vector machine in a box, as the package comment has it. It is not changed by solves, which may
// run at the same time.
type Problem struct {
	rows  *signedRows
	tau   float64          // the mean squared length of the rows
	scale float64          // the optimal value at w = 0
	many  bool             // see Many
	all   func() []float64 // the products of all rows, see kernel; nil where the features are too few
	// squared says that the loss is the squared hinge.
	squared bool
	// mostWork bounds the multiplications in Newton systems of one solve where these are not stored: it is that of the
	// package, but in tests.
	mostWork float64
}

// mostWork is half a minute of work or less.
const mostWork = 1e10

// New checks the data: y has -1 or 1 for each row of x, and both. The weights are positive, nil for equal ones; they
// are divided by their sum.
func New(x *design.Matrix, y, weights []float64) (*Problem, error) {
	if err := (sparse.Sample{X: x, Y: y, Weights: weights}).Check(glm.Logistic{}); err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	n := x.Rows()
	if weights == nil {
		weights = slices.Repeat([]float64{1}, n)
	}
	var class [2]float64
	for i, v := range y {
		class[int(v+1)/2] += weights[i]
	}
	if class[0] == 0 || class[1] == 0 {
		return nil, fmt.Errorf("machine: a support vector machine needs rows of both labels, -1 and 1")
	}
	total := class[0] + class[1]
	u := make([]float64, n)
	floats.AddScaled(u, 1/total, weights)
	g := &Problem{rows: newSignedRows(x, y, u), scale: 2 * math.Min(class[0], class[1]) / total, mostWork: mostWork}
	for i := range g.rows.n {
		g.tau += g.rows.squares(i) / float64(g.rows.n)
	}
	if g.tau == 0 {
		g.tau = 1
	}
	g.many = g.hasMany()
	if !g.many && g.rows.p >= kernelFeatures*g.rows.n {
		g.all = sync.OnceValue(g.whole)
	}
	return g, nil
}

// Dims returns the numbers of rows and of features.
func (g *Problem) Dims() (n, p int) { return g.rows.n, g.rows.p }

// Many says whether the method for many rows is taken: where they are that, and for the squared hinge.
func (g *Problem) Many() bool { return g.many }

// hasMany is [Problem.Many].
func (g *Problem) hasMany() bool {
	entries, p := 0, float64(g.rows.p)
	for i := range g.rows.n {
		entries += g.rows.length(i)
	}
	quick := float64(g.rows.n)*float64(entries) > pathWork*p*p*p
	return g.rows.n > manyRows || g.Wide() || g.rows.n > fewRows && quick
}

// Wide says whether the features are so many, of more than a few rows, that Newton steps are found by conjugate
// gradients.
func (g *Problem) Wide() bool { return g.rows.n > fewRows && g.rows.p > mostStored }

// Loss is the mean loss of the decision value x.w - c, which has a w for each feature.
func (g *Problem) Loss(w []float64, c float64) float64 {
	sum := 0.0
	for i, u := range g.rows.u {
		if s := g.rows.need[i] - g.rows.product(i, w) + g.rows.y[i]*c; s > 0 {
			sum += u * lossOf(s, g.squared)
		}
	}
	return sum
}

// Relative is a gap in units of the optimal value at w = 0, that of the tolerance.
func (g *Problem) Relative(gap float64) float64 { return gap / g.scale }

// LambdaMax is a weight above which no decision value x_i'w is larger than 1: the largest squared length of a row.
func (g *Problem) LambdaMax() float64 {
	top := 0.0
	for i := range g.rows.n {
		top = math.Max(top, g.rows.squares(i))
	}
	return top
}

// Solution is a point, and how near to the optimum it is proven to be.
type Solution struct {
	// Status is Optimal, Exhausted, Cancelled, Failed, or EpochLimit: after so much work on many rows of many features the
	// gap is larger than the tolerance.
	Status outcome.Stop
	// W and C give the decision value x.w - c. Where the solutions have an interval of C, it is the middle.
	W []float64
	C float64
	// Objective is the value, Gap bounds its distance from the optimum.
	Objective, Gap float64
	// Exchanges counts the changes of sides on the last path; of many rows, the Newton steps.
	Exchanges int

	lambda float64
	bound  []float64
	v      []float64 // sum_i alpha_i a_i
	total  float64   // of the alpha_i
	state  *state    // of a path; of many rows made when it is asked for, see sides
	many   *manyState
	ends   [2]int // the rows that end the interval of C, if flat
	flat   bool
}

// Solve returns the solution for lambda > 0 and the bounds, one for all features or one for each, positive or +Inf: by
// the method for many rows where they are that (see [Problem.Many]), else, and where that stalls, by a path. The
// tolerance bounds the duality gap at the end, relative to the optimal value at w = 0; start is a solution of the same
// problem at other hyperparameters to start from, or nil. An error is for input without meaning; how the solve ended is
// the status.
func (g *Problem) Solve(ctx context.Context, lambda float64, bound []float64, tol float64, start *Solution) (*Solution,
	error) {
	if !(lambda > 0) || math.IsInf(lambda, 1) {
		return nil, fmt.Errorf("machine: lambda is %g, expected a positive number", lambda)
	}
	p := g.rows.p
	if len(bound) == 1 {
		bound = slices.Repeat(bound, p)
	}
	if len(bound) != p {
		return nil, fmt.Errorf("machine: %d bounds for %d features, expected one or one for each", len(bound), p)
	}
	for j, b := range bound {
		if !(b > 0) {
			return nil, fmt.Errorf("machine: bound %d is %g, expected a positive number", j, b)
		}
	}
	if !(tol > 0) {
		return nil, fmt.Errorf("machine: the tolerance is %g, expected a positive number", tol)
	}
	if start != nil && len(start.W) != p {
		return nil, fmt.Errorf("machine: the start has %d coefficients, expected %d", len(start.W), p)
	}
	// Bounds that no solution reaches are all the same: lambda/2 |w|^2 is at most the value at w = 0.
	bound = slices.Clone(bound)
	wide := 2 * math.Sqrt(2*g.scale/lambda)
	for j := range bound {
		bound[j] = math.Min(bound[j], wide)
	}
	if g.Many() {
		return g.manyOrPath(ctx, lambda, bound, tol, start), nil
	}
	if start != nil && start.state == nil {
		start = nil
	}
	out := g.follow(ctx, lambda, bound, tol, start)
	// Where a path has come to its end with too large a gap, another one, from nothing, ends with one as large.
	if start != nil && out.Status == outcome.NumericalError && math.IsInf(out.Gap, 1) {
		out = g.follow(ctx, lambda, bound, tol, nil)
	}
	return out, nil
}

// manyOrPath solves by the method for many rows, and by a path where that stalls. A path over many rows of many
// features would take hours, and the squared hinge has none: there the point stays as it is, with its gap.
func (g *Problem) manyOrPath(ctx context.Context, lambda float64, bound []float64, tol float64,
	start *Solution) *Solution {
	out := g.solveMany(ctx, lambda, bound, tol, start)
	switch {
	case out.Status != outcome.Stalled:
	case g.Wide() || g.squared:
		out.Status = outcome.IterationLimit
	default:
		out = g.follow(ctx, lambda, bound, tol, nil)
	}
	return out
}

// follow solves by a path from the start, or from nothing.
func (g *Problem) follow(ctx context.Context, lambda float64, bound []float64, tol float64, start *Solution) *Solution {
	s := newPath(ctx, g, lambda, bound)
	if start != nil {
		s.from(start)
	} else {
		s.fresh()
	}
	out := &Solution{lambda: lambda, bound: bound}
	out.Status = s.run(ctx, tol, out)
	out.Exchanges = s.exchanges
	out.W, out.C = slices.Clone(s.w), s.c
	s.limits.cut(out.W, out.W)
	s.multipliers()
	state := s.state // without the rest of the path
	out.state, out.v, out.total = &state, slices.Clone(s.v), floats.Sum(s.alpha)
	out.centre(g)
	return out
}
