package backends

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends/internal/spread"
	"github.com/conetune/conetune/internal/dense"
)

// This file finds how large the variables of a problem can be expected to be, which is what the
// rest of a certificate is weighed with.

// sizesOfX returns for each variable a size in its own units, as solutionSizes.sizes has it for Ax = b. Rows of a cone
// that is no product of intervals count with the largest |b_i| of the cone, those of a box with the largest distance of
// b_i to a bound. A variable without any such size has the largest of the others, at least 1.
func sizesOfX(p *Problem) []float64 {
	n, m := p.Dims()
	right := make([]float64, m)
	for i, b := range p.B {
		right[i] = math.Abs(b)
	}
	for row, c := range Rows(p.Cones) {
		rows := right[row : row+c.Dim]
		switch {
		case !c.Kind.Intervals():
			fillMax(rows)
		case c.Kind == BoxCone:
			for i := range rows {
				for _, bound := range []float64{c.Lower[i], c.Upper[i]} {
					if !math.IsInf(bound, 0) {
						rows[i] = max(rows[i], math.Abs(p.B[row+i]-bound))
					}
				}
			}
		}
	}
	size := make([]float64, n)
	if p.A != nil {
		s := newSolutionSizes(nonzeros(p.A))
		entriesOf(p.A, s.add)
		size = s.sizes(n, right)
	}
	return withoutZeros(size)
}

// sizesOfDual returns the sizes of u and z in Pu + A'z = -q.
func sizesOfDual(p *Problem) (u, z []float64) {
	n, m := p.Dims()
	right := make([]float64, n)
	for j, q := range p.Q {
		right[j] = math.Abs(q)
	}
	s := newSolutionSizes(2*nonzeros(p.P) + nonzeros(p.A)) // u comes first, then z
	entriesOf(p.P, func(i, j int, v float64) {
		s.add(i, j, v)
		if i != j {
			s.add(j, i, v)
		}
	})
	entriesOf(p.A, func(i, j int, v float64) { s.add(j, n+i, v) })
	size := s.sizes(n+m, right)
	Blocks(p.Cones, func(first, dim int) { fillMax(size[n+first : n+first+dim]) })
	size = withoutZeros(size)
	return size[:n], size[n:]
}

// weights are what certificates of one problem are weighed with, each found when it is first asked for.
type weights struct {
	of      *Problem
	x       []float64 // sizesOfX
	bounds  singleBounds
	bounded bool      // bounds are those of the problem
	u, z    []float64 // sizesOfDual
	asked   direction // the one that was asked for last
	last    analysed  // of the last system
}

// direction is x + low, Ax in twice the precision, and s = -Ax, next to it in the recession cone of cones without a
// barely.
type direction struct {
	x, low, s []float64
	moved     []exactSum
}

// along returns the direction of x + low, of which low, nil for zero, is below the last places of x.
func (w *weights) along(x, low []float64) *direction {
	d := &w.asked
	if low == nil {
		low = make([]float64, len(x))
	}
	if d.moved != nil && slices.Equal(d.x, x) && slices.Equal(d.low, low) {
		return d
	}
	d.x, d.low = append(d.x[:0], x...), append(d.low[:0], low...)
	d.moved, d.s = timesA(d.moved, w.of, x, low), d.s[:0]
	for _, sum := range d.moved {
		d.s = append(d.s, -sum.value())
	}
	for row, c := range Rows(w.of.Cones) {
		if families[c.Kind].own.barely == nil {
			c.intoRecession(d.s[row : row+c.Dim])
		}
	}
	return d
}

// forget keeps nothing but memory, and what is known of matrices that are as before.
func (w *weights) forget(matrices bool) {
	*w = weights{of: w.of, bounds: w.bounds}
	w.bounds.counted = w.bounds.counted && !matrices
}

