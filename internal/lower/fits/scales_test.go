package fits

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/completion"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop/stoptest"
	"github.com/conetune/conetune/outcome"
)

// Fits with weights, and with radii, of 24 decades side by side.

// spread draws n numbers from 1/10^decades to 10^decades.
func spread(rng *rand.Rand, n int, decades float64) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = math.Pow(10, decades*(2*rng.Float64()-1))
	}
	return w
}

// instance is a table with features of different units, what is to be explained by them, and how well a point does
// it.
type instance struct {
	rng       *rand.Rand
	n, p      int
	columns   [][]float64
	signal    []float64
	intercept bool
}

func draw(seed uint64) *instance {
	rng := rand.New(rand.NewPCG(seed, 5))
	d := &instance{rng: rng, n: 10 + rng.IntN(30), p: 3 + rng.IntN(15), intercept: rng.IntN(2) == 0}
	if rng.IntN(4) == 0 {
		d.p += 20
	}
	d.signal, d.columns = make([]float64, d.n), make([][]float64, d.p)
	for j, unit := range spread(rng, d.p, 2) {
		c := make([]float64, d.n)
		for i := range c {
			c[i] = rng.NormFloat64()
			if j > 0 {
				c[i] = 0.8*c[i] + 0.6*d.columns[j-1][i]/floats.Norm(d.columns[j-1], 2)*math.Sqrt(float64(d.n))
			}
		}
		if j%2 == 0 {
			floats.Add(d.signal, c)
		}
		floats.Scale(unit, c)
		d.columns[j] = c
	}
	for i := range d.signal {
		d.signal[i] += rng.NormFloat64()
	}
	return d
}

func (d *instance) x() *design.Matrix {
	return design.FromColumns(d.n, d.p, slices.Concat(d.columns...))
}

// weights are none, one or one for each of count.
func (d *instance) weights(count int) []float64 {
	return spread(d.rng, []int{0, 1, count, count}[d.rng.IntN(4)], 12)
}

// full is one weight for each.
func full(w []float64, count int) []float64 {
	switch len(w) {
	case 0:
		return nil
	case 1:
		return slices.Repeat(w, count)
	}
	return w
}

// violation is that of coefficients b of the columns, where u are the derivatives of the loss in the predictions
// of the rows, which scale is the size of.
func (d *instance) violation(c lowertest.Coefficients, b, u []float64, scale float64) float64 {
	gradient, curvature := make([]float64, d.p), make([]float64, d.p)
	for j, x := range d.columns {
		gradient[j], curvature[j] = floats.Dot(x, u), floats.Dot(x, x)/float64(d.n)
	}
	v := c.Violation(b, gradient, curvature, scale)
	if d.intercept {
		v = math.Max(v, math.Abs(floats.Sum(u))/math.Sqrt(2*scale))
	}
	return v
}

// slopes are the derivatives of a mean of losses at the predictions.
func (d *instance) slopes(b []float64, b0 float64, of func(i int, f float64) float64) []float64 {
	u := slices.Repeat([]float64{b0}, d.n)
	for j, x := range d.columns {
		floats.AddScaled(u, b[j], x)
	}
	for i, f := range u {
		u[i] = of(i, f) / float64(d.n)
	}
	return u
}

func (d *instance) squares(b []float64, b0 float64) (u []float64, scale float64) {
	u = d.slopes(b, b0, func(i int, f float64) float64 { return f - d.signal[i] })
	return u, floats.Dot(d.signal, d.signal) / (2 * float64(d.n))
}

// answer is how a fit ended, and by how much it misses the conditions of optimality.
type answer struct {
	status    outcome.Stop
	violation float64
}

// twice solves from nothing, and at other weights from there.
func twice[S any](solve func(start *S) (*S, answer)) []answer {
	from, cold := solve(nil)
	_, warm := solve(from)
	return []answer{cold, warm}
}

// mostLooks at their context are more than solves of these take that come to an end: a few that will stall take
// millions.
const mostLooks = 100_000

// factored solves at two weights of 12 decades, times factors of as many.
func (d *instance) factored(t *testing.T, g *sparse.Fit, factors []float64, tol float64,
	start *sparse.Solution,
) (*sparse.Solution, lowertest.Coefficients) {
	w := spread(d.rng, 2, 6)
	s := must.Of(solve(stoptest.After(mostLooks), g, w, tol, start))(t)
	c := lowertest.Coefficients{L1: slices.Clone(factors), L2: slices.Clone(factors)}
	floats.Scale(w[0], c.L1)
	floats.Scale(w[1], c.L2)
	return s, c
}

