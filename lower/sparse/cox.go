package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/survival"
)

// Cox is a penalised regression of proportional hazards: with the half deviance D(f) of the partial likelihood of n rows, see [survival.Likelihood],
//
//	minimize over b   D(X b + o)/n + w1 sum_j f_j |b_j| + w2/2 sum_j f_j b_j^2
//
// (Simon, Friedman, Hastie, Tibshirani, JSS 39, 2011) with an offset o of the rows, whose weights have the mean 1, and within bounds, where there are some: see [Sample] and [Terms]. A constant
// changes nothing, so that there is no intercept. Solves do not change it, and may run at the same time.
//
// # Method
//
// Proximal Newton steps (Lee, Sun, Saunders, SIAM J. Optim. 2014) over working sets, with the whole second derivatives 1/n (X'diag(a)X - M'diag(m)M), in which a row of M
// is the mean of the features over the rows at risk; each step is a [quadratic] program. With minus the derivatives u of D, c = X'u / n and t <= 1 such that t |c_j| <= w1
// where w2 = 0,
//
//	1/n (Entropy(t) - t u'o) - sum_j max(0, t |c_j| - w1)^2 / (2 w2)
//
// is a lower bound of the optimal value: see [survival.Point.Entropy], which is a conjugate of D at tu. Factors multiply the weights in it, and a bound B of a coefficient limits its term to B times
// what c_j is over w1. A feature without a penalty needs such a bound for any other c_j than 0: B = 2 |b_j| and [coxReach] divided by the root of the mean square of the feature. As the objective is
// convex, where the optimum is k times as far from b as that, the gap is at most k times as large as it is said to be.
type Cox struct {
	x      *design.Matrix
	risk   *survival.Likelihood
	offset []float64 // nil for none
	n      float64   // by which the half deviance is divided
	scale  float64   // the objective at b = 0
	terms  terms
	reach  []float64 // of features without a penalty, 0 for the others; nil where there are none
}

// coxReach is how many units of the logarithm of a hazard a feature without a penalty may make, for the bound of the optimal value, at a value of its root mean square.
const coxReach = 20

// CoxSolution is a point, and how near to the optimum it is proven to be.
type CoxSolution struct {
	Status lower.Status
	// B are the p coefficients, F = X b + o.
	B, F []float64
	// Objective is the value, Gap bounds its distance from the optimum. Steps counts Newton steps.
	Objective, Gap float64
	Steps          int
}

// NewCox checks the data: rows of x and their times, minus those of censored ones.
func NewCox(x *design.Matrix, y []float64, ties survival.Ties) (*Cox, error) {
	return CoxOf(Sample{X: x, Y: y}, ties, Terms{})
}

// CoxOf is [NewCox] of rows with weights and an offset, and with terms of features. Of features without a penalty that depend on each other the fit is one of several with the same values.
func CoxOf(d Sample, ties survival.Ties, t Terms) (*Cox, error) {
	n, err := rowsOf(d, "times")
	if err != nil {
		return nil, err
	}
	if err := survival.Check(d.Y); err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	g := &Cox{x: d.X, risk: survival.Weighted(d.Y, meanOne(d.Weights), ties), offset: d.Offset, n: float64(n)}
	if err := g.with(t); err != nil {
		return nil, err
	}
	for j := range d.X.Columns() {
		_, squares, err := d.X.Sums(j)
		if err != nil {
			return nil, fmt.Errorf("sparse: %w", err)
		}
		if g.reach != nil && g.terms.always(j) && squares > 0 {
			g.reach[j] = coxReach / math.Sqrt(squares/float64(n))
		}
	}
	if g.scale = g.risk.HalfDeviance(make([]float64, n)) / float64(n); !(g.scale > 0) {
		return nil, fmt.Errorf("sparse: no event has other rows at risk, so that there is nothing to fit")
	}
	if g.offset != nil {
		if s := g.risk.HalfDeviance(g.offset) / float64(n); s > 0 {
			g.scale = s
		}
	}
	return g, nil
}

