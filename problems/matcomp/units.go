package matcomp

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/completion"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// units are features and values in the unit of the model, and the way back.
type units struct {
	shift, sd float64 // the value of the model is (value - shift) / sd
	sides     [2]side // rows, columns
}

func (u *units) value(v float64) float64 { return (v - u.shift) / u.sd }

// units prepares the data. Constant columns stay as wide as they are.
func (d *Data) units(o Options) units {
	u := units{sd: 1, sides: d.sides()}
	if !o.Standardize {
		return u
	}
	values := make([]float64, len(d.Train))
	for k, e := range d.Train {
		values[k] = e.Value
	}
	var alike dataset.Data // rows without weights
	u.shift, u.sd = alike.Spread(values, o.Intercept)
	for k := range u.sides {
		if s := &u.sides[k]; s.X != nil {
			rows := &dataset.Data{X: s.X}
			s.transform = dataset.NewTransform(rows, dataset.ByDeviation, o.Intercept)
			s.x = s.transform.Apply(rows).Dense()
		}
	}
	return u
}

// features are those of the rows of entries followed by those of their columns; nil without.
func (u *units) features(of []Entry) mat.Matrix {
	p, q := u.sides[0].count(), u.sides[1].count()
	if p+q == 0 {
		return nil
	}
	x := mat.NewDense(len(of), p+q, nil)
	for k, e := range of {
		to := x.RawRowView(k)
		for _, s := range u.sides {
			if s.x != nil {
				to = to[copy(to, s.x.RawRowView(s.of(e))):]
			}
		}
	}
	return x
}

// predict is the predictor of entries in the user's units, with the factors that the values have, and the coefficients
// of the features of rows and columns.
func (m *Model) predict(x [][]float64) (out *problems.Matrix, coefficients []float64) {
	d := m.data
	out = &problems.Matrix{Intercept: m.u.shift}
	if m.intercept {
		out.Intercept += m.u.sd * x[2][0]
	}
	coefficients = slices.Clone(x[0])
	rest := coefficients
	for k, effects := range []*[]float64{&out.RowEffects, &out.ColEffects} {
		s := m.u.sides[k]
		*effects = make([]float64, *s.size)
		if s.x == nil {
			continue
		}
		c := rest[:s.count()]
		rest = rest[len(c):]
		floats.Scale(m.u.sd, c)
		if s.transform != nil {
			var own []float64
			own, out.Intercept = s.transform.Undo(c, out.Intercept)
			copy(c, own)
		}
		for i := range *effects {
			(*effects)[i] = floats.Dot(s.X.RawRowView(i), c)
		}
	}
	gamma, cut := slices.Clone(x[1]), d.Rows*d.Cols
	if len(gamma) == cut {
		out.Left = mat.NewDense(d.Rows, d.Cols, gamma)
	} else if rank := len(gamma) / (d.Rows + d.Cols); rank > 0 {
		cut = d.Rows * rank
		out.Left, out.Right = mat.NewDense(d.Rows, rank, gamma[:cut:cut]), mat.NewDense(d.Cols, rank, gamma[cut:])
	} else {
		return out, coefficients
	}
	floats.Scale(m.u.sd, gamma[:cut])
	return out, coefficients
}

// halfMeanSquare is half the mean squared error of entries.
func halfMeanSquare(p *problems.Matrix, entries []Entry) float64 {
	sum := 0.0
	for _, e := range entries {
		r := e.Value - p.At(e.Row, e.Col)
		sum += r * r
	}
	return sum / float64(2*len(entries))
}

// rankShare is the share of the largest singular value of Gamma below which one counts
// as zero: an interior-point solution has no exact zeros.
const rankShare = 1e-6

// balance brings the factors into their usual form.
func balance(p *problems.Matrix) {
	if p.Left == nil {
		return
	}
	right := p.Right
	if right == nil {
		right = mat.NewDense(len(p.ColEffects), len(p.ColEffects), nil)
		for j := range p.ColEffects {
			right.Set(j, j, 1)
		}
	}
	p.Left, p.Right = completion.Balanced(p.Left.RawMatrix().Data, right.RawMatrix().Data, p.Rank(), rankShare)
}
