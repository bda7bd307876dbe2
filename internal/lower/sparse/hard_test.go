package sparse

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

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// Features of any size that files may hold make groups; larger ones are refused.
func TestGroupsOfTinyAndHugeFeatures(t *testing.T) {
	x, y := lowertest.Sample(3, 20, 6, 3, 1)
	x.Scale(1e75, x)
	_, err := Squares(Sample{X: design.New(x), Y: y}, false, Terms{})
	require.ErrorContains(t, err, "column 0 of the design has entries that are not finite or above 1e+70 in size")
	for _, scale := range []float64{1e-300, 1e-160, 1e-75, 1e60, 1e69} {
		x, y := lowertest.Sample(3, 20, 6, 3, 1)
		x.Scale(scale, x)
		for _, intercept := range []bool{false, true} {
			c := problem{groups: lowertest.EqualGroups(6, 3), norm: []float64{0.1, 0.1}}
			g := must.Of(Groups(Sample{X: design.New(x), Y: y}, intercept, c.groups))(t)
			require.Positive(t, groupLambdaMax(g, c.groups))
			c.solve(t, g, 1e-10, nil)
		}
	}
}

// TestGroupsStall has a group of features of 1e6 that are constant to 1e-6 beside small equal ones: rounding leaves a
// gap above the tolerance, and each Newton step moves a little. It has to end.
func TestGroupsStall(t *testing.T) {
	x := mat.NewDense(5, 4, []float64{
		-1.7229740243582905, -1.7229740243582905, 1.9802872038950084e+06, 885042.7901132035,
		-0.00043123825077024964, -0.00043123825077024964, 1.980286928119816e+06, 885041.1017556873,
		-0.04315835586672629, -0.04315835586672629, 1.980287511992284e+06, 885040.5730146944,
		1.2886566824903212, 1.2886566824903212, 1.9802872387793963e+06, 885042.1687790029,
		0.34471866706533255, 0.34471866706533255, 1.9802889067580618e+06, 885040.8613351098,
	})
	c := problem{groups: [][]int{{0, 1, 2, 3}}, norm: []float64{0.001}, l1: []float64{0.001}}
	y := []float64{1.5652475842498528, 1.5652475842498528, 0, 0, 0}
	g := must.Of(Groups(Sample{X: design.New(x), Y: y}, false, c.groups))(t)
	s := c.solve(t, g, 1e-9, nil)
	// by the rounding of the processor
	require.Contains(t, []outcome.Stop{outcome.Stalled, numerics.Exhausted, outcome.Converged}, s.Status)
	require.Less(t, g.Relative(s.Gap), 1e-3) // X'X is 4e12, and rounding of it 4e-4
}

// groupLambdaMax is that common to the norms of groups and the 1-norm.
func groupLambdaMax(g *Fit, members [][]int) float64 {
	ones := func(n int) []float64 { return slices.Repeat([]float64{1}, n) }
	return g.LambdaMaxOf(&glm.Weights{Norm: ones(len(members)), L1: ones(g.p)})
}

// rare are rows with a few entries in columns of very different lengths, each column divided by its standard deviation,
// most of which have one entry, some in the same row.
func rare(seed uint64, n, p, entries int, target func(f float64) float64) (x *mat.Dense, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	x, y = mat.NewDense(n, p, nil), make([]float64, n)
	f := make([]float64, n)
	for i := range n {
		for range entries {
			j := min(p-1, int(math.Exp(rng.Float64()*math.Log(20*float64(p))))-1)
			x.Set(i, j, 0.5+rng.Float64())
		}
		f[i] = 0.3 * rng.NormFloat64()
	}
	for j := range p {
		column := mat.Col(nil, j, x)
		sum, squares := 0.0, 0.0
		for _, v := range column {
			sum += v
			squares += v * v
		}
		if sum == 0 {
			continue
		}
		mean := sum / float64(n)
		deviation := math.Sqrt(squares/float64(n) - mean*mean)
		for i, v := range column {
			x.Set(i, j, v/deviation)
			if j < 20 {
				f[i] += 0.3 * float64(j%3-1) * v
			}
		}
	}
	for i, v := range f {
		y[i] = target(v)
	}
	return x, y
}

