package matcomp

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower/completion"
	"github.com/conetune/conetune/problems"
)

// units are features and values in the unit of the model, and the way back.
type units struct {
	x, z       *mat.Dense // nil: no features
	shift, sd  float64    // the value of the model is (value - shift) / sd
	xMean, xSD []float64  // a feature of the model is (feature - mean) / sd
	zMean, zSD []float64
}

func (u *units) value(v float64) float64 { return (v - u.shift) / u.sd }

// units prepares the data. Constant columns stay as wide as they are.
func (d *Data) units(o Options) units {
	u := units{x: d.Row.X, z: d.Col.X, sd: 1}
	if !o.Standardize {
		return u
	}
	values := make([]float64, len(d.Train))
	for k, e := range d.Train {
		values[k] = e.Value
	}
	u.shift, u.sd = spread(values, o.Intercept)
	u.x, u.xMean, u.xSD = standardized(d.Row.X, o.Intercept)
	u.z, u.zMean, u.zSD = standardized(d.Col.X, o.Intercept)
	return u
}

// spread returns the mean, 0 without center, and the standard deviation, 1 where it vanishes.
func spread(v []float64, center bool) (mean, sd float64) {
	n := float64(len(v))
	mean = floats.Sum(v) / n
	for _, a := range v {
		sd += (a - mean) * (a - mean) / n
	}
	sd = math.Sqrt(sd)
	if !(sd > 1e-12*math.Abs(mean)) {
		sd = 1
	}
	if !center {
		mean = 0
	}
	return mean, sd
}

func standardized(a *mat.Dense, center bool) (out *mat.Dense, mean, sd []float64) {
	if a == nil {
		return nil, nil, nil
	}
	rows, cols := a.Dims()
	out = mat.NewDense(rows, cols, nil)
	mean, sd = make([]float64, cols), make([]float64, cols)
	column := make([]float64, rows)
	for j := range cols {
		mat.Col(column, j, a)
		mean[j], sd[j] = spread(column, center)
		for i, v := range column {
			out.Set(i, j, (v-mean[j])/sd[j])
		}
	}
	return out, mean, sd
}

// pick returns the rows of a that belong to the entries.
func pick(a *mat.Dense, entries []Entry, row func(Entry) int) *mat.Dense {
	_, cols := a.Dims()
	out := mat.NewDense(len(entries), cols, nil)
	for k, e := range entries {
		out.SetRow(k, a.RawRowView(row(e)))
	}
	return out
}

// predictor is a model of entries in the user's units.
type predictor struct {
	theta, beta []float64
	rows, cols  []float64 // effects of rows and columns
	gamma       []float64 // by rows, nil where it is given by factors
	rank        int       // of the factors
	left, right []float64 // by rows
	b0          float64
}

// predictor undoes the units.
func (m *Model) predictor(x [][]float64) *predictor {
	d, at := m.data, m.places()
	p := &predictor{rows: make([]float64, d.Rows), cols: make([]float64, d.Cols), b0: m.u.shift}
	if at.b0 >= 0 {
		p.b0 += m.u.sd * x[at.b0][0]
	}
	coefficients := func(place int, features *mat.Dense, mean, sd, effects []float64) []float64 {
		if place < 0 {
			return nil
		}
		c := make([]float64, len(x[place]))
		for j, v := range x[place] {
			c[j] = m.u.sd * v
			if sd != nil {
				c[j] /= sd[j]
				p.b0 -= c[j] * mean[j]
			}
		}
		for i := range effects {
			effects[i] = floats.Dot(features.RawRowView(i), c)
		}
		return c
	}
	p.theta = coefficients(at.theta, d.Row.X, m.u.xMean, m.u.xSD, p.rows)
	p.beta = coefficients(at.beta, d.Col.X, m.u.zMean, m.u.zSD, p.cols)
	gamma := x[at.gamma]
	if len(gamma) != d.Rows*d.Cols {
		p.rank = len(gamma) / (d.Rows + d.Cols)
		cut := d.Rows * p.rank
		p.left, p.right = gamma[:cut:cut], gamma[cut:]
		if m.u.sd != 1 {
			p.left = make([]float64, cut)
			floats.AddScaled(p.left, m.u.sd, gamma[:cut])
		}
		return p
	}
	p.gamma = gamma
	if m.u.sd != 1 {
		p.gamma = make([]float64, len(gamma))
		floats.AddScaled(p.gamma, m.u.sd, gamma)
	}
	return p
}

func (p *predictor) at(i, j int) float64 {
	sum := p.b0 + p.rows[i] + p.cols[j]
	if p.gamma != nil {
		return sum + p.gamma[i*len(p.cols)+j]
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
	out := &problems.Matrix{Intercept: p.b0, RowEffects: p.rows, ColEffects: p.cols}
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
