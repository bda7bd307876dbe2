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
