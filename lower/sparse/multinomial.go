package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
)

// Multinomial is a penalised multinomial logistic regression of K classes: with the p x K coefficients B, of which entry (j, k) is b_(jK+k), and
// f_ik = x_i'B_k + b0_k,
//
//	minimize over B (and b0)   1/n sum_i v_i (log sum_k exp(f_ik) - f_(i, y_i)) + w1 sum_jk |b_jk| + w2/2 sum_jk b_jk^2.
//
// where the weights v_i of the rows have the mean 1. All classes have coefficients, as in glmnet and scikit-learn; the intercepts add up to 0, and so do the coefficients of a feature without a penalty and
// bounds, see [Terms], which are the same for all classes. Solves do not change it, and may run at the same time.
//
// # Method
//
// Proximal Newton steps (Lee, Sun, Saunders, SIAM J. Optim. 2014) over working sets of entries, whose whole second derivatives
// 1/n sum_i v_i x_ij x_il p_ik (1{k=m} - p_im) are formed; each step is a [quadratic] program. With u_ik = v_i (1{y_i=k} - p_ik), c = X'U / n, intercepts at their best, so that the
// columns of U add up to 0, and t <= 1 such that t |c_jk| <= w1 where w2 = 0, the mean entropy of the rows of Y - tU less sum_jk max(0, t |c_jk| - w1)^2 / (2 w2) is a lower
// bound of the optimal value. Factors and bounds of features change it as they do that of [Cox].
type Multinomial struct {
	x         *design.Matrix
	class     []int
	weight    []float64 // of the rows, of mean 1; nil for equal ones
	k         int
	intercept bool
	counts    []float64 // of the classes, by the weights
	scale     float64   // the objective at B = 0 and its best intercepts
	terms     terms     // of features
	reach     []float64 // of features without a penalty, 0 for the others; nil where there are none
}

// multinomialReach is how many units of the logarithm of an odds a feature without a penalty may make, for the bound of the optimal value, at a value of its root mean square, see [Cox].
const multinomialReach = 20

// Classed are rows of features with a class for each, and positive weights of any unit, nil for equal ones, by which losses are means over the rows.
type Classed struct {
	X       *design.Matrix
	Class   []int
	Weights []float64
}

// check says what is wrong with the weights.
func (c Classed) check() error {
	return Sample{Y: make([]float64, len(c.Class)), Weights: c.Weights}.check()
}

// MultinomialSolution is a point, and how near to the optimum it is proven to be.
type MultinomialSolution struct {
	Status lower.Status
	// B are the p K coefficients, those of a feature after each other, B0 the K intercepts.
	B, B0 []float64
	// Objective is the value, Gap bounds its distance from the optimum. Steps counts Newton steps.
	Objective, Gap float64
	Steps          int

	loss float64 // of the rows, the objective without its penalties
}

// NewMultinomial checks the data: each row of x has a class from 0 to classes - 1, and each class a row.
func NewMultinomial(x *design.Matrix, class []int, classes int, intercept bool) (*Multinomial, error) {
	return MultinomialOf(Classed{X: x, Class: class}, classes, intercept, Terms{})
}

// MultinomialOf is [NewMultinomial] of rows with weights, and with terms of features. Of features without a penalty that depend on each other the fit is one of several with the same values.
func MultinomialOf(rows Classed, classes int, intercept bool, t Terms) (*Multinomial, error) {
	x, class := rows.X, rows.Class
	n, _ := x.Dims()
	if n == 0 || len(class) != n {
		return nil, fmt.Errorf("sparse: %d classes for %d rows, expected as many, and at least one", len(class), n)
	}
	if classes < 2 {
		return nil, fmt.Errorf("sparse: %d classes, expected at least 2", classes)
	}
	if err := rows.check(); err != nil {
		return nil, err
	}
	g := &Multinomial{x: x, class: class, weight: meanOne(rows.Weights), k: classes, intercept: intercept, counts: make([]float64, classes)}
	for i, k := range class {
		if k < 0 || k >= classes {
			return nil, fmt.Errorf("sparse: class of row %d is %d, expected 0 to %d", i, k, classes-1)
		}
		g.counts[k] += g.weigh(i, 1)
	}
	for k, v := range g.counts {
		if v == 0 {
			return nil, fmt.Errorf("sparse: no row has class %d of %d", k, classes)
		}
		if intercept {
			g.scale -= v / float64(n) * math.Log(v/float64(n))
		}
	}
	if !intercept {
		g.scale = math.Log(float64(classes))
	}
	if err := g.with(t); err != nil {
		return nil, err
	}
	return g, nil
}

