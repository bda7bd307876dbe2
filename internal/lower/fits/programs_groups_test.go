package fits

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

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
)

// norms are the penalties of a regression, a norm for each group of features.
type norms struct {
	members           [][]int // nil for the weighted lasso
	shared, intercept bool
	sparse            bool
}

func (m norms) fit(t *testing.T, train, val sample) *Net {
	a, b := NewRows(train.x, train.y), NewRows(val.x, val.y)
	if m.sparse {
		a, b = NewRows(matrices.Compress(train.x), train.y), NewRows(matrices.Compress(val.x), val.y)
	}
	var f *Net
	var err error
	switch {
	case m.members == nil:
		f, err = NewWeightedLasso(a, b, m.intercept)
	case m.shared:
		f, err = NewSparseGroupLasso(a, b, m.members, m.intercept)
	default:
		f, err = NewGroupLasso(a, b, m.members, m.intercept)
	}
	require.NoError(t, err)
	return f
}

// part is the conic form.
func (m norms) part(c *convex.Model, train, val sample) conicPart {
	x := variables(c, train, m.intercept)
	b := x[0]
	out := conicPart{X: x, Train: loss("squares", train, x), Validation: loss("squares", val, x),
		Penalties: []convex.Expr{convex.Abs(b)}}
	if m.members != nil {
		out.Penalties[0] = convex.GroupNorms(b, m.members)
	}
	if m.shared {
		out.Penalties = append(out.Penalties, convex.Norm1(b))
	}
	return out
}

func (m norms) lower(t *testing.T, s sample, r []float64) conic {
	return conicWithin(t, func(c *convex.Model) conicPart { return m.part(c, s, s) }, r)
}

var few = []float64{1, -2, 0, 0.5}

func ofNorms(p int, yield func(name string, m norms)) {
	groups := lowertest.EqualGroups(p, 4)
	for _, intercept := range []bool{false, true} {
		yield(fmt.Sprint("weighted ", intercept), norms{intercept: intercept, sparse: !intercept})
		yield(fmt.Sprint("groups ", intercept), norms{members: groups, intercept: intercept})
		yield(fmt.Sprint("sparse groups ", intercept), norms{members: groups, shared: true, intercept: intercept,
			sparse: intercept})
	}
}

// The subproblem has the optimum of the conic program, for one split and for folds.
func TestSubproblemOfNormsAgainstConic(t *testing.T) {
	for k, size := range []shape{{30, 15, 8}, {20, 10, 48}} {
		for _, folds := range []int{1, 3} {
			ofNorms(size.p, func(name string, m norms) {
				rng := rand.New(rand.NewPCG(uint64(k), uint64(folds)))
				var parts []bilevel.Fit
				var trains, vals []sample
				for range folds {
					train, val := drawRows(rng, size.n, size.p, few, "squares"), drawRows(rng, size.m, size.p, few, "squares")
					trains, vals, parts = append(trains, train), append(vals, val), append(parts, m.fit(t, train, val))
				}
				n := parts[0].(*Net).Dim()
				c := &bilevel.Centre{
					R: make([]float64, n), Gamma: make([]float64, n), Low: make([]float64, n), High: make([]float64, n),
					Rho: 1e-2, Epsilon: 1e-4, Tol: 1e-8,
				}
				for j := range n {
					c.R[j] = []float64{0.7, 0.3, 1e-3, 0.05}[j%4]
					c.Low[j], c.High[j] = 1e-6, math.Inf(1)
					if j%5 == 4 {
						c.High[j] = c.R[j]
					}
				}
				if m.shared {
					c.R[n-1], c.High[n-1] = 2, math.Inf(1)
				}
				for f := range folds {
					low := m.lower(t, trains[f], c.R)
					c.Value += low.Value / float64(folds)
					for j, l := range low.Lambda {
						c.Gamma[j] += math.Max(0, l) / float64(folds)
					}
					c.X = append(c.X, low.X...)
				}
				solver := parts[0].Subproblem(parts, 1)
				for _, alpha := range []float64{1, 100, 0.05, 3} {
					c.Alpha = alpha
					name := fmt.Sprint(name, size, folds, " ", alpha)
					got := must.Of(solver(context.Background(), c))(t)
					require.True(t, got.Solved, "%s: gap %g after %d", name, got.Gap, got.Fits)
					want := conicSubproblem(t, c, func(k *convex.Model, f int) conicPart { return m.part(k, trains[f], vals[f]) })
					require.InDelta(t, want.Value, got.Objective, 1e-6, name)
					require.InDeltaSlice(t, want.R, got.R, 1e-2, name)
					require.InDelta(t, want.M0, got.M0, 1e-2*(1+want.M0), name)
					m.stationary(t, name, trains, vals, c, got)
				}
			})
		}
	}
}

