package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

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
	plain     bool    // there are no terms
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
	g := smooth{observed: o, x: x, intercept: intercept, b0: b0, plain: true}
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

// smoothSolve is one run.
type smoothSolve struct {
	*smooth
	w1, w2 []float64
	n      float64
	b      []float64 // with the intercept at the end, if there is one
	f, u   []float64

	a, fd, ft []float64 // for the slopes of a dual point, and the predictions of a direction and of a trial
	c, d, bt  []float64 // for their correlations with the features, and the direction and the trial
	rows      localRows
}

// Solve returns a solution at the weights w, as [Regression.Solve] does; Outer counts the Newton steps.
func (g *smooth) Solve(ctx context.Context, w Weights, o Options) (*Solution, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if !g.plain {
		return g.solveTerms(ctx, w, o)
	}
	if out, err := g.solveJoint(ctx, w, o); out != nil || err != nil {
		return out, err
	}
	p := g.x.Columns()
	s := &smoothSolve{smooth: g, n: float64(len(g.y)), f: make([]float64, len(g.y)), u: make([]float64, len(g.y)), b: make([]float64, p, p+1)}
	if s.w1, s.w2, err = w.spread(p); err != nil {
		return nil, err
	}
	for j := range p {
		if s.w1[j] == 0 && s.w2[j] == 0 {
			return nil, fmt.Errorf("sparse: feature %d has no penalty, expected a positive weight", j)
		}
	}
	b0 := g.b0
	if o.Start != nil {
		if len(o.Start.B) != p {
			return nil, fmt.Errorf("sparse: the start has %d coefficients, expected %d", len(o.Start.B), p)
		}
		copy(s.b, o.Start.B)
		b0 = o.Start.B0
	}
	if g.intercept {
		s.b = append(s.b, b0)
	}
	return s.run(ctx, o)
}

// solveJoint is Solve by the models of a [Joint], for common weights on large designs; nil where it is not.
func (g *smooth) solveJoint(ctx context.Context, w Weights, o Options) (*Solution, error) {
	if g.x.Stored() < manyEntries || len(w.L1) != 1 || len(w.L2) > 1 || !(w.L1[0] > 0) {
		return nil, nil
	}
	weights := &lower.JointWeights{Train: 1, Penalties: []float64{w.L1[0], 0}}
	if len(w.L2) == 1 {
		weights.Penalties[1] = w.L2[0]
	}
	s, err := g.startJoint(o)
	if err != nil {
		return nil, err
	}
	if out, ended, err := s.fit(ctx, weights, o.Tol*g.scale, exhaustedGap/tolDefault*o.Tol*g.scale); ended || err != nil {
		return out, err
	}
	return nil, nil
}

