package separable

import "gonum.org/v1/gonum/floats"

// image is X b + b0 of the coefficients that it was asked for last.
type image struct {
	b     []float64
	b0    float64
	f     []float64 // with the entries of the matrix at the places, if there is one
	base  []float64 // without
	moved int       // the coefficients that were followed since it was computed afresh
}

// follow brings the image to b.
func (m *image) follow(p *part, b []float64, b0 float64, g []float64) {
	m.linear(p, b, b0)
	if p.places == nil {
		m.f = m.base
		return
	}
	if m.f == nil {
		m.f = make([]float64, p.rows)
	}
	copy(m.f, m.base)
	for e, at := range p.places {
		m.f[e] += g[at]
	}
}

// linear brings X b + b0 to b.
func (m *image) linear(p *part, b []float64, b0 float64) {
	changed := 0
	for j, v := range b {
		if m.b != nil && v != m.b[j] {
			changed++
		}
	}
	if m.moved += changed; m.b == nil || m.moved > len(b)/2 {
		if m.b == nil {
			m.b, m.base = make([]float64, len(b)), make([]float64, p.rows)
		}
		clear(m.base)
		p.mul(m.base, b, b0)
		copy(m.b, b)
		m.b0, m.moved = b0, 0
		return
	}
	for j, v := range b {
		if d := v - m.b[j]; d != 0 {
			for i := range p.sets {
				s := &p.sets[i]
				s.X.Axpy(d, j, s.of(m.base))
			}
			m.b[j] = v
		}
	}
	if d := b0 - m.b0; d != 0 {
		floats.AddConst(d, m.base)
		m.b0 = b0
	}
}
