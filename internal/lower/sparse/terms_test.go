package sparse

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/lower"
)

func newTermed(t *testing.T, kind string, x *design.Matrix, y []float64, intercept bool, terms Terms) *Fit {
	t.Helper()
	g, err := lossesOfTests[kind].of(Sample{X: x, Y: y}, intercept, terms)
	require.NoError(t, err)
	return g
}

// target brings a target to what a loss takes.
func target(kind string, y []float64) []float64 {
	out := append([]float64(nil), y...)
	for i, v := range out {
		switch kind {
		case "logistic":
			out[i] = math.Copysign(1, v-3)
		case "poisson":
			out[i] = math.Round(2 * math.Exp(math.Tanh(v/2-1)))
		}
	}
	return out
}

// every third feature has no penalty, and the others have different ones.
func someFactors(p int) []float64 {
	f := make([]float64, p)
	for j := range f {
		f[j] = float64(j%3) * (1 + 0.1*float64(j%4))
		if j > 12 {
			f[j] = 0.5 + float64(j%3)
		}
	}
	return f
}

// someBounds are none, of one sign, of the other, and narrow.
func someBounds(p int) (lower, upper []float64) {
	lower, upper = make([]float64, p), make([]float64, p)
	for j := range p {
		lower[j], upper[j] = math.Inf(-1), math.Inf(1)
		switch j % 4 {
		case 1:
			lower[j] = 0
		case 2:
			upper[j] = 0
		case 3:
			lower[j], upper[j] = -0.2, 0.1
		}
	}
	return lower, upper
}

// The conditions of optimality, computed from the definition, for all losses with factors, bounds and both; on either
// storage, with and without the penalties.
func TestTermsOptimality(t *testing.T) {
	for _, kind := range []string{"squares", "logistic", "poisson"} {
		for _, intercept := range []bool{false, true} {
			for _, shape := range []struct{ n, p int }{{120, 12}, {60, 150}} {
				for way := range 3 {
					x, y := lowertest.Sample(5, shape.n, shape.p, 4, 0.6)
					y = target(kind, y)
					terms := Terms{}
					if way != 1 {
						terms.Factors = someFactors(shape.p)
					}
					if way != 0 {
						terms.Lower, terms.Upper = someBounds(shape.p)
					}
					data := design.New(x)
					if way == 2 {
						data = compressedColumns(x)
					}
					g := newTermed(t, kind, data, y, intercept, terms)
					for _, ratio := range []float64{0.3, 0.03} {
						for _, l2 := range []float64{0, 0.05} {
							name := fmt.Sprint(kind, intercept, shape, way, ratio, l2)
							l1 := ratio * g.LambdaMax()
							s, err := g.Solve(context.Background(), l1, l2, 1e-11, nil)
							require.NoError(t, err)
							require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status, "%s: gap %g", name, s.Gap)
							requireOptimal(t, name, kind, g, x, y, intercept, terms, l1, l2, s)
						}
					}
				}
			}
		}
	}
}

// lossOf is a loss by its definition, and its derivative.
func lossOf(kind string, y, f float64) (value, derivative float64) {
	switch kind {
	case "logistic":
		return math.Log1p(math.Exp(-y * f)), -y / (1 + math.Exp(y*f))
	case "poisson":
		if value = math.Exp(f) - y; y > 0 {
			value += y * (math.Log(y) - f)
		}
		return value, math.Exp(f) - y
	}
	return (y - f) * (y - f) / 2, f - y
}

func requireOptimal(t *testing.T, name, kind string, g *Fit, x *mat.Dense, y []float64, intercept bool, terms Terms, l1, l2 float64, s *Solution) {
	t.Helper()
	n, value := float64(len(y)), 0.0
	u := make([]float64, len(y))
	for i := range u {
		loss, slope := lossOf(kind, y[i], floats.Dot(x.RawRowView(i), s.B)+s.B0[0])
		u[i] = -slope
		value += loss / n
	}
	size := g.LambdaMax()
	if intercept {
		require.InDelta(t, 0, floats.Sum(u)/n, 1e-6, name)
	}
	for j, b := range s.B {
		f, lo, hi := 1.0, math.Inf(-1), math.Inf(1)
		if terms.Factors != nil {
			f = terms.Factors[j]
		}
		if terms.Lower != nil {
			lo, hi = terms.Lower[j], terms.Upper[j]
		}
		require.GreaterOrEqual(t, b, lo, name)
		require.LessOrEqual(t, b, hi, name)
		c := -f * l2 * b
		for i := range u {
			c += x.At(i, j) * u[i] / n
		}
		low, high := -f*l1, f*l1 // where c may be
		if b != 0 {
			low, high = math.Copysign(f*l1, b), math.Copysign(f*l1, b)
		}
		if b == lo {
			low = math.Inf(-1)
		}
		if b == hi {
			high = math.Inf(1)
		}
		require.GreaterOrEqual(t, c, low-1e-5*size, "%s: feature %d", name, j)
		require.LessOrEqual(t, c, high+1e-5*size, "%s: feature %d", name, j)
		value += f * (l1*math.Abs(b) + l2*b*b/2)
	}
	require.InEpsilon(t, value, s.Objective, 1e-9, name)
}

