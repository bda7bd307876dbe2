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
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
)

// sample are rows with a few coefficients that are not zero; labels of -1 and 1 if classes is set.
type sample struct {
	x *mat.Dense
	y []float64
}

func drawRows(rng *rand.Rand, n, p int, b []float64, kind string) sample {
	s := sample{mat.NewDense(n, p, nil), make([]float64, n)}
	for i := range n {
		for j := range p {
			v := rng.NormFloat64()
			s.x.Set(i, j, v)
			if j < len(b) {
				s.y[i] += b[j] * v
			}
		}
		switch kind {
		case "logistic":
			s.y[i] = math.Copysign(1, s.y[i]+0.5+rng.NormFloat64())
		case "poisson":
			s.y[i] = math.Floor(math.Exp(0.3*s.y[i]+1) + rng.Float64())
		default:
			s.y[i] += 1 + 0.5*rng.NormFloat64()
		}
	}
	return s
}

// fit is the fast one, loss the same as an expression.
func fit(t *testing.T, kind string, train, val sample, intercept bool, terms sparse.Terms) bilevel.Joint {
	a, b := NewRows(train.x, train.y), NewRows(val.x, val.y)
	var f bilevel.Joint
	var err error
	switch kind {
	case "logistic":
		f, err = Logistic(a, b, intercept, terms)
	case "poisson":
		f, err = Poisson(a, b, intercept, terms)
	default:
		f, err = ElasticNet(a, b, intercept, terms)
	}
	require.NoError(t, err)
	return f
}

func loss(kind string, s sample, x []*convex.Variable) convex.Expr {
	f := convex.Mul(s.x, x[0])
	if len(x) > 1 {
		f = convex.Add(f, x[1])
	}
	n := float64(len(s.y))
	switch kind {
	case "logistic":
		minus := slices.Clone(s.y)
		for i := range minus {
			minus[i] *= -1
		}
		return convex.Scale(1/n, convex.Sum(convex.Logistic(convex.Mul(mat.NewDiagDense(len(minus), minus), f))))
	case "poisson":
		constant := 0.0
		for _, y := range s.y {
			if y > 0 {
				constant += y*math.Log(y) - y
			}
		}
		minus := slices.Clone(s.y)
		for i := range minus {
			minus[i] *= -1
		}
		return convex.Scale(1/n, convex.Add(convex.Sum(convex.Exp(f)), convex.Add(convex.Dot(minus, f), constant)))
	}
	return convex.Scale(1/(2*n), convex.SumSquares(convex.Sub(f, s.y)))
}

// penalties are those of coefficients with terms, whose bounds become constraints.
func penalties(m *convex.Model, b convex.Expr, terms sparse.Terms) (one, two convex.Expr) {
	if terms.Plain() {
		return convex.Norm1(b), convex.Scale(0.5, convex.SumSquares(b))
	}
	p := len(terms.Factors)
	root := make([]float64, p)
	for j, f := range terms.Factors {
		root[j] = math.Sqrt(f)
		if v := terms.Lower[j]; !math.IsInf(v, 0) {
			m.Ge("", convex.At(b, j), v)
		}
		if v := terms.Upper[j]; !math.IsInf(v, 0) {
			m.Ge("", v, convex.At(b, j))
		}
	}
	return convex.Norm1(convex.Mul(mat.NewDiagDense(p, terms.Factors), b)),
		convex.Scale(0.5, convex.SumSquares(convex.Mul(mat.NewDiagDense(p, root), b)))
}

// problem is a fit with its conic form.
type problem struct {
	fit   bilevel.Fit
	build func(m *convex.Model) conicPart
}

// kind draws problems with n rows for training, m for validation and p features.
type kind func(t *testing.T, rng *rand.Rand, n, m, p int) problem

// regression is a kind with a loss of that name, and perhaps terms.
func regression(name string, intercept bool, of func(p int) sparse.Terms) kind {
	return func(t *testing.T, rng *rand.Rand, n, m, p int) problem {
		b, terms := []float64{1, -2, 0, 0.5}, of(p)
		train, val := drawRows(rng, n, p, b, name), drawRows(rng, m, p, b, name)
		return regressionOf(t, name, train, val, intercept, terms)
	}
}

func regressionOf(t *testing.T, name string, train, val sample, intercept bool, terms sparse.Terms) problem {
	return problem{fit(t, name, train, val, intercept, terms), func(m *convex.Model) conicPart {
		x := variables(m, train, intercept)
		one, two := penalties(m, x[0], terms)
		return conicPart{X: x, Validation: loss(name, val, x), Train: loss(name, train, x), Penalties: []convex.Expr{one,
			two}}
	}}
}

func variables(m *convex.Model, s sample, intercept bool) []*convex.Variable {
	_, p := s.x.Dims()
	x := []*convex.Variable{m.Vector("b", p)}
	if intercept {
		x = append(x, m.Vector("b0", 1))
	}
	return x
}

