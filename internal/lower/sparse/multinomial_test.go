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
	"github.com/conetune/conetune/internal/stop/stoptest"
	"github.com/conetune/conetune/lower"
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
		f := []float64{2*x.At(i, 0) + math.Cos(5*v), x.At(i, 1) - x.At(i, 0) + 0.3*math.Cos(7*v) + 0.2, 1.5*x.At(i, 2) + math.Sin(3*v)}
		class[i] = floats.MaxIdx(f)
	}
	for _, storage := range []string{"dense", "sparse"} {
		data := design.New(x)
		if storage == "sparse" {
			data = compressedColumns(x)
		}
		g, err := ofClasses(data, class, 3, true)
		require.NoError(t, err)
		for _, c := range []struct {
			w1, w2, objective float64
			b, b0             []float64
		}{
			{0, 0.05, 0.7296128218161277, []float64{1.278355368, -0.8983392, -0.380016168, -0.306786723, 0.548816693, -0.24202997, -0.174719437, -0.59915955, 0.773878987,
				0.099761487, 0.096094852, -0.195856339, 0.160724872, -0.061699719, -0.099025152}, []float64{-0.040279644, 0.108824887, -0.068545244}},
			{0.02, 0, 0.6928584997410053, []float64{2.680356121, -0.783334219, 0, 0, 1.030723245, 0, 0, -0.426890099, 1.395923615, 0, 0, 0, 0, 0, 0},
				[]float64{-0.239454789, 0.170816018, 0.068638771}},
			{0.01, 0.03, 0.7416975881254545, []float64{1.509136069, -0.896452364, -0.279350372, -0.189050713, 0.6639071, -0.141523054, -0.029116585, -0.552298278, 0.914748196,
				0, 0.039513756, -0.104082933, 0.079150943, 0, 0}, []float64{-0.065142055, 0.104061693, -0.038919638}},
		} {
			s, err := g.Solve(context.Background(), c.w1, c.w2, 1e-13, nil)
			require.NoError(t, err)
			require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status)
			require.InDelta(t, c.objective, s.Objective, 1e-10)
			require.InDeltaSlice(t, c.b, s.B, 1e-6)
			require.InDeltaSlice(t, c.b0, s.B0, 1e-6)
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

// The conditions of optimality, computed from the definition, and the gap, from far and from near, with more entries
// than rows.
func TestMultinomialOptimality(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, shape := range []struct{ n, p, k int }{{100, 8, 4}, {50, 120, 3}} {
			x, y := lowertest.Sample(6, shape.n, shape.p, 4, 0.6)
			class := classesOf(y, shape.k)
			g, err := ofClasses(design.New(x), class, shape.k, intercept)
			require.NoError(t, err)
			var last *Solution
			for _, ratio := range []float64{0.5, 0.1, 0.01} {
				for _, w2 := range []float64{0, 0.02} {
					name := fmt.Sprint(intercept, shape, ratio, w2)
					w1 := ratio * g.LambdaMax()
					s, err := g.Solve(context.Background(), w1, w2, 1e-11, last)
					require.NoError(t, err)
					require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status, "%s: gap %g", name, s.Gap)
					last = s
					multinomialOptimal(t, name, x, class, shape.k, intercept, w1, w2, Terms{}, s)
				}
			}
			s, err := g.Solve(context.Background(), g.LambdaMax()*(1+1e-9), 0, 1e-9, nil)
			require.NoError(t, err)
			require.Zero(t, floats.Norm(s.B, 1))
			s, err = g.Solve(context.Background(), g.LambdaMax()*0.99, 0, 1e-12, nil)
			require.NoError(t, err)
			require.Positive(t, floats.Norm(s.B, 1))
		}
	}
}

