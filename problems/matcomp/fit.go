package matcomp

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/completion"
	"github.com/conetune/conetune/lower/fits"
)

// Penalised is the fit of package completion, see [tune.Penalised]; of small matrices with few entries [fits.SmallCompletion]. For large matrices its points have factors in the place of Gamma, see
// [fits.FactoredCompletion], which [Model.Evaluate] and [Model.Fit] take, too.
//
// [tune.Penalised]: https://pkg.go.dev/github.com/conetune/conetune/tune#Penalised
func (m *Model) Penalised() (lower.Penalised, error) {
	d := m.data
	if m.factored() {
		return fits.NewFactoredCompletion(m.entries(d.Train), m.entries(d.Val), d.Rows, d.Cols, m.groups(), m.parts(), m.intercept)
	}
	if m.few() {
		return fits.NewSmallCompletion(m.entries(d.Train), m.entries(d.Val), d.Rows, d.Cols, m.groups(), m.parts(), m.intercept)
	}
	c, err := fits.NewMatrixCompletion(m.entries(d.Train), m.entries(d.Val), d.Rows, d.Cols, m.groups(), m.intercept)
	if err != nil {
		return nil, err
	}
	return &fit{c, m}, nil
}

// few says whether both programs of an iteration are solved by a fit as they are.
func (m *Model) few() bool {
	return fits.FewEntries(len(m.data.Train)+len(m.data.Val), m.data.Rows, m.data.Cols)
}

// factored says whether the points of the fit have factors in the place of Gamma: of large matrices.
func (m *Model) factored() bool {
	return !completion.Small(len(m.data.Train), m.data.Rows, m.data.Cols)
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

// Modes are those of [fits.MatrixCompletion].
func (*Model) Modes() []lower.Mode { return []lower.Mode{lower.Adjoint} }

// fit has the values of the program's variables in its answers.
type fit struct {
	*fits.MatrixCompletion
	model *Model
}

// Solve implements [lower.Penalised].
func (f *fit) Solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	pt, err := f.MatrixCompletion.Solve(ctx, lambda, tol, start)
	if err != nil {
		return nil, err
	}
	pt.X = f.model.values(pt.X)
	return pt, nil
}

// Within implements [lower.Constrained].
func (f *fit) Within(ctx context.Context, radii []float64, tol float64) (*lower.Within, error) {
	w, err := f.MatrixCompletion.Within(ctx, radii, tol)
	if err != nil {
		return nil, err
	}
	w.X = f.model.values(w.X)
	return w, nil
}

// values puts coefficients, Gamma by rows and b0 into the order of the variables of the program.
func (m *Model) values(x [][]float64) [][]float64 {
	var out [][]float64
	at, p := m.places(), m.data.Row.count()
	if at.theta >= 0 {
		out = append(out, x[0][:p])
	}
	if at.beta >= 0 {
		out = append(out, x[0][p:])
	}
	return append(out, x[1:]...)
}

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
