package sparse

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
)

// Logistic is a penalised logistic regression, with targets y of -1 and 1 and f = X b + b0,
//
//	minimize over b (and b0)   1/n sum_i log(1 + exp(-y_i f_i)) + sum_j w1_j |b_j| + 1/2 sum_j w2_j b_j^2.
//
// Each feature needs a penalty. The residual of its solutions is u_i = y_i / (1 + exp(y_i f_i)), minus the derivative of the loss.
//
// # Method
//
// Proximal Newton steps (Lee, Sun, Saunders, SIAM J. Optim. 2014), which have a [Regression] each: with d_i = |u_i| (1 - |u_i|)
// the loss is, up to second order, 1/(2n) sum_i d_i (f_i + u_i / d_i - x_i'b - b0)^2. With a_i = |u_i|, scaled such that their
// y_i a_i add up to 0 if there is an intercept, c = X'u / n and t <= 1 such that t |c_j| <= w1_j where w2_j = 0,
//
//	-1/n sum_i (t a_i log(t a_i) + (1 - t a_i) log(1 - t a_i)) - sum_{j: w2_j > 0} max(0, t |c_j| - w1_j)^2 / (2 w2_j)
//
// is a lower bound of the optimal value. It is not changed by solves, which may run at the same time.
type Logistic struct {
	x         *design.Matrix
	y         []float64
	intercept bool
	b0        float64 // the best intercept at b = 0
	scale     float64 // the objective there
}

// NewLogistic checks the data: y has -1 or 1 for each row of x, and both if there is an intercept.
func NewLogistic(x *design.Matrix, y []float64, intercept bool) (*Logistic, error) {
	n, p := x.Dims()
	if n == 0 {
		return nil, fmt.Errorf("sparse: no rows")
	}
	if len(y) != n {
		return nil, fmt.Errorf("sparse: %d labels for %d rows", len(y), n)
	}
	ones := 0
	for i, v := range y {
		if v != -1 && v != 1 {
			return nil, fmt.Errorf("sparse: label of row %d is %g, expected -1 or 1", i, v)
		}
		if v > 0 {
			ones++
		}
	}
	for j := range p {
		if _, _, err := x.Sums(j); err != nil {
			return nil, fmt.Errorf("sparse: %w", err)
		}
	}
	g := &Logistic{x: x, y: y, intercept: intercept}
	if intercept {
		if ones == 0 || ones == n {
			return nil, fmt.Errorf("sparse: all labels are %g, and the intercept would be infinite; expected -1 and 1", y[0])
		}
		g.b0 = math.Log(float64(ones) / float64(n-ones))
	}
	for _, v := range y {
		g.scale += logLoss(v*g.b0) / float64(n)
	}
	return g, nil
}

// logLoss is log(1 + exp(-m)) without overflow.
func logLoss(m float64) float64 { return math.Max(-m, 0) + math.Log1p(math.Exp(-math.Abs(m))) }

// Dims returns the number n of rows and p of features.
func (g *Logistic) Dims() (n, p int) { return g.x.Dims() }

// Relative is a gap in units of the objective at b = 0, that of [Options.Tol].
func (g *Logistic) Relative(gap float64) float64 { return gap / g.scale }

// LambdaMax is the smallest common L1 weight at which all coefficients are zero.
func (g *Logistic) LambdaMax() float64 {
	u, top := make([]float64, len(g.y)), 0.0
	for i, v := range g.y {
		u[i] = v / (1 + math.Exp(v*g.b0))
	}
	for j := range g.x.Columns() {
		top = math.Max(top, math.Abs(g.x.Dot(j, u)))
	}
	return top / float64(len(g.y))
}

// logisticSolve is one run.
type logisticSolve struct {
	*Logistic
	w1, w2 []float64
	n      float64
	b      []float64 // with the intercept at the end, if there is one
	f, u   []float64
}

