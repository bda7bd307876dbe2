package machine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
	"github.com/conetune/conetune/lower/internal/lowertest"
)

// hinge is sum_i u_i max(0, 1 - y_i (x_i'w - c)) as an expression.
func hinge(x *mat.Dense, y, u []float64, w, c *convex.Variable) convex.Convex {
	n, p := x.Dims()
	rows, labels := mat.NewDense(n, p, nil), mat.NewDense(n, 1, nil)
	for i := range n {
		floats.AddScaled(rows.RawRowView(i), u[i]*y[i], x.RawRowView(i))
		labels.Set(i, 0, u[i]*y[i])
	}
	return convex.Pos(convex.Const(u...).Minus(w.Expr().MulMat(rows)).Plus(c.Expr().MulMat(labels))).Sum()
}

// conic solves a model by the native backend.
func conic(t *testing.T, m *convex.Model) *convex.Result {
	t.Helper()
	b, err := backends.Open("native")
	require.NoError(t, err)
	prog, err := m.Compile()
	require.NoError(t, err)
	s, err := prog.Solver(convex.SolverOptions{Backend: b})
	require.NoError(t, err)
	defer s.Close()
	res, err := s.Solve(context.Background())
	require.NoError(t, err)
	require.Equal(t, backends.Optimal, res.Status)
	return res
}

// shares are weights over their sum.
func shares(u []float64) []float64 {
	return floats.ScaleTo(make([]float64, len(u)), 1/floats.Sum(u), u)
}

// Joint fits have the values of the conic program, where the cost of a bound is rho/2 (t_j - a_j)^2 over t_j of at least L_j and |w_j|, from nothing and from the fit before; the objective and the losses
// are those of their definitions.
func TestJointIsConic(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 8))
		const n, train, p = 90, 60, 7
		x, y, u := sample(seed, n, p, seed%2 == 1)
		if seed == 3 {
			for i := range 10 { // rows of both parts
				x.SetRow(train+i, x.RawRowView(i))
				y[train+i] = y[i]
			}
		}
		d := design.New(x)
		if seed > 1 {
			d = design.New(lowertest.Compress(x))
		}
		g, err := NewStacked(d, y, u, train)
		require.NoError(t, err)
		ut, uv := shares(u[:train]), shares(u[train:])
		xt, xv := x.Slice(0, train, 0, p).(*mat.Dense), x.Slice(train, n, 0, p).(*mat.Dense)
		var last *JointSolution
		for k, q := range []JointWeights{
			{Train: 1, Validation: 1, Rho: 1},
			{Train: 20, Validation: 1, Ridge: 0.3, Rho: 1e-2},
			{Train: 0, Validation: 1, Rho: 1e-3},
			{Train: 3, Validation: 0, Ridge: 1e-3, Rho: 1e-4},
			{Train: 100, Validation: 1, Ridge: 1, Rho: 1e-3},
			{Train: 0.2, Validation: 1, Rho: 1e2},
		} {
			q.CentreW, q.CentreC = make([]float64, p), r.NormFloat64()
			for j := range q.CentreW {
				q.CentreW[j] = r.NormFloat64()
				b := SoftBound{Limit: math.Abs(0.3 * r.NormFloat64())}
				if j == 2 {
					b.Limit = 0
				}
				b.Centre = b.Limit - math.Abs(0.2*r.NormFloat64())
				if j == 3 {
					b.Centre = b.Limit // no jump of the slope
				}
				q.Soft = append(q.Soft, b)
			}
			if k == 0 {
				q.Soft = nil
			}
			name := fmt.Sprint(seed, k)
			m := convex.NewModel()
			w, c := m.Variable("w", p), m.Variable("c", 1)
			away := convex.SumSquares(w.Expr().Minus(convex.Const(q.CentreW...))).Plus(convex.SumSquares(c.Expr().Minus(convex.Const(q.CentreC))))
			objective := away.Scale(q.Rho / 2).Plus(convex.SumSquares(w.Expr()).Scale(q.Ridge / 2))
			if q.Train > 0 {
				objective = objective.Plus(hinge(xt, y[:train], ut, w, c).Scale(q.Train))
			}
			if q.Validation > 0 {
				objective = objective.Plus(hinge(xv, y[train:], uv, w, c).Scale(q.Validation))
			}
			constant := 0.0
			if q.Soft != nil {
				bar := m.Variable("bar", p)
				centre, limit := make([]float64, p), make([]float64, p)
				for j, b := range q.Soft {
					centre[j], limit[j] = b.Centre, b.Limit
					constant += q.Rho / 2 * (b.Limit - b.Centre) * (b.Limit - b.Centre)
				}
				objective = objective.Plus(convex.SumSquares(bar.Expr().Minus(convex.Const(centre...))).Scale(q.Rho / 2))
				m.Constrain(convex.LessEqual(convex.Abs(w.Expr()).MinusAffine(bar.Expr()), convex.Const(0)))
				m.Constrain(convex.LessEqual(convex.Abs(convex.Const(limit...)).MinusAffine(bar.Expr()), convex.Const(0)))
			}
			m.Minimize(objective)
			res := conic(t, m)
			want := res.Objective - constant
			for _, start := range []*JointSolution{nil, last} {
				s, err := g.Joint(ctx, q, Options{Tol: 1e-10, Joint: start})
				require.NoError(t, err)
				require.Equal(t, lower.Optimal, s.Status, name)
				require.InDelta(t, want, s.Objective, 1e-6*(1+math.Abs(want)), name)
				for j, v := range res.Value(w) {
					require.InDelta(t, v, s.W[j], 2e-3/math.Sqrt(q.Rho), name)
				}
				l, v, value := 0.0, 0.0, q.Rho/2*(s.C-q.CentreC)*(s.C-q.CentreC)
				for i := range n {
					h := math.Max(0, 1-y[i]*(floats.Dot(x.RawRowView(i), s.W)-s.C))
					if i < train {
						l += ut[i] * h
					} else {
						v += uv[i-train] * h
					}
				}
				for j, wj := range s.W {
					value += q.Rho/2*(wj-q.CentreW[j])*(wj-q.CentreW[j]) + q.Ridge/2*wj*wj
					if q.Soft != nil {
						b := q.Soft[j]
						far := math.Max(math.Abs(wj), b.Limit) - b.Centre
						value += q.Rho / 2 * (far*far - (b.Limit-b.Centre)*(b.Limit-b.Centre))
					}
				}
				require.InDelta(t, l, s.Train, 1e-11, name)
				require.InDelta(t, v, s.Validation, 1e-11, name)
				require.InDelta(t, value+q.Train*l+q.Validation*v, s.Objective, 1e-9*(1+value), name)
				last = s
			}
		}
	}
}