// With squares, features without a penalty can be projected out of the others and of the targets (Frisch, Waugh,
// Lovell); some of them depend on others.
func TestUnpenalisedProjectedOut(t *testing.T) {
	const n, p, k = 60, 90, 5
	x, y := lowertest.Sample(8, n, p, 4, 0.7)
	for i := range n { // one that is a sum, and one that depends on the intercept
		x.Set(i, 3, x.At(i, 0)-2*x.At(i, 1))
		x.Set(i, 4, 7)
	}
	factors := make([]float64, p)
	for j := k; j < p; j++ {
		factors[j] = 1
	}
	g, err := Squares(Sample{X: design.New(x), Y: y}, true, Terms{Factors: factors})
	require.NoError(t, err)
	base := mat.NewDense(n, 4, nil)
	for i := range n {
		base.Set(i, 0, 1)
		for j := range 3 {
			base.Set(i, 1+j, x.At(i, j))
		}
	}
	project := func(v []float64) {
		var z mat.VecDense
		require.NoError(t, z.SolveVec(base, mat.NewVecDense(n, append([]float64(nil), v...))))
		var f mat.VecDense
		f.MulVec(base, &z)
		floats.Sub(v, f.RawVector().Data)
	}
	rest, residual := mat.NewDense(n, p-k, nil), append([]float64(nil), y...)
	project(residual)
	for j := k; j < p; j++ {
		column := mat.Col(nil, j, x)
		project(column)
		rest.SetCol(j-k, column)
	}
	plain, err := newRegression(design.New(rest), residual, false)
	require.NoError(t, err)
	require.InEpsilon(t, plain.LambdaMax(), g.LambdaMax(), 1e-9)
	for _, ratio := range []float64{0.5, 0.1, 0.02} {
		w := weights{l1: []float64{ratio * g.LambdaMax()}, l2: []float64{0.01}}
		s, err := g.Solve(context.Background(), w.l1[0], w.l2[0], 1e-12, nil)
		require.NoError(t, err)
		want, err := plain.solve(w, options{tol: 1e-12})
		require.NoError(t, err)
		require.InEpsilon(t, want.Objective, s.Objective, 1e-9)
		require.InDeltaSlice(t, want.B, s.B[k:], 1e-5)
		require.Zero(t, s.B[3])
		require.Zero(t, s.B[4])
	}
}

// ElasticNet of scikit-learn 1.x with alpha=0.1, l1_ratio=0.5, positive=True, tol=1e-14 on these rows.
func TestNonnegativePeer(t *testing.T) {
	const n, p = 30, 6
	x, y := mat.NewDense(n, p, nil), make([]float64, n)
	for i := range n {
		for j := range p {
			x.Set(i, j, math.Sin(float64((i+1)*(j+1))*0.7+float64(j*j)))
		}
		y[i] = 2*x.At(i, 0) - x.At(i, 1) + 0.5*x.At(i, 2) + math.Cos(3*float64(i)) + 1
	}
	g, err := Squares(Sample{X: design.New(x), Y: y}, true, Terms{Lower: make([]float64, p)})
	require.NoError(t, err)
	s, err := g.Solve(context.Background(), 0.05, 0.05, 1e-14, nil)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{1.802466707754437, 0, 0.28438825414774543, 0, 0.01389953311037507, 0}, s.B, 1e-7)
	require.InDelta(t, 1.0691141894200373, s.B0[0], 1e-7)
}

// At LambdaMax no feature is in use but those without a penalty.
func TestTermsTrivial(t *testing.T) {
	for _, kind := range []string{"squares", "logistic", "poisson"} {
		x, y := lowertest.Sample(9, 50, 20, 4, 1)
		y = target(kind, y)
		factors := someFactors(20)
		g := newTermed(t, kind, design.New(x), y, true, Terms{Factors: factors})
		s, err := g.Solve(context.Background(), g.LambdaMax()*(1+1e-9), 0, 1e-12, nil)
		require.NoError(t, err)
		for _, j := range s.Support {
			require.Zero(t, factors[j], kind)
		}
		s, err = g.Solve(context.Background(), g.LambdaMax()*0.98, 0, 1e-12, nil)
		require.NoError(t, err)
		penalised := 0
		for _, j := range s.Support {
			if factors[j] > 0 {
				penalised++
			}
		}
		require.Positive(t, penalised, kind)
	}
}

// Without matrices a solver has the answers that it has with them.
func TestTermsImplicit(t *testing.T) {
	for _, kind := range []string{"squares", "logistic", "poisson"} {
		x, y := lowertest.Sample(5, 80, 120, 4, 0.5)
		lo, hi := someBounds(120)
		g := newTermed(t, kind, compressedColumns(x), target(kind, y), true, Terms{Factors: someFactors(120), Lower: lo, Upper: hi})
		j, err := g.With(Sample{X: compressedColumns(x), Y: target(kind, y)}, 0)
		require.NoError(t, err)
		centre := [][]float64{make([]float64, 120), {0.1}}
		for _, w := range []*lower.JointWeights{
			{Train: 1, Penalties: []float64{0.05 * g.LambdaMax(), 1e-2}},
			{Train: 0.7, Validation: 0.4, Rho: 1e-3, Centre: centre, Penalties: []float64{0.03 * g.LambdaMax(), 0.01}},
		} {
			var points [2]*lower.JointPoint
			var solutions [2][][]float64
			for way, most := range []int{1000, 5} {
				s := j.solver()
				s.most = most
				s.take(nil)
				for range 20 {
					require.NoError(t, s.Model(context.Background(), nil))
					points[way], err = s.Solve(context.Background(), w)
					require.NoError(t, err)
					require.NotNil(t, points[way])
					_, err = s.Check(context.Background(), w)
					require.NoError(t, err)
				}
				solutions[way] = s.X()
			}
			require.InEpsilon(t, points[0].Objective, points[1].Objective, 1e-9, kind)
			require.InDeltaSlice(t, solutions[0][0], solutions[1][0], 1e-5, kind)
			for r, row := range points[0].Curvature {
				for q, want := range row {
					require.InDelta(t, want, points[1].Curvature[r][q], 1e-3*(1e-3+math.Sqrt(row[r]*points[0].Curvature[q][q])), "%s %d %d", kind, r, q)
				}
			}
		}
	}
}
