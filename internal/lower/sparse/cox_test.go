package sparse

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// sines are rows that a program in another language can make, too.
func sines(n, p int) *mat.Dense {
	x := mat.NewDense(n, p, nil)
	x.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64((i+1)*(j+1))*0.7 + float64(j*j)) }, x)
	return x
}

// tiedRows have times with ties.
func tiedRows() (*mat.Dense, []float64) {
	x, y := sines(60, 5), make([]float64, 60)
	for i := range y {
		v := float64(i)
		t := math.Floor(1 + 10*math.Exp(0.5*x.At(i, 1)-x.At(i, 0))*(1.2+math.Cos(5*v)))
		y[i] = survival.Row(t, math.Sin(3*v) < 0.6)
	}
	return x, y
}

// The minimum by L-BFGS-B of SciPy 1.x, with the positive and negative parts of b as variables, of the objective as the
// definition of the likelihood has it.
func TestCoxPeer(t *testing.T) {
	x, y := tiedRows()
	for _, data := range []*design.Matrix{design.New(x), compressedColumns(x)} {
		for _, c := range []struct {
			ties              survival.Ties
			w1, w2, objective float64
			b                 []float64
		}{
			{survival.Breslow, 0, 0.05, 1.5490307568365145, []float64{1.31054728, -0.570515852, 0.0116994682, 0.0574693196,
				0.091444329}},
			{survival.Breslow, 0.02, 0, 1.5294964077947946, []float64{1.59831095, -0.664863168, 0, 0, 0}},
			{survival.Breslow, 0.01, 0.03, 1.5473691829325733, []float64{1.3904609, -0.59530436, 0, 0, 0.0216681026}},
			{survival.Efron, 0, 0.05, 1.7100633693679286, []float64{1.39518987, -0.636773986, 0.0166148019, 0.0375532815,
				0.0764776593}},
			{survival.Efron, 0.02, 0, 1.683630670965648, []float64{1.73029642, -0.759474419, 0, 0, 0}},
			{survival.Efron, 0.01, 0.03, 1.706480116292498, []float64{1.48945749, -0.66790041, 0, 0, 0.022764718}},
		} {
			g := must.Of(Cox(Sample{X: data, Y: y}, c.ties, Terms{}))(t)
			s := must.Of(g.solve(context.Background(), c.w1, c.w2, 1e-13, nil))(t)
			require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, s.Status)
			require.InDelta(t, c.objective, s.Objective, 1e-12)
			require.InDeltaSlice(t, c.b, s.B, 1e-6)
			again := must.Of(g.solve(context.Background(), c.w1, c.w2, 1e-13, s))(t)
			require.InDeltaSlice(t, s.B, again.B, 1e-9)
		}
	}
}

// coxph of R's survival on its data set ovarian (Edmonson et al. 1979), as printed in textbooks: one feature, no
// penalty to speak of.
func TestCoxOvarian(t *testing.T) {
	y := []float64{59, 115, 156, -421, 431, -448, 464, 475, -477, 563, 638, -744, -769, -770, -803, -855, -1040, -1106,
		-1129, -1206, -1227, 268, 329, 353, 365, -377}
	for _, c := range []struct {
		x                   []float64
		coefficient, within float64
		ratio               float64 // of the likelihood with and without the feature
	}{
		{[]float64{72.3315, 74.4932, 66.4658, 53.3644, 50.3397, 56.4301, 56.937, 59.8548, 64.1753, 55.1781, 56.7562, 50.1096,
			59.6301, 57.0521, 39.2712, 43.1233, 38.8932, 44.6, 53.9068, 44.2055, 59.589, 74.5041, 43.137, 63.2192, 64.4247,
			58.3096}, 0.16162, 5e-6, 14.29},
		{[]float64{1, 1, 1, 2, 1, 1, 2, 2, 1, 2, 1, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 1, 1, 2, 2, 2}, -0.5964, 5e-5, 1.05},
	} {
		for _, ties := range []survival.Ties{survival.Breslow, survival.Efron} {
			g := must.Of(Cox(Sample{X: design.FromColumns(26, 1, c.x), Y: y}, ties, Terms{}))(t)
			s := must.Of(g.solve(context.Background(), 1e-9, 0, 1e-12, nil))(t)
			require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, s.Status)
			require.InDelta(t, c.coefficient, s.B[0], c.within)
			require.InDelta(t, c.ratio, 2*26*(g.scale-s.Objective), 0.005)
		}
	}
}

