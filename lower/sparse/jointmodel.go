package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/design"
)

// take adds columns to the positions, with zeros, and to the models that are ready.
func (s *jointSolver) take(columns []int) {
	s.last = nil
	for _, j := range columns {
		if j >= 0 {
			s.at[j] = len(s.columns)
		}
		s.columns = append(s.columns, j)
		s.a, s.b = append(s.a, 0), append(s.b, 0)
	}
	for k := range s.models {
		switch {
		case !s.explicit():
			s.models[k].gram, s.models[k].linear = nil, nil
		case s.models[k].ready:
			s.extend(k)
		}
	}
}

// explicit says that matrices are formed.
func (s *jointSolver) explicit() bool { return len(s.columns) <= s.most }

// extend brings the matrix of a model to all positions, and its linear part if the model is ready.
func (s *jointSolver) extend(k int) {
	m, from, all := &s.models[k], len(s.models[k].gram), len(s.columns)
	if from == all {
		return
	}
	n := float64(len(s.sets[k].Y))
	products := s.sets[k].X.Products(s.ctx, s.columns[from:], s.columns, m.curvature, s.threads)
	for i := range all - from {
		row := products[i*all : (i+1)*all : (i+1)*all]
		floats.Scale(1/n, row)
		for l := range from {
			m.gram[l] = append(m.gram[l], row[l])
		}
		for l := range i { // one of the two
			row[from+l] = m.gram[from+l][from+i]
		}
		m.gram = append(m.gram, row)
	}
	if m.ready {
		for i := from; i < all; i++ {
			m.linear = append(m.linear, s.offset(k, i))
		}
	}
}

// offset is h at a position: X'y / n for squares, with y times the weights of the rows, else Ga - g with the gradient g = -X'u / n at a.
func (s *jointSolver) offset(k, i int) float64 {
	m, n, j := &s.models[k], float64(len(s.sets[k].Y)), s.columns[i]
	if s.quadratic {
		return s.correlation(k, j, m.slope) / n
	}
	product := 0.0
	if m.products != nil && j != design.Ones {
		product = m.products[j]
	} else {
		product = s.correlation(k, j, m.slope)
	}
	return floats.Dot(m.gram[i], s.a) + product/n
}

// correlation is x_j'v on the rows of a set.
func (s *jointSolver) correlation(set, j int, v []float64) float64 {
	if j == design.Ones {
		return floats.Sum(v)
	}
	return s.sets[set].X.Dot(j, v)
}

// Model implements [lower.JointSolver].
func (s *jointSolver) Model(ctx context.Context, x [][]float64) error {
	s.ctx, s.last = ctx, nil
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
func (s *jointSolver) move(x [][]float64) error {
	if len(x) != len(s.Shape()) || len(x[0]) != len(s.at) {
		return fmt.Errorf("sparse: a point of another shape")
	}
	var missing []int
	for j, v := range x[0] {
		if v != 0 && s.at[j] < 0 {
			missing = append(missing, j)
		}
	}
	s.take(missing)
	s.seen = [2]jointLook{}
	for i, j := range s.columns {
		if j == design.Ones {
			s.b[i] = x[1][0]
		} else {
			s.b[i] = x[0][j]
		}
	}
	return nil
}

// ready makes the model of a set.
func (s *jointSolver) ready(k int) {
	m, set := &s.models[k], s.sets[k]
	if m.ready {
		return
	}
	n := float64(len(set.Y))
	if s.quadratic {
		rows := &s.rows[k]
		if m.slope, m.curvature = rows.y, rows.weight; m.curvature != nil {
			m.slope = slices.Clone(rows.y)
			floats.Mul(m.slope, m.curvature)
		}
		m.value = floats.Dot(rows.y, m.slope) / (2 * n)
		m.at = m.value
	} else {
		look := s.seen[k]
		if look.slopes == nil || !slices.Equal(s.a, s.b) {
			look = s.look(k, s.a)
		}
		curvature := make([]float64, len(look.slopes))
		for i, u := range look.slopes {
			curvature[i] = math.Max(leastCurvature, s.rows[k].curvature(i, u))
		}
		m.slope, m.products = look.slopes, look.products
		if m.reused++; m.curvature == nil || !s.explicit() || m.reused > mostReused || !near(curvature, m.curvature) {
			m.reused = 0
			m.curvature, m.gram, m.implicit = curvature, nil, implicitModel{}
		}
		m.value, m.at = look.loss, look.loss
	}
	if m.ready = true; !s.explicit() {
		return
	}
	m.ready = false // for extend
	if m.gram == nil {
		m.gram = s.gram(k)
	} else {
		s.extend(k)
	}
	m.linear = m.linear[:0]
	for i := range s.columns {
		m.linear = append(m.linear, s.offset(k, i))
	}
	if !s.quadratic { // c is such that the model has the value at a
		for i, row := range m.gram {
			if s.a[i] != 0 {
				m.value -= s.a[i] * (floats.Dot(row, s.a)/2 - m.linear[i])
			}
		}
	}
	m.ready = true
}

// look is what there is to see of a set at some coefficients, without the products.
func (s *jointSolver) look(k int, b []float64) jointLook {
	f, rows := s.predictions(k, b), &s.rows[k]
	out := jointLook{loss: rows.total(f), slopes: f}
	for i, v := range f {
		f[i] = rows.slope(i, v)
	}
	return out
}

// near says whether curvatures have changed little.
func near(a, b []float64) bool {
	return floats.Distance(a, b, 1) <= sameCurvature*floats.Sum(b)
}

func (s *jointSolver) gram(k int) [][]float64 {
	g := s.sets[k].X.Gram(s.ctx, s.columns, s.models[k].curvature, s.threads)
	for _, row := range g {
		floats.Scale(1/float64(len(s.sets[k].Y)), row)
	}
	return g
}

// predictions are those on the rows of a set at coefficients by positions.
func (s *jointSolver) predictions(k int, b []float64) []float64 {
	f := make([]float64, len(s.sets[k].Y))
	for i, v := range b {
		switch {
		case v == 0:
		case s.columns[i] == design.Ones:
			floats.AddConst(v, f)
		default:
			s.sets[k].X.Axpy(v, s.columns[i], f)
		}
	}
	return f
}
