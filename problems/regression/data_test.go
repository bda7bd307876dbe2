package regression

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// table is n rows of p normal features with different means and scales, of which the
// second is constant.
func table(seed uint64, n, p int) *dataset.Data {
	rng := rand.New(rand.NewPCG(seed, 3))
	d := &dataset.Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Target: "y"}
	for j := range p {
		d.Features = append(d.Features, string(rune('a'+j)))
	}
	for i := range n {
		for j := range p {
			d.Dense().Set(i, j, float64(j)+math.Pow(3, float64(j%4))*rng.NormFloat64())
		}
		d.Dense().Set(i, 1, 7)
		d.Y[i] = 40 + 5*d.X.At(i, 0) + 10*rng.NormFloat64()
	}
	return d
}

func sample() *dataset.Split {
	return &dataset.Split{Train: table(1, 12, 5), Val: table(2, 7, 5), Test: table(3, 9, 5)}
}

var all = []Options{{}, {Intercept: true}, {Standardize: true}, {Intercept: true, Standardize: true}}

// values gives values to all variables.
func values(d *data) ([]*convex.Variable, [][]float64, convex.Point) {
	vars := d.variables(convex.NewModel())
	rng := rand.New(rand.NewPCG(9, 9))
	var x [][]float64
	pt := convex.Point{}
	for _, v := range vars {
		u := make([]float64, v.Len())
		for j := range u {
			u[j] = rng.NormFloat64()
		}
		x = append(x, u)
		pt[v] = u
	}
	return vars, x, pt
}

// half the mean squared error of a predictor, row by row.
func half(d *dataset.Data, c []float64, c0 float64) float64 {
	sum := 0.0
	for i := range d.Y {
		r := c0 - d.Y[i]
		for j, v := range c {
			r += v * d.X.At(i, j)
		}
		sum += r * r
	}
	return sum / float64(2*len(d.Y))
}

// The losses in the unit of the model are the errors of the predictor in the user's
// units, up to the square of the target's unit.
func TestUnits(t *testing.T) {
	for _, o := range all {
		s := sample()
		d := must.Of(newData(s, o, Net{}))(t)
		vars, x, pt := values(d)
		f := d.Fit(x)
		unit := 1.0
		if o.Standardize {
			_, sd := targetUnit(s.Train, o.Intercept)
			unit = sd * sd
			require.Greater(t, unit, 50.0)
		}
		loss := unit * d.mean(d.parts[0].train, vars).Eval(pt)[0]
		require.InEpsilon(t, half(s.Train, f.Coefficients, f.Intercept), loss, 1e-10)
		require.InEpsilon(t, half(s.Val, f.Coefficients, f.Intercept), unit*d.mean(d.parts[0].val, vars).Eval(pt)[0], 1e-10)
		e := d.Evaluate(x)
		require.InEpsilon(t, half(s.Val, f.Coefficients, f.Intercept), e.Validation, 1e-12)
		require.InEpsilon(t, half(s.Test, f.Coefficients, f.Intercept), *e.Test, 1e-12)
		if !o.Intercept {
			require.Zero(t, f.Intercept)
		}
		require.Equal(t, s.Train.Features, f.Features)
	}
}

// trainGradient is the gradient of the training loss, in the shape of x.
func trainGradient(d *data, x [][]float64) (out [][]float64) {
	share := 1 / float64(len(d.parts))
	for t, p := range d.parts {
		at := problems.Fit{Coefficients: of(d, x, t)[0]}
		if d.intercept() {
			at.Intercept = of(d, x, t)[1][0]
		}
		gb, g0 := d.gradient(p.train, valuesOf(p.train, at))
		floats.Scale(share, gb)
		out = append(out, gb)
		if d.options.Intercept {
			out = append(out, []float64{share * g0})
		}
	}
	return out
}

// One feature: the lasso's coefficient is soft thresholding of x'y/n at lambda.
func TestLambdaMax(t *testing.T) {
	one := &dataset.Data{X: mat.NewDense(4, 1, []float64{1, 2, -1, 0}), Y: []float64{2, 3, 1, 0}, Features: []string{"a"},
		Target: "y"}
	d := must.Of(newData(&dataset.Split{Train: one, Val: one}, Options{}, Net{}))(t)
	require.InDelta(t, (2.0+6-1)/4, d.LambdaMax(), 1e-15)
	path := d.Path(3)
	require.Len(t, path, 3)
	require.InDelta(t, d.LambdaMax()*1e-3, path[2], 1e-15)
	require.InDelta(t, path[1]/path[0], path[2]/path[1], 1e-12)

	// With an intercept only the centred target counts: y - 1.5 = 0.5, 1.5, -0.5, -1.5.
	d = must.Of(newData(&dataset.Split{Train: one, Val: one}, Options{Intercept: true}, Net{}))(t)
	require.InDelta(t, (0.5+3+0.5)/4, d.LambdaMax(), 1e-15)

	flat := &dataset.Data{X: one.X, Y: []float64{1, 1, 1, 1}, Features: one.Features, Target: "y"}
	d = must.Of(newData(&dataset.Split{Train: flat, Val: flat}, Options{Intercept: true, Standardize: true}, Net{}))(t)
	require.Nil(t, d.Path(3))
}

