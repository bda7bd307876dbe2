package sparse

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// LogisticRegression of scikit-learn 1.x with solver="saga", penalty="elasticnet", C=1/(n (w1+w2)), l1_ratio=w1/(w1+w2)
// and tol=1e-15 on these rows, its intercepts brought to the sum 0.
func TestMultinomialPeer(t *testing.T) {
	const n, p = 60, 5
	x, class := mat.NewDense(n, p, nil), make([]int, n)
	for i := range n {
		for j := range p {
			x.Set(i, j, math.Sin(float64((i+1)*(j+1))*0.7+float64(j*j)))
		}
		v := float64(i)
		f := []float64{2*x.At(i, 0) + math.Cos(5*v), x.At(i, 1) - x.At(i, 0) + 0.3*math.Cos(7*v) + 0.2,
			1.5*x.At(i, 2) + math.Sin(3*v)}
		class[i] = floats.MaxIdx(f)
	}
	for _, storage := range []string{"dense", "sparse"} {
		data := design.New(x)
		if storage == "sparse" {
			data = compressedColumns(x)
		}
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
