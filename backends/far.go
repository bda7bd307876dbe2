package backends

import (
	"math"
	"slices"
)

// farGap is the gap in the sizes of b and the bounds, row by row, above which bounds count as far.
const farGap = 1e4

// farBound returns the size from which on bounds of boxes are far: larger by more than a gap than all that is on the
// other side of it, where b and the bounds of row i are multiplied by unit(i). It is infinite where no bound is.
func farBound(p *Problem, unit func(i int) float64) float64 {
	if !slices.ContainsFunc(p.Cones, func(c Cone) bool { return c.Kind == BoxCone }) {
		return math.Inf(1)
	}
	var sizes []float64 // those that a gap from one can lie below
	near := 1.0         // the largest of the others
	add := func(size float64) {
		switch {
		case size <= farGap:
			near = max(near, size)
		case size <= math.MaxFloat64:
			sizes = append(sizes, size)
		}
	}
	for row, c := range Rows(p.Cones) {
		for i := range c.Dim {
			by := unit(row + i)
			add(math.Abs(p.B[row+i]) * by)
			if c.Kind == BoxCone {
				add(math.Abs(c.Lower[i]) * by)
				add(math.Abs(c.Upper[i]) * by)
			}
		}
	}
	far := math.Inf(1)
	slices.Sort(sizes)
	for k, size := range slices.Backward(sizes) {
		below := near
		if k > 0 {
			below = sizes[k-1]
		}
		if size > farGap*below {
			far = size
		}
	}
	return far
}

// withoutFar returns p without the bounds that are far in rows with entries of size one, nil where there are none.
func withoutFar(p *Problem) *Problem {
	_, m := p.Dims()
	largest := make([]float64, m) // entries of the rows
	entriesOf(p.A, func(i, _ int, v float64) { largest[i] = max(largest[i], v) })
	far := farBound(p, func(i int) float64 { return 1 / largest[i] })
	if math.IsInf(far, 1) {
		return nil
	}
	out := *p
	out.Cones = slices.Clone(p.Cones)
	some, row := false, 0
	for k, c := range p.Cones {
		if c.Kind == BoxCone {
			lower, upper := slices.Clone(c.Lower), slices.Clone(c.Upper)
			for i := range c.Dim {
				l, u, size := c.Lower[i], c.Upper[i], largest[row+i]
				if -l >= far*size && !math.IsInf(l, 0) {
					lower[i], some = math.Inf(-1), true
				}
				if u >= far*size && !math.IsInf(u, 0) {
					upper[i], some = math.Inf(1), true
				}
			}
			out.Cones[k].Lower, out.Cones[k].Upper = lower, upper
		}
		row += c.Dim
	}
	if !some {
		return nil
	}
	return &out
}
