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
		s := &u.sides[k]
		if s.X == nil {
			continue
		}
		p := s.count()
		s.x, s.mean, s.sd = mat.DenseCopyOf(s.X), make([]float64, p), make([]float64, p)
		for j := range p {
			column := mat.Col(nil, j, s.X)
			s.mean[j], s.sd[j] = alike.Spread(column, o.Intercept)
			for i, v := range column {
				s.x.Set(i, j, (v-s.mean[j])/s.sd[j])
			}
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

// predictor is a model of entries in the user's units.
type predictor struct {
	coefficients [2][]float64 // of the features of rows and columns
	effects      [2][]float64 // of rows and columns
	gamma        []float64    // by rows, nil where it is given by factors
	rank         int          // of the factors
	left, right  []float64    // by rows
	b0           float64
}

// predictor undoes the units.
func (m *Model) predictor(x [][]float64) *predictor {
	d := m.data
	p := &predictor{b0: m.u.shift}
	if m.intercept {
		p.b0 += m.u.sd * x[2][0]
	}
	rest := x[0]
	for k, s := range m.u.sides {
		p.effects[k] = make([]float64, *s.size)
		if s.x == nil {
			continue
		}
		c := slices.Clone(rest[:s.count()])
		rest = rest[len(c):]
		for j := range c {
			c[j] *= m.u.sd
			if s.sd != nil {
				c[j] /= s.sd[j]
				p.b0 -= c[j] * s.mean[j]
			}
		}
		for i := range p.effects[k] {
			p.effects[k][i] = floats.Dot(s.X.RawRowView(i), c)
		}
		p.coefficients[k] = c
	}
	gamma := slices.Clone(x[1])
	if len(gamma) == d.Rows*d.Cols {
		floats.Scale(m.u.sd, gamma)
		p.gamma = gamma
		return p
	}
	p.rank = len(gamma) / (d.Rows + d.Cols)
	cut := d.Rows * p.rank
	p.left, p.right = gamma[:cut:cut], gamma[cut:]
	floats.Scale(m.u.sd, p.left)
	return p
}

func (p *predictor) at(i, j int) float64 {
	sum := p.b0 + p.effects[0][i] + p.effects[1][j]
	if p.gamma != nil {
		return sum + p.gamma[i*len(p.effects[1])+j]
	}
	k := p.rank
	return sum + floats.Dot(p.left[i*k:(i+1)*k], p.right[j*k:(j+1)*k])
}

func (p *predictor) halfMeanSquare(entries []Entry) float64 {
	sum := 0.0
	for _, e := range entries {
		r := e.Value - p.at(e.Row, e.Col)
		sum += r * r
	}
	return sum / float64(2*len(entries))
}

// rankShare is the share of the largest singular value of Gamma below which one counts
// as zero: an interior-point solution has no exact zeros.
const rankShare = 1e-6

// matrix brings the predictor into the form of factors.
func (p *predictor) matrix(d *Data) *problems.Matrix {
	out := &problems.Matrix{Intercept: p.b0, RowEffects: p.effects[0], ColEffects: p.effects[1]}
	left, right, rank := p.left, p.right, p.rank
	if p.gamma != nil { // times the identity
		left, right, rank = p.gamma, make([]float64, d.Cols*d.Cols), d.Cols
		for j := range d.Cols {
			right[j*d.Cols+j] = 1
		}
	}
	out.Left, out.Right = completion.Balanced(left, right, rank, rankShare)
	return out
}
