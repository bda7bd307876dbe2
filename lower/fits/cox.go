package fits

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/multipliers"
	"github.com/conetune/conetune/lower/sparse"
	"github.com/conetune/conetune/lower/survival"
)

// CoxOptions say how a [Cox] is trained and validated.
type CoxOptions struct {
	// Ties is the rule for events at one time.
	Ties survival.Ties
	// Grouped has the validation loss be what the validation rows add to the deviance of the training rows; else it is the deviance of the validation rows alone,
	// which have to have an event with others at risk.
	Grouped bool
	// Events is the number of events, or the sum of their weights, that the validation loss is shared out to; 0 means those of the validation rows.
	Events float64
	// Terms are those of single features.
	Terms sparse.Terms
}

// Cox is a regression of proportional hazards with the hyperparameters of an elastic net, see [sparse.Cox]. Times are minus those of censored rows. The validation loss is a deviance for
// each event: with D(rows) twice the half deviance of [survival.Likelihood],
//
//	D(validation) / events,   or grouped   (D(training and validation) - D(training)) / events
//
// (Verweij, van Houwelingen, Statistics in Medicine 12, 1993), which is not convex, as all validation rows are compared with the training rows then. Its points have the
// coefficients.
type Cox struct {
	train *sparse.Cox
	val   Rows
	// plus is the likelihood of the rows whose values are those of training and validation rows, or of the latter alone, minus that of the training rows, nil for none.
	plus, minus *survival.Likelihood
	trainX      *design.Matrix
	events      float64
}

// NewCox takes rows with times.
func NewCox(train, val Rows, o CoxOptions) (*Cox, error) {
	g, err := sparse.CoxOf(sparse.Sample(train), o.Ties, o.Terms)
	if err != nil {
		return nil, fmt.Errorf("fits: training rows of the Cox regression: %w", err)
	}
	if err := check("Cox regression", train, val); err != nil {
		return nil, err
	}
	if err := survival.Check(val.Y); err != nil {
		return nil, fmt.Errorf("fits: validation rows of the Cox regression: %w", err)
	}
	m := &Cox{train: g, val: val, trainX: train.X, events: o.Events}
	own := survival.Weighted(val.Y, val.Weights, o.Ties)
	if o.Grouped {
		m.plus = survival.Weighted(slices.Concat(train.Y, val.Y), bothWeights(train, val), o.Ties)
		m.minus = survival.Weighted(train.Y, train.Weights, o.Ties)
	} else if m.plus = own; m.plus.HalfDeviance(make([]float64, len(val.Y))) == 0 {
		return nil, fmt.Errorf("fits: no event of the validation rows of the Cox regression has others at risk")
	}
	if m.events == 0 {
		m.events = own.Weight()
	}
	if !(m.events > 0) {
		return nil, fmt.Errorf("fits: no event in the validation rows of the Cox regression")
	}
	return m, nil
}

// bothWeights are those of two sets of rows; nil for equal ones.
func bothWeights(a, b Rows) []float64 {
	if a.Weights == nil && b.Weights == nil {
		return nil
	}
	of := func(r Rows) []float64 {
		if r.Weights == nil {
			return slices.Repeat([]float64{1}, len(r.Y))
		}
		return r.Weights
	}
	return slices.Concat(of(a), of(b))
}

// Dim is 2.
func (m *Cox) Dim() int { return 2 }

// LambdaMax is the least lambda_1 at which all coefficients are zero.
func (m *Cox) LambdaMax() float64 { return m.train.LambdaMax() }

// Bounds implements [lower.Bounded].
func (m *Cox) Bounds() (low, high []float64) {
	return ridgeBounds(m.LambdaMax(), curvature(m.trainX), 2, []int{1})
}

// Path is that of the elastic net.
func (m *Cox) Path() [][]float64 { return elasticPath(m.LambdaMax()) }

// coxState is the solution behind a point.
type coxState struct {
	*sparse.CoxSolution
	w2     float64
	factor func(j int) float64
}

// Solve implements [lower.Differentiable].
func (m *Cox) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	if len(lambda) != 2 {
		return nil, fmt.Errorf("fits: %d hyperparameters, expected 2", len(lambda))
	}
	var from *sparse.CoxSolution
	if start != nil {
		from = start.State.(*coxState).CoxSolution
	}
	s, err := m.train.Solve(ctx, lambda[0], lambda[1], tol, from)
	if err != nil {
		return nil, err
	}
	value, _ := m.validation(s, false)
	return &lower.Point{
		Lambda: append([]float64(nil), lambda...), X: [][]float64{s.B}, Validation: value, Gap: m.train.Relative(s.Gap),
		Solved: s.Status == lower.Optimal || s.Status == lower.Exhausted, State: &coxState{s, lambda[1], m.train.Factor},
	}, nil
}

