package matcomp

import (
	"github.com/conetune/conetune/internal/lower/completion"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/lower"
)

// Penalised is the fit of package completion, see [fits.NewCompletion]. For large matrices its points have factors in
// the place of Gamma, which [Model.Evaluate] and [Model.Fit] take, too.
func (m *Model) Penalised() (lower.Fit, error) {
	d := m.data
	return fits.NewCompletion(m.entries(d.Train), m.entries(d.Val), d.Rows, d.Cols, m.groups(), m.intercept)
}

// factored says whether the points of the fit have factors in the place of Gamma: of large matrices.
func (m *Model) factored() bool {
	return !completion.Small(len(m.data.Train), len(m.data.Val), m.data.Rows, m.data.Cols)
}

// entries are some entries as the rows of a regression on theta and beta, to which Gamma and b0 add.
func (m *Model) entries(of []Entry) fits.Entries {
	var y []float64
	var out fits.Entries
	for _, e := range of {
		y = append(y, m.u.value(e.Value))
		out.Row, out.Col = append(out.Row, e.Row), append(out.Col, e.Col)
	}
	out.Rows = fits.NewRows(m.u.features(of), y)
	return out
}

// groups are the columns of these rows of each group, in the order of the radii.
func (m *Model) groups() [][]int {
	var all [][]int
	offset := 0
	for _, s := range m.u.sides {
		if s.X == nil {
			continue
		}
		for _, members := range s.Groups.Members {
			var moved []int
			for _, j := range members {
				moved = append(moved, j+offset)
			}
			all = append(all, moved)
		}
		offset += s.count()
	}
	return all
}
