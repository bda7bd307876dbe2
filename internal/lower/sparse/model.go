package sparse

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
)

// model is a loss up to second order around the point a: with d = b - a, its value there less g'd plus d'Gd/2.
type model struct {
	ready   bool
	look    *look     // at a
	second  []float64 // G, by rows
	descent []float64 // g
}

// Model implements [bilevel.JointSolver].
func (s *solver) Model(ctx context.Context, x [][]float64) error {
	s.ctx = ctx
	if x != nil {
		if err := s.move(x); err != nil {
			return err
		}
	}
	if !s.quadratic {
		copy(s.a, s.b)
		for k := range s.models {
			s.models[k].ready = false
		}
	}
	return nil
}

// move goes to x.
func (s *solver) move(x [][]float64) error {
	if len(x) != len(s.Shape()) || len(x[0]) != s.p*s.k {
		return fmt.Errorf("sparse: a point of another shape")
	}
	var missing []int
	b := s.vector(x)
	for e, v := range b {
		if v != 0 && s.at[e] < 0 {
			missing = append(missing, e)
		}
	}
	s.take(missing)
	for i, e := range s.set {
		s.b[i] = b[e]
	}
	return nil
}

// prepare makes the model of a set over all positions.
func (s *solver) prepare(k int) {
	m, n := &s.models[k], len(s.set)
	if !m.ready {
		m.look = s.lookAt(k, s.a)
		m.ready, m.descent = true, nil
	}
	if !s.explicit() {
		m.second, m.descent = nil, nil
		return
	}
	if len(m.descent) == n {
		return
	}
	m.second, m.descent = m.look.matrix(s.ctx, s.set), make([]float64, n)
	for i, e := range s.set {
		m.descent[i] = m.look.x.Dot(e, m.look.slopes)
	}
}

// lookAt is what there is to see of a set at coefficients by positions.
func (s *solver) lookAt(k int, b []float64) *look {
	return s.sets[k].look(s.sets[k].predictions(s.set, b))
}

// moved is the last solution less the point of the models.
func (s *solver) moved() []float64 {
	d := make([]float64, len(s.b))
	return floats.SubTo(d, s.b, s.a)
}

// modelled is the loss of a set by its model at the last solution.
func (s *solver) modelled(k int) float64 {
	m, d, n := &s.models[k], s.moved(), len(s.set)
	sum := m.look.value
	if s.explicit() {
		for i, v := range d {
			if v != 0 {
				sum += v * (dense.Dot(m.second[i*n:(i+1)*n], d)/2 - m.descent[i])
			}
		}
		return sum
	}
	for i, v := range s.sets[k].predictions(s.set, d) {
		sum += v * (m.look.curve[i]*v/2 - m.look.slopes[i])
	}
	return sum
}

// gradient is that of the modelled training loss at some positions of the last solution.
func (s *solver) gradient(at []int) (g []float64) {
	m, d, n := &s.models[training], s.moved(), len(s.set)
	if s.explicit() {
		for _, i := range at {
			g = append(g, dense.Dot(m.second[i*n:(i+1)*n], d)-m.descent[i])
		}
		return g
	}
	x := s.sets[training].x
	v := s.sets[training].predictions(s.set, d)
	for i := range v {
		v[i] = m.look.slopes[i] - m.look.curve[i]*v[i]
	}
	for _, i := range at {
		g = append(g, -x.Dot(s.set[i], v))
	}
	return g
}