// On tables of rare features, brought to one deviation, the solutions meet the conditions of optimality, which gonum
// works out, to the gap asked for.
func TestRareFeatures(t *testing.T) {
	const n, m, p = 300, 150, 900
	for _, name := range smooth[:2] { // predictions of some hundred have no exponential
		c := lossesOfTests[name]
		x, y := rare(4, n, p, 12, c.target)
		v, z := rare(5, m, p, 12, c.target)
		centre := [][]float64{make([]float64, p), {0.1}}
		for j := range centre[0] {
			centre[0][j] = 0.05 * float64(j%3-1)
		}
		for k, w := range []*bilevel.JointWeights{
			{Train: 1, Penalties: []float64{0.01, 1e-4}},
			{Train: 1, Penalties: []float64{0.003, 1e-7}},
			{Train: 100, Validation: 1, Rho: 1e-3, Centre: centre, Penalties: []float64{0.4, 4e-3}},
		} {
			what := fmt.Sprint(name, " ", k)
			s := joined(t, name, Sample{X: compressedColumns(x), Y: y}, Sample{X: compressedColumns(v), Y: z}, Terms{}).solver()
			s.most = 5
			s.take(nil)
			require.NoError(t, s.Model(context.Background(), nil))
			for range 12 {
				pt := must.Of(s.Solve(context.Background(), w))(t)
				require.NotNil(t, pt, what)
				_, err := s.Check(context.Background(), w) // which lets features in
				require.NoError(t, err)
			}
			stationary(t, s, w, x, v)
		}
	}
}

