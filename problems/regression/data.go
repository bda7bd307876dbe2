package regression

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// Options say in which units, and with which free terms, to work.
type Options struct {
	// Intercept adds a free constant to the model.
	Intercept bool
	// Standardize brings features and targets to standard deviation 1 over the training
	// rows, and with Intercept to mean 0. Constant columns stay as wide as they are.
	Standardize bool
}

// Data are training and validation rows in the unit of the model, and the way back.
type Data struct {
	options    Options
	user       *dataset.Split
	train, val *dataset.Data
	transform  *dataset.Transform // nil: the features are in the user's units
	shift, sd  float64            // the target of the model is (y - shift) / sd
}

// New prepares a split. It keeps references to the data, which must not change, and
// copies them only to standardise.
func New(s *dataset.Split, o Options) (*Data, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	d := &Data{options: o, user: s, train: s.Train, val: s.Val, sd: 1}
	if !o.Standardize {
		return d, nil
	}
	z, t := dataset.Standardize(&dataset.Split{Train: s.Train, Val: s.Val}, o.Intercept)
	d.transform = t
	d.shift, d.sd = targetUnit(s.Train.Y, o.Intercept)
	d.train, d.val = d.rescale(z.Train), d.rescale(z.Val)
	return d, nil
}

// targetUnit returns the mean, 0 without center, and the standard deviation, 1 where it vanishes.
func targetUnit(y []float64, center bool) (shift, sd float64) {
	n := float64(len(y))
	mean := floats.Sum(y) / n
	for _, v := range y {
		sd += (v - mean) * (v - mean) / n
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

func (d *Data) rescale(z *dataset.Data) *dataset.Data {
	y := make([]float64, len(z.Y))
	for i, v := range z.Y {
		y[i] = (v - d.shift) / d.sd
	}
	return &dataset.Data{X: z.X, Y: y, Features: z.Features, Target: z.Target}
}

// Features returns the names of the p features.
func (d *Data) Features() []string { return d.user.Train.Features }

// Dims returns the number n of training rows and p of features.
func (d *Data) Dims() (n, p int) { return d.train.Dims() }

// Rows returns the training and validation rows in the unit of the model, which must not be changed, and
// says whether the model has an intercept.
func (d *Data) Rows() (train, val *dataset.Data, intercept bool) {
	return d.train, d.val, d.options.Intercept
}

// Variables adds the lower-level variables to m: the coefficients "b", and "b0" if there is an intercept.
func (d *Data) Variables(m *convex.Model) []*convex.Variable {
	_, p := d.Dims()
	vars := []*convex.Variable{m.Variable("b", p)}
	if d.options.Intercept {
		vars = append(vars, m.Variable("b0", 1))
	}
	return vars
}

// Train is the loss over the training rows of the variables that [Data.Variables] returned.
func (d *Data) Train(vars []*convex.Variable) convex.Convex { return loss(d.train, vars) }

// Validation is the loss over the validation rows.
func (d *Data) Validation(vars []*convex.Variable) convex.Convex { return loss(d.val, vars) }

// Residuals are those of the training rows, X b + b0 - y.
func (d *Data) Residuals(vars []*convex.Variable) convex.Affine { return residuals(d.train, vars) }

func residuals(d *dataset.Data, vars []*convex.Variable) convex.Affine {
	r := vars[0].Expr().MulMat(d.X).Minus(convex.Const(d.Y...))
	if len(vars) > 1 {
		r = r.Plus(vars[1].Expr())
	}
	return r
}

// loss is 1/(2n) |X b + b0 - y|^2.
func loss(d *dataset.Data, vars []*convex.Variable) convex.Convex {
	return convex.SumSquares(residuals(d, vars)).Scale(0.5 / float64(len(d.Y)))
}

// residual is X b + b0 - y.
func residual(d *dataset.Data, x [][]float64) []float64 {
	r := predict(d.X, x[0])
	for i, y := range d.Y {
		r[i] -= y
		if len(x) > 1 {
			r[i] += x[1][0]
		}
	}
	return r
}

// predict is X b, which skips the zeros of b where there are many.
func predict(x *mat.Dense, b []float64) []float64 {
	n, p := x.Dims()
	var nonzero []int
	for j, v := range b {
		if v != 0 {
			nonzero = append(nonzero, j)
		}
	}
	out := make([]float64, n)
	for i := range n {
		row := x.RawRowView(i)
		if 4*len(nonzero) > p {
			out[i] = floats.Dot(row, b)
			continue
		}
		for _, j := range nonzero {
			out[i] += row[j] * b[j]
		}
	}
	return out
}

// gradient is 1/n [X 1]' r.
func (d *Data) gradient(r []float64) (gb []float64, g0 float64) {
	n, p := d.Dims()
	gb = make([]float64, p)
	for i, v := range r {
		floats.AddScaled(gb, v/float64(n), d.train.X.RawRowView(i))
		g0 += v / float64(n)
	}
	return gb, g0
}

// TrainGradient is the gradient of the training loss, in the shape of x.
func (d *Data) TrainGradient(x [][]float64) [][]float64 {
	gb, g0 := d.gradient(residual(d.train, x))
	if d.options.Intercept {
		return [][]float64{gb, {g0}}
	}
	return [][]float64{gb}
}

// Lipschitz bounds the Lipschitz constant of that gradient, the largest
// eigenvalue of 1/n [X 1]'[X 1], by the largest absolute row sum of 1/n [X 1][X 1]'.
func (d *Data) Lipschitz() float64 {
	n, _ := d.Dims()
	var gram mat.Dense
	gram.Mul(d.train.X, d.train.X.T())
	most := 0.0
	for i := range n {
		sum := 0.0
		for _, v := range gram.RawRowView(i) {
			if d.options.Intercept {
				v++
			}
			sum += math.Abs(v)
		}
		most = math.Max(most, sum/float64(n))
	}
	return most
}

// LambdaMax is the smallest weight of an l1 norm at which all coefficients are zero, the
// largest absolute entry of the gradient at b = 0 and the best b0.
func (d *Data) LambdaMax() float64 {
	r := make([]float64, len(d.train.Y))
	mean := 0.0
	if d.options.Intercept {
		mean = floats.Sum(d.train.Y) / float64(len(r))
	}
	for i, y := range d.train.Y {
		r[i] = mean - y
	}
	gb, _ := d.gradient(r)
	return floats.Norm(gb, math.Inf(1))
}

// Path returns a geometric sequence of weights from below [Data.LambdaMax] down to a
// thousandth of it; nil where nothing depends on the features.
func (d *Data) Path(points int) []float64 {
	top := d.LambdaMax()
	if !(top > 0) {
		return nil
	}
	path := make([]float64, points)
	for i := range path {
		path[i] = top * math.Pow(1e-3, float64(i+1)/float64(points))
	}
	return path
}

// CommonPath is a [Data.Path] of a few weights that all penalties have in common, for
// the data-driven start.
func (d *Data) CommonPath() [][]float64 {
	const points = 10
	var path [][]float64
	for _, l := range d.Path(points) {
		path = append(path, []float64{l})
	}
	return path
}

// Fit turns values of the variables into a predictor in the user's units.
func (d *Data) Fit(x [][]float64) problems.Fit {
	b0 := 0.0
	if len(x) > 1 {
		b0 = x[1][0]
	}
	c := make([]float64, len(x[0]))
	for j, v := range x[0] {
		c[j] = d.sd * v
	}
	b0 = d.shift + d.sd*b0
	if d.transform != nil {
		c, b0 = d.transform.Undo(c, b0)
	}
	return problems.Fit{Coefficients: c, Intercept: b0, Features: d.Features()}
}

// Evaluate scores values of the variables by half the mean squared error in the
// user's units.
func (d *Data) Evaluate(x [][]float64) problems.Errors {
	f := d.Fit(x)
	e := problems.Errors{Validation: halfMeanSquare(d.user.Val, f)}
	if d.user.Test != nil {
		t := halfMeanSquare(d.user.Test, f)
		e.Test = &t
	}
	return e
}

func halfMeanSquare(d *dataset.Data, f problems.Fit) float64 {
	r := residual(d, [][]float64{f.Coefficients, {f.Intercept}})
	return floats.Dot(r, r) / (2 * float64(len(r)))
}