// The same with weights of the rows, an offset, factors of which one is 0, and bounds of coefficients; weights in
// another unit change nothing.
func TestCoxTermsPeer(t *testing.T) {
	x, y := tiedRows()
	weights, offset := make([]float64, len(y)), make([]float64, len(y))
	for i := range y {
		weights[i], offset[i] = 5*(1+0.5*math.Sin(float64(i))), 0.3*math.Cos(2*float64(i))
	}
	inf := math.Inf(1)
	terms := Terms{Factors: []float64{1, 0, 2, 1, 0.5}, Lower: []float64{-inf, -inf, -inf, 0, -inf},
		Upper: []float64{1, inf, 0.01, inf, inf}}
	for _, c := range []struct {
		ties              survival.Ties
		w1, w2, objective float64
		b                 []float64
	}{
		{survival.Breslow, 0, 0.05, 1.563122758160185, []float64{1, -0.573713395, 0.01, 0, 0.0505730929}},
		{survival.Breslow, 0.02, 0, 1.558691642986558, []float64{1, -0.572813424, 0, 0, 0.0222169143}},
		{survival.Breslow, 0.01, 0.03, 1.563528340065121, []float64{1, -0.573485082, 0.00999363506, 0, 0.0361142025}},
		{survival.Efron, 0, 0.05, 1.731660684989592, []float64{1, -0.607237455, 0.01, 0, 0.0487511324}},
		{survival.Efron, 0.02, 0, 1.727252795460753, []float64{1, -0.606449207, 0, 0, 0.0196518481}},
		{survival.Efron, 0.01, 0.03, 1.732056842595816, []float64{1, -0.607049929, 0.01, 0, 0.0338095198}},
	} {
		g := must.Of(Cox(Sample{X: design.New(x), Y: y, Weights: weights, Offset: offset}, c.ties, terms))(t)
		s := must.Of(g.solve(context.Background(), c.w1, c.w2, 1e-11, nil))(t)
		require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, s.Status)
		require.InDelta(t, c.objective, s.Objective, 1e-11)
		require.LessOrEqual(t, s.Gap, 1e-10)
		require.InDeltaSlice(t, c.b, s.B, 1e-5)
		// What is found at a loose tolerance is as near as it says.
		loose := must.Of(g.solve(context.Background(), c.w1, c.w2, 1e-3, nil))(t)
		require.LessOrEqual(t, loose.Objective-c.objective, loose.Gap+1e-11)
		// From the largest weight on only the feature without a penalty is in use.
		top := g.LambdaMax()
		at := must.Of(g.solve(context.Background(), top*(1+1e-6), 0, 1e-11, nil))(t)
		below := must.Of(g.solve(context.Background(), top*0.99, 0, 1e-11, nil))(t)
		for j, v := range at.B {
			require.Equal(t, j == 1, v != 0)
		}
		require.NotEqual(t, make([]float64, 4), append([]float64{below.B[0]}, below.B[2:]...))
	}
}

// LogisticRegression of scikit-learn 1.x with solver="saga", penalty="elasticnet", C=1/(n (w1+w2)), l1_ratio=w1/(w1+w2)
// and tol=1e-15 on these rows, its intercepts brought to the sum 0.
func TestMultinomialPeer(t *testing.T) {
	x, class := sines(60, 5), make([]int, 60)
	for i := range class {
		v := float64(i)
		f := []float64{2*x.At(i, 0) + math.Cos(5*v), x.At(i, 1) - x.At(i, 0) + 0.3*math.Cos(7*v) + 0.2,
			1.5*x.At(i, 2) + math.Sin(3*v)}
		class[i] = floats.MaxIdx(f)
	}
	for _, data := range []*design.Matrix{design.New(x), compressedColumns(x)} {
		g := must.Of(ofClasses(data, class, 3, true))(t)
		for _, c := range []struct {
			w1, w2, objective float64
			b, b0             []float64
		}{
			{0, 0.05, 0.7296128218161277, []float64{1.278355368, -0.8983392, -0.380016168, -0.306786723, 0.548816693,
				-0.24202997, -0.174719437, -0.59915955, 0.773878987,
				0.099761487, 0.096094852, -0.195856339, 0.160724872, -0.061699719, -0.099025152},
				[]float64{-0.040279644, 0.108824887, -0.068545244}},
			{0.02, 0, 0.6928584997410053, []float64{2.680356121, -0.783334219, 0, 0, 1.030723245, 0, 0, -0.426890099,
				1.395923615, 0, 0, 0, 0, 0, 0},
				[]float64{-0.239454789, 0.170816018, 0.068638771}},
			{0.01, 0.03, 0.7416975881254545, []float64{1.509136069, -0.896452364, -0.279350372, -0.189050713, 0.6639071,
				-0.141523054, -0.029116585, -0.552298278, 0.914748196,
				0, 0.039513756, -0.104082933, 0.079150943, 0, 0}, []float64{-0.065142055, 0.104061693, -0.038919638}},
		} {
			// From nothing, along the path of another solve, and from a point that its path has left.
			start := must.Of(g.solve(context.Background(), 0.03, 0.01, 1e-4, nil))(t)
			for _, from := range []*Solution{nil, start, start} {
				s := must.Of(g.solve(context.Background(), c.w1, c.w2, 1e-13, from))(t)
				require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, s.Status)
				require.InDelta(t, c.objective, s.Objective, 1e-10)
				require.InDeltaSlice(t, c.b, s.B, 1e-6)
				require.InDeltaSlice(t, c.b0, s.B0, 1e-6)
			}
		}
	}
}

