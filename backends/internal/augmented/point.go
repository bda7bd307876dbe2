package augmented

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
)

// point is x with all that F needs of it.
type point struct {
	x, s, w  []float64
	in       []float64  // proj_K(w)
	z        []float64  // sigma (proj_K(w) - w), in the dual cone and orthogonal to in
	geometry []geometry // of the second-order cones
	bends    []bend     // of the others
	value    float64    // of F
	gap      float64    // the largest |s - proj_K(w)|
}

// geometry is where w is beside a cone.
type geometry struct {
	inside int     // 1 in the cone, -1 in its polar, 0 beside both
	norm   float64 // of v
	curve  float64 // (|v| - t) / (2 |v|) beside both
}

// u is the entry of v / |v| for one of v, and zero at the apex.
func (g geometry) u(v float64) float64 {
	if g.norm == 0 {
		return 0
	}
	return v / g.norm
}

// look finds s, w, the projection and F at x.
func (f *form) look(p *backends.Problem, x, z []float64, sigma float64) *point {
	m := len(f.rows)
	at := &point{x: x, s: make([]float64, m), w: make([]float64, m), in: make([]float64, m), z: make([]float64, m),
		geometry: make([]geometry, len(f.cones)),
		bends:    make([]bend, len(f.curved))}
	slack := p.Slack(x)
	for k, i := range f.rows {
		at.s[k] = slack[i]
		at.w[k] = slack[i] - z[k]/sigma
	}
	for i, c := range f.cones {
		at.geometry[i] = project(at.in[c.lo:c.hi], at.w[c.lo:c.hi])
	}
	for i := range f.curved {
		lo := f.curved[i].lo
		at.bends[i] = f.curved[i].project(at.in[lo:lo+3], at.w[lo:lo+3])
	}
	far := 0.0
	for k, w := range at.w {
		at.z[k] = sigma * (at.in[k] - w)
		far += (at.in[k] - w) * (at.in[k] - w)
		at.gap = max(at.gap, math.Abs(at.s[k]-at.in[k]))
	}
	at.value = quadratic(p, x) + sigma/2*far
	return at
}

// project writes the projection of w onto the second-order cone.
func project(to, w []float64) geometry {
	t, v := w[0], w[1:]
	g := geometry{norm: floats.Norm(v, 2)}
	switch {
	case g.norm <= t:
		g.inside = 1
		copy(to, w)
	case g.norm <= -t:
		g.inside = -1
		clear(to)
	default:
		g.curve = (g.norm - t) / (2 * g.norm)
		to[0] = (g.norm + t) / 2
		for k, vk := range v {
			to[1+k] = vk * (g.norm + t) / (2 * g.norm)
		}
	}
	return g
}

// quadratic is 1/2 x'Px + q'x.
func quadratic(p *backends.Problem, x []float64) float64 {
	sum := floats.Dot(p.Q, x)
	if p.P == nil {
		return sum
	}
	raw := p.P.RawMatrix()
	for j, xj := range x {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			if i := raw.Ind[k]; i < j {
				sum += raw.Data[k] * x[i] * xj
			} else if i == j {
				sum += raw.Data[k] * xj * xj / 2
			}
		}
	}
	return sum
}
