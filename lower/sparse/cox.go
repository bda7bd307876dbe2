package sparse

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/survival"
)

// Cox is a penalised regression of proportional hazards: with the half deviance D(f) of the partial likelihood of n rows, see [survival.Likelihood],
//
//	minimize over b   D(X b)/n + w1 sum_j |b_j| + w2/2 sum_j b_j^2
//
// (Simon, Friedman, Hastie, Tibshirani, JSS 39, 2011). A constant changes nothing, so that there is no intercept. Solves do not change it, and may run at the same time.
//
// # Method
//
// Proximal Newton steps (Lee, Sun, Saunders, SIAM J. Optim. 2014) over working sets, with the whole second derivatives 1/n (X'diag(a)X - M'diag(m)M), in which a row of M
// is the mean of the features over the rows at risk; each step is a [quadratic] program. With minus the derivatives u of D, c = X'u / n and t <= 1 such that t |c_j| <= w1
// where w2 = 0,
//
//	1/n Entropy(t) - sum_j max(0, t |c_j| - w1)^2 / (2 w2)
//
// is a lower bound of the optimal value: see [survival.Point.Entropy], which is a conjugate of D at tu.
type Cox struct {
	x     *design.Matrix
	risk  *survival.Likelihood
	scale float64 // the objective at b = 0
}

// CoxSolution is a point, and how near to the optimum it is proven to be.
type CoxSolution struct {
	Status lower.Status
	// B are the p coefficients, F = X b.
	B, F []float64
	// Objective is the value, Gap bounds its distance from the optimum. Steps counts Newton steps.
	Objective, Gap float64
	Steps          int
}

// NewCox checks the data: rows of x and their times, minus those of censored ones.
func NewCox(x *design.Matrix, y []float64, ties survival.Ties) (*Cox, error) {
	n, err := rowsOf(Sample{X: x, Y: y}, "times")
	if err != nil {
		return nil, err
	}
	if err := survival.Check(y); err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	for j := range x.Columns() {
		if _, _, err := x.Sums(j); err != nil {
			return nil, fmt.Errorf("sparse: %w", err)
		}
	}
	g := &Cox{x: x, risk: survival.New(y, ties)}
	if g.scale = g.risk.HalfDeviance(make([]float64, n)) / float64(n); !(g.scale > 0) {
		return nil, fmt.Errorf("sparse: no event has other rows at risk, so that there is nothing to fit")
	}
	return g, nil
}

// Relative is a gap in units of the objective at b = 0, that of [Options.Tol].
func (g *Cox) Relative(gap float64) float64 { return gap / g.scale }

// LambdaMax is the smallest w1 at which all coefficients are zero.
func (g *Cox) LambdaMax() float64 {
	s := g.begin(0, 0, nil)
	s.look()
	return floats.Norm(s.c, math.Inf(1))
}

// coxSolve is one run.
type coxSolve struct {
	*Cox
	n, w1, w2 float64
	b, f      []float64
	point     *survival.Point
	u, a      []float64 // minus the derivatives of D, and the diagonal of its second ones before the means
	c         []float64 // X'u / n
	loss      float64
	set       []int // the working set
	problem   quadratic
}

func (g *Cox) begin(w1, w2 float64, start *CoxSolution) *coxSolve {
	n, p := g.x.Dims()
	s := &coxSolve{Cox: g, n: float64(n), w1: w1, w2: w2, b: make([]float64, p), f: make([]float64, n), u: make([]float64, n), a: make([]float64, n), c: make([]float64, p)}
	if start != nil {
		copy(s.b, start.B)
	}
	s.predict()
	return s
}

// Solve returns a solution at the weights w1 and w2, one of them positive, from the start, which may be nil. The error is for input without meaning.
func (g *Cox) Solve(ctx context.Context, w1, w2, tol float64, start *CoxSolution) (*CoxSolution, error) {
	if !(w1 >= 0) || !(w2 >= 0) || !(w1+w2 > 0) || math.IsInf(w1+w2, 1) {
		return nil, fmt.Errorf("sparse: weights %g and %g, expected finite numbers that are not negative, one of them positive", w1, w2)
	}
	if start != nil && len(start.B) != g.x.Columns() {
		return nil, fmt.Errorf("sparse: a start of another shape")
	}
	o, err := Options{Tol: tol}.withDefaults()
	if err != nil {
		return nil, err
	}
	return g.begin(w1, w2, start).run(ctx, o.Tol), nil
}

func (s *coxSolve) run(ctx context.Context, tol float64) *CoxSolution {
	out := &CoxSolution{Status: lower.EpochLimit}
	bound, least, idle := math.Inf(-1), math.Inf(1), 0
	for ; ; out.Steps++ {
		s.look()
		out.Objective = s.loss + s.penalty(s.b)
		bound = math.Max(bound, s.dual())
		out.Gap = math.Max(0, out.Objective-bound)
		if idle++; out.Gap < least/2 {
			least, idle = out.Gap, 0
		}
		switch {
		case out.Gap <= tol*s.scale:
			out.Status = lower.Optimal
		case idle >= idleSteps && out.Gap <= exhaustedGap*s.scale:
			out.Status = lower.Exhausted
		case ctx.Err() != nil:
			out.Status = lower.Cancelled
		case out.Steps < newtonSteps:
			if s.step(ctx) {
				continue
			}
			switch {
			case ctx.Err() != nil:
				out.Status = lower.Cancelled
			case out.Gap <= exhaustedGap*s.scale:
				out.Status = lower.Exhausted
			default:
				out.Status = lower.Stalled
			}
		}
		break
	}
	out.B, out.F = s.b, s.f
	return out
}

// predict sets f and the loss at b.
func (s *coxSolve) predict() {
	clear(s.f)
	s.x.Mul(s.f, s.b)
	s.point = s.risk.At(s.f, s.point)
	s.loss = s.point.HalfDeviance / s.n
}

// look sets u, a and c.
func (s *coxSolve) look() {
	s.point.Slopes(s.u, s.a)
	for j := range s.c {
		s.c[j] = s.x.Dot(j, s.u) / s.n
	}
}

// penalty is that of coefficients.
func (s *coxSolve) penalty(b []float64) float64 {
	sum := 0.0
	for _, v := range b {
		if v != 0 {
			sum += s.w1*math.Abs(v) + s.w2*v*v/2
		}
	}
	return sum
}

// dual is the lower bound.
func (s *coxSolve) dual() float64 {
	t, over := 1.0, 0.0
	for _, v := range s.c {
		if v = math.Abs(v); v > s.w1 {
			over += (v - s.w1) * (v - s.w1)
			t = math.Min(t, s.w1/v)
		}
	}
	bound := s.point.Entropy(t) / s.n
	if t < 1 && s.w2 > 0 {
		bound = math.Max(bound, s.point.Entropy(1)/s.n-over/(2*s.w2))
	}
	return bound
}