// The optimal value has the losses as its derivatives in their weights, and half the squared norm as that in the ridge.
func TestJointDerivatives(t *testing.T) {
	x, y, u := sample(5, 3000, 12, false)
	g, err := NewStacked(design.New(x), y, u, 2000)
	require.NoError(t, err)
	q := JointWeights{Train: 4, Validation: 1, Ridge: 0.2, Rho: 0.1, CentreC: 0.1, Soft: slices.Repeat([]SoftBound{{Centre: 0.1, Limit: 0.2}}, 12)}
	at := func(change func(*JointWeights)) *JointSolution {
		c := q
		change(&c)
		s, err := g.Joint(context.Background(), c, Options{Tol: 1e-12})
		require.NoError(t, err)
		require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status)
		return s
	}
	s := at(func(*JointWeights) {})
	const h = 1e-4
	for name, c := range map[string]struct {
		change func(q *JointWeights, h float64)
		want   float64
	}{
		"train":      {func(q *JointWeights, h float64) { q.Train += h }, s.Train},
		"validation": {func(q *JointWeights, h float64) { q.Validation += h }, s.Validation},
		"ridge":      {func(q *JointWeights, h float64) { q.Ridge += h }, floats.Dot(s.W, s.W) / 2},
	} {
		up, down := at(func(q *JointWeights) { c.change(q, h) }), at(func(q *JointWeights) { c.change(q, -h) })
		require.InDelta(t, c.want, (up.Objective-down.Objective)/(2*h), 1e-6, name)
	}
}

