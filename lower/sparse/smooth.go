package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
)

// smooth is a penalised regression with a smooth loss of predictions f = X b + b0,
//
//	minimize over b (and b0)   1/n sum_i v_i l(y_i, f_i + o_i) + sum_j w1_j |b_j| + 1/2 sum_j w2_j b_j^2,
//
// with the weights v_i of the rows, of mean 1, and their offsets o_i, both of which [observed] has in it: l is the loss of a row with them below.
//
// # Method
//
// Proximal Newton steps (Lee, Sun, Saunders, SIAM J. Optim. 2014), which have a [Regression] each: with u_i = -l'(y_i, f_i) and d_i = l”(y_i, f_i)
// the loss is, up to second order, 1/(2n) sum_i d_i (f_i + u_i / d_i - x_i'b - b0)^2. With a near u, whose entries add up to 0 if there is an
// intercept, c = X'a / n and t <= 1 such that t |c_j| <= w1_j where w2_j = 0,
//
//	-1/n sum_i l*(y_i, -t a_i) - sum_{j: w2_j > 0} max(0, t |c_j| - w1_j)^2 / (2 w2_j)
//
// is a lower bound of the optimal value by the conjugate l* of the loss in f. Solves do not change a regression, and may run at the same time.
type smooth struct {
	observed
	x         *design.Matrix
	intercept bool
	b0        float64 // the best intercept at b = 0
	scale     float64 // the objective there, or of the trivial solution
	quadratic bool    // the loss is squares
	terms     terms
	trivial   trivial
}

// loss is what a prediction f of a target y costs, not negative and convex in f.
type loss interface {
	value(y, f float64) float64
	// slope is u, minus the derivative.
	slope(y, f float64) float64
	// curvature is the second derivative where the slope is u.
	curvature(y, u float64) float64
	// balance changes the slopes a of targets y, times the weights, nil for ones, such that they add up to 0 and stay minus derivatives times these, by less the
	// nearer they are to that.
	balance(y, weight, a []float64)
	// conjugate is -l*(y, -a), for a = t u with t <= 1 and u a slope.
	conjugate(y, a float64) float64
	// slopes are the least and the largest one.
	slopes(y float64) (low, high float64)
}

// newSmooth checks the shapes and the design; b0 is the best intercept at b = 0.
func newSmooth(o observed, x *design.Matrix, intercept bool, b0 float64) (smooth, error) {
	for j := range x.Columns() {
		if _, _, err := x.Sums(j); err != nil {
			return smooth{}, fmt.Errorf("sparse: %w", err)
		}
	}
	g := smooth{observed: o, x: x, intercept: intercept, b0: b0}
	if intercept {
		g.trivial = trivial{columns: []int{design.Ones}, b: []float64{b0}}
	}
	g.scale = o.total(slices.Repeat([]float64{b0}, len(o.y)))
	return g, nil
}

// rowsOf returns the number of rows of a sample whose targets are called so.
func rowsOf(s Sample, called string) (int, error) {
	n, _ := s.X.Dims()
	if n == 0 {
		return 0, fmt.Errorf("sparse: no rows")
	}
	if len(s.Y) != n {
		return 0, fmt.Errorf("sparse: %d %s for %d rows", len(s.Y), called, n)
	}
	return n, s.check()
}

// Dims returns the number n of rows and p of features.
func (g *smooth) Dims() (n, p int) { return g.x.Dims() }

// Loss returns the loss of a prediction f of a target y, and its derivative in f, without weights and offsets.
func (g *smooth) Loss(y, f float64) (value, derivative float64) {
	return g.loss.value(y, f), -g.loss.slope(y, f)
}

// Relative is a gap in units of the objective at b = 0, that of [Options.Tol].
func (g *smooth) Relative(gap float64) float64 { return gap / g.scale }

// LambdaMax is the smallest common L1 weight at which all coefficients are zero that are penalised. Where their bounds keep them there at any weight, it is
// that without bounds.
func (g *smooth) LambdaMax() float64 {
	u := g.slopesAt(g.trivial.b)
	top, beyond := 0.0, 0.0
	for j := range g.x.Columns() {
		f := g.terms.weight(j)
		if f == 0 {
			continue
		}
		lo, hi := g.terms.room(j)
		c := g.x.Dot(j, u) / f
		beyond = math.Max(beyond, math.Abs(c))
		if c > 0 && hi > 0 || c < 0 && lo < 0 {
			top = math.Max(top, math.Abs(c))
		}
	}
	if top == 0 {
		top = beyond
	}
	return top / float64(len(g.y))
}

// Solve returns a solution at the weights w, as [Regression.Solve] does, which are common to all features.
func (g *smooth) Solve(ctx context.Context, w Weights, o Options) (*Solution, error) {
	if err := o.check(g.x.Columns()); err != nil {
		return nil, err
	}
	weights := &lower.JointWeights{Train: 1, Penalties: make([]float64, 2)}
	for k, list := range [][]float64{w.L1, w.L2} {
		if len(list) > 1 {
			return nil, fmt.Errorf("sparse: %d weights of a penalty, expected a common one", len(list))
		}
		for _, v := range list {
			if !(v >= 0) || math.IsInf(v, 1) {
				return nil, fmt.Errorf("sparse: weight %g of a penalty, expected a finite number that is not negative", v)
			}
			weights.Penalties[k] = v
		}
	}
	if weights.Penalties[0]+weights.Penalties[1] == 0 {
		return nil, fmt.Errorf("sparse: no penalty, expected a positive weight")
	}
	s, err := g.startJoint(o)
	if err != nil {
		return nil, err
	}
	out, _, err := s.fit(ctx, weights, o.Tol*g.scale, exhaustedGap*g.scale)
	return out, err
}

// startJoint is a solver at the start.
func (g *smooth) startJoint(o Options) (*jointSolver, error) {
	if o.Start != nil && o.Start.engine != nil && o.Start.engine.sets[training].X == g.x && o.Start.engine.base == g {
		return o.Start.engine.clone(), nil
	}
	j, err := g.Joint(Sample{X: g.x})
	if err != nil {
		return nil, err
	}
	s := j.Joint().(*jointSolver)
	x := [][]float64{make([]float64, g.x.Columns())}
	if o.Start != nil {
		x[0] = o.Start.B
	}
	for k, j := range g.trivial.columns {
		switch {
		case j == design.Ones && o.Start != nil:
			x = append(x, []float64{o.Start.B0})
		case j == design.Ones:
			x = append(x, []float64{g.trivial.b[k]})
		case o.Start == nil:
			x[0][j] = g.trivial.b[k]
		}
	}
	return s, s.move(x)
}

const (
	// exhaustedGap is a relative gap below which rounding may keep it from falling.
	exhaustedGap = 1e-8
	// rounded is a share of the objective that is rounding.
	rounded = 1e-13
	// newtonSteps bounds the Newton steps of Cox and multinomial regressions, idleSteps those in a row that leave the gap as it is where rounding may.
	newtonSteps, idleSteps = 100, 3
)

// leastCurvature bounds d_i from below.
const leastCurvature = 1e-8

// Local returns the regression whose loss is this one around a solution up to second order; its
// last column stands for the intercept, if there is one, and has no penalty.
func (g *smooth) Local(s *Solution) (*Regression, error) {
	root := make([]float64, len(s.Residual))
	for i, v := range s.Residual {
		root[i] = math.Sqrt(math.Max(leastCurvature, g.curvature(i, v)))
	}
	return NewRegression(g.x.ScaleRows(root, g.intercept), make([]float64, len(root)), false)
}