// plain has no terms.
func plain(int) sparse.Terms { return sparse.Terms{} }

type shape struct{ n, m, p int }

// shapes are rows for training and validation, and features: more rows than features, and the other way round; two of
// them with -short.
func shapes() []shape {
	all := []shape{{40, 20, 8}, {25, 15, 60}, {30, 30, 160}}
	if testing.Short() {
		return all[:2]
	}
	return all
}

// losses are their names, of which -short leaves one out.
func losses() []string {
	all := []string{"squares", "logistic", "poisson"}
	if testing.Short() {
		return all[:2]
	}
	return all
}

// someTerms are factors, with one feature that has no penalty, and bounds.
func someTerms(p int) sparse.Terms {
	t := sparse.Terms{Factors: make([]float64, p), Lower: make([]float64, p), Upper: make([]float64, p)}
	for j := range p {
		t.Factors[j], t.Lower[j], t.Upper[j] = 0.5+float64(j%4)/2, math.Inf(-1), math.Inf(1)
		switch j % 5 {
		case 0:
			t.Upper[j] = 0.6
		case 2:
			t.Lower[j] = 0
		case 3:
			t.Lower[j], t.Upper[j] = -0.3, 0.3
		}
	}
	t.Factors[1], t.Factors[3] = 0, 0
	return t
}

// check compares a lower level with the conic one.
func (p problem) check(t *testing.T, low bilevel.WithinSolver, r []float64, name string) conic {
	got := must.Of(low.Solve(context.Background(), r, 1e-9))(t)
	require.True(t, got.Solved, "%s: gap %g", name, got.Gap)
	want := conicWithin(t, p.build, r)
	require.InDelta(t, want.Value, got.Loss, 1e-6, name)
	require.InDeltaSlice(t, want.Lambda, got.Lambda, 1e-3, name)
	v := p.fit.Values(got.X)
	require.InDelta(t, got.Loss, v.Train, 1e-7, name)
	require.LessOrEqual(t, v.Penalties[0], r[0]*(1+1e-7), name)
	require.LessOrEqual(t, v.Penalties[1], r[1]*(1+1e-7), name)
	return want
}

// The lower level has the value and the multipliers of the conic program, at radii from nearly nothing to what no
// longer holds anything back, without terms and with factors and bounds.
func TestLowerAgainstConic(t *testing.T) {
	for _, loss := range losses() {
		for k, shape := range shapes() {
			for _, intercept := range []bool{false, true} {
				for seed, of := range map[uint64]func(int) sparse.Terms{3: plain, 5: someTerms} {
					p := regression(loss, intercept, of)(t, rand.New(rand.NewPCG(uint64(k), seed)), shape.n, shape.m, shape.p)
					low := p.fit.Within()
					for _, r := range [][]float64{{0.1, 10}, {1, 0.2}, {2, 1}, {0.5, 0.05}, {4, 0.3}} {
						if loss == "poisson" && r[0] == 4 && shape.p > shape.n || seed == 5 && r[0] >= 2 {
							continue // it interpolates: left to conic programs
						}
						p.check(t, low, r, fmt.Sprint(loss, shape, intercept, seed, r))
					}
				}
			}
		}
	}
}

// The subproblem has the optimum of the conic program, for one split and for folds, around points that are no solutions
// of it, with few features and with so many that some are missing at first.
func TestSubproblemAgainstConic(t *testing.T) {
	type series struct {
		name   string
		of     kind
		shapes []shape
		folds  []int
		c      bilevel.Centre
		alphas []float64
	}
	c := bilevel.Centre{R: []float64{1.5, 0.6}, Rho: 1e-3, Epsilon: 1e-4, Low: []float64{1e-6, 1e-6},
		High: []float64{math.Inf(1), 0.7}, Tol: 1e-9}
	var list []series
	for _, loss := range losses() {
		for k, s := range shapes() {
			for name, of := range map[string]func(int) sparse.Terms{loss: plain, loss + " with terms": someTerms} {
				alphas := []float64{3, 0.5, 50}
				if loss != "squares" && k != 1 { // of many exponential cones beside a large number programs take seconds
					alphas = alphas[:2]
				}
				list = append(list, series{name, regression(loss, k%2 == 0, of), []shape{s}, []int{1, 2 + k%2}, c, alphas})
			}
		}
	}
	c.Rho = 1e-2
	c.R = []float64{1.5, 0.3}
	list = append(list, series{"cox", cox, []shape{{40, 25, 5}, {25, 20, 150}}, []int{1}, c, []float64{3, 0.5}})
	c.R = []float64{1.5, 0.4}
	list = append(list, series{"multinomial", multinomial, []shape{{50, 30, 5}, {30, 20, 60}}, []int{1, 2}, c,
		[]float64{3, 0.5}})
	for _, s := range list {
		for k, shape := range s.shapes {
			for _, folds := range s.folds {
				name := fmt.Sprint(s.name, shape, folds)
				rng := rand.New(rand.NewPCG(uint64(k), uint64(folds)))
				c := s.c
				c.Gamma = make([]float64, 2)
				var parts []problem
				var joint []bilevel.Fit
				for range folds {
					p := s.of(t, rng, shape.n, shape.m, shape.p)
					parts, joint = append(parts, p), append(joint, p.fit)
					low := p.check(t, p.fit.Within(), c.R, name)
					c.Value += low.Value / float64(folds)
					floats.AddScaled(c.Gamma, 1/float64(folds), low.Lambda)
					c.X = append(c.X, low.X...)
				}
				solver := joint[0].Subproblem(joint, 1)
				for _, c.Alpha = range s.alphas {
					got := must.Of(solver(context.Background(), &c))(t)
					require.True(t, got.Solved, "%s: gap %g", name, got.Gap)
					want := conicSubproblem(t, &c, func(m *convex.Model, k int) conicPart { return parts[k].build(m) })
					require.InDelta(t, want.Value, got.Objective, 1e-6, name)
					require.InDeltaSlice(t, want.R, got.R, 2e-2, name) // rho is small
					require.InDelta(t, want.M0, got.M0, 1e-2*(1+want.M0), name)
					require.LessOrEqual(t, got.M0, c.Alpha*(1+1e-12))
				}
			}
		}
	}
}

