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

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
)

// losses by name, with targets that they take.
var lossesOfTests = map[string]struct {
	of     func(s Sample, intercept bool, t Terms) (*Fit, error)
	target func(f float64) float64
}{
	"squares":  {Squares, func(f float64) float64 { return 1 + f }},
	"logistic": {Logistic, func(f float64) float64 { return math.Copysign(1, f) }},
	"poisson":  {Poisson, func(f float64) float64 { return math.Round(math.Exp(f / 2)) }},
	"multinomial": {
		func(s Sample, intercept bool, t Terms) (*Fit, error) { return Multinomial(s, 3, intercept, t) },
		func(f float64) float64 { return math.Max(0, math.Min(2, math.Floor(f+1))) },
	},
}

// targets brings those of a sample to what a loss takes.
func targets(kind string, y []float64) (out []float64) {
	for _, v := range y {
		out = append(out, lossesOfTests[kind].target(2*math.Tanh(v/3-1)))
	}
	return out
}

// lossOf is the loss of a row by its definition, and its derivatives in the predictions.
func lossOf(kind string, y float64, f []float64) (value float64, slopes []float64) {
	switch v := f[0]; kind {
	case "logistic":
		return math.Log1p(math.Exp(-y * v)), []float64{-y / (1 + math.Exp(y*v))}
	case "poisson":
		if value = math.Exp(v) - y; y > 0 {
			value += y * (math.Log(y) - v)
		}
		return value, []float64{math.Exp(v) - y}
	case "multinomial":
		total := floats.LogSumExp(f)
		for _, v := range f {
			slopes = append(slopes, math.Exp(v-total))
		}
		slopes[int(y)]--
		return total - f[int(y)], slopes
	default:
		return (y - v) * (y - v) / 2, []float64{v - y}
	}
}

// problem is what a fit is of.
type problem struct {
	kind      string
	x         *mat.Dense
	y         []float64
	intercept bool
	terms     Terms
	l1, l2    []float64 // of each feature, one for all or none for 0, times its factor
	groups    [][]int
	norm      []float64 // of each group
}

func (c problem) fit(t *testing.T, x *design.Matrix) *Fit {
	t.Helper()
	return must.Of(lossesOfTests[c.kind].of(Sample{X: x, Y: c.y}, c.intercept, c.terms))(t)
}

// weight is that of feature j.
func weight(w []float64, j int) float64 {
	if len(w) == 0 {
		return 0
	}
	return w[min(j, len(w)-1)]
}

// weights are those of a fit of the problem.
func (c problem) weights(g *Fit) *glm.Weights {
	w := &glm.Weights{L2: make([]float64, g.units())}
	l1 := make([]float64, g.units())
	for e := range l1 {
		j := e / g.k
		l1[e], w.L2[e] = g.terms.Factors[j]*weight(c.l1, j), g.terms.Factors[j]*weight(c.l2, j)
	}
	if w.Norm = l1; c.groups != nil {
		w.Norm, w.L1 = c.norm, l1
	}
	return w
}

func (c problem) solve(t *testing.T, g *Fit, tol float64, start *Solution) *Solution {
	t.Helper()
	return must.Of(g.Solve(context.Background(), c.weights(g), tol, start))(t)
}

// optimal holds the objective and the conditions of optimality of a solution, from the definition, to near in each
// derivative.
func (c problem) optimal(t *testing.T, s *Solution, near float64, name string) {
	t.Helper()
	require.Contains(t, []outcome.Stop{outcome.Converged, numerics.Exhausted}, s.Status, "%s: gap %g", name, s.Gap)
	n, p := c.x.Dims()
	k := len(s.B) / p
	full := must.Of(c.terms.check(p))(t)
	value, u := 0.0, mat.NewDense(n, k, nil)
	for i, y := range c.y {
		f := slices.Clone(s.B0)
		for e, b := range s.B {
			f[e%k] += c.x.At(i, e/k) * b
		}
		loss, slopes := lossOf(c.kind, y, f)
		value += loss / float64(n)
		floats.AddScaled(u.RawRowView(i), -1/float64(n), slopes)
	}
	for m, b0 := range s.B0 {
		if c.intercept {
			require.InDelta(t, 0, mat.Sum(u.ColView(m)), math.Max(near, 1e-9), name)
		} else {
			require.Zero(t, b0, name)
		}
	}
	pull, l1 := make([]float64, len(s.B)), make([]float64, len(s.B))
	for e, b := range s.B {
		j := e / k
		f := full.Factors[j]
		w2 := f * weight(c.l2, j)
		l1[e] = f * weight(c.l1, j)
		pull[e] = mat.Dot(c.x.ColView(j), u.ColView(e%k)) - w2*b
		value += l1[e]*math.Abs(b) + w2*b*b/2
	}
	for g, group := range c.groups {
		size, outside := 0.0, 0.0
		for _, j := range group {
			size, outside = math.Hypot(size, s.B[j]), math.Hypot(outside, math.Max(0, math.Abs(pull[j])-l1[j]))
		}
		value += c.norm[g] * size
		for _, j := range group {
			if size > 0 {
				pull[j] -= c.norm[g] * s.B[j] / size
			} else {
				pull[j] = 0
			}
		}
		if size == 0 {
			require.LessOrEqual(t, outside, c.norm[g]+near, name)
		}
	}
	for e, b := range s.B {
		least, most, lo, hi := -l1[e], l1[e], full.Lower[e/k], full.Upper[e/k]
		if b > 0 {
			least = most
		} else if b < 0 {
			most = least
		}
		require.True(t, lo <= b && b <= hi, name)
		if b < hi {
			require.LessOrEqual(t, pull[e], most+near, "%s: %d", name, e)
		}
		if b > lo {
			require.GreaterOrEqual(t, pull[e], least-near, "%s: %d", name, e)
		}
	}
	require.InDelta(t, value, s.Objective, 1e-9*value+1e-14, name)
}

