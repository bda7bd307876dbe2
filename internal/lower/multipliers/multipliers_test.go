package multipliers_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/multipliers"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
)

// sample are rows with a few coefficients that are not zero; labels of -1 and 1 if classes is set.
type sample struct {
	x *mat.Dense
	y []float64
}

func draw(rng *rand.Rand, n, p int, b []float64, kind string) sample {
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
func fit(t *testing.T, kind string, train, val sample, intercept bool, terms sparse.Terms) lower.Joint {
	a, b := fits.NewRows(train.x, train.y), fits.NewRows(val.x, val.y)
	var f lower.Joint
	var err error
	switch kind {
	case "logistic":
		f, err = fits.Logistic(a, b, intercept, terms)
	case "poisson":
		f, err = fits.Poisson(a, b, intercept, terms)
	default:
		f, err = fits.ElasticNet(a, b, intercept, terms)
	}
	require.NoError(t, err)
	return f
}

func loss(kind string, s sample, x []*convex.Variable) convex.Convex {
	f := x[0].Expr().MulMat(s.x)
	if len(x) > 1 {
		f = f.Plus(x[1].Expr())
	}
	n := float64(len(s.y))
	switch kind {
	case "logistic":
		minus := slices.Clone(s.y)
		for i := range minus {
			minus[i] *= -1
		}
		return convex.Logistic(f.MulMat(mat.NewDiagDense(len(minus), minus))).Sum().Scale(1 / n)
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
		return convex.Exp(f).Sum().PlusAffine(f.Dot(minus).Plus(convex.Const(constant))).Scale(1 / n)
	}
	return convex.SumSquares(f.Minus(convex.Const(s.y...))).Scale(1 / (2 * n))
}

type conicLower struct {
	value  float64
	lambda []float64
	x      [][]float64
}

// penalties are those of coefficients with terms, whose bounds become constraints.
func penalties(m *convex.Model, b convex.Affine, terms sparse.Terms) (one, two convex.Convex) {
	if terms.Plain() {
		return convex.Norm1(b), convex.SumSquares(b).Scale(0.5)
	}
	p := len(terms.Factors)
	root := make([]float64, p)
	for j, f := range terms.Factors {
		root[j] = math.Sqrt(f)
		if v := terms.Lower[j]; !math.IsInf(v, 0) {
			m.Constrain(convex.GreaterEqual(b.At(j), convex.Const(v)))
		}
		if v := terms.Upper[j]; !math.IsInf(v, 0) {
			m.Constrain(convex.GreaterEqual(convex.Const(v), b.At(j)))
		}
	}
	return convex.Norm1(b.MulMat(mat.NewDiagDense(p, terms.Factors))), convex.SumSquares(b.MulMat(mat.NewDiagDense(p, root))).Scale(0.5)
}

func solveLower(t *testing.T, kind string, s sample, intercept bool, r []float64, terms sparse.Terms) conicLower {
	m := convex.NewModel()
	x := variables(m, s, intercept)
	m.Minimize(loss(kind, s, x))
	first, second := penalties(m, x[0].Expr(), terms)
	one, two := convex.LessEqual(first, convex.Const(r[0])), convex.LessEqual(second, convex.Const(r[1]))
	m.Constrain(one, two)
	res := run(t, m, kind)
	return conicLower{res.Objective, []float64{res.Dual(one)[0], res.Dual(two)[0]}, values(res, x)}
}

func variables(m *convex.Model, s sample, intercept bool) []*convex.Variable {
	_, p := s.x.Dims()
	x := []*convex.Variable{m.Variable("b", p)}
	if intercept {
		x = append(x, m.Variable("b0", 1))
	}
	return x
}

func values(res *convex.Result, x []*convex.Variable) (out [][]float64) {
	for _, v := range x {
		out = append(out, res.Value(v))
	}
	return out
}

func run(t *testing.T, m *convex.Model, kind string) *convex.Result {
	eps := 1e-9
	if kind == "poisson" {
		eps = 1e-8
	}
	prog, err := m.Compile()
	require.NoError(t, err)
	backend, err := backends.Open("native")
	require.NoError(t, err)
	for {
		solver, err := prog.Solver(convex.SolverOptions{Backend: backend, Options: backends.Options{Eps: eps}})
		require.NoError(t, err)
		defer solver.Close()
		res, err := solver.Solve(context.Background())
		require.NoError(t, err)
		if res.Status == backends.Inaccurate && eps < 1e-7 { // rounding keeps it from so many digits
			eps *= 10
			continue
		}
		require.Equal(t, backends.Optimal, res.Status)
		return res
	}
}

type shape struct{ n, m, p int }

// shapes are rows for training and validation, and features: more rows than features, and the other way round; two of them with -short.
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

// The lower level has the value and the multipliers of the conic program, at radii from nearly nothing to what no longer holds anything back.
func TestLowerAgainstConic(t *testing.T) {
	for _, kind := range losses() {
		for k, shape := range shapes() {
			for _, intercept := range []bool{false, true} {
				rng := rand.New(rand.NewPCG(uint64(k), 3))
				train := draw(rng, shape.n, shape.p, []float64{1, -2, 0, 0.5}, kind)
				val := draw(rng, shape.m, shape.p, []float64{1, -2, 0, 0.5}, kind)
				f := fit(t, kind, train, val, intercept, sparse.Terms{})
				low := multipliers.NewLower(f)
				for _, r := range [][]float64{{0.1, 10}, {1, 0.2}, {2, 1}, {0.5, 0.05}, {4, 0.3}} {
					name := fmt.Sprint(kind, shape, intercept, r)
					if kind == "poisson" && r[0] == 4 && shape.p > shape.n {
						continue // it interpolates: left to conic programs
					}
					got, err := low.Solve(context.Background(), r, 1e-9)
					require.NoError(t, err)
					require.True(t, got.Solved, name)
					want := solveLower(t, kind, train, intercept, r, sparse.Terms{})
					require.InDelta(t, want.value, got.Loss, 1e-6, name)
					require.InDeltaSlice(t, want.lambda, got.Lambda, 1e-3, name)
					v := f.Values(got.X)
					require.LessOrEqual(t, v.Penalties[0], r[0]*(1+1e-7), name)
					require.LessOrEqual(t, v.Penalties[1], r[1]*(1+1e-7), name)
				}
			}
		}
	}
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

// So it is with factors and bounds.
func TestTermsAgainstConic(t *testing.T) {
	for _, kind := range losses() {
		for k, shape := range shapes() {
			for _, intercept := range []bool{false, true} {
				rng := rand.New(rand.NewPCG(uint64(k), 5))
				train := draw(rng, shape.n, shape.p, []float64{1, -2, 0, 0.5}, kind)
				val := draw(rng, shape.m, shape.p, []float64{1, -2, 0, 0.5}, kind)
				terms := someTerms(shape.p)
				f := fit(t, kind, train, val, intercept, terms)
				low := multipliers.NewLower(f)
				for _, r := range [][]float64{{0.1, 10}, {1, 0.2}, {0.5, 0.05}} {
					name := fmt.Sprint(kind, shape, intercept, r)
					got, err := low.Solve(context.Background(), r, 1e-9)
					require.NoError(t, err)
					require.True(t, got.Solved, "%s: gap %g", name, got.Gap)
					want := solveLower(t, kind, train, intercept, r, terms)
					require.InDelta(t, want.value, got.Loss, 1e-6, name)
					require.InDeltaSlice(t, want.lambda, got.Lambda, 1e-3, name)
					v := f.Values(got.X)
					require.LessOrEqual(t, v.Penalties[0], r[0]*(1+1e-7), name)
					require.LessOrEqual(t, v.Penalties[1], r[1]*(1+1e-7), name)
				}
			}
		}
	}
}

// The subproblem has the optimum of the conic program, for one split and for folds, around points that are no solutions.
func TestSubproblemAgainstConic(t *testing.T) {
	subproblemsAgainstConic(t, func(int) sparse.Terms { return sparse.Terms{} })
}

// So it has with factors and bounds.
func TestSubproblemTermsAgainstConic(t *testing.T) { subproblemsAgainstConic(t, someTerms) }

func subproblemsAgainstConic(t *testing.T, of func(p int) sparse.Terms) {
	for _, kind := range losses() {
		for k, shape := range shapes() {
			for _, folds := range []int{1, 3} {
				intercept, terms := k%2 == 0, of(shape.p)
				rng := rand.New(rand.NewPCG(uint64(k), uint64(folds)))
				var parts []lower.Joint
				var trains, vals []sample
				c := lower.Centre{
					R: []float64{1.5, 0.6}, Gamma: make([]float64, 2), Alpha: 3, Rho: 1e-3, Epsilon: 1e-4,
					Low: []float64{1e-6, 1e-6}, High: []float64{math.Inf(1), 0.7}, Tol: 1e-9,
				}
				for range folds {
					train := draw(rng, shape.n, shape.p, []float64{1, -2, 0, 0.5}, kind)
					val := draw(rng, shape.m, shape.p, []float64{1, -2, 0, 0.5}, kind)
					trains, vals = append(trains, train), append(vals, val)
					parts = append(parts, fit(t, kind, train, val, intercept, terms))
					low := solveLower(t, kind, train, intercept, c.R, terms)
					c.Value += low.value / float64(folds)
					for j, l := range low.lambda {
						c.Gamma[j] += l / float64(folds)
					}
					c.X = append(c.X, low.x)
				}
				s := multipliers.NewSubproblem(parts, 1)
				for _, alpha := range []float64{3, 0.5, 50} {
					c.Alpha = alpha
					name := fmt.Sprint(kind, shape, folds, alpha)
					got, err := s.Solve(context.Background(), &c)
					require.NoError(t, err)
					require.True(t, got.Solved, "%s: gap %g", name, got.Gap)
					value, r, m0 := solveSubproblem(t, kind, trains, vals, intercept, &c, terms)
					require.InDelta(t, value, got.Objective, 1e-6, name)
					require.InDeltaSlice(t, r, got.R, 2e-2, name) // rho is small
					require.InDelta(t, m0, got.M0, 1e-2*(1+m0), name)
					require.LessOrEqual(t, got.M0, alpha*(1+1e-12))
				}
			}
		}
	}
}

func solveSubproblem(t *testing.T, kind string, train, val []sample, intercept bool, c *lower.Centre, terms sparse.Terms) (value float64, r []float64, m0 float64) {
	m := convex.NewModel()
	h, top := m.Variable("r", 2), m.Variable("t", 1)
	share := 1 / float64(len(train))
	prox := convex.SumSquares(h.Expr().Minus(convex.Const(c.R...)))
	objective, lowerLoss := convex.Linear(top.Expr().Scale(c.Alpha)), convex.Linear(convex.Const(-c.Value-c.Epsilon))
	for k := range train {
		x := variables(m, train[k], intercept)
		for i, v := range x {
			prox = prox.Plus(convex.SumSquares(v.Expr().Minus(convex.Const(c.X[k][i]...))))
		}
		objective = objective.Plus(loss(kind, val[k], x).Scale(share))
		lowerLoss = lowerLoss.Plus(loss(kind, train[k], x).Scale(share))
		one, two := penalties(m, x[0].Expr(), terms)
		m.Constrain(
			convex.LessEqual(one.MinusAffine(h.Expr().At(0)), top.Expr()),
			convex.LessEqual(two.MinusAffine(h.Expr().At(1)), top.Expr()),
		)
	}
	for j, g := range c.Gamma {
		lowerLoss = lowerLoss.PlusAffine(h.Expr().At(j).Minus(convex.Const(c.R[j])).Scale(g))
	}
	row := convex.LessEqual(lowerLoss, top.Expr())
	m.Constrain(row, convex.GreaterEqual(top.Expr(), convex.Const(0)))
	m.Constrain(convex.GreaterEqual(h.Expr(), convex.Const(c.Low...)), convex.LessEqual(convex.Linear(h.Expr().At(1)), convex.Const(c.High[1])))
	m.Minimize(objective.Plus(prox.Scale(c.Rho / 2)))
	res := run(t, m, kind)
	return res.Objective, res.Value(h), res.Dual(row)[0]
}