// with takes the terms, and checks the features.
func (g *Multinomial) with(t Terms) error {
	p := g.x.Columns()
	if !t.Plain() {
		full, err := t.check(p)
		if err != nil {
			return err
		}
		g.terms = terms{factor: full.Factors}
		if t.Lower != nil || t.Upper != nil {
			g.terms.lower, g.terms.upper = full.Lower, full.Upper
		}
		if slices.Contains(full.Factors, 0) {
			g.reach = make([]float64, p)
		}
	}
	for j := range p {
		_, squares, err := g.x.Sums(j)
		if err != nil {
			return fmt.Errorf("sparse: %w", err)
		}
		if g.reach != nil && g.terms.always(j) && squares > 0 {
			g.reach[j] = multinomialReach / math.Sqrt(squares/float64(len(g.class)))
		}
	}
	return nil
}

// weigh is a number of row i times its weight.
func (g *Multinomial) weigh(i int, v float64) float64 {
	if g.weight == nil {
		return v
	}
	return g.weight[i] * v
}

// sum is that of a number for each row, by the weights.
func (g *Multinomial) sum(v []float64) float64 {
	if g.weight == nil {
		return floats.Sum(v)
	}
	return floats.Dot(g.weight, v)
}

// Relative is a gap in units of the objective at B = 0, that of [Options.Tol].
func (g *Multinomial) Relative(gap float64) float64 { return gap / g.scale }