// support are the coefficients that are not zero.
func support(s *Solution) (list []int) {
	for e, v := range s.B {
		if v != 0 {
			list = append(list, e)
		}
	}
	return list
}

// ways are the penalties of a test, at some share of the largest one.
var ways = map[string]func(c *problem, w float64){
	"lasso":       func(c *problem, w float64) { c.l1 = []float64{w} },
	"elastic net": func(c *problem, w float64) { c.l1, c.l2 = []float64{w}, []float64{w} },
	"ridge":       func(c *problem, w float64) { c.l2 = []float64{w} },
	"weighted": func(c *problem, w float64) {
		for j := range c.x.RawMatrix().Cols {
			c.l1, c.l2 = append(c.l1, w*float64(1+j%4)), append(c.l2, 1e-3*float64(1+j%2))
			if j%20 == 7 {
				c.l1[j] = 0
			}
		}
	},
	"factors": func(c *problem, w float64) { c.l1, c.terms.Factors = []float64{w}, someFactors(c.x.RawMatrix().Cols) },
	"bounds": func(c *problem, w float64) {
		c.l1, c.l2 = []float64{w}, []float64{0.05}
		c.terms.Lower, c.terms.Upper = someBounds(c.x.RawMatrix().Cols)
	},
	"both": func(c *problem, w float64) {
		_, p := c.x.Dims()
		c.l1, c.terms.Factors = []float64{w}, someFactors(p)
		c.terms.Lower, c.terms.Upper = someBounds(p)
	},
}

// Classes of many more entries than rows can have, at a weight far below that with which all are zero, from nothing.
func TestWideClasses(t *testing.T) {
	const n, p = 60, 4000
	rng := rand.New(rand.NewPCG(38, 1))
	x, f := mat.NewDense(n, p, nil), make([]float64, n)
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		f[i] = 3 + 4*(row[0]-row[1])
	}
	c := problem{kind: "multinomial", x: x, y: targets("multinomial", f), intercept: true, l1: []float64{0.01},
		l2: []float64{1e-6}}
	c.optimal(t, c.solve(t, c.fit(t, design.New(x)), 1e-9, nil), 1e-6, "wide")
}

// Sparse columns of more classes than have a matrix, nearly all in use, as those of categories with many levels.
func TestManyLevels(t *testing.T) {
	const n, levels = 900, 200
	rng := rand.New(rand.NewPCG(39, 1))
	x, f := mat.NewDense(n, 2*levels, nil), make([]float64, n)
	for i := range n {
		a, b := i%levels, levels+rng.IntN(levels-1)
		x.Set(i, a, 1)
		x.Set(i, b, 1)
		x.Set(i, 2*levels-1, 3+rng.NormFloat64())
		f[i] = 3 + math.Sin(float64(a)) + math.Cos(float64(b)) + rng.NormFloat64()
	}
	for _, intercept := range []bool{false, true} {
		c := problem{kind: "multinomial", x: x, y: targets("multinomial", f), intercept: intercept, l1: []float64{1e-6},
			l2: []float64{1e-3}}
		c.optimal(t, c.solve(t, c.fit(t, compressedColumns(x)), 1e-10, nil), 1e-6, fmt.Sprint(intercept))
	}
}

