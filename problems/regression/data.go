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
	// Loss is the loss of a prediction. Nil means [Squares].
	Loss Loss
	// KeepTarget leaves the targets as they are, whatever is done to the features, for targets that stand for labels.
	KeepTarget bool
}

// Data are training and validation rows in the unit of the model, and the way back.
type Data struct {
	options    Options
	loss       Loss
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
	d := &Data{options: o, loss: o.Loss, user: s, train: s.Train, val: s.Val, sd: 1}
	if d.loss == nil {
		d.loss = Squares{}
	}
	if !o.Standardize {
		return d, nil
	}
	z, t := dataset.Standardize(&dataset.Split{Train: s.Train, Val: s.Val}, o.Intercept)
	d.transform = t
	if !o.KeepTarget {
		d.shift, d.sd = targetUnit(s.Train.Y, o.Intercept)
	}
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
func (d *Data) Train(vars []*convex.Variable) convex.Convex { return d.mean(d.train, vars) }

// Validation is the loss over the validation rows.
func (d *Data) Validation(vars []*convex.Variable) convex.Convex { return d.mean(d.val, vars) }

// Residuals are those of the training rows, X b + b0 - y.
func (d *Data) Residuals(vars []*convex.Variable) convex.Affine { return residuals(d.train, vars) }

func residuals(d *dataset.Data, vars []*convex.Variable) convex.Affine {
	return predictions(d, vars).Minus(convex.Const(d.Y...))
}

// predictions are X b + b0.
func predictions(d *dataset.Data, vars []*convex.Variable) convex.Affine {
	f := vars[0].Expr().MulMat(d.X)
	if len(vars) > 1 {
		f = f.Plus(vars[1].Expr())
	}
	return f
}

// mean is the mean loss of X b + b0, for squares 1/(2n) |X b + b0 - y|^2.
func (d *Data) mean(rows *dataset.Data, vars []*convex.Variable) convex.Convex {
	return d.loss.Sum(predictions(rows, vars), rows.Y, d.sd).Scale(1 / float64(len(rows.Y)))
}

// prediction is X b + b0.
func prediction(d *dataset.Data, x [][]float64) []float64 {
	f := predict(d.X, x[0])
	if len(x) > 1 {
		floats.AddConst(x[1][0], f)
	}
	return f
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

// gradient is 1/n [X 1]' l'(f) at the predictions f.
func (d *Data) gradient(f []float64) (gb []float64, g0 float64) {
	n, p := d.Dims()
	gb = make([]float64, p)
	for i, y := range d.train.Y {
		v := d.loss.Derivative(f[i], y, d.sd)
		floats.AddScaled(gb, v/float64(n), d.train.X.RawRowView(i))
		g0 += v / float64(n)
	}
	return gb, g0
}

// TrainGradient is the gradient of the training loss, in the shape of x; a subgradient where the loss has a kink.
func (d *Data) TrainGradient(x [][]float64) [][]float64 {
	gb, g0 := d.gradient(prediction(d.train, x))
	if d.options.Intercept {
		return [][]float64{gb, {g0}}
	}
	return [][]float64{gb}
}

// Lipschitz bounds the Lipschitz constant of that gradient, the curvature of the loss times the largest
// eigenvalue of 1/n [X 1]'[X 1], by the largest absolute row sum of 1/n [X 1][X 1]'. It is 0 where there is none.
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
	return most * d.loss.Curvature()
}

// LambdaMax is the smallest weight of an l1 norm at which all coefficients are zero, the
// largest absolute entry of the gradient at b = 0 and the best b0.
func (d *Data) LambdaMax() float64 {
	f := make([]float64, len(d.train.Y))
	if d.options.Intercept {
		floats.AddConst(constant(d.loss, d.train.Y, d.sd), f)
	}
	gb, _ := d.gradient(f)
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

// Unit is the coefficient of feature j in the user's units that a coefficient of 1 in the model's stands for.
func (d *Data) Unit(j int) float64 {
	if d.transform == nil {
		return d.sd
	}
	return d.sd / d.transform.Scale[j]
}

// Evaluate scores values of the variables by the mean loss in the user's units, half the mean squared error for squares.
func (d *Data) Evaluate(x [][]float64) problems.Errors {
	f := d.Fit(x)
	e := problems.Errors{Validation: d.score(d.user.Val, f)}
	if d.user.Test != nil {
		t := d.score(d.user.Test, f)
		e.Test = &t
	}
	return e
}

// score is the mean loss of a predictor, all in the user's units.
func (d *Data) score(rows *dataset.Data, f problems.Fit) float64 {
	return d.meanValue(rows, [][]float64{f.Coefficients, {f.Intercept}}, 1)
}

// meanValue is the mean loss on rows whose target was divided by sd.
func (d *Data) meanValue(rows *dataset.Data, x [][]float64, sd float64) float64 {
	sum := 0.0
	for i, f := range prediction(rows, x) {
		sum += d.loss.Value(f, rows.Y[i], sd)
	}
	return sum / float64(len(rows.Y))
}