func TestJointErrors(t *testing.T) {
	x := design.New(mat.NewDense(3, 1, []float64{1, 2, 3}))
	y := []float64{1, -1, 1}
	for _, train := range []int{0, 3} {
		_, err := NewStacked(x, y, nil, train)
		require.ErrorContains(t, err, fmt.Sprintf("%d training rows of 3", train))
	}
	_, err := NewStacked(x, y, []float64{1, 0, 1}, 2)
	require.ErrorContains(t, err, "the weight of row 1 is 0")
	plain, err := New(x, y, nil)
	require.NoError(t, err)
	_, err = plain.Joint(context.Background(), JointWeights{Train: 1, Rho: 1}, Options{})
	require.ErrorContains(t, err, "NewStacked")
	g, err := NewStacked(x, y, nil, 2)
	require.NoError(t, err)
	for want, q := range map[string]JointWeights{
		"losses have the weights":    {Train: -1, Validation: 1, Rho: 1},
		"rho is 0":                   {Train: 1},
		"centre has 2 coefficients":  {Train: 1, Rho: 1, CentreW: []float64{1, 2}},
		"2 soft bounds":              {Train: 1, Rho: 1, Soft: make([]SoftBound, 2)},
		"soft bound 0 has":           {Train: 1, Rho: 1, Soft: []SoftBound{{Centre: 2, Limit: 1}}},
		"the centre is not finite":   {Train: 1, Rho: 1, CentreC: math.NaN()},
		"the ridge -1, expected a p": {Train: 1, Rho: 1, Ridge: -1},
	} {
		_, err := g.Joint(context.Background(), q, Options{})
		require.ErrorContains(t, err, want)
	}
	ctx, end := context.WithCancel(context.Background())
	end()
	s, err := g.Joint(ctx, JointWeights{Train: 1, Rho: 1}, Options{})
	require.NoError(t, err)
	require.Equal(t, lower.Cancelled, s.Status)
	require.True(t, math.IsInf(s.Gap, 1))
}

// Within the ball and the box, on few and on many rows, a machine has the loss of the conic program, is within, and its multipliers are the derivatives of the loss.
func TestWithin(t *testing.T) {
	ctx := context.Background()
	for _, n := range []int{80, fewRows + 500} {
		const p = 5
		x, y, u := sample(6, n, p, false)
		g, err := New(design.New(x), y, u)
		require.NoError(t, err)
		for _, r := range []float64{1e-3, 0.1, 0.6, 10} {
			for _, bound := range [][]float64{{1e-6}, {0.3}, {10}, {0.5, 0.2, 0.05, 1, 0.01}} {
				name := fmt.Sprint(n, " ", r, " ", bound)
				s, err := g.Within(ctx, r, bound, Options{Tol: 1e-9})
				require.NoError(t, err)
				require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status, name)
				require.LessOrEqual(t, floats.Dot(s.W, s.W)/2, r*(1+1e-12), name)
				for j, w := range s.W {
					require.LessOrEqual(t, math.Abs(w), bound[min(j, len(bound)-1)], name)
				}
				if n > fewRows && r != 0.1 {
					continue
				}
				m := convex.NewModel()
				w, c := m.Variable("w", p), m.Variable("c", 1)
				m.Minimize(hinge(x, y, shares(u), w, c))
				all := bound
				if len(all) == 1 {
					all = slices.Repeat(bound, p)
				}
				m.Constrain(convex.LessEqual(convex.SumSquares(w.Expr()).Scale(0.5), convex.Const(r)))
				m.Constrain(convex.LessEqual(convex.Abs(w.Expr()).MinusAffine(convex.Const(all...)), convex.Const(0)))
				require.InDelta(t, conic(t, m).Objective, s.Loss, 1e-6, name)
			}
		}
		bound := []float64{0.5, 0.2, 0.05, 1, 0.01}
		s, err := g.Within(ctx, 0.1, bound, Options{Tol: 1e-10})
		require.NoError(t, err)
		require.Positive(t, s.Lambda)
		for k, want := range append([]float64{s.Lambda}, s.Bound...) {
			loss := func(h float64) float64 {
				r, b := 0.1, slices.Clone(bound)
				if k == 0 {
					r *= 1 + h
				} else {
					b[k-1] *= 1 + h
				}
				m, err := g.Within(ctx, r, b, Options{Tol: 1e-10})
				require.NoError(t, err)
				return m.Loss
			}
			unit := 0.1
			if k > 0 {
				unit = bound[k-1]
			}
			require.InDelta(t, -want*unit, (loss(1e-4)-loss(-1e-4))/2e-4, 1e-5, "%d %d", n, k)
		}
	}
	x, y, _ := sample(6, 30, 3, false)
	g, err := New(design.New(x), y, nil)
	require.NoError(t, err)
	_, err = g.Within(ctx, 0, []float64{1}, Options{})
	require.ErrorContains(t, err, "radius is 0")
	_, err = g.Within(ctx, 1, []float64{0}, Options{})
	require.ErrorContains(t, err, "bound 0 is 0")
}

// Small subproblems are solved by exchanges, those of many rows are not: each exchange looks at all of them.
func TestExchangesOfFewRows(t *testing.T) {
	for n, want := range map[int]bool{80: true, fewRows + 500: false} {
		x, y, u := sample(6, n, 5, false)
		g, err := NewStacked(design.New(x), y, u, n/2)
		require.NoError(t, err)
		s, err := NewSubproblem([]*Problem{g, g}, 1)
		require.NoError(t, err)
		require.Equal(t, want, s.near != nil, n)
		require.True(t, g.Quick(2))
	}
}