// scaled are the fits with weights of 24 decades.
var scaled = []struct {
	name  string
	solve func(t *testing.T, d *instance, tol float64) []answer
}{
	{"regression", func(t *testing.T, d *instance, tol float64) []answer {
		ctx := context.Background()
		data, err := glm.New(ctx, &glm.Table{X: d.x(), Y: [][]float64{d.signal}, Intercept: d.intercept, Folds: [][]int{nil}})
		require.NoError(t, err)
		return twice(func(path *glm.Path) (*glm.Path, answer) {
			if path == nil {
				path = data.Path(ctx)
			}
			w := &glm.Weights{Norm: full(d.weights(d.p), d.p), L2: full(d.weights(d.p), d.p)}
			if w.Norm == nil {
				w.Norm = make([]float64, d.p)
			}
			s := must.Of(path.Solve(ctx, w, tol))(t)
			status := outcome.Stalled
			if s.Solved {
				status = outcome.Converged
			}
			u, scale := d.squares(s.B[0], s.B0[0][0])
			return path, answer{status, d.violation(lowertest.Coefficients{L1: w.Norm, L2: w.L2}, s.B[0], u, scale)}
		})
	}},
	{"groups", func(t *testing.T, d *instance, tol float64) []answer {
		members := lowertest.EqualGroups(d.p, 3)
		g := must.Of(sparse.New(nil, sparse.Sample{X: d.x(), Y: d.signal}, d.intercept, sparse.Terms{}, members))(t)
		return twice(func(start *sparse.Solution) (*sparse.Solution, answer) {
			w := &glm.Weights{Norm: spread(d.rng, len(members), 12), L1: full(d.weights(d.p), d.p)}
			s := must.Of(g.Solve(context.Background(), w, tol, start))(t)
			u, scale := d.squares(s.B, s.B0[0])
			c := lowertest.Coefficients{Groups: members, Norm: w.Norm, L1: w.L1}
			return s, answer{s.Status, d.violation(c, s.B, u, scale)}
		})
	}},
	{"logistic", func(t *testing.T, d *instance, tol float64) []answer {
		y := make([]float64, d.n)
		for i, v := range d.signal {
			y[i] = math.Copysign(1, v+2*d.rng.NormFloat64())
		}
		y[0], y[1] = 1, -1
		factors := spread(d.rng, d.p, 6)
		g, err := sparse.New(glm.Logistic{}, sparse.Sample{X: d.x(), Y: y}, d.intercept, sparse.Terms{Factors: factors}, nil)
		require.NoError(t, err)
		return twice(func(start *sparse.Solution) (*sparse.Solution, answer) {
			s, c := d.factored(t, g, factors, tol, start)
			u := d.slopes(s.B, s.B0[0], func(i int, f float64) float64 { return -y[i] / (1 + math.Exp(y[i]*f)) })
			return s, answer{s.Status, d.violation(c, s.B, u, 1)}
		})
	}},
	{"poisson", func(t *testing.T, d *instance, tol float64) []answer {
		y := make([]float64, d.n)
		for i, v := range d.signal {
			y[i] = math.Floor(math.Exp(v/2) + d.rng.Float64())
		}
		y[0]++
		factors := spread(d.rng, d.p, 6)
		g, err := sparse.New(glm.Poisson{}, sparse.Sample{X: d.x(), Y: y}, d.intercept, sparse.Terms{Factors: factors}, nil)
		require.NoError(t, err)
		return twice(func(start *sparse.Solution) (*sparse.Solution, answer) {
			s, c := d.factored(t, g, factors, tol, start)
			u := d.slopes(s.B, s.B0[0], func(i int, f float64) float64 { return math.Exp(f) - y[i] })
			mean := 1 + floats.Sum(y)/float64(d.n)
			return s, answer{s.Status, d.violation(c, s.B, u, mean*mean)}
		})
	}},
	{"terms", func(t *testing.T, d *instance, tol float64) []answer {
		factors := spread(d.rng, d.p, 6)
		g, err := sparse.New(nil, sparse.Sample{X: d.x(), Y: d.signal}, d.intercept, sparse.Terms{Factors: factors}, nil)
		require.NoError(t, err)
		return twice(func(start *sparse.Solution) (*sparse.Solution, answer) {
			s, c := d.factored(t, g, factors, tol, start)
			u, scale := d.squares(s.B, s.B0[0])
			return s, answer{s.Status, d.violation(c, s.B, u, scale)}
		})
	}},
	{"cox", func(t *testing.T, d *instance, tol float64) []answer {
		y := make([]float64, d.n)
		for i, v := range d.signal {
			if y[i] = math.Exp(-v/2) * (0.1 + d.rng.ExpFloat64()); d.rng.IntN(4) == 0 && i > 0 {
				y[i] = -y[i]
			}
		}
		d.intercept = false
		factors := spread(d.rng, d.p, 6)
		g, err := sparse.New(glm.Hazards{Ties: survival.Breslow}, sparse.Sample{X: d.x(), Y: y}, false,
			sparse.Terms{Factors: factors}, nil)
		require.NoError(t, err)
		return twice(func(start *sparse.Solution) (*sparse.Solution, answer) {
			s, c := d.factored(t, g, factors, tol, start)
			f, u := d.slopes(s.B, 0, func(_ int, f float64) float64 { return f * float64(d.n) }), make([]float64, d.n)
			for k, time := range y {
				if time < 0 {
					continue
				}
				sum := 0.0
				for i, other := range y {
					if math.Abs(other) >= time {
						sum += math.Exp(f[i] - f[k])
					}
				}
				u[k] -= 1 / float64(d.n)
				for i, other := range y {
					if math.Abs(other) >= time {
						u[i] += math.Exp(f[i]-f[k]) / sum / float64(d.n)
					}
				}
			}
			return s, answer{s.Status, d.violation(c, s.B, u, 1)}
		})
	}},
	{"multinomial", func(t *testing.T, d *instance, tol float64) []answer {
		const k = 3
		class, y := make([]int, d.n), make([]float64, d.n)
		for i, v := range d.signal {
			if class[i] = i; i >= k {
				class[i] = min(k-1, max(0, int(math.Round(v/2+d.rng.NormFloat64()+1))))
			}
			y[i] = float64(class[i])
		}
		factors := spread(d.rng, d.p, 6)
		g, err := sparse.New(glm.Multinomial{Classes: k}, sparse.Sample{X: d.x(), Y: y}, d.intercept,
			sparse.Terms{Factors: factors}, nil)
		require.NoError(t, err)
		return twice(func(start *sparse.Solution) (*sparse.Solution, answer) {
			w := spread(d.rng, 2, 6)
			s := must.Of(solve(context.Background(), g, w, tol, start))(t)
			f := make([][]float64, k)
			for c := range f {
				b, b0 := make([]float64, d.p), 0.0
				for j := range b {
					b[j] = s.B[j*k+c]
				}
				if d.intercept {
					b0 = s.B0[c]
				}
				f[c] = d.slopes(b, b0, func(_ int, f float64) float64 { return f * float64(d.n) })
			}
			worst := 0.0
			for c := range f {
				u, b := make([]float64, d.n), make([]float64, d.p)
				own := lowertest.Coefficients{L1: make([]float64, d.p), L2: make([]float64, d.p)}
				for i := range u {
					sum := 0.0
					for _, other := range f {
						sum += math.Exp(other[i] - f[c][i])
					}
					if u[i] = 1 / sum; class[i] == c {
						u[i]--
					}
					u[i] /= float64(d.n)
				}
				for j := range b {
					b[j], own.L1[j], own.L2[j] = s.B[j*k+c], w[0]*factors[j], w[1]*factors[j]
				}
				worst = math.Max(worst, d.violation(own, b, u, 1))
			}
			return s, answer{s.Status, worst}
		})
	}},
	{"completion", func(t *testing.T, d *instance, tol float64) []answer {
		const m, n = 6, 7
		row, col := make([]int, d.n), make([]int, d.n)
		for i, at := range d.rng.Perm(m * n)[:d.n] {
			row[i], col[i] = at/n, at%n
		}
		members := lowertest.EqualGroups(d.p, 3)
		data := completion.Data{M: m, N: n, Row: row, Col: col, Y: d.signal, X: d.x(), Groups: members}
		g := must.Of(completion.New(data, d.intercept))(t)
		return twice(func(start *completion.Solution) (*completion.Solution, answer) {
			w := append(spread(d.rng, 1, 12), spread(d.rng, len(members), 12)...)
			s := must.Of(g.Solve(context.Background(), w, tol, start))(t)
			low := mat.NewDense(m, n, nil)
			if s.Left != nil {
				low.Mul(s.Left, s.Right.T())
			}
			u := d.slopes(s.B, s.B0, func(i int, f float64) float64 { return f + low.At(row[i], col[i]) - d.signal[i] })
			scale := floats.Dot(d.signal, d.signal) / (2 * float64(d.n))
			// Minus the gradient in G has a spectral norm of at most the weight, and its inner product with G is
			// the weight times the nuclear norm of G.
			at, inner := mat.NewDense(m, n, nil), 0.0
			for i, v := range u {
				at.Set(row[i], col[i], -v)
				inner -= v * low.At(row[i], col[i])
			}
			var first, second mat.SVD
			require.True(t, first.Factorize(at, mat.SVDNone))
			require.True(t, second.Factorize(low, mat.SVDNone))
			unit, size := math.Sqrt(2*scale/float64(d.n)), floats.Sum(second.Values(nil))
			v := d.violation(lowertest.Coefficients{Groups: members, Norm: w[1:]}, s.B, u, scale)
			v = math.Max(v, (first.Values(nil)[0]-w[0])/unit)
			if size > 0 {
				v = math.Max(v, (w[0]-inner/size)/unit)
			}
			return s, answer{s.Status, v}
		})
	}},
}

