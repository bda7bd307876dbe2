package fits

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
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
	kept      []int       // which of the penalties there are
	intercept bool
}

// both and single are what is kept.
var both, first, second = []int{0, 1}, []int{0}, []int{1}

// Dim is the number of penalties.
func (m *penalised) Dim() int { return len(m.kept) }

// LambdaMax is the least lambda_1 at which all coefficients are zero.
func (m *penalised) LambdaMax() float64 { return m.fit.LambdaMax() }

// all are the weights of both penalties.
func (m *penalised) all(lambda []float64) []float64 {
	out := make([]float64, 2)
	for i, k := range m.kept {
		out[k] = lambda[i]
	}
	return out
}

// solve is the lower level, from the solution behind a point.
func (m *penalised) solve(ctx context.Context, lambda []float64, tol float64, start *sparse.Solution) (
	*lower.Point, *sparse.Solution, error,
) {
	if len(lambda) != m.Dim() {
		return nil, nil, fmt.Errorf("fits: %d hyperparameters, expected %d", len(lambda), m.Dim())
	}
	w := m.all(lambda)
	s, err := m.fit.Solve(ctx, w[0], w[1], tol, start)
	if err != nil {
		return nil, nil, err
	}
	pt := &lower.Point{Lambda: slices.Clone(lambda), X: [][]float64{s.B}, Gap: m.fit.Relative(s.Gap)}
	pt.Solved = s.Status == lower.Optimal || s.Status == lower.Exhausted
	if m.intercept {
		pt.X = append(pt.X, s.B0)
	}
	return pt, s, nil
}

// Net is such a regression with a loss of one prediction for each row, whose validation loss has derivatives.
type Net struct {
	penalised
	train, val Rows
	bend       float64 // a size of the second derivative of the loss of a row
	dense      bool    // the system of the derivatives is one of second derivatives that are formed
	// loss is the validation loss, with its derivatives in the coefficients and, if there is one, the constant where
	// they are wanted.
	loss func(x [][]float64, wanted bool) (value float64, gradient []float64)
}

// newNet takes the fit of training rows. The validation loss of a partial likelihood is divided by n.
func newNet(name string, g *sparse.Fit, train, val Rows, n float64, intercept bool, kept []int) (*Net, error) {
	g, err := g.With(sparse.Sample(val), n)
	if err != nil {
		return nil, fmt.Errorf("fits: validation rows of the %s: %w", name, err)
	}
	m := &Net{penalised: penalised{g, kept, intercept}, train: train, val: val, bend: 1}
	m.loss = m.mean
	return m, nil
}

// mean is the validation loss of the fit.
func (m *Net) mean(x [][]float64, wanted bool) (value float64, gradient []float64) {
	value, slopes := m.fit.Validation(x)
	if wanted {
		gradient = make([]float64, len(x[0]))
		m.val.X.MulTrans(gradient, slopes[0])
		if m.intercept {
			gradient = append(gradient, floats.Sum(slopes[0]))
		}
		floats.Scale(-1, gradient)
	}
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
	return ridgeBounds(m.LambdaMax(), m.bend*curvature(m.train.X), m.Dim(), squares)
}

// Path goes down with the weights, see [elasticPath].
func (m *Net) Path() [][]float64 {
	if m.Dim() == 1 {
		return commonPath(1, m.LambdaMax())
	}
	return elasticPath(m.LambdaMax())
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
	w2       float64
	free     []int     // coefficients that move with the weights
	gradient []float64 // of L in these, and in the intercept
}

// Solve implements [lower.Fit].
func (m *Net) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	var from *sparse.Solution
	if start != nil {
		from = start.State.(*netState).Solution
	}
	pt, s, err := m.solve(ctx, lambda, tol, from)
	if err != nil {
		return nil, err
	}
	value, all := m.loss(pt.X, true)
	state := &netState{Solution: s, w2: m.all(lambda)[1], free: m.fit.Free(s.B)}
	for _, j := range state.free {
		state.gradient = append(state.gradient, all[j])
	}
	if m.intercept {
		state.gradient = append(state.gradient, all[len(s.B)])
	}
	pt.Validation, pt.State = value, state
	return pt, nil
}

// inverse returns the function that solves systems with the second derivatives at a solution, on what is free and the
// intercept.
func (m *Net) inverse(ctx context.Context, s *netState, o lower.GradientOptions) (func(q []float64) []float64, error) {
	x := [][]float64{s.B, s.B0}
	if m.dense {
		h := m.fit.System(ctx, x[:1], s.w2)
		if h == nil && ctx.Err() == nil {
			return nil, fmt.Errorf("fits: lower level: the second derivatives are no numbers")
		}
		return func(q []float64) []float64 {
			v := slices.Clone(q)
			if h != nil { // else nobody looks at it
				h.Solve(v)
			}
			return v
		}, nil
	}
	g, centred, err := m.fit.Local(x)
	if err != nil {
		return nil, err
	}
	set, w2, k := slices.Clone(s.free), make([]float64, len(s.B)+1), len(s.free)
	for j := range s.B {
		w2[j] = m.fit.Factor(j) * s.w2
	}
	if m.intercept && !centred {
		set = append(set, len(s.B))
	}
	h, err := newSystem(ctx, g, set, w2, o)
	if err != nil {
		return nil, err
	}
	return func(q []float64) []float64 {
		if !centred {
			return h.solve(ctx, q)
		}
		// The last equation is that of the constant: the means times v add up to q_0 less v_0.
		right, last := slices.Clone(q[:k]), q[k]
		for i, j := range s.free {
			right[i] -= g.Mean(j) * q[k]
		}
		v := h.solve(ctx, right)
		for i, j := range s.free {
			last -= g.Mean(j) * v[i]
		}
		return append(v, last)
	}, nil
}

// Gradient is that of [lower.Traits]: dL/dlambda_1 = -v' sign(b_S), dL/dlambda_2 = -v' b_S with H v = grad L,
// with factors times these.
func (m *Net) Gradient(ctx context.Context, at *lower.Point, o lower.GradientOptions) ([]float64, error) {
	s := at.State.(*netState)
	out := make([]float64, m.Dim())
	if len(s.free) == 0 {
		return out, nil
	}
	solve, err := m.inverse(ctx, s, o)
	if err != nil {
		return nil, err
	}
	v, columns := s.gradient, o.Mode == lower.Forward || o.Mode == lower.Truncated
	if !columns {
		v = solve(v)
	}
	for i := range out {
		q := m.right(s, i)
		if columns {
			q = solve(q)
		}
		out[i] = floats.Dot(q, v)
	}
	return out, nil
}

// right is H times the derivatives in hyperparameter i: -sign(b_S) or -b_S, and 0 for the intercept.
func (m *Net) right(s *netState, i int) []float64 {
	q := make([]float64, len(s.gradient))
	for k, j := range s.free {
		v := s.B[j]
		if m.kept[i] == 0 {
			v = sign(v)
		}
		q[k] = -m.fit.Factor(j) * v
	}
	return q
}

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
	if j.of.Dim() == 1 {
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
