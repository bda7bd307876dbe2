package fits

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/glm"
	"github.com/conetune/conetune/lower/multipliers"
	"github.com/conetune/conetune/lower/sparse"
)

// penalised is a regression of package sparse with the penalties of an elastic net, or one of them,
//
//	min over b, b0 of  1/n sum_i l(y_i, f_i) + lambda_1 |b|_1 + lambda_2 / 2 |b|^2,   f = X b + b0,
//
// with the means by the weights of the rows and f plus their offsets where there are any, and the penalties weighted
// by factors and the coefficients within bounds where there are [sparse.Terms]. Its points have the coefficients, and
// with an intercept the constants.
type penalised struct {
	fit       *sparse.Fit // with validation rows
	dim       int         // number of penalties
	kept      []int       // which of the two there are
	intercept bool
	top       float64
}

// both and single are what is kept.
var both, first, second = []int{0, 1}, []int{0}, []int{1}

// newPenalised takes the fit of training rows. The validation loss of a partial likelihood is divided by n.
func newPenalised(name string, g *sparse.Fit, val Rows, n float64, intercept bool, kept []int) (*penalised, error) {
	g, err := g.With(sparse.Sample(val), n)
	if err != nil {
		return nil, fmt.Errorf("fits: validation rows of the %s: %w", name, err)
	}
	return &penalised{g, len(kept), kept, intercept, g.LambdaMax()}, nil
}

// Dim is the number of penalties.
func (m *penalised) Dim() int { return m.dim }

// LambdaMax is the least lambda_1 at which all coefficients are zero.
func (m *penalised) LambdaMax() float64 { return m.top }

// all are the weights of both penalties.
func (m *penalised) all(lambda []float64) []float64 {
	out := make([]float64, 2)
	for i, k := range m.kept {
		out[k] = lambda[i]
	}
	return out
}

// check says what is wrong with hyperparameters.
func (m *penalised) check(lambda []float64) error {
	if len(lambda) != m.dim {
		return fmt.Errorf("fits: %d hyperparameters, expected %d", len(lambda), m.dim)
	}
	return nil
}

// pointOf is that of a solution.
func (m *penalised) pointOf(lambda []float64, s *sparse.Solution) *lower.Point {
	pt := &lower.Point{Lambda: slices.Clone(lambda), X: [][]float64{s.B}, Gap: m.fit.Relative(s.Gap)}
	pt.Solved = s.Status == lower.Optimal || s.Status == lower.Exhausted
	if m.intercept {
		pt.X = append(pt.X, s.B0)
	}
	return pt
}

// Net is such a regression with a loss of one prediction for each row, whose validation loss has derivatives. Its
// penalties may be others.
type Net struct {
	penalised
	val  Rows
	bend float64 // a size of the second derivative of the loss
	// weights are those of package glm, and grad sets what is zero to the gradient of penalty i in what is free.
	weights func(lambda []float64) (*glm.Weights, error)
	grad    func(s *netState, i int, to []float64)
	// loss is the validation loss, with its derivatives in some coefficients and, if there is one, the constant.
	loss func(x [][]float64, of []int) (value float64, gradient []float64)
}

// newNet is [newPenalised].
func newNet(name string, g *sparse.Fit, train, val Rows, n float64, intercept bool, kept []int) (*Net, error) {
	of, err := newPenalised(name, g, val, n, intercept, kept)
	if err != nil {
		return nil, err
	}
	m := &Net{penalised: *of, val: val, bend: curvature(train.X)}
	m.loss, m.grad = m.mean, m.absoluteOrSquare
	m.weights = func(lambda []float64) (*glm.Weights, error) {
		w := m.all(lambda)
		return m.fit.Weights(w[0], w[1])
	}
	return m, nil
}

// mean is the validation loss of the fit.
func (m *Net) mean(x [][]float64, of []int) (value float64, gradient []float64) {
	value, slopes := m.fit.Validation(x)
	for _, j := range of {
		gradient = append(gradient, m.val.X.Dot(j, slopes))
	}
	if m.intercept {
		gradient = append(gradient, floats.Sum(slopes))
	}
	floats.Scale(-1, gradient)
	return value, gradient
}

// Bounds is that of [lower.Traits].
func (m *Net) Bounds() (low, high []float64) {
	var squares []int
	for i, k := range m.kept {
		if k == 1 {
			squares = append(squares, i)
		}
	}
	return ridgeBounds(m.top, m.bend, m.dim, squares)
}

// Path goes down with the weights, see [elasticPath].
func (m *Net) Path() [][]float64 {
	if len(m.kept) < 2 {
		return commonPath(m.dim, m.top)
	}
	return elasticPath(m.top)
}

// elasticPath is every second point of a path of common values, and then up again with a hundredth of it for the
// squares.
func elasticPath(top float64) [][]float64 {
	path := commonPath(2, top)
	var out [][]float64
	for i := 0; i < len(path); i += 2 {
		out = append(out, path[i])
	}
	for i := len(path) - 1; i >= 0; i -= 2 {
		out = append(out, []float64{path[i][0], path[i][1] / 100})
	}
	return out
}

// Traits implements [lower.Fit].
func (m *Net) Traits() lower.Traits {
	return lower.Traits{Bounds: m.Bounds, Path: m.Path, Gradient: m.Gradient}
}

// netState is the solution behind a point.
type netState struct {
	*sparse.Solution
	weights  *glm.Weights
	free     []int     // coefficients that move with the weights
	gradient []float64 // of L in these, and in the intercept
}

