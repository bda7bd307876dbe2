package descent

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// SVM is a linear support vector machine in a box. With rows x_i, labels y_i of -1 and 1, weights u_i > 0 of sum 1 and the
// decision value x.w - c, it solves
//
//	minimize over w, c   sum_i u_i max(0, 1 - y_i (x_i'w - c)) + lambda/2 |w|^2   subject to |w_j| <= bound_j for each feature j.
//
// With a_i = y_i x_i, multipliers 0 <= alpha_i <= u_i of sum_i y_i alpha_i = 0, and v = sum_i alpha_i a_i,
//
//	D(alpha) = sum_i alpha_i - sum_j max over |w| <= bound_j of (v_j w - lambda w^2 / 2)
//
// is a lower bound of the optimal value, attained at the solution: there w_j is v_j / lambda, cut to the box, and alpha_i is 0 where
// the margin s_i = 1 - a_i'w + y_i c is negative, u_i where it is positive, and between where the row is at the kink of its loss.
//
// # Method
//
// An active-set path, as in parametric methods for quadratic programs (Best 1996; Ferreau, Bock, Diehl 2008). A point whose
// alpha meet their bounds and their equation is the solution of the program with the linear term, right sides and bounds moved; as they go
// back, w, c and alpha are piecewise linear, and where a row reaches its kink, an alpha its bound, or a feature the box or its inside, it
// changes sides. What the path solves are systems of the order of the number of rows at their kinks, whose Cholesky factor is changed and
// not made anew. From the solution at other lambda and bounds the cost is that of what the two solutions differ by.
//
// It is not changed by solves, which may run at the same time.
type SVM struct {
	rows  *signedRows
	tau   float64 // the mean squared length of the rows
	scale float64 // the optimal value at w = 0
}

// NewSVM checks the data: y has -1 or 1 for each row of x, and both. The weights are positive, nil for equal ones; they
// are divided by their sum.
func NewSVM(x *Design, y, weights []float64) (*SVM, error) {
	n, p := x.Dims()
	if len(y) != n {
		return nil, fmt.Errorf("descent: %d labels for %d rows", len(y), n)
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, n)
	}
	if len(weights) != n {
		return nil, fmt.Errorf("descent: %d weights for %d rows", len(weights), n)
	}
	var class [2]float64
	for i, v := range y {
		if v != -1 && v != 1 {
			return nil, fmt.Errorf("descent: label of row %d is %g, expected -1 or 1", i, v)
		}
		if !(weights[i] > 0) || math.IsInf(weights[i], 1) {
			return nil, fmt.Errorf("descent: the weight of row %d is %g, expected a positive number", i, weights[i])
		}
		class[int(v+1)/2] += weights[i]
	}
	if class[0] == 0 || class[1] == 0 {
		return nil, fmt.Errorf("descent: a support vector machine needs rows of both labels, -1 and 1")
	}
	for j := range p {
		if _, squares := x.sums(j); math.IsNaN(squares) || math.IsInf(squares, 0) {
			return nil, fmt.Errorf("descent: column %d of the design has entries that are not finite or too large to square", j)
		}
	}
	total := class[0] + class[1]
	u := make([]float64, n)
	floats.AddScaled(u, 1/total, weights)
	g := &SVM{rows: newSignedRows(x, y, u), scale: 2 * math.Min(class[0], class[1]) / total}
	for i := range g.rows.n {
		g.tau += g.rows.squares(i) / float64(g.rows.n)
	}
	if g.tau == 0 {
		g.tau = 1
	}
	return g, nil
}

// Dims returns the number of rows that differ and p of features.
func (g *SVM) Dims() (n, p int) { return g.rows.n, g.rows.p }

// Relative is a gap in units of the optimal value at w = 0, that of the tolerance.
func (g *SVM) Relative(gap float64) float64 { return gap / g.scale }

// LambdaMax is a weight above which no decision value x_i'w is larger than 1: the largest squared length of a row.
func (g *SVM) LambdaMax() float64 {
	top := 0.0
	for i := range g.rows.n {
		top = math.Max(top, g.rows.squares(i))
	}
	return top
}