// The same with many entries, on dense and sparse designs.
func TestMultinomialWide(t *testing.T) {
	const n, p, k = 700, 120, 5
	x, y := lowertest.Sample(8, n, p, 6, 0.5)
	class := classesOf(y, k)
	for name, data := range map[string]*design.Matrix{"dense": design.New(x), "sparse": compressedColumns(x)} {
		g, err := ofClasses(data, class, k, true)
		require.NoError(t, err)
		for _, w := range [][2]float64{{0, 1e-3}, {1e-5, 1e-4}, {1e-3, 1e-3}, {5e-3, 0}} {
			s, err := g.Solve(context.Background(), w[0], w[1], 1e-11, nil)
			require.NoError(t, err)
			require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status, "%s %v: gap %g", name, w, s.Gap)
			multinomialOptimal(t, fmt.Sprint(name, w), x, class, k, true, w[0], w[1], Terms{}, s)
		}
	}
}

// The conditions of optimality with penalty factors, some of them 0, and bounds.
func TestMultinomialTerms(t *testing.T) {
	for _, shape := range []struct{ n, p, k int }{{120, 9, 3}, {700, 120, 5}} {
		x, y := lowertest.Sample(12, shape.n, shape.p, 6, 0.5)
		class := classesOf(y, shape.k)
		factors, low, high := make([]float64, shape.p), make([]float64, shape.p), make([]float64, shape.p)
		for j := range factors {
			factors[j], low[j], high[j] = float64(j%3), math.Inf(-1), math.Inf(1)
			switch j % 4 {
			case 1:
				low[j] = 0
			case 2:
				low[j], high[j] = -0.1, 0.2
			}
		}
		factors[3], factors[6] = 0.5, 0.5
		if shape.p > 20 { // as many features without a penalty tell all labels apart
			for j := 10; j < shape.p; j++ {
				factors[j] += 0.5
			}
		}
		for name, terms := range map[string]Terms{"factors": {Factors: factors}, "bounds": {Lower: low, Upper: high}, "both": {Factors: factors, Lower: low, Upper: high}} {
			for storage, data := range map[string]*design.Matrix{"dense": design.New(x), "sparse": compressedColumns(x)} {
				g, err := ofTerms(data, class, nil, shape.k, true, terms)
				require.NoError(t, err)
				for _, w := range [][2]float64{{0.02, 0}, {1e-3, 1e-2}, {0, 0.05}} {
					at := fmt.Sprint(shape, name, storage, w)
					s, err := g.Solve(context.Background(), w[0], w[1], 1e-11, nil)
					require.NoError(t, err)
					require.Contains(t, []lower.Status{lower.Optimal, lower.Exhausted}, s.Status, "%s: gap %g", at, s.Gap)
					multinomialOptimal(t, at, x, class, shape.k, true, w[0], w[1], terms, s)
				}
				s, err := g.Solve(context.Background(), g.LambdaMax()*(1+1e-6), 0, 1e-11, nil)
				require.NoError(t, err)
				for e, v := range s.B {
					if terms.Factors == nil || terms.Factors[e/shape.k] > 0 {
						require.Zero(t, v, "%s %s", name, storage)
					}
				}
				s, err = g.Solve(context.Background(), g.LambdaMax()*0.98, 0, 1e-11, nil)
				require.NoError(t, err)
				moved := 0.0
				for e, v := range s.B {
					if terms.Factors == nil || terms.Factors[e/shape.k] > 0 {
						moved += math.Abs(v)
					}
				}
				require.Positive(t, moved, "%s %s", name, storage)
			}
		}
	}
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
		g, err := ofTerms(data, classesOf(y, k), weights, k, true, Terms{})
		require.NoError(t, err)
		at, err := g.Solve(context.Background(), 0.01, 0.1, 1e-6, nil)
		require.NoError(t, err)
		b := g.vector(at.x(true))
		var set []int
		for _, e := range g.all {
			if (e/k+e%k)%2 > 0 || b[e] != 0 {
				set = append(set, e)
			}
		}
		whole := g.look(training, b).matrix(context.Background(), set, 0)
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
			difference := (ends[0].descent(e) - ends[1].descent(e)) / (2 * h)
			require.InDelta(t, difference, floats.Dot(whole[i*len(set):(i+1)*len(set)], v), 1e-8)
		}
		if want == nil {
			want = whole
		}
		require.InDeltaSlice(t, want, whole, 1e-12)
	}
}