// Solve implements [lower.Fit].
func (m *Net) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	if err := m.check(lambda); err != nil {
		return nil, err
	}
	var from *sparse.Solution
	if start != nil {
		from = start.State.(*netState).Solution
	}
	w, err := m.weights(lambda)
	if err != nil {
		return nil, err
	}
	s, err := m.fit.SolveAt(ctx, w, tol, from)
	if err != nil {
		return nil, err
	}
	pt, state := m.pointOf(lambda, s), &netState{Solution: s, weights: w, free: m.fit.Free(s.B)}
	pt.Validation, state.gradient = m.loss(pt.X, state.free)
	pt.State = state
	return pt, nil
}

// Gradient is that of [lower.Traits]: dL/dlambda_i = -v' grad P_i with H v = grad L, on what is free.
func (m *Net) Gradient(ctx context.Context, at *lower.Point, o lower.GradientOptions) ([]float64, error) {
	s := at.State.(*netState)
	out := make([]float64, m.dim)
	if len(s.free) == 0 {
		return out, nil
	}
	h, err := m.fit.System(ctx, s.Solution, s.weights, o.Accuracy())
	if err != nil {
		return nil, fmt.Errorf("fits: lower level: %w", err)
	}
	solve := func(q []float64) []float64 { return h.Solve(ctx, q, innerOf(ctx, o)) }
	v, columns := s.gradient, m.kept != nil && (o.Mode == lower.Forward || o.Mode == lower.Truncated)
	if !columns {
		v = solve(v)
	}
	q := make([]float64, len(v))
	for i := range out {
		clear(q)
		m.grad(s, i, q)
		if columns {
			q = solve(q)
		}
		out[i] = -floats.Dot(q, v)
	}
	return out, nil
}

// absoluteOrSquare has the gradient of sum_j f_j |b_j| or of that of half squares.
func (m *Net) absoluteOrSquare(s *netState, i int, q []float64) {
	for k, j := range s.free {
		v := s.B[j]
		if m.kept[i] == 0 {
			v = sign(v)
		}
		q[k] = m.fit.Factor(j) * v
	}
}

func sign(v float64) float64 { return math.Copysign(1, v) }

// JointNet is a [Net] that also solves both programs of an iteration of VF-iDCA.
type JointNet struct {
	*Net
	joint
}

// newJoint is [newNet] of a loss that is a mean, where the fit of the training rows is no error.
func newJoint(name string, g *sparse.Fit, err error, train, val Rows, intercept bool, kept []int) (*JointNet, error) {
	if err != nil {
		return nil, fmt.Errorf("fits: training rows of the %s: %w", name, err)
	}
	if err := check(name, train, val); err != nil {
		return nil, err
	}
	m, err := newNet(name, g, train, val, 0, intercept, kept)
	if err != nil {
		return nil, err
	}
	return &JointNet{m, joint{&m.penalised}}, nil
}

// joint has the programs of a fit.
type joint struct{ of *penalised }

// Shape implements [lower.Bilevel].
func (j joint) Shape() []int { return j.of.fit.Shape() }

// Values implements [lower.Bilevel].
func (j joint) Values(x [][]float64) lower.Values { return j.of.values(j.of.fit.Values(x)) }

// values have the penalties that are kept.
func (m *penalised) values(v lower.Values) lower.Values {
	p := v.Penalties
	v.Penalties = make([]float64, len(m.kept))
	for i, k := range m.kept {
		v.Penalties[i] = p[k]
	}
	return v
}

// Joint implements [lower.Joint].
func (j joint) Joint() lower.JointSolver {
	s := j.of.fit.Joint()
	if j.of.dim == 1 {
		return &singleSolver{s, j.of}
	}
	return s
}

// subproblem solves the subproblems of parts that are joint fits.
func subproblem(parts []lower.Bilevel, workers int) lower.Subproblem {
	joints := make([]lower.Joint, len(parts))
	for t, p := range parts {
		joints[t] = p.(lower.Joint)
	}
	return multipliers.NewSubproblem(joints, workers).Solve
}

// Traits implements [lower.Fit].
func (m *JointNet) Traits() lower.Traits {
	t := m.Net.Traits()
	t.Parts = []lower.Bilevel{m}
	return t
}

// Within implements [lower.Bilevel].
func (m *JointNet) Within() lower.WithinSolver { return multipliers.NewLower(m) }

// Subproblem implements [lower.Bilevel].
func (j joint) Subproblem(parts []lower.Bilevel, workers int) lower.Subproblem {
	return subproblem(parts, workers)
}

// singleSolver solves with the weight zero for the other penalty.
type singleSolver struct {
	lower.JointSolver
	fit *penalised
}

func (s *singleSolver) weights(w *lower.JointWeights) *lower.JointWeights {
	out := *w
	out.Penalties = s.fit.all(w.Penalties)
	return &out
}

// Solve implements [lower.JointSolver].
func (s *singleSolver) Solve(ctx context.Context, w *lower.JointWeights) (*lower.JointPoint, error) {
	pt, err := s.JointSolver.Solve(ctx, s.weights(w))
	if pt == nil || err != nil {
		return nil, err
	}
	out := *pt
	out.Values = s.fit.values(pt.Values)
	if pt.Curvature == nil {
		return &out, nil
	}
	k := 1 + s.fit.kept[0]
	out.Curvature = [][]float64{{pt.Curvature[0][0], pt.Curvature[0][k]}, {pt.Curvature[k][0], pt.Curvature[k][k]}}
	return &out, nil
}

// Check implements [lower.JointSolver].
func (s *singleSolver) Check(ctx context.Context, w *lower.JointWeights) (lower.JointCheck, error) {
	c, err := s.JointSolver.Check(ctx, s.weights(w))
	if c.Penalties != nil {
		c.Values = s.fit.values(c.Values)
	}
	return c, err
}

var (
	_ lower.Fit   = (*Net)(nil)
	_ lower.Joint = (*JointNet)(nil)
)