// Weights of 24 decades side by side: an answer that is called solved satisfies the conditions of optimality of
// each coefficient in its own unit.
func TestWeightsOfManyScales(t *testing.T) {
	for _, fit := range scaled {
		t.Run(fit.name, func(t *testing.T) {
			tol, instances, solved := 1e-12, 200, 0
			if fit.name == "completion" {
				tol, instances = 1e-10, 20 // below, its method for small tables is a slow one
			}
			for seed := range instances {
				for k, got := range fit.solve(t, draw(uint64(seed)), tol) {
					if got.status == outcome.Converged || got.status == numerics.Exhausted {
						require.LessOrEqual(t, got.violation, 10*math.Sqrt(tol), "seed %d, solve %d, %s", seed, k, got.status)
						solved++
					}
				}
			}
			require.Greater(t, solved, 3*instances/2)
		})
	}
}

// Radii of 24 decades: an answer that is called solved is within them, and satisfies with its multipliers the
// conditions of optimality of the penalised form and of complementarity.
func TestRadiiOfManyScales(t *testing.T) {
	type kind struct {
		name    string
		fit     func(rows Rows, members [][]int, intercept bool) (bilevel.Fit, error)
		weights func(d *instance, members [][]int, lambda []float64) lowertest.Coefficients
	}
	for _, k := range []kind{
		{"sparse group lasso", func(r Rows, members [][]int, intercept bool) (bilevel.Fit, error) {
			return NewSparseGroupLasso(r, r, members, intercept)
		}, func(d *instance, members [][]int, l []float64) lowertest.Coefficients {
			return lowertest.Coefficients{Groups: members, Norm: l[:len(members)], L1: full(l[len(members):], d.p)}
		}},
		{"weighted lasso", func(r Rows, _ [][]int, intercept bool) (bilevel.Fit, error) {
			return NewWeightedLasso(r, r, intercept)
		}, func(_ *instance, _ [][]int, l []float64) lowertest.Coefficients { return lowertest.Coefficients{L1: l} }},
		{"elastic net", func(r Rows, _ [][]int, intercept bool) (bilevel.Fit, error) {
			return ElasticNet(r, r, intercept, sparse.Terms{})
		}, func(d *instance, _ [][]int, l []float64) lowertest.Coefficients {
			return lowertest.Coefficients{L1: full(l[:1], d.p), L2: full(l[1:], d.p)}
		}},
	} {
		t.Run(k.name, func(t *testing.T) {
			const instances = 200
			solved := 0
			for seed := range instances {
				d := draw(uint64(seed))
				members := lowertest.EqualGroups(d.p, 3)
				fit := must.Of(k.fit(Rows{X: d.x(), Y: d.signal}, members, d.intercept))(t)
				radii := spread(d.rng, fit.Dim(), 12)
				_, scale := d.squares(make([]float64, d.p), 0)
				w := must.Of(fit.Within().Solve(context.Background(), radii, 1e-11*scale))(t)
				if !w.Solved {
					continue
				}
				solved++
				b0 := 0.0
				if d.intercept {
					b0 = w.X[1][0]
				}
				u, _ := d.squares(w.X[0], b0)
				require.LessOrEqual(t, d.violation(k.weights(d, members, w.Lambda), w.X[0], u, scale), 1e-4, "seed %d", seed)
				slack := 0.0
				for j, v := range fit.Values(w.X).Penalties {
					require.LessOrEqual(t, v, radii[j]*(1+1e-4), "seed %d", seed)
					slack += w.Lambda[j] * math.Max(0, radii[j]-v)
				}
				require.LessOrEqual(t, slack, 1e-8*scale, "seed %d", seed)
			}
			require.Greater(t, solved, 4*instances/5)
		})
	}
}

// solve solves at the weights of absolute values and of half squares.
func solve(ctx context.Context, g *sparse.Fit, w []float64, tol float64, start *sparse.Solution) (*sparse.Solution,
	error) {
	of, err := g.Weights(w)
	if err != nil {
		return nil, err
	}
	return g.Solve(ctx, of, tol, start)
}
