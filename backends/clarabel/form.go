//go:build clarabel && cgo

package clarabel

import (
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/adapter"
	cclarabel "github.com/conetune/conetune/internal/cgo/clarabel"
	"github.com/conetune/conetune/internal/mirror"
)

// form is the order in which Clarabel sees the rows of a problem.
type form struct {
	adapter.Rows
	cones []cclarabel.Cone
}

func newForm(p *backends.Problem) *form {
	f := &form{}
	for first, c := range backends.Rows(p.Cones) {
		if c.Dim > 0 {
			f.add(c, first)
		}
	}
	f.Close(len(p.B))
	return f
}

// add appends the rows of a cone.
func (f *form) add(c backends.Cone, first int) {
	switch c.Kind {
	case backends.ZeroCone:
		f.plain(cclarabel.Cone{Kind: cclarabel.Zero, Dim: c.Dim}, first, c.Dim, 1)
	case backends.NonnegativeCone:
		f.plain(cclarabel.Cone{Kind: cclarabel.Nonnegative, Dim: c.Dim}, first, c.Dim, 1)
	case backends.BoxCone:
		f.box(c, first)
	case backends.SecondOrderCone:
		f.plain(cclarabel.Cone{Kind: cclarabel.SecondOrder, Dim: c.Dim}, first, c.Dim, 1)
	case backends.PSDCone:
		f.psd(c, first)
	case backends.ExponentialCone:
		f.plain(cclarabel.Cone{Kind: cclarabel.Exponential}, first, c.Dim, 1)
	case backends.DualExponentialCone:
		f.dualExponential(first)
	case backends.PowerCone:
		f.plain(cclarabel.Cone{Kind: cclarabel.Power, Weights: []float64{c.Alpha}}, first, c.Dim, 1)
	case backends.DualPowerCone:
		f.plain(cclarabel.Cone{Kind: cclarabel.Power, Weights: []float64{c.Alpha}}, first, c.Dim, 1/c.Alpha, 1/(1-c.Alpha))
	case backends.GeneralizedPowerCone:
		f.generalizedPower(c, first, func(float64) float64 { return 1 })
	case backends.DualGeneralizedPowerCone:
		f.generalizedPower(c, first, func(w float64) float64 { return 1 / w })
	}
}

// plain appends a cone with our rows in their order, the first of them multiplied by the factors.
func (f *form) plain(c cclarabel.Cone, first, dim int, factors ...float64) {
	for i := range dim {
		by := 1.0
		if i < len(factors) {
			by = factors[i]
		}
		f.Add(first+i, by, 0)
	}
	f.cones = append(f.cones, c)
}

// box appends equations, then lower, then upper bounds.
func (f *form) box(c backends.Cone, first int) {
	part := func(kind cclarabel.Kind, by float64, bound func(l, u float64) (float64, bool)) {
		count := 0
		for i, l := range c.Lower {
			if at, ok := bound(l, c.Upper[i]); ok {
				f.Add(first+i, by, -by*at)
				count++
			}
		}
		if count > 0 {
			f.cones = append(f.cones, cclarabel.Cone{Kind: kind, Dim: count})
		}
	}
	part(cclarabel.Zero, 1, func(l, u float64) (float64, bool) { return l, l == u })
	part(cclarabel.Nonnegative, 1, func(l, u float64) (float64, bool) { return l, l != u && !math.IsInf(l, -1) })
	part(cclarabel.Nonnegative, -1, func(l, u float64) (float64, bool) { return u, l != u && !math.IsInf(u, 1) })
}

// psd appends the upper triangle by columns, (1,1), (1,2), (2,2), (1,3), .., from the lower one
// by columns, (1,1), (2,1), .., (n,1), (2,2), ..
func (f *form) psd(c backends.Cone, first int) {
	n := backends.PSDOrder(c.Dim)
	for j := range n {
		for i := range j + 1 { // entry (j, i) of the lower triangle
			f.Add(first+i*n-i*(i-1)/2+j-i, 1, 0)
		}
	}
	f.cones = append(f.cones, cclarabel.Cone{Kind: cclarabel.PSD, Dim: n})
}

// dualExponential appends (u - v, -u, w).
func (f *form) dualExponential(first int) {
	u, v, w := first, first+1, first+2
	f.List = append(f.List, adapter.Row{Of: u, Also: v, By: 1, ByAlso: -1})
	f.Add(u, -1, 0)
	f.Add(w, 1, 0)
	f.cones = append(f.cones, cclarabel.Cone{Kind: cclarabel.Exponential})
}

// generalizedPower appends (by(w_i) x_i, z). Without z that is the orthant, and with one weight a
// second-order cone, neither of which Clarabel takes as a cone of that name.
func (f *form) generalizedPower(c backends.Cone, first int, by func(w float64) float64) {
	extra := c.Dim - len(c.Weights)
	cone := cclarabel.Cone{Kind: cclarabel.GeneralizedPower, Dim: len(c.Weights), Extra: extra,
		Weights: unitSum(c.Weights)}
	switch {
	case extra == 0:
		cone = cclarabel.Cone{Kind: cclarabel.Nonnegative, Dim: c.Dim}
	case len(c.Weights) == 1:
		cone = cclarabel.Cone{Kind: cclarabel.SecondOrder, Dim: c.Dim}
	}
	factors := make([]float64, len(c.Weights))
	for i, w := range c.Weights {
		factors[i] = by(w)
	}
	f.plain(cone, first, c.Dim, factors...)
}

// unitSum returns weights whose sum is one to the last bit, which Clarabel insists on, by a change
// of the largest of them.
func unitSum(w []float64) []float64 {
	out := slices.Clone(w)
	largest := 0
	for i, v := range out {
		if v > out[largest] {
			largest = i
		}
	}
	for range 4 {
		sum := 0.0
		for _, v := range out {
			sum += v
		}
		if sum == 1 {
			break
		}
		out[largest] += 1 - sum
	}
	return out
}

// problem returns what Clarabel is given.
func (f *form) problem(p *backends.Problem) *cclarabel.Data {
	n := len(p.Q)
	return &cclarabel.Data{P: adapter.MatrixOf(p.P, n, n), Q: p.Q, A: f.matrix(p), B: f.Vector(p.B), Cones: f.cones}
}

// matrix returns A as Clarabel is given it.
func (f *form) matrix(p *backends.Problem) *mirror.Matrix {
	n, m := p.Dims()
	return f.Matrix(adapter.MatrixOf(p.A, m, n))
}
