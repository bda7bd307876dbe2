package sparse

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/must"
)

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
	g := must.Of(Squares(Sample{X: design.New(x), Y: y}, true, Terms{Factors: factors}))(t)
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
	plain := must.Of(Squares(Sample{X: design.New(rest), Y: residual}, false, Terms{}))(t)
	require.InEpsilon(t, plain.LambdaMax(), g.LambdaMax(), 1e-9)
	for _, ratio := range []float64{0.5, 0.1, 0.02} {
		w1, w2 := ratio*g.LambdaMax(), 0.01
		s := must.Of(g.solve(context.Background(), w1, w2, 1e-12, nil))(t)
		want := must.Of(plain.solve(context.Background(), w1, w2, 1e-12, nil))(t)
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
	g := must.Of(Squares(Sample{X: design.New(x), Y: y}, true, Terms{Lower: make([]float64, p)}))(t)
	s := must.Of(g.solve(context.Background(), 0.05, 0.05, 1e-14, nil))(t)
	require.InDeltaSlice(t, []float64{1.802466707754437, 0, 0.28438825414774543, 0, 0.01389953311037507, 0}, s.B, 1e-7)
	require.InDelta(t, 1.0691141894200373, s.B0[0], 1e-7)
}

// At LambdaMax no coefficient is in use but those without a penalty, and with the weight a little smaller one is.
func TestLambdaMax(t *testing.T) {
	for kind := range lossesOfTests {
		for _, way := range []string{"lasso", "factors", "bounds", "both"} {
			for _, intercept := range []bool{false, true} {
				x, y := lowertest.Sample(9, 50, 20, 4, 1)
				c := problem{kind: kind, x: x, y: targets(kind, y), intercept: intercept}
				ways[way](&c, 0)
				g := c.fit(t, design.New(x))
				top := g.LambdaMax()
				penalised := func(share float64) (n int) {
					c.l1, c.l2 = []float64{share * top}, nil
					s := c.solve(t, g, 1e-12, nil)
					c.optimal(t, s, 1e-5*top, fmt.Sprint(kind, way, intercept, share))
					for _, e := range support(s) {
						if g.terms.Factors[e/g.k] > 0 {
							n++
						}
					}
					return n
				}
				require.Zero(t, penalised(1+1e-9), "%s %s", kind, way)
				require.Positive(t, penalised(0.98), "%s %s", kind, way)
				if kind == "squares" && way == "lasso" {
					require.Equal(t, 1, penalised(0.999))
				}
			}
		}
	}
}

// Without matrices a solver has the answers that it has with them.
func TestTermsImplicit(t *testing.T) {
	for _, kind := range smooth {
		x, y := lowertest.Sample(5, 80, 120, 4, 0.5)
		c := problem{kind: kind, x: x, y: targets(kind, y), intercept: true}
		ways["both"](&c, 0)
		g := c.fit(t, compressedColumns(x))
		j := must.Of(g.With(Sample{X: compressedColumns(x), Y: c.y}))(t)
		centre := [][]float64{make([]float64, 120), {0.1}}
		for _, w := range []*bilevel.JointWeights{
			{Train: 1, Penalties: []float64{0.05 * g.LambdaMax(), 1e-2}},
			{Train: 0.7, Validation: 0.4, Rho: 1e-3, Centre: centre, Penalties: []float64{0.03 * g.LambdaMax(), 0.01}},
		} {
			var points [2]*bilevel.JointPoint
			var solutions [2][][]float64
			for way, most := range []int{1000, 5} {
				s := j.solver()
				s.most = most
				s.take(nil)
				for range 20 {
					require.NoError(t, s.Model(context.Background(), nil))
					points[way] = must.Of(s.Solve(context.Background(), w))(t)
					require.NotNil(t, points[way])
					must.Of(s.Check(context.Background(), w))(t)
				}
				solutions[way] = s.X()
			}
			require.InEpsilon(t, points[0].Objective, points[1].Objective, 1e-9, kind)
			require.InDeltaSlice(t, solutions[0][0], solutions[1][0], 1e-5, kind)
			for r, row := range points[0].Curvature {
				for q, want := range row {
					require.InDelta(t, want, points[1].Curvature[r][q], 1e-3*(1e-3+math.Sqrt(row[r]*points[0].Curvature[q][q])),
						"%s %d %d", kind, r, q)
				}
			}
		}
	}
}