// with takes the terms.
func (g *Cox) with(t Terms) error {
	if t.Plain() {
		return nil
	}
	full, err := t.check(g.x.Columns())
	if err != nil {
		return err
	}
	g.terms = terms{factor: full.Factors}
	if t.Lower != nil || t.Upper != nil {
		g.terms.lower, g.terms.upper = full.Lower, full.Upper
	}
	if slices.Contains(full.Factors, 0) {
		g.reach = make([]float64, g.x.Columns())
	}
	return nil
}

// Factor is the factor of the penalties of a feature.
func (g *Cox) Factor(j int) float64 { return g.terms.weight(j) }

// Relative is a gap in units of the objective at b = 0, that of [Options.Tol].
func (g *Cox) Relative(gap float64) float64 { return gap / g.scale }

// LambdaMax is the smallest w1 at which all coefficients are zero that are penalised. Where their bounds keep them there at any weight, it is that without bounds.
func (g *Cox) LambdaMax() float64 {
	s := g.begin(0, 0, nil)
	s.look()
	top := s.top()
	if g.reach != nil && top > 0 {
		// The others first: at so large a weight no penalised feature wants to move, however they do.
		s = g.begin(mostFactor*top, 0, nil)
		s.run(context.Background(), defaultTol)
		s.look()
		top = s.top()
	}
	return top
}

// mostFactor is how many times as large as at zero coefficients derivatives are taken to be at most.
const mostFactor = 1e9

// top is the largest derivative of a feature in units of its factor, of those that have room to move that way where there are some.
func (s *coxSolve) top() float64 {
	top, beyond := 0.0, 0.0
	for j, c := range s.c {
		f := s.terms.weight(j)
		if f == 0 {
			continue
		}
		size := math.Abs(c) / f
		if beyond = math.Max(beyond, size); s.moves(j) {
			top = math.Max(top, size)
		}
	}
	if top == 0 {
		return beyond
	}
	return top
}

// moves says that the bounds of a feature, which is 0, leave room for where its derivative draws it.
func (s *coxSolve) moves(j int) bool {
	lo, hi := s.terms.room(j)
	return s.c[j] > 0 && hi > 0 || s.c[j] < 0 && lo < 0
}

// coxSolve is one run.
type coxSolve struct {
	*Cox
	w1, w2  float64
	b, f    []float64
	point   *survival.Point
	u, a    []float64 // minus the derivatives of D, and the diagonal of its second ones before the means
	c       []float64 // X'u / n
	loss    float64
	set     []int // the working set
	problem quadratic
}

func (g *Cox) begin(w1, w2 float64, start *CoxSolution) *coxSolve {
	n, p := g.x.Dims()
	s := &coxSolve{Cox: g, w1: w1, w2: w2, b: make([]float64, p), f: make([]float64, n), u: make([]float64, n), a: make([]float64, n), c: make([]float64, p)}
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
	o := Options{Tol: tol}
	if err := o.check(g.x.Columns()); err != nil {
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
	if s.offset != nil {
		floats.Add(s.f, s.offset)
	}
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
	for j, v := range b {
		if v != 0 {
			sum += s.terms.weight(j) * (s.w1*math.Abs(v) + s.w2*v*v/2)
		}
	}
	return sum
}

// dual is the lower bound.
func (s *coxSolve) dual() float64 {
	t := 1.0
	for j, v := range s.c {
		t = math.Min(t, s.terms.share(j, v, s.terms.weight(j)*s.w1))
	}
	bound := s.bound(t, s.w2)
	if t < 1 && s.w2 > 0 {
		return math.Max(bound, s.bound(1, s.w2))
	}
	return bound
}

// bound is that of t.
func (s *coxSolve) bound(t, w2 float64) float64 {
	sum := s.point.Entropy(t)
	if s.offset != nil {
		sum -= t * floats.Dot(s.u, s.offset)
	}
	sum /= s.n
	for j, c := range s.c {
		if s.reach != nil && s.terms.always(j) {
			lo, hi := s.terms.room(j)
			within := 2*math.Abs(s.b[j]) + s.reach[j]
			sum -= math.Max(t*c*math.Min(hi, within), t*c*math.Max(lo, -within))
			continue
		}
		f := s.terms.weight(j)
		sum -= s.terms.conjugate(j, t*c, f*s.w1, f*w2)
	}
	return sum
}
