package sparse

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// weighed are rows with weights 1 to 3 and an offset, and the same rows, each as often as its weight says.
func weighed(seed uint64, n, p int, target func(f float64) float64, dense bool) (once, often Sample) {
	rng := rand.New(rand.NewPCG(seed, 7))
	var rows []float64
	var index []int
	x := mat.NewDense(n, p, nil)
	for i := range n {
		f := 0.3
		for j := range p {
			if dense || rng.Float64() < 0.3 {
				x.Set(i, j, rng.NormFloat64())
			}
			f += x.At(i, j) * 0.8 / float64(1+j)
		}
		once.Offset = append(once.Offset, 0.5*rng.NormFloat64())
		once.Y = append(once.Y, target(f+once.Offset[i]+0.3*rng.NormFloat64()))
		once.Weights = append(once.Weights, float64(1+i%3))
		for range 1 + i%3 {
			rows, index = append(rows, x.RawRowView(i)...), append(index, i)
		}
	}
	many := mat.NewDense(len(index), p, rows)
	if once.X, often.X = design.New(x), design.New(many); !dense {
		once.X, often.X = compressedColumns(x), compressedColumns(many)
	}
	for _, i := range index {
		often.Y, often.Offset = append(often.Y, once.Y[i]), append(often.Offset, once.Offset[i])
	}
	floats.Scale(17, once.Weights) // of any unit
	return once, often
}

// observers are regressions of a sample.
var observers = map[string]struct {
	target func(f float64) float64
	of     func(s Sample, intercept bool, t Terms) (*Fit, error)
}{
	"squares":  {func(f float64) float64 { return f }, Squares},
	"logistic": {func(f float64) float64 { return math.Copysign(1, f) }, Logistic},
	"poisson":  {func(f float64) float64 { return math.Floor(2 * math.Exp(f)) }, Poisson},
}

// TestRowsOfWeight: a row of weight 2 is two rows, with offsets and without, with terms and without.
func TestRowsOfWeight(t *testing.T) {
	ctx := context.Background()
	for name, c := range observers {
		for _, dense := range []bool{true, false} {
			once, often := weighed(3, 60, 12, c.target, dense)
			for _, intercept := range []bool{true, false} {
				for _, terms := range []Terms{{}, {Factors: append([]float64{0, 0, 2}, 1, 1, 1, 1, 1, 1, 1, 1, 1),
					Upper: append([]float64{0.1}, infinite(11)...)}} {
					a, err := c.of(once, intercept, terms)
					require.NoError(t, err, name)
					b, err := c.of(often, intercept, terms)
					require.NoError(t, err, name)
					require.InEpsilon(t, b.LambdaMax(), a.LambdaMax(), 1e-9, name)
					require.InEpsilon(t, b.scale, a.scale, 1e-9, name)
					for _, share := range []float64{0.5, 0.05} {
						s := must.Of(a.solve(ctx, share*a.LambdaMax(), 0.01, 1e-13, nil))(t)
						r := must.Of(b.solve(ctx, share*a.LambdaMax(), 0.01, 1e-13, nil))(t)
						require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, s.Status, name)
						require.InDelta(t, r.Objective, s.Objective, 1e-10, name)
						require.InDelta(t, r.B0[0], s.B0[0], 1e-6, name)
						require.InDeltaSlice(t, r.B, s.B, 1e-6, name)
					}
				}
			}
		}
	}
}

func infinite(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Inf(1)
	}
	return out
}