// LambdaMax is the smallest w1 at which all coefficients are zero that are penalised. Where their bounds keep them there at any weight, it is that without bounds.
func (g *Multinomial) LambdaMax() float64 {
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

// top is that of [coxSolve.top].
func (s *multinomialSolve) top() float64 {
	top, beyond := 0.0, 0.0
	for e, c := range s.c {
		f := s.terms.weight(e / s.k)
		if f == 0 {
			continue
		}
		size := math.Abs(c) / f
		if beyond = math.Max(beyond, size); s.moves(e) {
			top = math.Max(top, size)
		}
	}
	if top == 0 {
		return beyond
	}
	return top
}

// moves says that the bounds of an entry, which is 0, leave room for where its derivative draws it.
func (s *multinomialSolve) moves(e int) bool {
	lo, hi := s.terms.room(e / s.k)
	return s.c[e] > 0 && hi > 0 || s.c[e] < 0 && lo < 0
}

// multinomialSolve is one run.
type multinomialSolve struct {
	*Multinomial
	n, w1, w2 float64
	b, b0     []float64
	f, p, u   [][]float64 // by classes: predictions, probabilities and minus the derivatives of the loss
	log       []float64   // of the sums of exp(f) over the classes
	known     bool        // p, log and loss belong to f
	c         []float64   // X'u / n
	all       []placed    // see whole
	loss      float64
	set       []entry // the working set; intercepts first
	problem   quadratic
	products  int // with directions, of truncated steps
}

// entry is a coefficient of a feature, or of [design.Ones], and a class.
type entry struct{ feature, class int }

func (g *Multinomial) begin(w1, w2 float64, start *MultinomialSolution) *multinomialSolve {
	p := g.x.Columns()
	s := &multinomialSolve{Multinomial: g, n: float64(len(g.class)), w1: w1, w2: w2, b: make([]float64, p*g.k), b0: make([]float64, g.k), c: make([]float64, p*g.k), log: make([]float64, len(g.class))}
	for range g.k {
		s.f, s.p, s.u = append(s.f, make([]float64, len(g.class))), append(s.p, make([]float64, len(g.class))), append(s.u, make([]float64, len(g.class)))
	}
	if start != nil {
		copy(s.b, start.B)
		copy(s.b0, start.B0)
	} else if g.intercept {
		for k, v := range g.counts {
			s.b0[k] = math.Log(v)
		}
	}
	s.predict()
	return s
}

// Solve returns a solution at the weights w1 and w2, one of them positive, from the start, which may be nil. The error is for input without meaning.
func (g *Multinomial) Solve(ctx context.Context, w1, w2 float64, tol float64, start *MultinomialSolution) (*MultinomialSolution, error) {
	if !(w1 >= 0) || !(w2 >= 0) || !(w1+w2 > 0) || math.IsInf(w1+w2, 1) {
		return nil, fmt.Errorf("sparse: weights %g and %g, expected finite numbers that are not negative, one of them positive", w1, w2)
	}
	if start != nil && (len(start.B) != g.x.Columns()*g.k || len(start.B0) != g.k) {
		return nil, fmt.Errorf("sparse: a start of another shape")
	}
	o := Options{Tol: tol}
	if err := o.check(0); err != nil {
		return nil, err
	}
	return g.begin(w1, w2, start).run(ctx, o.Tol), nil
}

// At is the objective at a solution for other weights, with other weights.
func (g *Multinomial) At(s *MultinomialSolution, w1, w2 float64) float64 {
	return s.loss + (&multinomialSolve{Multinomial: g, w1: w1, w2: w2}).penalty(s.B)
}

func (s *multinomialSolve) run(ctx context.Context, tol float64) *MultinomialSolution {
	out := &MultinomialSolution{Status: lower.EpochLimit}
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
			if s.step(ctx, out.Gap/s.scale, idle) {
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
	floats.AddConst(-floats.Sum(s.b0)/float64(s.k), s.b0)
	for j := range s.reach {
		if lo, hi := s.terms.room(j); s.terms.always(j) && math.IsInf(lo, -1) && math.IsInf(hi, 1) {
			classes := s.b[j*s.k : (j+1)*s.k]
			floats.AddConst(-floats.Sum(classes)/float64(s.k), classes)
		}
	}
	out.B, out.B0, out.loss = s.b, s.b0, s.loss
	return out
}

// predict sets f.
func (s *multinomialSolve) predict() {
	s.known = false
	for _, f := range s.f {
		clear(f)
	}
	s.add(s.f, s.whole(), s.b)
	for k, f := range s.f {
		floats.AddConst(s.b0[k], f)
	}
}

// probabilities sets p, log and the loss at f.
func (s *multinomialSolve) probabilities() {
	s.loss, s.known = 0, true
	for i, y := range s.class {
		top := math.Inf(-1)
		for k := range s.f {
			top = math.Max(top, s.f[k][i])
		}
		sum := 0.0
		for k := range s.f {
			s.p[k][i] = math.Exp(s.f[k][i] - top)
			sum += s.p[k][i]
		}
		for k := range s.f {
			s.p[k][i] /= sum
		}
		s.log[i] = top + math.Log(sum)
		s.loss += s.weigh(i, s.log[i]-s.f[y][i]) / s.n
	}
}

// interceptSteps bounds the Newton steps to the best intercepts, and interceptRounding is the error of the sums of probabilities in rows.
const interceptSteps, interceptRounding = 30, 1e-13

// look moves the intercepts to their best values, and sets probabilities, loss, u and c there.
func (s *multinomialSolve) look() {
	if !s.known {
		s.probabilities()
	}
	for step := 0; s.intercept && step < interceptSteps; step++ {
		if !s.balance() {
			break
		}
	}
	s.slopes()
}

// slopes sets u and c by the probabilities.
func (s *multinomialSolve) slopes() {
	for k, u := range s.u {
		for i, v := range s.p[k] {
			if u[i] = -v; s.class[i] == k {
				u[i]++
			}
			u[i] = s.weigh(i, u[i])
		}
	}
	s.correlate(s.c, s.whole(), s.u)
	floats.Scale(1/s.n, s.c)
}

// whole lists all entries.
func (s *multinomialSolve) whole() []placed {
	if s.all == nil {
		s.all = make([]placed, len(s.b))
		for e := range s.all {
			s.all[e] = placed{entry{e / s.k, e % s.k}, e}
		}
	}
	return s.all
}

// balance is a Newton step of the intercepts alone; it says whether they moved.
func (s *multinomialSolve) balance() bool {
	k := s.k
	g, worst := make([]float64, k), 0.0
	for m, v := range s.counts {
		g[m] = v - s.sum(s.p[m])
		worst = math.Max(worst, math.Abs(g[m]))
	}
	if worst <= interceptRounding*s.n {
		return false
	}
	q := &s.problem
	q.resize(k)
	q.box = box{}
	clear(q.w)
	row := make([]float64, len(s.class))
	for l := range k {
		for i, v := range s.p[l] {
			row[i] = s.weigh(i, v)
		}
		for m := range l + 1 {
			v := 1 - dense.Dot(row, s.p[m])/s.n // with 1 on the sums, which are of no account
			q.a[l*k+m], q.a[m*k+l] = v, v
		}
		q.a[l*k+l] += floats.Sum(row)/s.n + leastCurvature
		q.q[l] = g[l] / s.n
	}
	d := make([]float64, k)
	if !q.solve(context.Background(), d) {
		return false
	}
	before, from := s.loss, slices.Clone(s.b0)
	floats.AddConst(-floats.Sum(d)/float64(k), d)
	for range 30 {
		last := slices.Clone(s.b0)
		floats.AddTo(s.b0, from, d)
		s.shift(last)
		if s.probabilities(); s.loss <= before+rounded*before {
			return true
		}
		floats.Scale(0.5, d)
	}
	return false
}

// shift brings f from other intercepts to those of now.
func (s *multinomialSolve) shift(from []float64) {
	s.known = false
	for k, f := range s.f {
		floats.AddConst(s.b0[k]-from[k], f)
	}
}

// penalty is that of coefficients.
func (s *multinomialSolve) penalty(b []float64) float64 {
	sum := 0.0
	for e, v := range b {
		if v != 0 {
			sum += s.terms.weight(e/s.k) * (s.w1*math.Abs(v) + s.w2*v*v/2)
		}
	}
	return sum
}

// dual is the lower bound.
func (s *multinomialSolve) dual() float64 {
	t := 1.0
	for e, v := range s.c {
		j := e / s.k
		t = math.Min(t, s.terms.share(j, v, s.terms.weight(j)*s.w1))
	}
	bound := s.bound(t)
	if t < 1 && s.w2 > 0 {
		return math.Max(bound, s.bound(1))
	}
	return bound
}

// bound is that of t.
func (s *multinomialSolve) bound(t float64) float64 {
	sum := s.entropy(t)
	for e, c := range s.c {
		j := e / s.k
		if s.reach != nil && s.terms.always(j) {
			lo, hi := s.terms.room(j)
			within := 2*math.Abs(s.b[e]) + s.reach[j]
			sum -= math.Max(t*c*math.Min(hi, within), t*c*math.Max(lo, -within))
			continue
		}
		f := s.terms.weight(j)
		sum -= s.terms.conjugate(j, t*c, f*s.w1, f*s.w2)
	}
	return sum
}

// entropy is the mean one of the rows of Y - tU, which are probabilities times t, whose logarithms are f less log, and 1 - t more for the class of the row.
func (s *multinomialSolve) entropy(t float64) float64 {
	if t == 0 {
		return 0
	}
	sum, log := 0.0, math.Log(t)
	for i, y := range s.class {
		row := 0.0
		for k, p := range s.p {
			if k != y {
				row -= t * p[i] * (log + s.f[k][i] - s.log[i])
			}
		}
		if v := t*s.p[y][i] + 1 - t; v > 0 {
			row -= v * math.Log(v)
		}
		sum += s.weigh(i, row)
	}
	return sum / s.n
}