func multinomialOptimal(t *testing.T, name string, x *mat.Dense, class []int, k int, intercept bool, w1, w2 float64, terms Terms, s *Solution) {
	t.Helper()
	full, err := terms.check(x.RawMatrix().Cols)
	require.NoError(t, err)
	n, p := x.Dims()
	value, u := 0.0, mat.NewDense(n, k, nil)
	for i := range n {
		f := append([]float64(nil), s.B0...)
		for j := range p {
			for m := range k {
				f[m] += x.At(i, j) * s.B[j*k+m]
			}
		}
		total := floats.LogSumExp(f)
		value += (total - f[class[i]]) / float64(n)
		for m := range k {
			u.Set(i, m, -math.Exp(f[m]-total))
		}
		u.Set(i, class[i], 1+u.At(i, class[i]))
	}
	if intercept {
		for m := range k {
			require.InDelta(t, 0, mat.Sum(u.ColView(m))/float64(n), 1e-9, name)
		}
		require.InDelta(t, 0, floats.Sum(s.B0), 1e-9)
	}
	for j := range p {
		for m := range k {
			b, f, lo, hi := s.B[j*k+m], full.Factors[j], full.Lower[j], full.Upper[j]
			c := mat.Dot(x.ColView(j), u.ColView(m))/float64(n) - f*w2*b
			// c is a subgradient of w1 f |b|, or beyond it where a bound is met.
			least, most := -f*w1, f*w1
			if b > 0 {
				least = most
			} else if b < 0 {
				most = least
			}
			require.True(t, lo <= b && b <= hi, name)
			if b < hi {
				require.LessOrEqual(t, c, most+1e-6, name)
			}
			if b > lo {
				require.GreaterOrEqual(t, c, least-1e-6, name)
			}
			value += f * (w1*math.Abs(b) + w2*b*b/2)
		}
	}
	require.InEpsilon(t, value, s.Objective, 1e-10, name)
}

// With two classes, f_1 - f_0 is the value of a logistic regression: |b_0| + |b_1| is |b| of the difference, and
// b_0^2 + b_1^2 half of its square.
func TestMultinomialOfTwoClasses(t *testing.T) {
	x, y := lowertest.Sample(6, 80, 30, 4, 0.8)
	class, label := make([]int, 80), make([]float64, 80)
	for i, v := range y {
		if label[i] = -1; v > 3 {
			class[i], label[i] = 1, 1
		}
	}
	g, err := ofClasses(design.New(x), class, 2, true)
	require.NoError(t, err)
	binary, err := Logistic(Sample{X: design.New(x), Y: label}, true, Terms{})
	require.NoError(t, err)
	for _, w2 := range []float64{0.001, 0.05} {
		s, err := g.Solve(context.Background(), 0.03, w2, 1e-13, nil)
		require.NoError(t, err)
		want, err := binary.Solve(context.Background(), 0.03, w2/2, 1e-13, nil)
		require.NoError(t, err)
		require.InEpsilon(t, want.Objective, s.Objective, 1e-9)
		for j, b := range want.B {
			require.InDelta(t, b, s.B[2*j+1]-s.B[2*j], 1e-5)
		}
		require.InDelta(t, want.B0[0], s.B0[1]-s.B0[0], 1e-5)
	}
}

// A solve ends soon after its context.
func TestMultinomialStops(t *testing.T) {
	x, y := lowertest.Sample(6, 100, 8, 4, 0.6)
	g, err := ofClasses(design.New(x), classesOf(y, 4), 4, true)
	require.NoError(t, err)
	s, err := g.Solve(stoptest.After(2), 0.01*g.LambdaMax(), 0, 1e-10, nil)
	require.NoError(t, err)
	require.Equal(t, lower.Cancelled, s.Status)
}