func TestRejectsBadSplits(t *testing.T) {
	s := sample()
	s.Val.Features = []string{"v", "w", "x", "y", "z"}
	_, err := NewNet(s, Options{}, Net{})
	require.Error(t, err)
	_, err = NewNet(&dataset.Split{Train: table(1, 3, 2)}, Options{}, Net{})
	require.Error(t, err)
}

// bowl is a smooth loss with a length of its own: (sqrt(1 + ((f-y)/a)^2) - 1) a^2 with a = 3 in the user's unit.
var bowl = Loss{
	Sum: sumOfSquares,
	Value: func(f, y []float64, sd float64) float64 {
		r, a := f[0]-y[0], 3/sd
		return (math.Sqrt(1+r*r/(a*a)) - 1) * a * a
	},
	Slope: func(f, y, sd float64) float64 {
		r, a := f-y, 3/sd
		return r / math.Sqrt(1+r*r/(a*a))
	},
}

// Another loss than squares reaches errors, gradients, the intercept of LambdaMax and the rows held back.
func TestOtherLoss(t *testing.T) {
	for _, o := range all {
		s := sample()
		d := must.Of(newData(s, o, Net{Loss: bowl}))(t)
		_, x, _ := values(d)
		f := d.Fit(x)
		mean := func(rows *dataset.Data) (sum float64) {
			for i, y := range rows.Y {
				sum += bowl.Value([]float64{f.Value(rows.Dense().RawRowView(i))}, []float64{y}, 1) / float64(len(rows.Y))
			}
			return sum
		}
		require.InEpsilon(t, mean(s.Val), d.Evaluate(x).Validation, 1e-10)
		require.InEpsilon(t, mean(s.Test), *d.Evaluate(x).Test, 1e-10)

		train := func() (sum float64) {
			rows, at := d.parts[0].train, problems.Fit{Coefficients: x[0]}
			if d.intercept() {
				at.Intercept = x[1][0]
			}
			for i, v := range valuesOf(rows, at) {
				sum += bowl.Value([]float64{v}, rows.Y[i:i+1], d.sd) / float64(len(rows.Y))
			}
			return sum
		}
		g := trainGradient(d, x)
		for i := range x {
			for j := range x[i] {
				const step = 1e-5
				keep := x[i][j]
				x[i][j] = keep + step
				up := train()
				x[i][j] = keep - step
				down := train()
				x[i][j] = keep
				require.InDelta(t, (up-down)/(2*step), g[i][j], 1e-5*(1+math.Abs(g[i][j])))
			}
		}
		require.Positive(t, d.LambdaMax())
	}
	// The best constant is where the derivatives balance, for squares the mean.
	y := []float64{1, 2, 4, 100}
	sum := 0.0
	c := constant(bowl, y, nil, 2)
	for _, v := range y {
		sum += bowl.Slope(c, v, 2)
	}
	require.InDelta(t, 0, sum, 1e-12)
	require.InDelta(t, 107.0/4, constant(squares, y, nil, 2), 1e-12)
}

// Coefficients of 1 in the unit of the model are Unit in the user's.
func TestUnit(t *testing.T) {
	for _, o := range all {
		d := must.Of(newData(sample(), o, Net{}))(t)
		_, x, _ := values(d)
		for j, c := range d.Fit(x).Coefficients {
			require.InEpsilon(t, c, d.Unit(j)*x[0][j], 1e-12)
		}
	}
}

// Equal targets are counted, or their weights added, and the best constant stays.
func TestTally(t *testing.T) {
	values, sums := tally([]float64{3, 1, 3, 3, 2, 1}, nil)
	require.Equal(t, []float64{3, 1, 2}, values)
	require.Equal(t, []float64{3, 2, 1}, sums)
	values, sums = tally([]float64{3, 1, 3}, []float64{0.5, 2, 4})
	require.Equal(t, []float64{3, 1}, values)
	require.Equal(t, []float64{4.5, 2}, sums)
	require.InDelta(t, constant(bowl, []float64{1, 1, 1, 4, 100}, nil, 2), constant(bowl, []float64{1, 4, 100},
		[]float64{3, 1, 1}, 2), 1e-12)
}

// Factors of 1 beside tiny ones exclude nothing, nor do factors that are all large.
func TestNothingExcluded(t *testing.T) {
	for _, factors := range [][]float64{{1e-9, 1, 1, 1, 1}, {1e9, 2e9, 1e9, 1e9, 1e9}} {
		m := must.Of(ElasticNet(sample(), Options{Intercept: true, Terms: Terms{Factors: factors}}))(t)
		require.Equal(t, factors, m.data.terms.Factors)
		require.Nil(t, m.data.terms.Upper)
	}
}