// Solve returns a solution at the weights w, as [Regression.Solve] does; Outer counts the Newton steps.
func (g *Logistic) Solve(ctx context.Context, w Weights, o Options) (*Solution, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := g.x.Columns()
	s := &logisticSolve{Logistic: g, n: float64(len(g.y)), f: make([]float64, len(g.y)), u: make([]float64, len(g.y)), b: make([]float64, p, p+1)}
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

// newtonSteps bounds the proximal Newton steps.
const newtonSteps = 100

func (s *logisticSolve) run(ctx context.Context, o Options) (*Solution, error) {
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
		} else if idle >= idleSteps && out.Gap <= exhaustedGap*s.scale {
			out.Status = lower.Exhausted
		} else if ctx.Err() != nil {
			out.Status = lower.Cancelled
		} else if out.Outer < newtonSteps && out.Epochs < o.MaxEpochs {
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
)

// predict sets f to X b + b0.
func (s *logisticSolve) predict(f, b []float64) {
	clear(f)
	s.x.Mul(f, b[:s.x.Columns()])
	if s.intercept {
		floats.AddConst(b[s.x.Columns()], f)
	}
}

// value is the objective.
func (s *logisticSolve) value(f, b []float64) float64 {
	sum := 0.0
	for i, v := range f {
		sum += logLoss(s.y[i] * v)
	}
	return sum/s.n + s.penalty(b)
}

func (s *logisticSolve) penalty(b []float64) float64 {
	sum := 0.0
	for j, w := range s.w1 {
		sum += w*math.Abs(b[j]) + s.w2[j]*b[j]*b[j]/2
	}
	return sum
}

// dual sets u and returns the lower bound.
func (s *logisticSolve) dual() float64 {
	var sums [2]float64
	for i, y := range s.y {
		s.u[i] = y / (1 + math.Exp(y*s.f[i]))
		if y > 0 {
			sums[1] += s.u[i]
		} else {
			sums[0] -= s.u[i]
		}
	}
	a := append([]float64(nil), s.u...)
	if s.intercept {
		least := math.Min(sums[0], sums[1])
		for i, y := range s.y {
			if y > 0 {
				a[i] *= least / sums[1]
			} else {
				a[i] *= least / sums[0]
			}
		}
	}
	t, c := 1.0, make([]float64, s.x.Columns())
	for j := range c {
		c[j] = math.Abs(s.x.Dot(j, a)) / s.n
		if s.w2[j] == 0 && t*c[j] > s.w1[j] {
			t = s.w1[j] / c[j]
		}
	}
	sum := 0.0
	for _, v := range a {
		if v = t * math.Abs(v); v > 0 && v < 1 {
			sum -= v*math.Log(v) + (1-v)*math.Log1p(-v)
		}
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

// Local returns the regression whose loss is that of the logistic regression around a solution up to second order; its
// last column stands for the intercept, if there is one, and has no penalty.
func (g *Logistic) Local(s *Solution) (*Regression, error) { return g.local(s.Residual, nil) }

// local is Local at u, with targets for the predictions f.
func (g *Logistic) local(u, f []float64) (*Regression, error) {
	root, y := make([]float64, len(u)), make([]float64, len(u))
	for i, v := range u {
		d := math.Max(leastCurvature, math.Abs(v)*(1-math.Abs(v)))
		root[i] = math.Sqrt(d)
		if f != nil {
			y[i] = root[i]*f[i] + v/root[i]
		}
	}
	return NewRegression(g.x.ScaleRows(root, g.intercept), y, false)
}

// step returns the minimum of the local regression.
func (s *logisticSolve) step(ctx context.Context, o Options, out *Solution) ([]float64, error) {
	g, err := s.local(s.u, s.f)
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
	o.Start, o.Tol, o.MaxEpochs = &Solution{B: s.b}, math.Max(1e-18, tol/g.data.Scale), o.MaxEpochs-out.Epochs
	sub, err := g.Solve(ctx, w, o)
	if err != nil {
		return nil, err
	}
	out.Epochs += sub.Epochs
	out.Newton += sub.Newton
	return sub.B, nil
}

// line goes from b towards to, as far as the objective falls by a share of what the model promises. It returns the
// objective, and says whether the iterate changed. Steps that change the objective by its rounding error are taken whole.
func (s *logisticSolve) line(to []float64, value float64) (float64, bool) {
	d, fd := make([]float64, len(to)), make([]float64, len(s.f))
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
	b, f := make([]float64, len(to)), make([]float64, len(fd))
	for t := 1.0; t > 1e-8; t /= 2 {
		floats.AddScaledTo(b, s.b, t, d)
		if t == 1 {
			copy(b, to) // zeros are zeros
		}
		floats.AddScaledTo(f, s.f, t, fd)
		if next := s.value(f, b); next <= value+1e-4*t*promise && next < value {
			copy(s.b, b)
			s.predict(s.f, s.b)
			return s.value(s.f, s.b), true
		}
	}
	return value, false
}
