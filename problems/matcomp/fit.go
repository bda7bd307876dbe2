package matcomp

import (
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/completion"
	"github.com/conetune/conetune/lower/fits"
)

// Penalised is the fit of package completion, see [tune.Penalised] and [fits.NewCompletion]. For large matrices its points have factors in the place of
// Gamma, which [Model.Evaluate] and [Model.Fit] take, too.
//
// [tune.Penalised]: https://pkg.go.dev/github.com/conetune/conetune/tune#Penalised
func (m *Model) Penalised() (lower.Fit, error) {
	d := m.data
	return fits.NewCompletion(m.entries(d.Train), m.entries(d.Val), d.Rows, d.Cols, m.groups(), m.parts(), m.intercept)
}

// factored says whether the points of the fit have factors in the place of Gamma: of large matrices.
func (m *Model) factored() bool {
	return !completion.Small(len(m.data.Train), len(m.data.Val), m.data.Rows, m.data.Cols)
}

// parts are the lengths of theta and beta, as far as there are such.
func (m *Model) parts() (out []int) {
	for _, f := range []*Features{&m.data.Row, &m.data.Col} {
		if f.X != nil {
			out = append(out, f.count())
		}
	}
	return out
}

// Modes are those of [fits.NewCompletion].
func (*Model) Modes() []lower.Mode { return []lower.Mode{lower.Adjoint} }

// entries are some entries as the rows of a regression on theta and beta, to which Gamma and b0 add: with the features of the row of an entry
// followed by those of its column.
func (m *Model) entries(of []Entry) fits.Entries {
	var y []float64
	var out fits.Entries
	for _, e := range of {
		y = append(y, m.u.value(e.Value))
		out.Row, out.Col = append(out.Row, e.Row), append(out.Col, e.Col)
	}
	p, q := m.data.Row.count(), m.data.Col.count()
	if p+q == 0 {
		out.Rows = fits.NewRows(nil, y)
		return out
	}
	x := mat.NewDense(len(of), p+q, nil)
	for k, e := range of {
		row := x.RawRowView(k)
		if p > 0 {
			copy(row, m.u.x.RawRowView(e.Row))
		}
		if q > 0 {
			copy(row[p:], m.u.z.RawRowView(e.Col))
		}
	}
	out.Rows = fits.NewRows(x, y)
	return out
}

// groups are the columns of these rows of each group, in the order of the radii.
func (m *Model) groups() [][]int {
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
