package backends

import (
	"math"
	"slices"
)

// farGap is the gap in the sizes of b and the bounds, row by row, above which bounds count as far.
const farGap = 1e4

// withoutFar returns p without the bounds of boxes that are far: larger by more than a gap than all that is on the other side of it, in
// rows with entries of size one. It returns nil where there are none.
func withoutFar(p *Problem) *Problem {
	_, m := p.Dims()
	largest := make([]float64, m) // entries of the rows
	entriesOf(p.A, func(i, _ int, v float64) { largest[i] = max(largest[i], v) })
	var sizes []float64
	add := func(i int, v float64) {
		if size := math.Abs(v) / largest[i]; size > 0 && size <= math.MaxFloat64 {
			sizes = append(sizes, size)
		}
	}
	row, boxes := 0, false
	for _, c := range p.Cones {
		for i := range c.Dim {
			add(row+i, p.B[row+i])
			if c.Kind == BoxCone {
				boxes = true
				add(row+i, c.Lower[i])
				add(row+i, c.Upper[i])
			}
		}
		row += c.Dim
	}
	if !boxes || len(sizes) == 0 {
		return nil
	}
	slices.Sort(sizes)
	far := math.Inf(1)
	for k := len(sizes) - 1; k >= 0; k-- {
		below := 1.0
		if k > 0 {
			below = max(sizes[k-1], 1)
		}
		if sizes[k] > farGap*below {
			far = sizes[k]
		}
	}
	if math.IsInf(far, 1) {
		return nil
	}
	out := *p
	out.Cones = slices.Clone(p.Cones)
	some := false
	row = 0
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

// decided says whether a status is a verdict.
func (s Status) decided() bool {
	return s == Optimal || s == PrimalInfeasible || s == DualInfeasible
}