// TestJointOfWeights: values, validation and subproblems of weighted rows are those of repeated ones.
func TestJointOfWeights(t *testing.T) {
	ctx := context.Background()
	for name, c := range observers {
		var joints [2]*Fit
		train, trains := weighed(3, 50, 10, c.target, true)
		val, vals := weighed(4, 30, 10, c.target, true)
		for k, s := range [2][2]Sample{{train, val}, {trains, vals}} {
			g := must.Of(c.of(s[0], true, Terms{Factors: []float64{2, 1, 1, 1, 1, 1, 1, 1, 1, 1}}))(t)
			joints[k] = must.Of(g.With(s[1]))(t)
		}
		x := [][]float64{{0.3, -0.2, 0, 0, 0.1, 0, 0, 0, 0, 0}, {0.2}}
		a, b := joints[0].Values(x), joints[1].Values(x)
		require.InEpsilon(t, b.Validation, a.Validation, 1e-12, name)
		require.InEpsilon(t, b.Train, a.Train, 1e-12, name)
		value, derivative := joints[0].Validation(x)
		require.InEpsilon(t, b.Validation, value, 1e-12, name)
		const h = 1e-5
		up, _ := joints[0].Validation([][]float64{x[0], {0.2 + h}})
		down, _ := joints[0].Validation([][]float64{x[0], {0.2 - h}})
		require.InDelta(t, (up-down)/(2*h), -floats.Sum(derivative), 1e-8, name)
		w := &bilevel.JointWeights{Train: 0.7, Validation: 0.4, Rho: 1e-2, Centre: x, Penalties: []float64{0.02, 0.01}}
		var points [2][][]float64
		for k, j := range joints {
			s := j.Joint()
			require.NoError(t, s.Model(ctx, x))
			for range 30 {
				must.Of(s.Solve(ctx, w))(t)
				check := must.Of(s.Check(ctx, w))(t)
				if check.Gap < 1e-13 {
					break
				}
				require.NoError(t, s.Model(ctx, nil))
			}
			points[k] = s.X()
		}
		require.InDeltaSlice(t, points[1][0], points[0][0], 1e-6, name)
		require.InDelta(t, points[1][1][0], points[0][1][0], 1e-6, name)
	}
}

// TestRate: of one group without features the intercept is the logarithm of the counts over the exposures, and with one
// feature per group that of each.
func TestRate(t *testing.T) {
	exposure := []float64{127, 63, 1095, 1512, 3353, 2244} // ships A and B of McCullagh and Nelder (1989), table 6.2
	y := []float64{0, 0, 3, 6, 18, 11}
	offset := make([]float64, len(y))
	for i, v := range exposure {
		offset[i] = math.Log(v)
	}
	g, err := Poisson(Sample{X: design.New(mat.NewDense(6, 1, []float64{0, 0, 0, 0, 1, 1})), Y: y, Offset: offset}, true,
		Terms{})
	require.NoError(t, err)
	require.InDelta(t, math.Log(floats.Sum(y)/floats.Sum(exposure)), g.start[1], 1e-12)
	s := must.Of(g.solve(context.Background(), 1e-9, 0, 1e-14, nil))(t)
	first, second := math.Log(9/(127+63+1095+1512.)), math.Log(29/(3353+2244.))
	require.InDelta(t, first, s.B0[0], 1e-6)
	require.InDelta(t, second-first, s.B[0], 1e-6)
}

// TestMultinomialRowsOfWeight is TestRowsOfWeight for several classes.
func TestMultinomialRowsOfWeight(t *testing.T) {
	ctx := context.Background()
	once, often := weighed(8, 60, 6, func(f float64) float64 { return math.Max(0, math.Min(2, math.Round(f+1))) }, true)
	classes := func(s Sample) Sample { return Sample{X: s.X, Y: s.Y, Weights: s.Weights} }
	for _, intercept := range []bool{true, false} {
		a := must.Of(Multinomial(classes(once), 3, intercept, Terms{}))(t)
		b := must.Of(Multinomial(classes(often), 3, intercept, Terms{}))(t)
		require.InEpsilon(t, b.LambdaMax(), a.LambdaMax(), 1e-9)
		s := must.Of(a.solve(ctx, 0.05*a.LambdaMax(), 0.01, 1e-13, nil))(t)
		r := must.Of(b.solve(ctx, 0.05*a.LambdaMax(), 0.01, 1e-13, nil))(t)
		require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, s.Status)
		require.InDelta(t, r.Objective, s.Objective, 1e-10)
		require.InDeltaSlice(t, r.B, s.B, 1e-6)
		require.InDeltaSlice(t, r.B0, s.B0, 1e-6)
		j := must.Of(a.With(classes(once)))(t)
		validation, _ := j.Validation([][]float64{s.B, s.B0})
		require.InDelta(t, s.Objective, validation+0.05*a.LambdaMax()*floats.Norm(s.B, 1)+0.005*math.Pow(floats.Norm(s.B, 2),
			2), 1e-10)
	}
}
