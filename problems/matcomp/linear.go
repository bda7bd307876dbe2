package matcomp

import "gonum.org/v1/gonum/mat"

// Linear are entries as the rows of a regression in the unit of the model.
type Linear struct {
	// X has the features of the row of an entry followed by those of its column; nil if there are none.
	X *mat.Dense
	// Y are the values, Row and Col the places.
	Y        []float64
	Row, Col []int
}

// Linear returns some entries as the rows of a regression on theta and beta, to which Gamma and b0 add.
func (m *Model) Linear(entries []Entry) Linear {
	var l Linear
	for _, e := range entries {
		l.Y = append(l.Y, m.u.value(e.Value))
		l.Row, l.Col = append(l.Row, e.Row), append(l.Col, e.Col)
	}
	p, q := m.data.Row.count(), m.data.Col.count()
	if p+q == 0 {
		return l
	}
	l.X = mat.NewDense(len(entries), p+q, nil)
	for k, e := range entries {
		row := l.X.RawRowView(k)
		if p > 0 {
			copy(row, m.u.x.RawRowView(e.Row))
		}
		if q > 0 {
			copy(row[p:], m.u.z.RawRowView(e.Col))
		}
	}
	return l
}

// Groups are the columns of [Linear] of each group, in the order of the radii.
func (m *Model) Groups() [][]int {
	var all [][]int
	offset := 0
	for _, f := range []*Features{&m.data.Row, &m.data.Col} {
		if f.X == nil {
			continue
		}
		for _, members := range f.Groups.Members {
			var moved []int
			for _, j := range members {
				moved = append(moved, j+offset)
			}
			all = append(all, moved)
		}
		offset += f.count()
	}
	return all
}

// Intercept says that the model has b0.
func (m *Model) Intercept() bool { return m.intercept }

// Values puts coefficients of [Linear], Gamma by rows and b0 into the order of the variables of the program.
func (m *Model) Values(coefficients, gamma []float64, b0 float64) [][]float64 {
	var x [][]float64
	p := m.data.Row.count()
	if at := m.places(); at.theta >= 0 {
		x = append(x, coefficients[:p])
	}
	if at := m.places(); at.beta >= 0 {
		x = append(x, coefficients[p:])
	}
	x = append(x, gamma)
	if m.intercept {
		x = append(x, []float64{b0})
	}
	return x
}
