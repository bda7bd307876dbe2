package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/conetune/conetune/internal/deviance"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// problem is one that is drawn by a seed.
type problem struct {
	name string
	draw func(seed uint64) (*draw, error)
}

// draw has the rows that a model is chosen by, of which those up to the cut train where they are split, and those of
// the test.
type draw struct {
	rows, test *dataset.Data
	cut        int
	groups     int    // equal ones of the features; 0 for none
	seed       uint64 // of the folds
	truth      []float64
	intercept  float64
	loss       func(f, y float64) float64
}

// error is the mean loss of the truth on the test rows.
func (d *draw) error() float64 {
	sum := 0.0
	for i, f := range d.test.Mul(d.truth) {
		sum += d.loss(f+d.intercept, d.test.Y[i])
	}
	return sum / float64(len(d.test.Y))
}

// score is the F-score of the features in use.
func (d *draw) score(coefficients []float64) float64 {
	right, used, count := 0.0, 0.0, 0.0
	for j, v := range coefficients {
		if v != 0 {
			used++
		}
		if d.truth[j] != 0 {
			count++
			if v != 0 {
				right++
			}
		}
	}
	return 2 * right / math.Max(used+count, 1)
}

func squares(f, y float64) float64 { return (f - y) * (f - y) / 2 }

// sizes are rows and features, and ratios those of signal to noise.
var (
	sizes  = [][2]int{{25, 60}, {42, 100}, {127, 300}, {425, 1000}}
	ratios = []float64{10, 3}
)

const testRows = 2000

// loss is a kind of targets: its models, nil for those that there are not, how X b becomes a value and that a target,
// and what a value costs.
type loss struct {
	lasso, adaptive, weighted, net func(dataset.Division, regression.Options) (*regression.Model, error)
	value                          func(square, ratio float64) (scale, intercept float64) // of X b of that mean square
	draw                           func(rng *rand.Rand, f float64) (y float64)
	of                             func(f, y float64) float64
}

var losses = map[string]loss{
	"squares": {
		lasso: regression.Lasso, adaptive: regression.AdaptiveLasso, weighted: regression.WeightedLasso,
		net: regression.ElasticNet, of: squares,
	},
	"logistic": {
		weighted: regression.WeightedLogistic, net: regression.Logistic,
		value: func(square, ratio float64) (scale, intercept float64) { return ratio / math.Sqrt(square), 0 },
		draw: func(rng *rand.Rand, f float64) float64 {
			if rng.Float64() < 1/(1+math.Exp(-f)) {
				return 1
			}
			return -1
		},
		of: func(f, y float64) float64 { return max(-y*f, 0) + math.Log1p(math.Exp(-math.Abs(f))) },
	},
	"poisson": {
		weighted: regression.WeightedPoisson, net: regression.Poisson,
		value: func(square, ratio float64) (scale, intercept float64) { return 1 / math.Sqrt(square), math.Log(ratio) },
		draw:  func(rng *rand.Rand, f float64) float64 { return distuv.Poisson{Lambda: math.Exp(f), Src: rng}.Rand() },
		of:    func(f, y float64) float64 { return deviance.HalfPoisson(y, math.Exp(f), f) },
	},
}

// lassoProblems are those of LassoBench, with so many times the rows.
func lassoProblems(sizes [][2]int, times int, l loss) (list []problem) {
	for _, size := range sizes {
		n, p := size[0]*times, size[1]
		for _, ratio := range ratios {
			list = append(list, problem{fmt.Sprintf("%d x %d, %g", n, p, ratio), func(seed uint64) (*draw, error) {
				return l.problem(seed, n, p, ratio), nil
			}})
		}
	}
	return list
}

// problem draws n rows of p features for a signal to noise ratio.
func (l loss) problem(seed uint64, n, p int, ratio float64) *draw {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	out := &draw{cut: n * 3 / 5, seed: 1, truth: make([]float64, p), loss: l.of}
	for k, j := range rng.Perm(p)[:max(1, p/20)] {
		out.truth[j] = 1 - 2*float64(k%2)
	}
	x, y, norms := mat.NewDense(n+testRows, p, nil), make([]float64, n+testRows), [2]float64{}
	noise := make([]float64, len(y))
	const correlation = 0.6
	for i := range y {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = rng.NormFloat64()
			if j > 0 {
				row[j] = correlation*row[j-1] + math.Sqrt(1-correlation*correlation)*row[j]
			}
			y[i] += row[j] * out.truth[j]
		}
		noise[i] = rng.NormFloat64()
		norms[0], norms[1] = norms[0]+y[i]*y[i], norms[1]+noise[i]*noise[i]
	}
	scale := math.Sqrt(norms[0]/norms[1]) / ratio
	for i := range y {
		y[i] += scale * noise[i]
	}
	if l.draw != nil {
		scale, out.intercept = l.value(norms[0]/float64(len(y)), ratio)
		floats.Scale(scale, out.truth)
		for i := range y {
			y[i] = l.draw(rng, out.intercept+floats.Dot(x.RawRowView(i), out.truth))
		}
	}
	all := &dataset.Data{X: x, Y: y, Features: libsvm.Names(p), Target: "y"}
	out.rows, out.test = all.Rows(indices.Range(0, n)), all.Rows(indices.Range(n, n+testRows))
	return out
}

// groupProblems are those of the paper, of BiC-GAFFA (Overcoming Lower-Level Constraints in Bilevel Optimization: A
// Novel Approach with Regularized Gap Functions, arXiv 2406.01992), and of AGILS (Alternating Gradient-Type Algorithm
// for Bilevel Optimization with Inexact Lower-Level Solutions via Moreau Envelope-based Reformulation, arXiv
// 2412.18929), which LDPM took over: the coefficients of its block g begin with 2g times 2g.
func groupProblems() (list []problem) {
	rising := func(int) []float64 { return []float64{1, 2, 3, 4, 5} }
	for _, p := range []struct {
		name                                string
		train, val, features, parts, blocks int
		ratio                               float64                   // |X b| / |e|
		begins                              func(block int) []float64 // block 1, 2, ..
	}{
		{"AGILS", 200, 200, 300, 5, 5, 3, func(g int) []float64 {
			return slices.Repeat([]float64{float64(2 * g)}, 2*g)
		}},
		{"BiC-GAFFA", 100, 100, 150, 30, 5, 3, rising},
		{"paper 600/30", 100, 100, 600, 30, 3, 2, rising},
		{"paper 600/300", 100, 100, 600, 300, 3, 2, rising},
		{"paper 1200/300", 100, 100, 1200, 300, 3, 2, rising},
		{"groups of one", 100, 50, 500, 500, 25, 3, func(int) []float64 { return []float64{1} }}, // as weighted-lasso
	} {
		list = append(list, problem{p.name, func(seed uint64) (*draw, error) {
			b := make([]float64, p.features) // each of the blocks of features begins with those that are not 0
			for g := range p.blocks {
				copy(b[g*p.features/p.blocks:], p.begins(g+1))
			}
			s, _, err := dataset.Generate(dataset.Config{Train: p.train, Val: p.val, Test: testRows, Features: p.features,
				Independent: true, Coefficients: b, SNR: p.ratio}, seed)
			if err != nil {
				return nil, err
			}
			return &draw{rows: dataset.Stack(s.Train, s.Val), test: s.Test, cut: p.train, groups: p.parts, seed: seed,
				truth: b, loss: squares}, nil
		}})
	}
	return list
}
