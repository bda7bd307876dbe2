// Package tpe is the tree-structured Parzen estimator, a search over a box that learns from what it has tried.
//
// # Method
//
// The points tried are divided by their values: the best few, and the rest. Along each axis the first are turned into a density l,
// the others into a density g, and the next point is, among some draws from l, the one with the largest l/g, which
// has the largest expected improvement (J. Bergstra, R. Bardenet, Y. Bengio, B. Kegl: Algorithms for
// Hyper-Parameter Optimization, NIPS 2011, section 4). Axes are independent of each other: of the tree only a
// product is left, as every axis is always there.
//
// A density is a mixture of normal distributions cut off at the bounds: one at each point, as wide as the gap to the
// farther of its neighbours, and a prior as wide as the box in its middle. Points older than the last 25 fade. How
// many points are the best, how many are drawn and how many are random at the start is in [Settings]; the
// defaults are those of hyperopt, the program of the method's authors.
package tpe

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Settings steer a [Sampler]. The zero value means the defaults.
type Settings struct {
	// Startup is the number of points drawn uniformly before the densities mean something. Default 20.
	Startup int
	// Candidates is the number of draws from l for each axis, of which the best is taken. Default 24.
	Candidates int
	// Best tells how many of n points are the best. Default ceil(sqrt(n)/4), at most 25.
	Best func(n int) int
}

// forgetting is the number of latest points that count in full.
const forgetting = 25

func (s Settings) withDefaults() Settings {
	if s.Startup == 0 {
		s.Startup = 20
	}
	if s.Candidates == 0 {
		s.Candidates = 24
	}
	if s.Best == nil {
		s.Best = func(n int) int { return min(forgetting, int(math.Ceil(math.Sqrt(float64(n))/4))) }
	}
	return s
}

// Sampler proposes points of the unit cube and is told their values, of which it looks for the
// smallest. It is for one goroutine at a time.
type Sampler struct {
	dim      int
	source   *rand.Rand
	settings Settings
	points   [][]float64
	values   []float64
}

// New returns a sampler of dim axes, whose draws come from source. It panics if dim is
// negative.
func New(dim int, source *rand.Rand, s Settings) *Sampler {
	if dim < 0 {
		panic("tpe: negative dimension")
	}
	return &Sampler{dim: dim, source: source, settings: s.withDefaults()}
}

// Ask returns the next point, in [0, 1) along each axis.
func (s *Sampler) Ask() []float64 {
	x := make([]float64, s.dim)
	if len(s.points) < s.settings.Startup {
		for k := range x {
			x[k] = s.source.Float64()
		}
		return x
	}
	best, rest := s.divide()
	for k := range x {
		x[k] = s.axis(k, best, rest)
	}
	return x
}

// Tell adds a point and its value, NaN or +Inf for one that has none. It panics if the point has the wrong length.
func (s *Sampler) Tell(x []float64, value float64) {
	if len(x) != s.dim {
		panic("tpe: point of the wrong length")
	}
	if math.IsNaN(value) {
		value = math.Inf(1)
	}
	s.points, s.values = append(s.points, slices.Clone(x)), append(s.values, value)
}

// divide returns the numbers of the best points and of the rest, both in the order in which they were told.
func (s *Sampler) divide() (best, rest []int) {
	order := make([]int, len(s.points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(s.values[i], s.values[j]) })
	n := max(0, min(len(order), s.settings.Best(len(order))))
	best, rest = order[:n], order[n:]
	slices.Sort(best)
	slices.Sort(rest)
	return best, rest
}

// axis draws candidates for one axis from l, and returns the one with the largest l/g.
func (s *Sampler) axis(k int, best, rest []int) float64 {
	along := func(list []int) *density {
		x := make([]float64, len(list))
		for i, p := range list {
			x[i] = s.points[p][k]
		}
		return newDensity(x)
	}
	l, g := along(best), along(rest)
	winner, most := 0.5, math.Inf(-1)
	for range s.settings.Candidates {
		x := l.draw(s.source)
		if gain := math.Log(l.at(x)) - math.Log(g.at(x)); gain > most {
			winner, most = x, gain
		}
	}
	return winner
}