// about returns the weights of p, which are forgotten where another problem was asked for before.
func (w *weights) about(p *Problem) *weights {
	if w.of != p {
		w.forget(true)
		w.of = p
	}
	return w
}

func (w *weights) ofX() []float64 {
	if w.x == nil {
		w.x = sizesOfX(w.of)
	}
	return w.x
}

func (w *weights) ofDual() (u, z []float64) {
	if w.u == nil {
		w.u, w.z = sizesOfDual(w.of)
	}
	return w.u, w.z
}

func (w *weights) single() *singleBounds {
	if !w.bounded {
		w.bounds.find(w.of)
		w.bounded = true
	}
	return &w.bounds
}

// solutionSizes is a list of the entries |m_iy| of a system M y = c.
type solutionSizes struct {
	spread.Entries // equations are rows, unknowns are columns
	entry          []float64
}

func newSolutionSizes(room int) *solutionSizes {
	return &solutionSizes{spread.Grow(room), make([]float64, 0, room)}
}

func (s *solutionSizes) add(equation, unknown int, v float64) {
	s.Add(equation, unknown, spread.RoughLog2(v))
	s.entry = append(s.entry, v)
}

const (
	// So many times equations and unknowns are divided by the geometric mean of their entries.
	meanSweeps = 8
	// An entry is weak if its logarithm to the base two is so much smaller than the mean of its equation and its unknown.
	weak = -3.3
)

// sizes returns the sizes of the unknowns for the given right-hand side: with equations and unknowns
// scaled such that the entries are near one in the mean of their logarithms,
//
//	Y_y = max over i of max(|c_i|, |m_ik| Y'_k for k != y) / |m_iy|
//
// where Y' is the same without the second part and weak entries m_iy count as none, as an equation in which an unknown
// hardly takes part does not say how large that is. It is at least half the unit of the unknown, known roughly, times
// the mean of the scaled c_i that are not zero: one entry of 1e-11 beside others of one makes all of them weak.
func (s *solutionSizes) sizes(unknowns int, right []float64) []float64 {
	system := spread.System{Rows: len(right), Cols: unknowns, A: s.Entries}
	f := system.Solve(meanSweeps, 0)
	strong := func(k int) bool {
		return s.Log[k]+f.E[s.Row[k]]+f.D[s.Col[k]] >= weak
	}
	first := make([]float64, unknowns)
	for k, v := range s.entry {
		if y := s.Col[k]; strong(k) {
			first[y] = max(first[y], right[s.Row[k]]/v)
		}
	}
	// In each equation, the two largest terms |m_iy| Y_y.
	largest, second := make([]float64, len(right)), make([]float64, len(right))
	of := make([]int32, len(right))
	for k, v := range s.entry {
		i, y := s.Row[k], s.Col[k]
		if term := v * first[y]; term > largest[i] {
			second[i], largest[i], of[i] = largest[i], term, y
		} else if term > second[i] {
			second[i] = term
		}
	}
	out, mean, count := make([]float64, unknowns), 0.0, 0.0
	for i, c := range right {
		if c > 0 && c <= math.MaxFloat64 {
			mean += spread.RoughLog2(c) + f.E[i]
			count++
		}
	}
	for y := range out {
		if count > 0 {
			out[y] = math.Exp2(f.D[y]+mean/count) / 2
		}
	}
	for k, v := range s.entry {
		i, y := s.Row[k], s.Col[k]
		if !strong(k) {
			continue
		}
		other := largest[i]
		if of[i] == y {
			other = second[i]
		}
		out[y] = max(out[y], first[y], other/v)
	}
	return out
}

func fillMax(v []float64) {
	top := maxAbs(v)
	for i := range v {
		v[i] = top
	}
}

// withoutZeros replaces zeros, and what overflowed, by the largest of the others, at least 1.
func withoutZeros(v []float64) []float64 {
	top := 1.0
	for _, x := range v {
		if x <= math.MaxFloat64 {
			top = max(top, x)
		}
	}
	for i, x := range v {
		if x == 0 || !(x <= math.MaxFloat64) {
			v[i] = top
		}
	}
	return v
}