// SVMOptions of one solve. The zero value asks for the defaults.
type SVMOptions struct {
	// Tol bounds the duality gap at the end, relative to the optimal value at w = 0. Default 1e-8.
	Tol float64
	// Start is a solution of the same machine at other hyperparameters to start from, or nil.
	Start *Machine
}

// Machine is a solution of a support vector machine.
type Machine struct {
	// Status is Optimal, Exhausted, Cancelled, or Failed.
	Status Status
	// W and C give the decision value x.w - c. Where the solutions have an interval of C, it is the middle.
	W []float64
	C float64
	// Objective is the value, Gap bounds its distance from the optimum.
	Objective, Gap float64
	// Exchanges counts the changes of sides on the way.
	Exchanges int

	lambda float64
	bound  []float64
	v      []float64 // sum_i alpha_i a_i
	total  float64   // of the alpha_i
	state  *svmState
	ends   [2]int // the rows that end the interval of C, if flat
	flat   bool
}

// Failed is the status of a machine whose path did not come to its end.
const Failed Status = "failed"

// Solve returns the solution for lambda > 0 and the bounds, one for all features or one for each, positive or +Inf. An error is for
// input without meaning; how the solve ended is the status.
func (g *SVM) Solve(ctx context.Context, lambda float64, bound []float64, o SVMOptions) (*Machine, error) {
	if !(lambda > 0) || math.IsInf(lambda, 1) {
		return nil, fmt.Errorf("descent: lambda is %g, expected a positive number", lambda)
	}
	p := g.rows.p
	if len(bound) == 1 {
		bound = slices.Repeat(bound, p)
	}
	if len(bound) != p {
		return nil, fmt.Errorf("descent: %d bounds for %d features, expected one or one for each", len(bound), p)
	}
	for j, b := range bound {
		if !(b > 0) {
			return nil, fmt.Errorf("descent: bound %d is %g, expected a positive number", j, b)
		}
	}
	if o.Tol == 0 {
		o.Tol = 1e-8
	}
	if !(o.Tol > 0) {
		return nil, fmt.Errorf("descent: the tolerance is %g, expected a positive number", o.Tol)
	}
	if o.Start != nil && len(o.Start.W) != p {
		return nil, fmt.Errorf("descent: the start has %d coefficients, expected %d", len(o.Start.W), p)
	}
	// Bounds that no solution reaches are all the same: lambda/2 |w|^2 is at most the value at w = 0.
	bound = slices.Clone(bound)
	wide := 2 * math.Sqrt(2*g.scale/lambda)
	for j := range bound {
		bound[j] = math.Min(bound[j], wide)
	}
	var out *Machine
	if o.Start != nil && o.Start.state != nil {
		out = g.follow(ctx, lambda, bound, o)
	}
	if out == nil || out.Status == Failed {
		exchanges := 0
		if out != nil {
			exchanges = out.Exchanges
		}
		o.Start = nil
		out = g.follow(ctx, lambda, bound, o)
		out.Exchanges += exchanges
	}
	return out, nil
}

// follow solves by a path from the start.
func (g *SVM) follow(ctx context.Context, lambda float64, bound []float64, o SVMOptions) *Machine {
	s := newSVMPath(ctx, g, lambda, bound)
	if o.Start != nil {
		s.from(o.Start)
	} else {
		s.fresh()
	}
	out := &Machine{lambda: lambda, bound: bound}
	out.Status = s.run(ctx, o.Tol, out)
	out.Exchanges = s.exchanges
	out.W, out.C = slices.Clone(s.w), s.c
	for j, b := range bound {
		out.W[j] = math.Max(-b, math.Min(b, out.W[j]))
	}
	s.multipliers()
	state := s.svmState // without the rest of the path
	out.state, out.v, out.total = &state, slices.Clone(s.v), floats.Sum(s.alpha)
	out.centre(g)
	return out
}

// Multipliers returns the alpha_i of a machine, for each row of the design; rows that are the same share theirs by their weights.
func (g *SVM) Multipliers(m *Machine) []float64 {
	out := make([]float64, len(g.rows.origin))
	for i, at := range g.rows.origin {
		out[i] = m.state.alpha[at] * g.rows.share[i]
	}
	return out
}