// ofClasses is a fit of rows without weights and terms.
func ofClasses(x *design.Matrix, class []int, k int, intercept bool) (*Fit, error) {
	return ofTerms(x, class, nil, k, intercept, Terms{})
}

func ofTerms(x *design.Matrix, class []int, weights []float64, k int, intercept bool, terms Terms) (*Fit, error) {
	y := make([]float64, len(class))
	for i, v := range class {
		y[i] = float64(v)
	}
	return Multinomial(Sample{X: x, Y: y, Weights: weights}, k, intercept, terms)
}

// classes of rows by how large a target is.
func classesOf(y []float64, k int) []int {
	out := make([]int, len(y))
	for i, v := range y {
		out[i] = max(0, min(k-1, int(math.Floor((v+3)/3))))
	}
	for m := range k { // each has a row
		out[m] = m
	}
	return out
}

// Second derivatives along a direction are differences of derivatives, whatever the weights of the rows.
func TestMultinomialSecond(t *testing.T) {
	const n, p, k, h = 600, 40, 3, 1e-5
	x, y := lowertest.Sample(9, n, p, 6, 0.5)
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 1 + float64(i%3)
	}
	var want []float64
	for _, data := range []*design.Matrix{design.New(x), compressedColumns(x)} {
		g := must.Of(ofTerms(data, classesOf(y, k), weights, k, true, Terms{}))(t)
		at := must.Of(g.solve(context.Background(), 0.01, 0.1, 1e-6, nil))(t)
		b := g.vector([][]float64{at.B, at.B0})
		var set []int
		for _, e := range g.all {
			if (e/k+e%k)%2 > 0 || b[e] != 0 {
				set = append(set, e)
			}
		}
		whole := g.look(training, b).matrix(context.Background(), set)
		v, ends := make([]float64, len(set)), [2]*look{}
		for i := range v {
			v[i] = math.Sin(float64(i))
		}
		for end, step := range []float64{-h, h} {
			b := append([]float64(nil), b...)
			for i, e := range set {
				b[e] += step * v[i]
			}
			ends[end] = g.look(training, b)
		}
		for i, e := range set {
			difference := (ends[0].x.Dot(e, ends[0].slopes) - ends[1].x.Dot(e, ends[1].slopes)) / (2 * h)
			require.InDelta(t, difference, floats.Dot(whole[i*len(set):(i+1)*len(set)], v), 1e-8)
		}
		if want == nil {
			want = whole
		}
		require.InDeltaSlice(t, want, whole, 1e-12)
	}
}

// Solves of a fit may run at the same time.
func TestCoxAtTheSameTime(t *testing.T) {
	x, y := tiedRows()
	g := must.Of(Cox(Sample{X: design.New(x), Y: y}, survival.Efron, Terms{}))(t)
	var all, alone [6]*Solution
	solve := func(i int) *Solution {
		return must.Of(g.solve(context.Background(), 0.002*float64(1+i), 0.01, 1e-10, nil))(t)
	}
	for i := range alone {
		alone[i] = solve(i)
	}
	for range 20 {
		crew.Each(len(all), len(all), func(i int) { all[i] = solve(i) })
		for i, s := range all {
			require.Equal(t, alone[i].B, s.B)
		}
	}
}
