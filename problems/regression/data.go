package regression

import (
	"errors"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// data are training and validation rows in the unit of the model, and the way back: one pair of them for a split, one
// for each fold of a cross-validation.
type data struct {
	options   Options
	net       Net
	loss      Loss
	outputs   int
	user      dataset.Division
	parts     []func() part        // made where they are asked for
	held      []*dataset.Data      // validation rows of each as given
	transform *dataset.Transform   // nil: the features are in the user's units
	whole     func() *dataset.Data // the table in the unit of the model
	shift, sd float64              // the target of the model is (y - shift) / sd
	terms     sparse.Terms
	top       func() float64 // LambdaMax
}

// part are the rows of a split or of one fold.
type part struct {
	train, val *dataset.Data // in the unit of the model, without weights where others stand for them, see [data.equal]
	// fit and choose are the same rows as train and val with their weights.
	fit, choose *dataset.Data
}

// newData prepares checked rows. It keeps references to the data, which must not change. Units are
// those of the training rows, with folds those of all rows, so that they are the same in all folds.
func newData(s dataset.Division, o Options, n Net) (*data, error) {
	if err := o.check(n.Takes); err != nil {
		return nil, err
	}
	if s.Table().Targets != nil && !n.several {
		return nil, errors.New("rows with several targets, Data.Targets: expected one")
	}
	if !n.KeepTarget {
		s = dataset.WithoutOffset(s)
	}
	d := &data{options: o, net: n, loss: n.Loss, outputs: max(1, len(n.outputs)), user: s, sd: 1}
	if d.squares() {
		d.loss = squares
	}
	for t := range s.Count() {
		d.held = append(d.held, s.Validation(t))
	}
	if err := d.checkWeights(); err != nil {
		return nil, err
	}
	if o.Standardize {
		d.transform = dataset.NewTransform(s.Table(), o.Scaling, o.Intercept)
		if !n.KeepTarget {
			d.shift, d.sd = targetUnit(s.Table(), o.Intercept)
		}
	}
	d.whole = sync.OnceValue(func() *dataset.Data { return d.later(s.Table()) })
	var err error
	if d.terms, err = o.Terms.spread(d); err != nil {
		return nil, err
	}
	for t := range d.held {
		d.parts = append(d.parts, sync.OnceValue(func() part { return d.part(t) }))
	}
	d.top = sync.OnceValue(d.largestGradient)
	return d, nil
}

// part makes one of the rows of a split or of fold t.
func (d *data) part(t int) part {
	return d.newPart(d.inUnits(d.user.Training(t)), d.inUnits(d.held[t]))
}

// trained is how many rows train a split or fold t.
func (d *data) trained(t int) int {
	n, _ := d.Dims()
	if cv, ok := d.user.(*dataset.CrossValidation); ok {
		return cv.Folds[t].Trained(n)
	}
	return n
}

// targetUnit returns the mean, 0 without center, and the standard deviation, 1 where it vanishes; of several targets 0
// and the root of the mean of their variances.
func targetUnit(rows *dataset.Data, center bool) (shift, sd float64) {
	if rows.Targets != nil {
		list := outputs(rows)
		for _, y := range list {
			sd += stat.PopVariance(y, nil) / float64(len(list))
		}
		if !(sd > 0) {
			sd = 1
		}
		return 0, math.Sqrt(sd)
	}
	return rows.Spread(rows.Y, center)
}

// inUnits brings rows to the unit of the model.
func (d *data) inUnits(rows *dataset.Data) *dataset.Data {
	if d.transform == nil {
		return rows
	}
	if rows == d.user.Table() {
		return d.whole()
	}
	return d.later(rows)
}

// later are rows in the unit of the model, computed where they are asked for.
func (d *data) later(rows *dataset.Data) *dataset.Data {
	z := *d.transform.Later(rows)
	if !d.net.KeepTarget {
		z.Y = slices.Clone(z.Y)
		for i, v := range z.Y {
			z.Y[i] = (v - d.shift) / d.sd
		}
		if z.Targets != nil {
			z.Targets = new(mat.Dense)
			z.Targets.Apply(func(_, _ int, v float64) float64 { return v / d.sd }, rows.Targets)
		}
	}
	return &z
}

// squares says that losses are half the squares of f - y.
func (d *data) squares() bool { return d.net.Loss.Sum == nil }

// outputs are the targets of rows, a list for each.
func outputs(rows *dataset.Data) [][]float64 {
	if rows.Targets == nil {
		return [][]float64{rows.Y}
	}
	_, q := rows.Targets.Dims()
	list := make([][]float64, q)
	for k := range list {
		list[k] = mat.Col(nil, k, rows.Targets)
	}
	return list
}

// intercept says that there are constants.
func (d *data) intercept() bool { return d.options.Intercept && !d.net.noConstant }

// Columns are the features of the training rows, or of all rows of folds.
func (d *data) Columns() (*dataset.Data, bool) { return d.user.Table(), d.options.Intercept }

// Features returns the names of the p features.
func (d *data) Features() []string { return d.user.Table().Features }

// Dims returns the number n of training rows, with folds of all their rows, and p of features.
func (d *data) Dims() (n, p int) { return d.user.Table().Dims() }

// Folds is the number of pairs of training and validation rows, 1 for a split.
func (d *data) Folds() int { return len(d.parts) }

// variables adds the lower-level variables of a part to m: the coefficients "b", a feature after the other, and the
// constants "b0" if there are some.
func (d *data) variables(m *convex.Model) []*convex.Variable {
	_, p := d.Dims()
	vars := []*convex.Variable{m.Vector("b", p*d.outputs)}
	if d.intercept() {
		vars = append(vars, m.Vector("b0", d.outputs))
	}
	return vars
}

// of returns what belongs to each part of the values of the variables.
func of(d *data, x [][]float64) [][][]float64 {
	each := 1
	if d.intercept() {
		each = 2
	}
	return slices.Collect(slices.Chunk(x, each))
}

// ofOutput are the coefficients of output k.
func (d *data) ofOutput(b convex.Expr, k int) convex.Expr {
	if d.outputs == 1 {
		return b
	}
	_, p := d.Dims()
	at := make([]int, p)
	for j := range at {
		at[j] = j*d.outputs + k
	}
	return convex.Pick(b, at)
}

// predictions are X b + b0 of all rows, for one output after the other.
func (d *data) predictions(rows *dataset.Data, vars []*convex.Variable) convex.Expr {
	var all []convex.Operand
	for k := range d.outputs {
		f := convex.Mul(rows.X, d.ofOutput(vars[0], k))
		if len(vars) > 1 {
			f = convex.Add(f, convex.At(vars[1], k))
		}
		if rows.Offset != nil {
			f = convex.Add(f, rows.Offset)
		}
		all = append(all, f)
	}
	return convex.Stack(all...)
}

// mean is the mean loss of X b + b0, for squares 1/(2n) |X b + b0 - y|^2.
func (d *data) mean(rows *dataset.Data, vars []*convex.Variable) convex.Expr {
	f := d.predictions(rows, vars)
	return convex.Scale(1/float64(len(rows.Y)), d.loss.Sum(f, slices.Concat(outputs(rows)...), meanOne(rows), d.sd))
}

// meanOne are the weights of rows with the mean 1, nil for equal ones.
func meanOne(rows *dataset.Data) []float64 {
	if rows.Weights == nil {
		return nil
	}
	w := slices.Clone(rows.Weights)
	floats.Scale(float64(len(w))/floats.Sum(w), w)
	return w
}

// valuesOf are those of a predictor of one output for rows.
func valuesOf(rows *dataset.Data, f problems.Fit) []float64 {
	out := rows.Mul(f.Coefficients)
	floats.AddConst(f.Intercept, out)
	if rows.Offset != nil {
		floats.Add(out, rows.Offset)
	}
	return out
}

// values are those of a predictor for rows, those of a row for one output after the other.
func (d *data) values(rows *dataset.Data, f problems.Fit) []float64 {
	if d.outputs == 1 {
		return valuesOf(rows, f)
	}
	row, out := make([]float64, len(f.Features)), make([]float64, 0, len(rows.Y)*d.outputs)
	for i := range rows.Y {
		rows.Fill(row, i)
		out = append(out, f.Values(row)...)
	}
	return out
}

// gradient is 1/n X' l'(f), by the weights, at the predictions f for n rows.
func (d *data) gradient(rows *dataset.Data, f []float64) []float64 {
	n := float64(len(rows.Y))
	share, weight := make([]float64, len(rows.Y)), meanOne(rows)
	for i, y := range rows.Y {
		if share[i] = d.loss.Slope(f[i], y, d.sd) / n; weight != nil {
			share[i] *= weight[i]
		}
	}
	return rows.MulTrans(share)
}

// LambdaMax is the smallest weight of an l1 norm at which all coefficients are zero, the largest absolute entry of the
// gradient at b = 0 and the best b0; with folds, the largest of theirs. With an offset the fit says it, see
// [data.Measure].
func (d *data) LambdaMax() float64 { return d.top() }

func (d *data) largestGradient() float64 {
	largest := make([]float64, len(d.parts))
	crew.All(len(largest), func(t int) {
		p := d.part(t) // which is not kept, as fits of all folds together have no use for it
		f, c := make([]float64, len(p.train.Y)), 0.0
		switch {
		case !d.intercept():
		case d.squares():
			c = p.train.Mean(p.train.Y)
		default:
			c = constant(d.loss, p.train.Y, p.train.Weights, d.sd)
		}
		floats.AddConst(c, f)
		gb := d.gradient(p.train, f)
		largest[t] = floats.Norm(gb, math.Inf(1))
	})
	return slices.Max(largest)
}

// Path returns a geometric sequence of weights from below [data.LambdaMax] down to a
// thousandth of it; nil where nothing depends on the features.
func (d *data) Path(points int) []float64 {
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

// Fit turns values of the variables, those of one part or of several, into a predictor in the user's units, the mean of
// theirs.
func (d *data) Fit(x [][]float64) problems.Fit {
	_, p := d.Dims()
	out := problems.Fit{Features: d.Features(), Targets: d.net.outputs}
	if out.Targets != nil {
		out.Coefficients, out.Intercepts = make([]float64, p*d.outputs), make([]float64, d.outputs)
	}
	parts := of(d, x)
	share := 1 / float64(len(parts))
	for k := range d.outputs {
		c, b0 := make([]float64, p), 0.0
		for _, v := range parts {
			for j := range c {
				c[j] += share * d.sd * v[0][j*d.outputs+k]
			}
			if len(v) > 1 {
				b0 += share * v[1][k]
			}
		}
		b0 = d.shift + d.sd*b0
		if d.transform != nil {
			c, b0 = d.transform.Undo(c, b0)
		}
		if out.Targets == nil {
			out.Coefficients, out.Intercept = c, b0
			break
		}
		for j, v := range c {
			out.Coefficients[j*d.outputs+k] = v
		}
		out.Intercepts[k] = b0
	}
	return out
}

// Unit is the coefficient of feature j in the user's units that a coefficient of 1 in the model's stands for.
func (d *data) Unit(j int) float64 {
	if d.transform == nil {
		return d.sd
	}
	return d.sd / d.transform.Scale[j]
}

// independent is how many of n validation rows are different ones.
func (d *data) independent(n int) int {
	if len(d.parts) > 1 {
		n = min(n, len(d.user.Table().Y))
	}
	return n
}

// losses are those of the validation rows in the user's units, one part after the other.
func (d *data) losses(x [][]float64) []float64 {
	parts := of(d, x)
	list := make([][]float64, len(parts))
	crew.All(len(list), func(t int) { list[t] = d.lossesOf(d.held[t], d.Fit(parts[t])) })
	return slices.Concat(list...)
}

// valWeights are the weights of these rows, nil for equal ones.
func (d *data) valWeights() (weights []float64) {
	for _, rows := range d.held {
		weights = append(weights, rows.Weights...)
	}
	return weights
}

// lossesOf are those of a predictor for rows, all in the user's units.
func (d *data) lossesOf(rows *dataset.Data, f problems.Fit) []float64 {
	values, out := d.values(rows, f), make([]float64, len(rows.Y))
	for i := range out {
		y := rows.Y[i : i+1]
		if rows.Targets != nil {
			y = rows.Targets.RawRowView(i)
		}
		out[i] = d.loss.Value(values[i*d.outputs:(i+1)*d.outputs], y, 1)
	}
	return out
}

// test is the error of a predictor on the test rows, nil where there are none.
func (d *data) test(f problems.Fit) *float64 {
	rows := d.user.Tests()
	if rows == nil {
		return nil
	}
	e := d.score(rows, f)
	return &e
}

// score is the mean loss of a predictor by the weights of rows, all in the user's units.
func (d *data) score(rows *dataset.Data, f problems.Fit) float64 {
	sum := 0.0
	for i, loss := range d.lossesOf(rows, f) {
		if rows.Weights != nil {
			loss *= rows.Weights[i]
		}
		sum += loss
	}
	if rows.Weights != nil {
		return sum / floats.Sum(rows.Weights)
	}
	return sum / float64(len(rows.Y))
}