// validation is the loss, and its derivatives in the coefficients where they are wanted.
func (m *Cox) validation(s *sparse.CoxSolution, wanted bool) (value float64, gradient []float64) {
	f := make([]float64, len(m.val.Y))
	m.val.X.Mul(f, s.B)
	if m.val.Offset != nil {
		floats.Add(f, m.val.Offset)
	}
	if wanted {
		gradient = make([]float64, len(s.B))
	}
	add := func(l *survival.Likelihood, f []float64, factor float64, to ...*design.Matrix) {
		p := l.At(f, nil)
		value += factor * p.HalfDeviance
		if !wanted {
			return
		}
		u := make([]float64, len(f))
		p.Slopes(u, make([]float64, len(f)))
		for _, x := range to {
			n := x.Rows()
			for j := range gradient {
				gradient[j] -= factor * x.Dot(j, u[:n])
			}
			u = u[n:]
		}
	}
	if m.minus == nil {
		add(m.plus, f, 2/m.events, m.val.X)
	} else {
		add(m.plus, append(append([]float64(nil), s.F...), f...), 2/m.events, m.trainX, m.val.X)
		add(m.minus, s.F, -2/m.events, m.trainX)
	}
	return value, gradient
}

// Gradient implements [lower.Differentiable]: dL/dlambda_1 = -v' sign(b_S), dL/dlambda_2 = -v' b_S with H v = grad L over the coefficients S that are neither zero nor at a bound, with factors times these. All modes
// solve it by a factor of H.
func (m *Cox) Gradient(ctx context.Context, at *lower.Point, o lower.GradientOptions) ([]float64, error) {
	s := at.State.(*coxState)
	out := make([]float64, 2)
	h := m.train.System(ctx, s.CoxSolution, s.w2)
	if h == nil {
		if ctx.Err() != nil {
			return out, nil // as nobody looks at it
		}
		return nil, fmt.Errorf("fits: lower level: the second derivatives of the Cox regression are no numbers")
	}
	_, all := m.validation(s.CoxSolution, true)
	v := make([]float64, len(h.Set))
	for k, j := range h.Set {
		v[k] = all[j]
	}
	if o.Mode == lower.Forward {
		for i := range out {
			q := make([]float64, len(v))
			for k, j := range h.Set {
				q[k] = s.right(j, i)
			}
			h.Solve(q)
			for k := range q {
				out[i] += q[k] * v[k]
			}
		}
		return out, nil
	}
	h.Solve(v)
	for k, j := range h.Set {
		for i := range out {
			out[i] += v[k] * s.right(j, i)
		}
	}
	return out, nil
}

// right is H times the derivative of coefficient j in hyperparameter i.
func (s *coxState) right(j, i int) float64 {
	if i == 0 {
		return -s.factor(j) * sign(s.B[j])
	}
	return -s.factor(j) * s.B[j]
}

// CoxJoint is a [Cox] whose validation rows are compared among themselves, which can also be solved with these in it.
type CoxJoint struct {
	*Cox
	both *sparse.HessianJoint
}

// NewCoxJoint is [NewCox], with options that are not Grouped.
func NewCoxJoint(train, val Rows, o CoxOptions) (*CoxJoint, error) {
	if o.Grouped {
		return nil, fmt.Errorf("fits: a Cox regression whose validation loss is what rows add to others cannot be solved with these in it, as that is not convex")
	}
	m, err := NewCox(train, val, o)
	if err != nil {
		return nil, err
	}
	both, err := m.train.Joint(sparse.Sample(val), o.Ties, m.events/2)
	if err != nil {
		return nil, fmt.Errorf("fits: %w", err)
	}
	return &CoxJoint{m, both}, nil
}

// Shape implements [lower.Valued].
func (m *CoxJoint) Shape() []int { return m.both.Shape() }

// Values implements [lower.Valued].
func (m *CoxJoint) Values(x [][]float64) lower.Values { return m.both.Values(x) }

// Joint implements [lower.Joint].
func (m *CoxJoint) Joint() lower.JointSolver { return m.both.Joint() }

// Within implements [lower.Bilevel].
func (m *CoxJoint) Within() lower.WithinSolver { return multipliers.NewLower(m) }

// Subproblem implements [lower.Bilevel].
func (m *CoxJoint) Subproblem(parts []lower.Bilevel, workers int) lower.SubproblemSolver {
	return subproblem(parts, workers)
}

var (
	_ lower.Differentiable = (*Cox)(nil)
	_ lower.Differentiable = (*CoxJoint)(nil)
	_ lower.Bilevel        = (*CoxJoint)(nil)
)