// solveTerms is Solve with terms.
func (g *smooth) solveTerms(ctx context.Context, w Weights, o Options) (*Solution, error) {
	weights := &lower.JointWeights{Train: 1, Penalties: make([]float64, 2)}
	for k, list := range [][]float64{w.L1, w.L2} {
		if len(list) > 1 {
			return nil, fmt.Errorf("sparse: %d weights of a penalty with terms, expected a common one", len(list))
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
		if len(o.Start.B) != g.x.Columns() {
			return nil, fmt.Errorf("sparse: the start has %d coefficients, expected %d", len(o.Start.B), g.x.Columns())
		}
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

// newtonSteps bounds the proximal Newton steps.
const newtonSteps = 100

func (s *smoothSolve) run(ctx context.Context, o Options) (*Solution, error) {
	p := s.x.Columns()
	out := &Solution{Status: lower.EpochLimit}
	s.predict(s.f, s.b)
	value, bound := s.value(s.f, s.b), math.Inf(-1)
	least, idle := math.Inf(1), 0
	for ; ; out.Outer++ {
		bound = math.Max(bound, s.dual())
		out.Objective, out.Gap = value, math.Max(0, value-bound)
		if idle++; out.Gap < least/2 {
			least, idle = out.Gap, 0
		}
		if out.Gap <= o.Tol*s.scale {
			out.Status = lower.Optimal
		} else if idle >= idleSteps && out.Gap <= exhaustedGap*s.scale || idle >= worseSteps && out.Gap <= worseGap*s.scale {
			out.Status = lower.Exhausted
		} else if ctx.Err() != nil {
			out.Status = lower.Cancelled
		} else if out.Outer < patientSteps && (out.Outer < newtonSteps || idle < idleMost) && out.Epochs < o.MaxEpochs {
			step, err := s.step(ctx, o, out)
			if err != nil {
				return nil, err
			}
			next, ok := s.line(step, value)
			if value = next; ok {
				continue
			}
			if out.Gap <= exhaustedGap*s.scale {
				out.Status = lower.Exhausted
			} else if ctx.Err() != nil {
				out.Status = lower.Cancelled // which the step did not come to its end for
			}
		}
		break
	}
	out.B, out.Residual = s.b[:p:p], s.u
	if s.intercept {
		out.B0 = s.b[p]
	}
	for j, v := range out.B {
		if v != 0 {
			out.Support = append(out.Support, j)
		}
	}
	return out, nil
}

const (
	// exhaustedGap is a relative gap below which rounding may keep it from falling.
	exhaustedGap = 1e-8
	// rounded is a share of the objective that is rounding.
	rounded = 1e-13
	// idleSteps is how many steps in a row may leave the gap as it is.
	idleSteps = 3
	// Where features tell the labels apart and weights are next to nothing, predictions are large, and rounding is, too: worseGap is the gap below which so many steps are the end.
	worseSteps, worseGap = 8, 1e-6
	// There, each step takes a share of the loss that is left, so that there may be patientSteps of them, as long as less than idleMost in a row leave more than half the gap.
	patientSteps, idleMost = 3000, 300
	// stepEpochs are those of the local regression of a step.
	stepEpochs = 3000
)

// predict sets f to X b + b0.
func (s *smoothSolve) predict(f, b []float64) {
	clear(f)
	s.x.Mul(f, b[:s.x.Columns()])
	if s.intercept {
		floats.AddConst(b[s.x.Columns()], f)
	}
}

// value is the objective.
func (s *smoothSolve) value(f, b []float64) float64 {
	return s.total(f) + s.penalty(b)
}

func (s *smoothSolve) penalty(b []float64) float64 {
	sum := 0.0
	for j, w := range s.w1 {
		sum += w*math.Abs(b[j]) + s.w2[j]*b[j]*b[j]/2
	}
	return sum
}

// room makes room for what dual and line work with.
func (s *smoothSolve) room() {
	if s.a != nil {
		return
	}
	n, p, all := len(s.f), s.x.Columns(), len(s.b)
	rows, columns := make([]float64, 5*n), make([]float64, p+2*all)
	s.a, s.fd, s.ft = rows[:n], rows[n:2*n], rows[2*n:3*n]
	s.rows.root, s.rows.y = rows[3*n:4*n], rows[4*n:]
	s.c, s.d, s.bt = columns[:p], columns[p:p+all], columns[p+all:]
}

// dual sets u and returns the lower bound.
func (s *smoothSolve) dual() float64 {
	s.room()
	for i, f := range s.f {
		s.u[i] = s.slope(i, f)
	}
	a := s.a
	copy(a, s.u)
	if s.intercept {
		s.balance(a)
	}
	t, c := 1.0, s.c
	for j := range c {
		c[j] = math.Abs(s.x.Dot(j, a)) / s.n
		if s.w2[j] == 0 && t*c[j] > s.w1[j] {
			t = s.w1[j] / c[j]
		}
	}
	sum := 0.0
	for i, v := range a {
		sum += s.conjugate(i, t*v)
	}
	sum /= s.n
	for j, v := range c {
		if over := t*v - s.w1[j]; over > 0 && s.w2[j] > 0 {
			sum -= over * over / (2 * s.w2[j])
		}
	}
	return sum
}

// leastCurvature bounds d_i from below.
const leastCurvature = 1e-8

// Local returns the regression whose loss is this one around a solution up to second order; its
// last column stands for the intercept, if there is one, and has no penalty.
func (g *smooth) Local(s *Solution) (*Regression, error) {
	n := len(s.Residual)
	return g.local(s.Residual, nil, &localRows{root: make([]float64, n), y: make([]float64, n)})
}

// localRows are the rows of a local regression: the roots of the curvatures, targets, and features.
type localRows struct {
	root, y []float64
	x       *design.Matrix // of the regression before, nil for none
}

// local is Local at u, with targets for the predictions f, in the memory of the rows of the one before.
func (g *smooth) local(u, f []float64, rows *localRows) (*Regression, error) {
	for i, v := range u {
		d := math.Max(leastCurvature, g.curvature(i, v))
		root := math.Sqrt(d)
		if rows.root[i] = root; f != nil {
			rows.y[i] = root*f[i] + v/root
		}
	}
	rows.x = g.x.ScaleRowsIn(rows.x, rows.root, g.intercept)
	return NewRegression(rows.x, rows.y, false)
}

// step returns the minimum of the local regression.
func (s *smoothSolve) step(ctx context.Context, o Options, out *Solution) ([]float64, error) {
	g, err := s.local(s.u, s.f, &s.rows)
	if err != nil {
		return nil, err
	}
	w := Weights{L1: s.w1, L2: s.w2}
	if s.intercept {
		w.L1, w.L2 = append(append([]float64(nil), s.w1...), 0), append(append([]float64(nil), s.w2...), 0)
	}
	// The error of c, and with it the gap, goes with the root of that of the objective.
	gap := out.Gap / s.scale
	tol := s.scale * math.Max(1e-3*o.Tol*o.Tol, math.Min(1e-4, 0.01*gap*gap))
	o.Start, o.Tol, o.MaxEpochs = &Solution{B: s.b}, math.Max(1e-18, tol/g.data.Scale), min(stepEpochs, o.MaxEpochs-out.Epochs)
	sub, err := g.Solve(ctx, w, o)
	if err == nil && sub.Outer == 0 && sub.Status == lower.Optimal && out.Gap > exhaustedGap*s.scale {
		// The start solves the local regression to that tolerance already, though it does not solve the whole: with small w2 the one gap may be far
		// below the other.
		o.Tol = math.Max(1e-18, 0.01*sub.Gap/g.data.Scale)
		sub, err = g.Solve(ctx, w, o)
	}
	if err != nil {
		return nil, err
	}
	out.Epochs += sub.Epochs
	out.Newton += sub.Newton
	return sub.B, nil
}

// line goes from b towards to, as far as the objective falls by a share of what the model promises. It returns the
// objective, and says whether the iterate changed. Steps that change the objective by its rounding error are taken whole.
func (s *smoothSolve) line(to []float64, value float64) (float64, bool) {
	d, fd := s.d, s.fd
	floats.SubTo(d, to, s.b)
	s.predict(fd, d)
	promise := s.penalty(to) - s.penalty(s.b) - floats.Dot(s.u, fd)/s.n
	if !(promise < 0) {
		return value, false
	}
	if -promise <= rounded*value { // the objective cannot tell any more
		copy(s.b, to)
		s.predict(s.f, s.b)
		return s.value(s.f, s.b), true
	}
	b, f := s.bt, s.ft
	for t := 1.0; t > 1e-8; t /= 2 {
		floats.AddScaledTo(b, s.b, t, d)
		if t == 1 {
			copy(b, to) // zeros are zeros
		}
		floats.AddScaledTo(f, s.f, t, fd)
		if next := s.value(f, b); next <= value+1e-4*t*promise && next < value {
			copy(s.b, b)
			s.predict(s.f, s.b) // without the rounding errors of steps, which would add up
			return next, true
		}
	}
	return value, false
}