// Solutions meet the conditions of optimality, for all losses and penalties, on either storage, with fewer and more
// features than rows, from zero and from other starts; squares but for rounding.
func TestOptimality(t *testing.T) {
	for kind := range lossesOfTests {
		tol, near, ratios := 1e-11, 1e-5, []float64{0.5, 0.1, 0.01}
		if kind == "squares" {
			tol, near, ratios = 1e-18, 1e-11, []float64{0.5, 0.05, 0.002}
		}
		for _, shape := range []struct{ n, p int }{{120, 12}, {60, 150}} {
			x, y := lowertest.Sample(5, shape.n, shape.p, 4, 0.6)
			for storage, data := range map[string]*design.Matrix{"dense": design.New(x), "sparse": compressedColumns(x)} {
				for _, intercept := range []bool{false, true} {
					for way, set := range ways {
						c := problem{kind: kind, x: x, y: targets(kind, y), intercept: intercept}
						set(&c, 0)
						g := c.fit(t, data)
						var last *Solution
						for _, ratio := range ratios {
							c := problem{kind: kind, x: x, y: c.y, intercept: intercept}
							top := g.LambdaMax()
							set(&c, ratio*top)
							s := c.solve(t, g, tol, last)
							c.optimal(t, s, near*top, fmt.Sprint(kind, shape, storage, intercept, way, ratio))
							last = s
						}
						if kind == "squares" {
							rng := rand.New(rand.NewPCG(7, uint64(shape.p)))
							start := &Solution{B: make([]float64, shape.p)}
							for j := range shape.n / 4 {
								start.B[j%shape.p] = rng.NormFloat64()
							}
							set(&c, 0.05*g.LambdaMax())
							c.optimal(t, c.solve(t, g, tol, start), near*g.LambdaMax(), fmt.Sprint(shape, storage, intercept, way))
						}
					}
				}
			}
		}
	}
}

func TestGroupOptimality(t *testing.T) {
	for _, shape := range []struct{ n, p, size int }{{40, 20, 4}, {30, 90, 10}, {60, 300, 7}, {50, 400, 1}} {
		x, y := lowertest.Sample(21, shape.n, shape.p, 6, 0.8)
		data := design.New(x)
		if shape.size == 7 {
			data = compressedColumns(x)
		}
		for _, intercept := range []bool{false, true} {
			c := problem{kind: "squares", x: x, y: y, intercept: intercept, groups: lowertest.EqualGroups(shape.p, shape.size)}
			g := must.Of(Groups(Sample{X: data, Y: y}, intercept, c.groups))(t)
			top := groupLambdaMax(g, c.groups)
			for _, ratio := range []float64{0.5, 0.1, 0.01} {
				for kind, norm := range map[string][3]float64{"both": {1, 1, 1}, "norms": {1, 1, 1}, "l1": {}, "mixed": {0, 1, 2}} {
					c.norm, c.l1 = nil, nil
					for k := range c.groups {
						c.norm = append(c.norm, ratio*top*norm[k%3])
					}
					if kind != "norms" {
						c.l1 = []float64{ratio * top}
						for j := 1; j < shape.p; j++ {
							c.l1 = append(c.l1, ratio*top*(1+float64(j%2)/2))
						}
					}
					s := c.solve(t, g, 1e-13, nil)
					c.optimal(t, s, 1e-6*top, fmt.Sprint(intercept, shape, kind, ratio))
				}
			}
			// The largest weight that leaves a coefficient is the one that it says.
			c.l1, c.norm = []float64{1.000001 * top}, slices.Repeat([]float64{1.000001 * top}, len(c.groups))
			require.Empty(t, support(c.solve(t, g, 1e-12, nil)))
			c.l1, c.norm = []float64{0.999 * top}, slices.Repeat([]float64{0.999 * top}, len(c.groups))
			require.NotEmpty(t, support(c.solve(t, g, 1e-12, nil)))
		}
	}
}

func Squares(s Sample, intercept bool, t Terms) (*Fit, error) { return New(nil, s, intercept, t, nil) }

func Logistic(s Sample, intercept bool, t Terms) (*Fit, error) {
	return New(glm.Logistic{}, s, intercept, t, nil)
}

func Poisson(s Sample, intercept bool, t Terms) (*Fit, error) {
	return New(glm.Poisson{}, s, intercept, t, nil)
}

func Cox(s Sample, ties survival.Ties, t Terms) (*Fit, error) {
	return New(glm.Hazards{Ties: ties}, s, false, t, nil)
}

func Multinomial(s Sample, classes int, intercept bool, t Terms) (*Fit, error) {
	return New(glm.Multinomial{Classes: classes}, s, intercept, t, nil)
}

func Groups(s Sample, intercept bool, members [][]int) (*Fit, error) {
	return New(nil, s, intercept, Terms{}, members)
}

// solve solves at the weights w1 and w2.
func (g *Fit) solve(ctx context.Context, w1, w2, tol float64, start *Solution) (*Solution, error) {
	w, err := g.weights(w1, w2)
	if err != nil {
		return nil, err
	}
	return g.Solve(ctx, w, tol, start)
}

// With tiny weights of most groups, more of their features are in use than there are rows.
func TestGroupsWithTinyWeights(t *testing.T) {
	x, y := lowertest.Sample(7, 40, 160, 12, 0.5)
	c := problem{kind: "squares", x: x, y: y, groups: lowertest.EqualGroups(160, 20)}
	g := must.Of(Groups(Sample{X: design.New(x), Y: y}, false, c.groups))(t)
	top := groupLambdaMax(g, c.groups)
	c.l1 = []float64{1e-7 * top}
	for k := range c.groups {
		c.norm = append(c.norm, 1e-7*top)
		if k%4 == 0 {
			c.norm[k] = 0.5 * top
		}
	}
	c.optimal(t, c.solve(t, g, 1e-10, nil), 1e-7*top, "")
}