// stationary checks the multipliers of a subproblem from the definition: none is negative, they add up to alpha at
// most, and
//
//	0 in grad L + m_0 grad l + rho (x - X) + sum_j M_j dP_j(x),   r = clip(R - (m_0 gamma - sum of the parts' M) / rho).
func (m norms) stationary(t *testing.T, name string, train, val []sample, c *bilevel.Centre, s *bilevel.Subsolution) {
	n := len(c.R)
	push, total := make([]float64, n), s.M0
	share := 1 / float64(len(train))
	for f, of := range s.M {
		x := s.X[f]
		g := make([]float64, len(x[0])+1)
		for _, rows := range []struct {
			sample
			weight float64
		}{{val[f], share}, {train[f], share * s.M0}} {
			for i, y := range rows.y {
				r := mat.Dot(rows.x.RowView(i), mat.NewVecDense(len(x[0]), x[0])) - y
				if m.intercept {
					r += x[1][0]
					g[len(x[0])] += rows.weight * r / float64(len(rows.y))
				}
				for j := range x[0] {
					g[j] += rows.weight * r * rows.x.At(i, j) / float64(len(rows.y))
				}
			}
		}
		for j, b := range x[0] {
			g[j] += c.Rho * (b - c.X[f][0][j])
		}
		if m.intercept {
			require.InDelta(t, 0, g[len(x[0])]+c.Rho*(x[1][0]-c.X[f][1][0]), 1e-5*(1+s.M0), name)
		}
		for j, v := range of {
			require.GreaterOrEqual(t, v, 0.0)
			push[j] += v
			total += v
		}
		l1 := 0.0
		if m.shared {
			l1 = of[n-1]
		}
		for k := range n {
			members := []int{k}
			if m.members != nil {
				if k == len(m.members) {
					continue
				}
				members = m.members[k]
			}
			size := 0.0
			for _, j := range members {
				size = math.Hypot(size, x[0][j])
			}
			outside := 0.0
			for _, j := range members {
				switch b := x[0][j]; {
				case size == 0:
					outside = math.Hypot(outside, math.Max(0, math.Abs(g[j])-l1))
				case b == 0:
					require.LessOrEqual(t, math.Abs(g[j]), l1+1e-5*(1+s.M0), name)
				default:
					require.InDelta(t, 0, g[j]+of[k]*b/size+math.Copysign(l1, b), 1e-5*(1+s.M0), name)
				}
			}
			require.LessOrEqual(t, outside, of[k]+1e-5*(1+s.M0), name)
		}
	}
	require.LessOrEqual(t, total, c.Alpha*(1+1e-9), name)
	for j, r := range s.R {
		want := math.Max(c.Low[j], math.Min(c.High[j], c.R[j]-(s.M0*c.Gamma[j]-push[j])/c.Rho))
		require.InDelta(t, want, r, 1e-6, name)
	}
}

// shortest is the point of least norm that interpolates, by a conic program.
func (m norms) shortest(t *testing.T, s sample, r []float64) (x [][]float64) {
	c := convex.NewModel()
	p := m.part(c, s, s)
	norm, f := convex.SumSquares(p.X[0]), convex.Mul(s.x, p.X[0])
	if m.intercept {
		norm, f = convex.Add(norm, convex.SumSquares(p.X[1])), convex.Add(f, p.X[1])
	}
	c.Minimize(norm)
	c.Eq("", f, s.y)
	p.rows(c, convex.Const(r))
	return p.values(lowertest.Conic(t, c, 1e-9))
}

func TestLeastNormIsThatOfTheConicProgram(t *testing.T) {
	const n, p = 8, 30
	groups := [][]int{{0, 1, 2}, {3}, {4, 9, 14, 19}, {5, 6, 7, 8, 10, 11, 12, 13}, {15, 16, 17, 18},
		{20, 21, 22, 23, 24, 25, 26, 27, 28, 29}}
	for k, m := range []norms{{}, {intercept: true, sparse: true}, {members: groups}, {members: groups, shared: true,
		intercept: true}, {members: groups, shared: true, sparse: true}} {
		rng := rand.New(rand.NewPCG(uint64(k), 7))
		s := drawRows(rng, n, p, few, "squares")
		g := m.fit(t, s, drawRows(rng, 3, p, few, "squares"))
		loose := slices.Repeat([]float64{100}, g.Dim())
		free := must.Of(g.Traits().LeastNorm(context.Background(), loose, 1e-12))(t)
		held := g.Values(free).Penalties
		for i := range held {
			held[i] *= []float64{0.9, 2, 1.5}[i%3]
		}
		if m.members != nil {
			held[1] = 0
		}
		if m.shared {
			held[len(held)-1] = 0.97 * floats.Norm(m.shortest(t, s, held)[0], 1)
		}
		for i, r := range [][]float64{loose, held} {
			x := must.Of(g.Traits().LeastNorm(context.Background(), r, 1e-12))(t)
			require.NotNil(t, x, "%d %d", k, i)
			for v, want := range m.shortest(t, s, r) {
				for j := range want {
					require.InDelta(t, want[j], x[v][j], 2e-5, "%d %d %d %d", k, i, v, j)
				}
			}
			for j, v := range g.Values(x).Penalties {
				require.LessOrEqual(t, v, r[j]+1e-12)
			}
		}
	}
}

func TestLeastNormWithoutOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	g := norms{}.fit(t, drawRows(rng, 8, 30, few, "squares"), drawRows(rng, 3, 30, few, "squares"))
	tight := slices.Repeat([]float64{1e-3}, 30)
	x := must.Of(g.Traits().LeastNorm(context.Background(), tight, 1e-9))(t)
	require.Nil(t, x, "no point within the radii interpolates")
	_, err := g.Traits().LeastNorm(context.Background(), tight[:3], math.Inf(1))
	require.Error(t, err)
	done, stop := context.WithCancel(context.Background())
	stop()
	x = must.Of(g.Traits().LeastNorm(done, tight, math.Inf(1)))(t)
	require.Nil(t, x)
}

// With a large penalty beside a small rho radii are differences of numbers that are many times as large, and the
// objective counts alpha times their rounding: with the best ones for the coefficients that is a tenth, in the median.
// The objective is what the point has from the definition.
func TestLargePenalty(t *testing.T) {
	const rho, epsilon, tol = 1e-3, 0, 1e-9
	m := norms{members: [][]int{{0, 1}, {2, 3}, {4, 5, 6}, {7}}}
	var gaps []float64
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 5))
		train, val := drawRows(rng, 30, 8, few, "squares"), drawRows(rng, 20, 8, few, "squares")
		r := []float64{0.7, 0.3, 0.1, 0.05}
		c := &bilevel.Centre{R: r, Gamma: make([]float64, 4), Low: []float64{1e-6, 1e-6, 1e-6, 1e-6}, Rho: rho,
			Epsilon: epsilon, Tol: tol, Alpha: 4e4}
		for range r {
			c.High = append(c.High, math.Inf(1))
		}
		low := m.lower(t, train, r)
		for g, l := range low.Lambda {
			c.Gamma[g] = math.Max(0, l)
		}
		c.Value, c.X = low.Value, low.X
		f := m.fit(t, train, val)
		got := must.Of(f.Subproblem([]bilevel.Fit{f}, 1)(context.Background(), c))(t)
		gaps = append(gaps, got.Gap)

		b, excess := got.X[0][0], m.loss(train, got.X[0][0])-low.Value-epsilon
		want := m.loss(val, b)
		for j, v := range b {
			want += rho / 2 * (v - low.X[0][0][j]) * (v - low.X[0][0][j])
		}
		for g, v := range got.R {
			excess += c.Gamma[g] * (v - r[g])
			want += rho / 2 * (v - r[g]) * (v - r[g])
		}
		for g, group := range m.members {
			size := 0.0
			for _, j := range group {
				size = math.Hypot(size, b[j])
			}
			excess = math.Max(excess, size-got.R[g])
		}
		require.InDelta(t, want+c.Alpha*math.Max(0, excess), got.Objective, 10*tol, "seed %d", seed)
	}
	slices.Sort(gaps)
	require.LessOrEqual(t, gaps[len(gaps)/2], 1e-4)
}

// loss is half the mean of the squares.
func (m norms) loss(s sample, b []float64) float64 {
	sum := 0.0
	for i, y := range s.y {
		r := mat.Dot(s.x.RowView(i), mat.NewVecDense(len(b), b)) - y
		sum += r * r
	}
	return sum / (2 * float64(len(s.y)))
}

// Errors say which group is none, and which feature has no penalty.
func TestGroupsThatAreNone(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	train, val := drawRows(rng, 10, 4, few, "squares"), drawRows(rng, 5, 4, few, "squares")
	a, b := NewRows(train.x, train.y), NewRows(val.x, val.y)
	for want, members := range map[string][][]int{
		"feature 3 is in no group":       {{0, 1}, {2}},
		"feature 1 is in groups 0 and 1": {{0, 1}, {1, 2, 3}},
		"group 1 is empty":               {{0, 1, 2, 3}, {}},
		"group 0 has feature 4":          {{0, 1, 4}},
	} {
		_, err := NewGroupLasso(a, b, members, false)
		require.ErrorContains(t, err, want)
	}
	m := must.Of(NewGroupLasso(a, b, [][]int{{0, 1}, {2, 3}}, false))(t)
	_, err := m.Solve(context.Background(), []float64{1, 0}, 0, nil)
	require.ErrorContains(t, err, "feature 2 of group 1 has no penalty")
}