// Errors say what is wrong with the rows, the terms of features, the weights of penalties and the start.
func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	m, y := lowertest.Sample(9, 5, 3, 2, 1)
	x, ones := design.New(m), slices.Repeat([]float64{1}, 5)
	wrong := mat.DenseCopyOf(m)
	wrong.Set(2, 1, inf)
	explained := make([]float64, 5) // by the first feature
	for i := range explained {
		explained[i] = math.Copysign(1, m.At(i, 0)-floats.Sum(mat.Col(nil, 0, m))/5)
	}
	squares := func(s Sample, t Terms) (*Fit, error) { return Squares(s, true, t) }
	logistic := func(s Sample, t Terms) (*Fit, error) { return Logistic(s, true, t) }
	plain := func(s Sample, t Terms) (*Fit, error) { return Logistic(s, false, t) }
	poisson := func(s Sample, t Terms) (*Fit, error) { return Poisson(s, true, t) }
	cox := func(s Sample, t Terms) (*Fit, error) { return Cox(s, survival.Breslow, t) }
	classes := func(s Sample, t Terms) (*Fit, error) { return Multinomial(s, 3, true, t) }
	single := func(s Sample, t Terms) (*Fit, error) { return Multinomial(s, 1, true, t) }
	for _, c := range []struct {
		want string
		of   func(s Sample, t Terms) (*Fit, error)
		rows Sample
		term Terms
	}{
		{"4 targets for 5 rows", squares, Sample{X: x, Y: y[:4]}, Terms{}},
		{"target of row 2 is NaN", squares, Sample{X: x, Y: []float64{0, 1, nan, 3, 4}}, Terms{}},
		{"column 1", squares, Sample{X: design.New(wrong), Y: y}, Terms{}},
		{"no rows", squares, Sample{X: design.FromColumns(0, 3, nil)}, Terms{}},
		{"label of row 0", plain, Sample{X: x, Y: y}, Terms{}},
		{"4 labels for 5 rows", plain, Sample{X: x, Y: y[:4]}, Terms{}},
		{"all labels are 1", logistic, Sample{X: x, Y: ones}, Terms{}},
		{"4 targets for 5 rows", poisson, Sample{X: x, Y: ones[:4]}, Terms{}},
		{"target of row 1 is -1", poisson, Sample{X: x, Y: []float64{1, -1, 2, 1, 1}}, Terms{}},
		{"target of row 1 is NaN", poisson, Sample{X: x, Y: []float64{1, nan, 2, 1, 1}}, Terms{}},
		{"target of row 1 is +Inf", poisson, Sample{X: x, Y: []float64{1, inf, 2, 1, 1}}, Terms{}},
		{"all targets are 0", poisson, Sample{X: x, Y: make([]float64, 5)}, Terms{}},
		{"4 times for 5 rows", cox, Sample{X: x, Y: ones[:4]}, Terms{}},
		{"time of row 0 is +Inf", cox, Sample{X: x, Y: []float64{inf, 1, 1, 1, 1}}, Terms{}},
		{"no event has other rows", cox, Sample{X: x, Y: []float64{-1, -2, -3, -4, -5}}, Terms{}},
		{"so that there is nothing to f", cox, Sample{X: x, Y: []float64{-1, -1, -1, -1, 2}}, Terms{}},
		{"4 classes for 5 rows", classes, Sample{X: x, Y: []float64{0, 1, 2, 0}}, Terms{}},
		{"class of row 2 is 3", classes, Sample{X: x, Y: []float64{0, 1, 3, 2, 0}}, Terms{}},
		{"no row has class 1", classes, Sample{X: x, Y: []float64{0, 2, 0, 2, 0}}, Terms{}},
		{"class of row 0 is -1, ", classes, Sample{X: x, Y: []float64{-1, 2, 0, 2, 0}}, Terms{}},
		{"expected at least 2", single, Sample{X: x, Y: make([]float64, 5)}, Terms{}},
		{"weight of row 1 is 0", logistic, Sample{X: x, Y: explained, Weights: []float64{1, 0, 1, 1, 1}}, Terms{}},
		{"1 weights and 0 entries", logistic, Sample{X: x, Y: explained, Weights: []float64{1}}, Terms{}},
		{"offset of row 0 is NaN", logistic, Sample{X: x, Y: explained, Offset: []float64{nan, 1, 1, 1, 1}}, Terms{}},
		{"0 weights and 3 entries of the", logistic, Sample{X: x, Y: explained, Offset: []float64{1, 2, 3}}, Terms{}},
		{"2 factors for 3 features", squares, Sample{X: x, Y: y}, Terms{Factors: []float64{1, 1}}},
		{"factor of feature 1 is -1", squares, Sample{X: x, Y: y}, Terms{Factors: []float64{1, -1, 1}}},
		{"lower bound of feature 2 is 1", squares, Sample{X: x, Y: y}, Terms{Lower: []float64{0, 0, 1}}},
		{"upper bound of feature 0 is", squares, Sample{X: x, Y: y}, Terms{Upper: []float64{nan, 0, 1}}},
		{"explain the targets by themselves", logistic, Sample{X: x, Y: explained}, Terms{Factors: []float64{0, 1, 1}}},
	} {
		_, err := c.of(c.rows, c.term)
		require.ErrorContains(t, err, c.want)
	}
	labels := []float64{0, 1, 1, 1, 0} // or counts, or times
	for k, of := range []func(s Sample, t Terms) (*Fit, error){squares, poisson, cox, classes} {
		if k == 3 {
			labels[4] = 2
		}
		g := must.Of(of(Sample{X: x, Y: labels}, Terms{}))(t)
		for _, w := range [][2]float64{{0, 0}, {-1, 1}, {nan, 1}, {inf, 0}} {
			_, err := g.solve(context.Background(), w[0], w[1], 0, nil)
			require.ErrorContains(t, err, "expected finite numbers, not negative, one of them positive")
		}
		_, err := g.solve(context.Background(), 1, 1, nan, nil)
		require.ErrorContains(t, err, "tolerance NaN")
		_, err = g.solve(context.Background(), 1, 1, 0, &Solution{B: make([]float64, 2)})
		require.ErrorContains(t, err, "start has 2 coefficients")
	}
	g := must.Of(squares(Sample{X: x, Y: y}, Terms{}))(t)
	_, err := g.Solve(context.Background(), &glm.Weights{Norm: make([]float64, 3), L2: make([]float64, 2)}, 0, nil)
	require.ErrorContains(t, err, "3, 0 and 2 weights for 3 units")
}