// singleBounds are bounds of the variables that rows with a single entry imply, infinite where there are none, rounded
// outwards, and the rows, -1 where there is none, and the entries that they come from.
type singleBounds struct {
	count                  []int32 // nonzeros of the rows
	lower, upper           []float64
	lowerRow, upperRow     []int32
	lowerEntry, upperEntry []float64

	used      []bool    // of the variables, whether P or A has a nonzero of them
	last      []float64 // the last nonzero of each row, and its column
	column    []int32
	counted   bool      // these four are those of the matrices
	low, high []float64 // work space: the intervals
}

// find finds the bounds of a problem, in the memory of those of another one.
func (out *singleBounds) find(p *Problem) {
	n, m := p.Dims()
	for _, v := range []*[]float64{&out.lower, &out.upper, &out.lowerEntry, &out.upperEntry} {
		*v = dense.Cleared(*v, n)
	}
	out.lowerRow, out.upperRow = dense.Cleared(out.lowerRow, n), dense.Cleared(out.upperRow, n)
	out.low, out.high = dense.Cleared(out.low, m), dense.Cleared(out.high, m)
	for j := range n {
		out.lower[j], out.upper[j] = math.Inf(-1), math.Inf(1)
		out.lowerRow[j], out.upperRow[j] = -1, -1
	}
	if !out.counted {
		out.count, out.column = dense.Cleared(out.count, m), dense.Cleared(out.column, m)
		out.last = dense.Cleared(out.last, m)
		out.used, out.counted = dense.Cleared(out.used, n), true
		entries(p.P, func(i, j int, _ float64) { out.used[i], out.used[j] = true, true })
		entries(p.A, func(i, j int, v float64) {
			out.count[i]++
			out.last[i], out.column[i], out.used[j] = v, int32(j), true
		})
	}
	last, column, low, high := out.last, out.column, out.low, out.high
	writeIntervals(p.Cones, low, high)
	for i, count := range out.count {
		if count != 1 || math.IsNaN(low[i]) {
			continue
		}
		j, a := column[i], last[i]
		// b - a x in [low, high]
		atLow, atHigh := quotient(p.B[i], low[i], a), quotient(p.B[i], high[i], a)
		if a < 0 {
			atLow, atHigh = atHigh, atLow
		}
		if v := atHigh.value - atHigh.bound; v > out.lower[j] {
			out.lower[j], out.lowerRow[j], out.lowerEntry[j] = v, int32(i), a
		}
		if v := atLow.value + atLow.bound; v < out.upper[j] {
			out.upper[j], out.upperRow[j], out.upperEntry[j] = v, int32(i), a
		}
	}
}

// rounded is a number, a bound of its rounding, and the sum of the absolute terms that it was added up from, where that
// is wanted.
type rounded struct{ value, bound, terms float64 }

// quotient returns (b - s)/a, where s may be infinite and a quotient that overflows counts as infinite.
func quotient(b, s, a float64) rounded {
	v := (b - s) / a
	if math.IsInf(s, 0) || math.IsInf(v, 0) {
		return rounded{value: v}
	}
	return rounded{value: v, bound: 2 * unitRoundoff * (math.Abs(v) + (math.Abs(b)+math.Abs(s))/math.Abs(a))}
}

// intervals returns the interval of s for the rows of cones that are products of intervals, and NaN for the others.
func intervals(cones []Cone) (low, high []float64) {
	m := rowsOf(cones)
	low, high = make([]float64, m), make([]float64, m)
	writeIntervals(cones, low, high)
	return low, high
}

func writeIntervals(cones []Cone, low, high []float64) {
	for row, c := range Rows(cones) {
		c.writeIntervals(low[row:row+c.Dim], high[row:row+c.Dim])
	}
}