// conicPart is a fit, or one of its folds, in a conic model: its variables, losses, and penalties in the order of its
// radii, one or more in each entry.
type conicPart struct {
	X                 []*convex.Variable
	Validation, Train convex.Expr
	Penalties         []convex.Expr
}

// conic is the solution of a conic program: the lower level within radii, with its multipliers, or a subproblem, with
// that of V <= t.
type conic struct {
	Value     float64
	X         [][][]float64 // of each part
	R, Lambda []float64
	M0        float64
}

// conicWithin solves the lower level of a part within radii r.
func conicWithin(t testing.TB, build func(m *convex.Model) conicPart, r []float64) conic {
	t.Helper()
	m := convex.NewModel()
	p := build(m)
	rows := p.rows(m, convex.Const(r))
	m.Minimize(p.Train)
	res := lowertest.Conic(t, m, 1e-9)
	out := conic{Value: res.Objective, X: [][][]float64{p.values(res)}, R: r}
	for _, row := range rows {
		out.Lambda = append(out.Lambda, res.Dual(row)...)
	}
	return out
}

// conicSubproblem solves the subproblem c of the parts.
func conicSubproblem(t testing.TB, c *bilevel.Centre, build func(m *convex.Model, k int) conicPart) conic {
	t.Helper()
	m := convex.NewModel()
	h, top := m.Vector("r", len(c.R)), m.Vector("t", 1)
	share, move := 1/float64(len(c.X)), convex.Sub(h, c.R)
	ones := mat.NewDense(len(c.R), 1, slices.Repeat([]float64{1}, len(c.R)))
	prox, objective := convex.SumSquares(move), convex.Scale(c.Alpha, top)
	above := convex.Sub(convex.Dot(c.Gamma, move), c.Value+c.Epsilon)
	parts := make([]conicPart, len(c.X))
	for k, x := range c.X {
		p := build(m, k)
		for i, v := range p.X {
			prox = convex.Add(prox, convex.SumSquares(convex.Sub(v, x[i])))
		}
		objective, above = convex.Add(objective, convex.Scale(share, p.Validation)), convex.Add(above,
			convex.Scale(share, p.Train))
		p.rows(m, convex.Add(h, convex.Mul(ones, top)))
		parts[k] = p
	}
	row := m.Le("", above, top)
	m.Ge("", top, 0)
	m.Ge("", h, c.Low)
	for j, v := range c.High {
		if !math.IsInf(v, 1) {
			m.Ge("", v, convex.At(h, j))
		}
	}
	m.Minimize(convex.Add(objective, convex.Scale(c.Rho/2, prox)))
	res := lowertest.Conic(t, m, 1e-9)
	out := conic{Value: res.Objective, R: res.Value(h), M0: res.Dual(row)[0]}
	for _, p := range parts {
		out.X = append(out.X, p.values(res))
	}
	return out
}

// rows bounds the penalties.
func (p *conicPart) rows(m *convex.Model, bounds convex.Expr) (rows []*convex.Constraint) {
	from := 0
	for _, f := range p.Penalties {
		rows = append(rows, m.Le("", f, convex.Slice(bounds, from, from+f.Len())))
		from += f.Len()
	}
	return rows
}

func (p *conicPart) values(res *convex.Result) (x [][]float64) {
	for _, v := range p.X {
		x = append(x, res.Value(v))
	}
	return x
}

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
