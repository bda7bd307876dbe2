package matcomp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The path for the data-driven start goes down from the weights at which Gamma, and all groups, are zero, once for each
// of the pathRatios, which multiply the weight of the groups.
const (
	pathPoints = 8
	pathLength = 1e-2
	// pathRise points without a smaller validation error end the way down for a ratio: solutions at small weights have a
	// large rank and take long.
	pathRise = 2
	// Matrices of more than pathLarge entries have one ratio, and one such point.
	pathLarge = 100_000
	// largePoints is pathPoints where the fit is for large completions: neighbours on the path are close, as each is a
	// start for the next.
	largePoints = 12
)

// large says whether single completions take long.
func (m *Model) large() bool { return m.data.Rows*m.data.Cols > pathLarge }

var pathRatios = [...]float64{1, 3, 1. / 3}

// path returns the weights of the start: shares of the largest weight of the nuclear norm and, multiplied by a ratio,
// of those of the groups. Nil where nothing depends on the entries.
func (m *Model) path() [][]float64 {
	nuclear, group := m.largestWeights()
	if !(nuclear > 0) {
		return nil
	}
	ratios := pathRatios[:]
	if len(m.r0) == 1 || m.large() {
		ratios = ratios[:1]
	}
	var path [][]float64
	points := pathPoints
	if m.factored() {
		points = largePoints
	}
	for _, ratio := range ratios {
		for i := range points {
			share := math.Pow(pathLength, float64(i+1)/float64(points))
			lambda := slices.Repeat([]float64{ratio * share * group}, len(m.r0))
			lambda[0] = share * nuclear
			path = append(path, lambda)
		}
	}
	return path
}

// largestWeights are the smallest weights of the nuclear norm and of all groups at which the penalised
// solution has nothing but b0: the norms of the gradient of l there.
func (m *Model) largestWeights() (nuclear, group float64) {
	d := m.data
	n := float64(len(d.Train))
	mean := 0.0
	if m.intercept {
		for _, e := range d.Train {
			mean += m.u.value(e.Value) / n
		}
	}
	g := make([]float64, len(d.Train))
	for k, e := range d.Train {
		g[k] = (mean - m.u.value(e.Value)) / n
	}
	nuclear = spectralNorm(d.Rows, d.Cols, d.Train, g)
	for _, s := range m.u.sides {
		if s.x == nil {
			continue
		}
		sums := make([]float64, *s.size)
		for k, e := range d.Train {
			sums[s.of(e)] += g[k]
		}
		var slope mat.VecDense // X' sums
		slope.MulVec(s.x.T(), mat.NewVecDense(len(sums), sums))
		for _, members := range s.Groups.Members {
			sum := 0.0
			for _, j := range members {
				sum += slope.AtVec(j) * slope.AtVec(j)
			}
			group = max(group, math.Sqrt(sum))
		}
	}
	return nuclear, group
}

// spectralNorm is the largest singular value of a matrix with values at some entries, to a few digits, by the power
// method from a fixed start.
func spectralNorm(rows, cols int, at []Entry, values []float64) float64 {
	const iterations = 50
	u, v := make([]float64, rows), make([]float64, cols)
	for j := range v {
		v[j] = 1 + 1/float64(j+2) // not orthogonal to anything likely
	}
	norm := 0.0
	for range iterations {
		length := floats.Norm(v, 2)
		if length == 0 {
			return norm
		}
		floats.Scale(1/length, v)
		clear(u)
		for k, e := range at {
			u[e.Row] += values[k] * v[e.Col]
		}
		norm = floats.Norm(u, 2)
		clear(v)
		for k, e := range at {
			v[e.Col] += values[k] * u[e.Row]
		}
	}
	return norm
}
